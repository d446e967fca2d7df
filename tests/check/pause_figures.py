# SPDX-License-Identifier: MIT
"""The figures of sgc-pauses against the plain form of what they are, on known and on random intervals; and what is made of known
evidence.  Run by tests/check/check_pause_figures, with the folder of the package as its argument."""
import math
import os
import random
import shutil
import struct
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])

from pauses import analysis, evidence, figures, plot, report      # noqa: E402

results = []


def check(passed, name):
    results.append(passed)
    print(f"{'ok' if passed else 'not ok'} {len(results)} - {name}", flush=True)


def equal(got, wanted, name):
    check(got == wanted, name)
    if got != wanted:
        print(f"# got:    {got}\n# wanted: {wanted}", flush=True)


def always(tries, test, name):
    """test(number) holds for each number; the first for which it does not is shown."""
    bad = [n for n in range(tries) if not test(n)]
    check(not bad, name)
    if bad:
        print(f"# not for seed {bad[0]}", flush=True)


def raises(call, name):
    try:
        call()
        check(False, name)
    except evidence.Unreadable:
        check(True, name)


def some_intervals(rng, most_end, most=12):
    pairs = [sorted(rng.sample(range(most_end + 1), 2)) for _ in range(rng.randrange(most + 1))]
    return sorted(map(tuple, pairs))


# ---- percentiles ----

def plain_percentile(values, percent):
    return min(v for v in values if sum(w <= v for w in values) * 100 >= percent * len(values))


def is_percentile_right(seed):
    rng = random.Random(seed)
    values = sorted(rng.choices(range(rng.choice((3, 1000))), k=rng.randrange(1, 60)))
    return all(figures.percentile(values, p) == plain_percentile(values, p) for p in (1, 50, 90, 99, 100))


equal([figures.percentile(list(range(1, 101)), p) for p in (50, 90, 99)], [50, 90, 99], "percentiles of 1 to 100")
equal([figures.percentile([7], p) for p in (1, 50, 99)], [7, 7, 7], "of one value each is that")
always(300, is_percentile_right, "percentiles are the least values that so many do not exceed")
equal(figures.summary([3, 1, 2]), {"number": 3, "total_ns": 6, "mean_ns": 2, "p50_ns": 2, "p90_ns": 3, "p99_ns": 3, "longest_ns": 3},
      "the summary of three")
equal(set(figures.summary([]).values()), {0}, "the summary of nothing")

# ---- utilisation ----


def plain_utilisation(intervals, begin, end, window):
    """With whole numbers the least is at a whole number."""
    taken = [any(b <= t < e for b, e in intervals) for t in range(begin, end)]
    return 1 - max(sum(taken[at:at + window]) for at in range(end - begin - window + 1)) / window


def is_utilisation_right(seed):
    rng = random.Random(seed)
    begin, end = rng.randrange(10), rng.randrange(20, 60)
    intervals, window = some_intervals(rng, 70), rng.randrange(1, end - begin + 1)
    return math.isclose(figures.utilisation(intervals, begin, end, window), plain_utilisation(intervals, begin, end, window),
                        abs_tol=1e-12)


equal(figures.utilisation([(40, 50)], 0, 100, 20), 0.5, "one pause of half a window")
equal(figures.utilisation([(40, 50)], 0, 100, 10), 0, "one as long as the window")
equal(figures.utilisation([(10, 14), (20, 24), (80, 82)], 0, 100, 16), 0.5, "two that fit into one window")
equal(figures.utilisation([(0, 3)], 0, 10, 6), 0.5, "one at the begin")
equal(figures.utilisation([(7, 30)], 0, 10, 6), 0.5, "one beyond the end")
equal(figures.utilisation([], 0, 100, 20), 1, "none")
equal(figures.utilisation([(1, 2)], 0, 100, 101), None, "a window longer than the run has none")
equal(figures.utilisation([(1, 2)], 0, 100, 100), 0.99, "a window as long as the run")
always(500, is_utilisation_right, "the least utilisation is that of all windows")

# ---- intervals ----


def moments(intervals):
    return {t for b, e in intervals for t in range(b, e)}


def is_merge_right(seed):
    intervals = some_intervals(random.Random(seed), 40)
    result = figures.merged(intervals)
    return moments(result) == moments(intervals) and all(a[1] < b[0] for a, b in zip(result, result[1:]))


def is_split_right(seed):
    rng = random.Random(seed)
    intervals, stops = some_intervals(rng, 60), figures.merged(some_intervals(rng, 60, 5))
    met = [i for i in intervals if moments([i]) & moments(stops)]
    return figures.split(intervals, stops) == (met, [i for i in intervals if i not in met])


def is_attribution_right(seed):
    rng = random.Random(seed)
    intervals, stops = some_intervals(rng, 60), figures.merged(some_intervals(rng, 60, 5))
    intervals = figures.merged(intervals)
    chosen = set()
    for stop in stops:
        met = [i for i in intervals if moments([i]) & moments([stop])]
        if met:
            chosen.add(max(met, key=figures.length))
    return figures.attributed(intervals, stops) == ([i for i in intervals if i in chosen],
                                                    [i for i in intervals if i not in chosen])


def is_wait_right(seed):
    rng = random.Random(seed)
    intervals, stops = some_intervals(rng, 60), figures.merged(some_intervals(rng, 60, 5))
    wanted = []
    for interval in intervals:
        met = [s for s in stops if moments([interval]) & moments([s])]
        if met:
            wanted.append((interval[1] - met[0][0], max(0, interval[1] - met[-1][1])))
    return figures.waits(intervals, stops) == wanted


always(300, is_merge_right, "merged intervals are disjoint and hold the same moments")
always(300, is_split_right, "intervals that meet a stop are told from others")
always(300, is_attribution_right, "of those that meet a stop the longest is due to it")
always(300, is_wait_right, "from the first signal, and from the end of the stop, to the wake")

# ---- histograms ----


def is_histogram_right(seed):
    rng = random.Random(seed)
    values = [int(10 ** rng.uniform(0, 10)) for _ in range(rng.randrange(1, 50))]
    classes = figures.histogram(values)
    return all(n == sum(low <= v < high for v in values) for low, high, n in classes) and \
        sum(n for *_, n in classes) == len(values) and all(a[1] == b[0] for a, b in zip(classes, classes[1:])) and \
        classes[0][2] > 0 and classes[-1][2] > 0


equal(figures.histogram([20, 49, 50, 1000]), [(20, 50, 2), (50, 100, 1), (100, 200, 0), (200, 500, 0), (500, 1000, 0),
                                              (1000, 2000, 1)], "classes of 1, 2, 5")
equal(figures.histogram([]), [], "of nothing")
always(300, is_histogram_right, "each length is in one class, and classes follow each other")

# ---- from evidence to a report ----

MS = 1_000_000
areas = {
    "gaps": evidence.Area([(10 * MS, 13 * MS), (30 * MS, 31 * MS), (50 * MS, 51 * MS + MS // 2), (52 * MS, 56 * MS)], threshold=20_000),
    "control": evidence.Area(), "stores": evidence.Area([(90 * MS, 90 * MS + 5000)], calls=9),
    "stops": evidence.Area([(11 * MS, 12 * MS), (51 * MS, 55 * MS), (80 * MS, 80 * MS + 1000)]),
    "allocations": evidence.Area([(70 * MS, 72 * MS), (75 * MS, 75 * MS + 3000)], calls=99),
}
cycles = [{"pid": 1, "stop_begin_ns": 11 * MS, "resumed_ns": 12 * MS, "reason": "explicit", "parts_ns": {"mark": 3, "stop": 1}}]
process = evidence.Process(1, 0, 0, 0, 0, 100 * MS, "SGC 0", areas, cycles)
found = analysis.analyse([process], [10 * MS])
equal([(p["at_ns"] // MS, p["ns"] // MS) for p in found["runs"][0]], [(10, 3), (52, 4), (70, 2)],
      "pauses: the longest gaps that meet a stop, and allocations as long as a gap that counts")
equal((found["noise"]["number"], found["noise"]["longest_ns"]), (2, MS + MS // 2), "noise: a gap without a stop, and one that is not the longest of its stop")
equal((found["first_signal_to_wake"]["longest_ns"], found["wake"]["longest_ns"]), (5 * MS, MS), "from signal and from stop to wake")
equal(found["stops_without_a_gap"], 1, "a stop that no gap shows")
equal({cause: one["number"] for cause, one in found["causes"].items()},
      {"explicit": 1, "collection": 1, "allocation without a stop": 1}, "causes, by the log where it has them")
equal(found["parts_ns"], {"mark": 3, "stop": 1}, "parts of stops")
check(math.isclose(found["utilisation"][0]["least"], 0.6), "least utilisation of pauses")
equal((found["slow_path"]["number"], found["stores"]["number"], found["allocations_timed"]), (2, 1, 99), "slow path and stores")
equal((found["assists"]["number"], found["stalls"]["longest_ns"], found["waits"]), (0, 0, [[]]), "no waits of single threads")
two = analysis.analyse([process, process], [10 * MS, 200 * MS])
equal((two["pauses"]["number"], two["seconds"], two["utilisation"][1]["least"]), (6, [0.1, 0.1], None), "two runs together")
text = report.text(found)
check(all(part in text for part in ("pauses of the program", "explicit", "2 ms to 5 ms", "10 ms", "mark 75%")), "the text has it all")
check("control thread" not in text, "and nothing of what was not asked for")
found["statuses"] = two["statuses"] = [0]
check(report.table({"SGC": found, "bdwgc": two}).splitlines()[0].split() == ["SGC", "bdwgc"], "a table has a column for each way")

# ---- waits of single threads ----

waited = [{"pid": 1, "stop_begin_ns": 51 * MS, "resumed_ns": 55 * MS, "assists": 3, "assists_ns": 6 * MS, "longest_assist_ns": 3 * MS,
           "assists_worth_ns": 7 * MS, "assist_over_ns": 1 * MS, "reason": "allocation", "stopped_for": "memory",
           "parts_ns": {"stop": 1 * MS, "mark": 3 * MS}, "stalls": 0, "stalls_ns": 0, "longest_stall_ns": 0},
          {"pid": 1, "stop_begin_ns": 80 * MS, "resumed_ns": 81 * MS, "assists": 1, "assists_ns": 2 * MS, "longest_assist_ns": 2 * MS,
           "stalls": 2, "stalls_ns": 8 * MS, "longest_stall_ns": 7 * MS},
          {"pid": 1, "stop_begin_ns": 90 * MS, "resumed_ns": 91 * MS, "assists": "many"}]
process.cycles = cycles + waited
beside = analysis.analyse([process], [10 * MS])
equal(beside["assists"], {"number": 4, "total_ns": 8 * MS, "mean_ns": 2 * MS, "worth_ns": 7 * MS, "longest_ns": 3 * MS, "over_ns": MS},
      "assists are those of all cycles")
equal(beside["stalls"], {"number": 2, "total_ns": 8 * MS, "mean_ns": 4 * MS, "worth_ns": 0, "longest_ns": 7 * MS, "over_ns": 0}, "so are stalls")
equal([(w["at_ns"] // MS, w["assists"], w["stalls"]) for w in beside["waits"][0]], [(55, 3, 0), (81, 1, 2)],
      "cycles before which nobody waited are left out, and members that are no numbers")
equal(beside["pauses"], found["pauses"], "they are no pauses of the probe")
rows = [line.split() for line in report.text(beside).splitlines() if "of single threads" in line]
equal(rows, [["assists", "of", "single", "threads", "4", "8.000", "2.000", "-", "-", "-", "3.000"],
             ["stalls", "of", "single", "threads", "2", "8.000", "4.000", "-", "-", "-", "7.000"]], "the text has a line for each")
check("of single threads" not in report.text(found), "and none where there were none")
check("worth by what was allocated            " in report.text(beside) and "7.000, and none longer by more than 1.000" in report.text(beside),
      "and what they were worth")
beside["statuses"] = [0]

# ---- long stops ----

equal(found["long_stops"], [[{"at_ns": 51 * MS, "ns": 4 * MS, "reason": "", "stopped_for": "", "part": ""}]], "a stop that took long")
check("stops from 2 ms on: 1; the longest\n  4.000 ms at 0.051 s: not in the log\n" in report.text(found), "the text tells of it")
equal([(s["reason"], s["stopped_for"], s["part"]) for s in beside["long_stops"][0]], [("allocation", "memory", "mark")],
      "and for what it was, if the log says so")
check("beside: stops from 2 ms on: 1; the longest\n  4.000 ms at 0.051 s: allocation, stopped for: memory, mostly mark\n" in
      report.table({"beside": beside}), "a table has them below it")
equal([len(analysis.analyse([process], [10 * MS], least)["long_stops"][0]) for least in (MS // 2, 5 * MS)], [2, 0], "from another time on")

# ---- the same side by side ----

table = report.table({"beside": beside, "stopped": found})
check("longest of stalls ms" in table and "longest of stalls" not in report.table({"stopped": found}), "a table has them, too")
script, _ = plot.one("x", beside)
check("$stalls << END\n0.081 7.0\nEND" in script and "$stalls with points" in script and "$assists << END" in script,
      "a plot has a curve for each")
check("$stalls" not in plot.one("x", found)[0], "and none where there were none")
with tempfile.TemporaryDirectory() as folder:
    drawn = os.path.join(folder, "x.svg")
    if shutil.which("gnuplot"):
        plot.draw(drawn, "x", {"beside": beside})
        with open(drawn, encoding="utf-8") as file:
            check("stalls, the longest of each cycle" in file.read(), "which gnuplot draws")
    else:
        print(f"ok {len(results) + 1} - which gnuplot draws # SKIP no gnuplot")
        results.append(True)

# ---- reading ----


def write(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def made(count=2, version=1, offset=4096):
    """As tools/pauses/file.h has it, with intervals in the area of gaps."""
    head = struct.pack("=8s7Q32s", b"sgcpause", version, 42, 0, 1, 0, 5, 99, b"SGC 9")
    empty = struct.pack("=10Q", 4096, 100, 0, 20, 20, 0, 0, 0, 0, 0)
    gaps = struct.pack("=10Q", offset, 100, count, 20, 40, 0, 7, 70, 50, 95)
    return (head + gaps + 4 * empty).ljust(4096, b"\0") + struct.pack("=4Q", 50, 95, 10, 30)


with tempfile.TemporaryDirectory() as folder:
    read = evidence.read_process(write(folder, "a.pauses", made()))
    equal((read.pid, read.flags, read.begin, read.end, read.collector), (42, 1, 5, 99, "SGC 9"), "a file's head is read")
    equal((read.of("gaps"), read.areas["gaps"].dropped, read.of("stops")), ([(10, 30), (50, 95)], 7, []), "and its areas, in order")
    raises(lambda: evidence.read_process(write(folder, "b", made(version=2))), "a file of another version is refused")
    raises(lambda: evidence.read_process(write(folder, "c", made(count=101))), "so is one with too many intervals")
    raises(lambda: evidence.read_process(write(folder, "d", made(offset=1 << 40))), "or intervals outside it")
    raises(lambda: evidence.read_process(write(folder, "e", b"sgcpause")), "or half a head")
    log = write(folder, "log", b'{"pid":42,"stop_begin_ns":20,"resumed_ns":25,"new":[1]}\n{"pid":42,"phase":"x"}\n[]\nnonsense\n'
                b'{"pid":7,"stop_begin_ns":1,"resumed_ns":2}\n{"pid":42,"stop_be')
    read, = evidence.read_folder(folder, log)
    equal(len(read.cycles), 1, "of the log the lines of that process that tell of a stop are read, and half a line is not")
    equal(read.of("stops"), [(20, 25)], "its stops stand for those that the collector did not tell of")
    equal(evidence.read_folder(folder, folder + "/none")[0].cycles, [], "there may be no log")

print(f"1..{len(results)}")
sys.exit(not all(results))
