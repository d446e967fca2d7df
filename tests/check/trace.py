# SPDX-License-Identifier: MIT
"""A strict reader of timelines (SGC_TRACE), for check_trace.

    trace.py TRACE [--cut] [--log LOG] [--stops] [--have NAME,NAME...]

Prints what is wrong with a timeline, a line each; at last "checked" and how many events of each name there are.

    --cut       the program was killed: the end may be missing, and a part of the last line
    --log       SGC_LOG_JSON of the same run: pauses, parts and what was marked beside the program agree to the nanosecond
    --stops     some cycle had several stops
    --have      events that must be there
"""
import argparse
import json
from collections import Counter, defaultdict
from decimal import Decimal

PARTS = ("stop", "retire", "snapshot", "roots", "mark", "rescan", "finalize", "flip", "resume")


def say(text):
    print(text)


def no_twice(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError(f"a member twice: {pairs}")
    return dict(pairs)


def no_constant(name):
    raise ValueError(f"{name} is no JSON")


def read(path, cut):
    with open(path, encoding="utf-8", errors="strict") as f:
        text = f.read()
    if cut and not text.endswith("\n]\n"):
        text = text[:text.rindex("\n") + 1].rstrip(",\n") + "]"
    return json.loads(text, parse_float=Decimal, parse_constant=no_constant, object_pairs_hook=no_twice)


def ns(microseconds):
    value = Decimal(microseconds) * 1000
    if value != int(value):
        say(f"{microseconds} is no whole number of nanoseconds")
    return int(value)


class Span:
    """begin, end and ns: to the nanosecond; left and right: the doubles that viewers have, who add ts and dur."""

    def __init__(self, event):
        self.name, self.args = event["name"], event["args"]
        self.left = float(event["ts"])
        self.right = self.left + float(event["dur"])
        self.begin, self.end = ns(event["ts"]), round(Decimal(self.right) * 1000)
        self.ns = self.end - self.begin
        self.inner = []
        if abs(Decimal(event["dur"]) * 1000 - self.ns) >= 1:
            say(f"{self.name}: {event['dur']} is not what there is between {self.begin} and {self.end}")


def check_members(event):
    wanted = {"M": {"args"}, "X": {"ts", "dur", "args"}, "i": {"ts", "s", "args"}, "C": {"ts", "args"}}.get(event["ph"])
    if wanted is None or set(event) != wanted | {"name", "ph", "pid", "tid"}:
        say(f"members: {event}")
    if event["ph"] == "C" and set(event["args"]) != {"bytes"}:
        say(f"a counter without bytes: {event}")


def nest(track, events):
    """The outermost spans of a track; says which cross each other, by a nanosecond or by the last bit of a double."""
    spans = sorted((Span(e) for e in events), key=lambda s: (s.left, -s.right))
    outer, stack = [], []
    for span in spans:
        while stack and stack[-1].right <= span.left and not (span.ns == 0 and stack[-1].right == span.left):
            stack.pop()
        if stack and span.right > stack[-1].right:
            say(f"track {track}: {span.name} {span.begin}..{span.end} crosses {stack[-1].name} {stack[-1].begin}..{stack[-1].end}")
        (stack[-1].inner if stack else outer).append(span)
        stack.append(span)
    return outer


def below(spans):
    for span in spans:
        yield span
        yield from below(span.inner)


def check_parts(pause):
    at = pause.begin
    for part in pause.inner:
        if part.name not in PARTS or part.begin != at:
            say(f"a gap before {part.name} of the pause at {pause.begin}: {at}, {part.begin}")
        at = part.end
    if at != pause.end:
        say(f"the parts of the pause at {pause.begin} end at {at}, not at {pause.end}")


def compare(what, cycle, found, wanted):
    if found != wanted:
        say(f"cycle {cycle}: {what}: {found}, the log has {wanted}")


def check_cycle(line, pauses, collection):
    cycle, last = line["cycle"], pauses[-1] if pauses else None
    compare("stops", cycle, len(pauses), line["earlier_stops"] + 1)
    if last is None:
        return
    compare("pauses", cycle, sum(p.ns for p in pauses), line["pause_ns"] + line["earlier_stops_ns"])
    compare("the last pause", cycle, (last.begin, last.end), (line["stop_begin_ns"], line["resumed_ns"]))
    parts = Counter()
    for part in last.inner:
        parts[part.name] += part.ns
    for name, length in line["parts_ns"].items():
        compare(f"part {name}", cycle, parts[name], length)
    if collection is None:
        say(f"cycle {cycle} is missing")
        return
    compare("its begin", cycle, collection.begin, line["request_ns"])
    for member in ("reason", "stopped_for", "heap_bytes", "allocated_bytes"):
        compare(member, cycle, collection.args[member], line[member])
    compare("live bytes", cycle, collection.args["live_bytes"], line["live_bytes_after"])
    beside = [s for s in collection.inner if s.name in ("concurrent marking", "round")]
    compare("marking beside the program", cycle, sum(s.ns for s in beside), line["concurrent_ns"])
    compare("rounds", cycle, sum(s.name == "round" for s in beside), line["rounds"])
    if any(p not in collection.inner for p in pauses):
        say(f"cycle {cycle}: a pause is not within its collection")


def check_log(path, spans, stops):
    pauses, collections = defaultdict(list), {}
    for span in spans:
        if span.name == "pause":
            pauses[span.args["cycle"]].append(span)
            check_parts(span)
        elif span.name == "collection" and "given_up" not in span.args:
            collections[span.args["cycle"]] = span
    if path is None:
        return
    with open(path, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    if not lines or (stops and not any(line["earlier_stops"] for line in lines)):
        say("the run has no such cycle")
    for line in lines:
        check_cycle(line, pauses_of(line, pauses), collections.get(line["cycle"]))
    waited = sum(span.ns for span in spans if span.name == "assist")
    if waited < sum(line["assists_ns"] for line in lines):
        say(f"assists: {waited}")


def pauses_of(line, pauses):
    """Not those of a mark of that number that was given up."""
    return [p for p in pauses[line["cycle"]] if p.begin >= line["request_ns"]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("--cut", action="store_true")
    parser.add_argument("--log")
    parser.add_argument("--stops", action="store_true")
    parser.add_argument("--have", default="")
    args = parser.parse_args()
    events = read(args.trace, args.cut)
    tracks, named = defaultdict(list), Counter(e["name"] for e in events)
    for event in events:
        check_members(event)
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append(event)
    spans = [span for track in sorted(tracks) for span in below(nest(track, tracks[track]))]
    check_log(args.log, spans, args.stops)
    if len({e["pid"] for e in events}) != 1:
        say("events of several processes")
    for name in filter(None, args.have.split(",")):
        if not named[name.replace("+", " ")]:
            say(f"there is no {name}")
    print("checked", ", ".join(f"{count} {name}" for name, count in sorted(named.items())))


if __name__ == "__main__":
    main()
