# SPDX-License-Identifier: MIT
"""What viewers have read of SGC's files, against what the readers of this folder find, for check_viewers_long.

    viewers.py heap HEAPSNAPSHOT FOUND              nodes, edges, dominators and retained sizes: by memlab (viewers.mjs heap)
    viewers.py profile RAW PROFILE [OLD]            samples of SGC_PROFILE's file: by `pprof -raw`, without OLD's if that is given
    viewers.py top TOP PROFILE VALUE [NAME=BYTES]...    total of a value, and of objects of a size by the function that makes them
    viewers.py export RAW PPROF [OLD]               samples of an export: by `pprof -raw`
    viewers.py stacks DOM EXPORT                    the same, or those of a folded one: by speedscope
    viewers.py functions DOM PROFILE [NAME=BYTES]...    total in use, and that of functions: by speedscope, of a profile with names by pprof
    viewers.py timeline TRACE FOUND                 slices: by @paulirish/trace_engine (viewers.mjs timeline), or by Perfetto's
                                                    trace_processor (a table of names, counts and sums)

A line is printed for each thing that is not so, and no other.
"""
import csv
import html
import json
import profile                          # of this folder
import re
import sys
from collections import Counter, defaultdict

import trace
import views


def same(what, found, wanted):
    """Both are Counters or dicts: prints where they differ."""
    for key in sorted(set(found) | set(wanted), key=repr)[:100000]:
        if found.get(key) != wanted.get(key):
            print(f"{what}: {key}: {found.get(key)}, expected {wanted.get(key)}")
    if not wanted:
        print(f"{what}: nothing is there to be compared")


# ---- memlab ----

def check_heap(path, found_path):
    heap = views.Heap(path)
    of, _, kept = views.retained(heap)
    ids = [node[2] for node in heap.node]
    with open(found_path, encoding="utf-8") as f:
        found = json.load(f)
    same("nodes (type, name, bytes, retained, dominator)", {node[0]: tuple(node[1:]) for node in found["nodes"]},
         {ids[i]: (heap.type(i), heap.name(i), node[3], kept[i], ids[of[i]]) for i, node in enumerate(heap.node)})
    same("edges", Counter(map(tuple, found["edges"])), Counter(heap.all_edges()))


# ---- pprof ----

SAMPLE = re.compile(r"^ *(-?[0-9]+(?: +-?[0-9]+)*): ((?:[0-9]+ )*)$")
LOCATION = re.compile(r"^ *([0-9]+): 0x([0-9a-f]+) (?:M=[0-9]+ )?(.*?)(?: :0:0 s=0(?:\(\))?)?$")


def read_raw(path, of_location):
    """{(stack from the leaf on, labels): values} of what `pprof -raw` prints."""
    part, samples, places, names = None, [], {}, []
    with open(path, encoding="utf-8") as f:
        for line in f.read().split("\n"):
            if line in ("Samples:", "Locations", "Mappings"):
                part = line
            elif part == "Samples:" and SAMPLE.match(line):
                values, stack = SAMPLE.match(line).groups()
                samples.append(([int(v) for v in values.split()], stack.split(), {}))
            elif part == "Samples:" and "[dflt]" in line:
                names = line.split()
            elif part == "Samples:" and samples:
                samples[-1][2].update(re.findall(r"([a-z]+):\[([0-9]+)", line))
            elif part == "Locations" and LOCATION.match(line):
                number, address, name = LOCATION.match(line).groups()
                places[number] = of_location(int(address, 16), name)
    assert samples and names, f"{path} has no samples"
    return sums(((tuple(places[n] for n in stack), frozenset(labels.items())), values) for values, stack, labels in samples)


def sums(samples):
    """Samples of one stack are one, and those without a value none."""
    added = {}
    for key, values in samples:
        added[key] = tuple(a + b for a, b in zip(added.get(key, [0] * len(values)), values))
    return {key: values for key, values in added.items() if any(values)}


def without(new, old):
    return sums([*new.items()] + [(key, [-v for v in values]) for key, values in old.items()])


def samples_of(path):
    return sums(((tuple(stack), frozenset((key, str(value)) for key, value in labels.items() if value != 0)), values)
                for stack, values, labels in profile.Profile(path).samples)


def check_profile(raw, path, old=None):
    wanted = samples_of(path)
    same("samples", read_raw(raw, lambda address, name: address), without(wanted, samples_of(old)) if old else wanted)


def check_top(top, path, value, *functions):
    with open(top, encoding="utf-8") as f:
        text = f.read()
    at = [name for name, _ in profile.TYPES].index(value)
    samples = profile.Profile(path).samples
    total = re.search(r"100% of ([0-9]+)B? total", text)
    same("total", {value: total and int(total.group(1))}, {value: sum(values[at] for _, values, _ in samples)})
    rows = [line.split(None, 5) for line in text.partition("cum%\n")[2].split("\n")]
    found = {row[5]: int(row[3].rstrip("B")) for row in rows if len(row) == 6}
    for function, size in (pair.split("=") for pair in functions):
        same(f"of {value}", {function: found.get(function, 0)},
             {function: sum(values[at] for _, values, labels in samples if labels["bytes"] == int(size))})


def exported(path):
    return sums(((stack[::-1], frozenset()), values) for stack, *values in views.read_pprof(path)[0])


def check_export(raw, path, old=None):
    wanted = exported(path)
    same("samples", read_raw(raw, lambda address, name: name), without(wanted, exported(old)) if old else wanted)


# ---- speedscope ----

def exported_by_page(path):
    with open(path, encoding="utf-8") as f:
        found = re.search(r'<pre id="exported">(.*?)</pre>', f.read(), re.DOTALL)
    assert found, "speedscope has exported nothing"
    read = json.loads(html.unescape(found.group(1)))
    return read["profiles"], [frame["name"] for frame in read["shared"]["frames"]]


def stacks_of(dom):
    """{stack of names: weight}: what passes between two events belongs to the stack that is open."""
    profiles, frames = exported_by_page(dom)
    found, stack, since = Counter(), [], 0
    for event in profiles[-1]["events"]:
        if event["at"] != since:
            found[tuple(stack)] += event["at"] - since
        since = event["at"]
        if event["type"] == "O":
            stack.append(frames[event["frame"]])
        else:
            assert stack.pop() == frames[event["frame"]], "a frame ends within another"
    return found


def check_stacks(dom, path):
    wanted = Counter()
    if path.endswith(".folded"):
        with open(path, encoding="utf-8") as f:
            for line in f.read().split("\n")[:-1]:
                stack, _, value = line.rpartition(" ")
                wanted[tuple(stack.split(";"))] += int(value)
    else:
        for (stack, _), values in exported(path).items():
            wanted[stack[::-1]] += values[-1]
    same("stacks", stacks_of(dom), wanted)


def check_functions(dom, path, *functions):
    samples, found = profile.Profile(path).samples, stacks_of(dom)
    same("total", {"inuse_space": sum(found.values())}, {"inuse_space": sum(values[3] for _, values, _ in samples)})
    for function, size in (pair.split("=") for pair in functions):
        same("in use", {function: sum(weight for stack, weight in found.items() if function in stack)},
             {function: sum(values[3] for _, values, labels in samples if labels["bytes"] == int(size))})


# ---- timelines ----

def slices_of(spans, depth=0):
    for span in spans:
        yield depth, span
        yield from slices_of(span.inner, depth + 1)


def since_first(slices):
    first = min(begin for _, _, begin, _ in slices)
    return Counter((depth, name, round((begin - first) * 1000), round((end - begin) * 1000)) for depth, name, begin, end in slices)


def check_timeline(path, found_path):
    tracks = defaultdict(list)
    for event in trace.read(path, False):
        if event["ph"] == "X":
            tracks[event["tid"]].append(event)
    wanted = {tid: list(slices_of(trace.nest(tid, events))) for tid, events in tracks.items()}
    if found_path.endswith(".csv"):
        check_sums(wanted, found_path)
        return
    with open(found_path, encoding="utf-8") as f:
        found = {int(tid): [(depth, name, ts, ts + dur) for depth, name, ts, dur in slices] for tid, slices in json.load(f).items()}
    same("slices of tracks", {tid: len(slices) for tid, slices in found.items() if slices}, {tid: len(slices) for tid, slices in wanted.items()})
    for tid, slices in wanted.items():
        first = slices[0][1].begin
        same(f"track {tid}: slices (depth, name, ns since the first, ns)", since_first(found[tid]) if found.get(tid) else {},
             Counter((depth, span.name, span.begin - first, span.ns) for depth, span in slices))


def check_sums(wanted, path):
    """Of each name, how many slices and how many nanoseconds: one more or less for each, since they have been doubles."""
    counts, times = Counter(), Counter()
    for _, span in (one for slices in wanted.values() for one in slices):
        counts[span.name] += span.ns > 0
        times[span.name] += span.ns
    with open(path, encoding="utf-8", newline="") as f:
        rows = {row[0]: (int(row[1]), int(row[2])) for row in csv.reader(f) if len(row) == 3 and row[1].isdigit()}
    same("slices", {name: row[0] for name, row in rows.items()}, +counts)
    for name in counts:
        if name in rows and abs(rows[name][1] - times[name]) > counts[name]:
            print(f"{name}: {rows[name][1]} ns, expected {times[name]}")


if __name__ == "__main__":
    {"heap": check_heap, "profile": check_profile, "top": check_top, "export": check_export, "stacks": check_stacks,
     "functions": check_functions, "timeline": check_timeline}[sys.argv[1]](*sys.argv[2:])
