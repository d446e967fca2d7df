# SPDX-License-Identifier: MIT
"""What the figures should be, and whether they are."""
from dataclasses import dataclass

from runner.cases import PRESETS, SHAPES
from runner.summary import added, case_rows, count_rows, mean, preset_rows, ratio, speed_ups

MET, NOT_MET, NOT_MEASURED = "met", "not met", "not measured"


@dataclass
class Goal:
    number: int
    wanted: str
    found: str
    verdict: str


def show(value):
    return "none" if value is None else f"{value:.2f}"


def at_most(number, wanted, limit, measured):
    """measured: (name, value or None) of all that must be at most the limit; one without a value failed."""
    return judge(number, f"{wanted}: at most {limit:g}", measured, lambda value: value <= limit, max)


def at_least(number, wanted, limit, measured):
    return judge(number, f"{wanted}: at least {limit:g}", measured, lambda value: value >= limit, min)


def judge(number, wanted, measured, holds, worst_of):
    if not measured:
        return Goal(number, wanted, "-", NOT_MEASURED)
    failed = [name for name, value in measured if value is None]
    if failed:
        return Goal(number, wanted, "no figure: " + ", ".join(failed), NOT_MET)
    name, worst = worst_of(measured, key=lambda pair: pair[1])
    found = f"{show(worst)} ({name})" if len(measured) == 1 else f"worst {show(worst)} ({name}) of {len(measured)}"
    return Goal(number, wanted, found, MET if all(holds(value) for _, value in measured) else NOT_MET)


def mean_at_most(number, wanted, limit, rows):
    ratios = [row.ratio for row in rows]
    if not rows or None in ratios:
        return at_most(number, wanted, limit, [(r.case.name, r.ratio) for r in rows if r.ratio is None])
    value, worst = mean(ratios), max(rows, key=lambda row: row.ratio)
    return Goal(number, f"{wanted}: geometric mean at most {limit:g}",
                f"{show(value)}, worst {show(worst.ratio)} ({worst.case.name})", MET if value <= limit else NOT_MET)


def allocation(rows):
    one = [r for r in rows if r.case.name.startswith("alloc/1/")]
    small = [r for r in one if int(r.case.name.split("/")[3]) <= 1024]
    large = [r for r in one if int(r.case.name.split("/")[3]) >= 4096]
    text = "allocation on one thread, "
    yield at_most(1, text + "16 to 1024 B, limit, each size", 0.7,
                  [(r.case.name, r.ratio) for r in small if r.mode == "limit"])
    for mode, limit in (("limit", 0.7), ("default", 0.5)):
        yield mean_at_most(1, text + f"16 to 1024 B, {mode}", limit, [r for r in small if r.mode == mode])
    for mode in ("limit", "default"):
        yield mean_at_most(1, text + f"4 KB to 1 MB, {mode}", 0.8, [r for r in large if r.mode == mode])


def scaling(rows):
    yield at_least(2, "two threads, relative to writes without an allocator", 0.9,
                   [(f"{r.case.name}, {r.mode}", None if r.sgc.failed else r.sgc.median) for r in rows
                    if r.case.name.startswith("scaling/")])


def instructions(counted):
    def of(names):
        return [(name, by_side["sgc"][0] if "sgc" in by_side else None) for name, by_side, _ in counted if name in names]

    yield at_most(3, "instructions of GC_malloc(64) without zeroing", 30, of(("GC_malloc(64)",)))
    yield at_most(3, "instructions of a malloc+free pair, pointer-free", 60,
                  of([f"pair/pointer-free/{p}" for p in ("hot", "batch", "random")]))


def marking(rows):
    for shape, limit in (("graph", 0.3), ("tree", 0.9), ("array", 0.7), ("list", 1.05)):
        yield at_most(4, f"one marker, {shape}", limit, [(r.case.name, r.ratio) for r in rows
                                                        if r.case.name == f"mark/{shape}" and r.markers == "1"])
    yield from two_markers("", [(case.name, ratio(one.median, many.median)) for case, markers, one, many in speed_ups(rows)
                                if markers == "2"])
    yield from two_markers(", round by round", [(r.case.name, None if r.sgc.failed else r.sgc.median) for r in rows
                                                if r.case.name.startswith("markers/")])


def two_markers(how, ups):
    """ups: (case, how many times the rate of one marker).  The programs of mark/ run one after the other; those of markers/
    mark in turns of one mark."""
    yield at_least(4, f"two markers against one, tree, graph and array{how}", 1.8,
                   [(case, up) for case, up in ups if case.split("/")[1] in ("tree", "graph", "array")])
    yield at_most(4, f"time of two markers by that of one, each case{how}", 1.1,
                  [(case, up and 1 / up) for case, up in ups])


def programs(results, rows):
    chosen = [r for r in rows if r.case.group == "programs"]
    shares = {(name, mode): share for name, mode, share in added(results)}
    for mode, limit in (("default", 0.6), ("limit", 0.8)):
        of_mode = [r for r in chosen if r.mode == mode]
        yield at_most(5, f"GCBench, trees, strings, time, {mode}", limit, [(r.case.name, r.ratio) for r in of_mode])
        yield at_most(5, f"GCBench, trees, strings, peak RSS, {mode}", 1.1,
                      [(r.case.name, r.rss_ratio) for r in of_mode])
        yield at_most(5, f"strings, what the collector adds to exact frees, {mode}", limit,
                      [(r.case.name, shares.get((r.case.name, mode))) for r in of_mode if r.case.floor])


def empty(rows):
    yield at_most(6, "empty collection beside 100 and 1000 threads", 0.95,
                  [(r.case.name, r.ratio) for r in rows if r.case.name in ("empty/100", "empty/1000")])


def coroutines(rows):
    yield at_most(6, "collection on a coroutine, each case", 1.0,
                  [(r.case.name, r.ratio) for r in rows if r.case.name.startswith("coroutines/")])


def ablation(table):
    wanted = f"all {len(PRESETS)} presets on all {len(SHAPES)} marking cases"
    done = sum(1 for _, presets, _ in table for preset in PRESETS if preset in presets and not presets[preset].failed)
    verdict = MET if done == len(PRESETS) * len(SHAPES) else NOT_MET
    yield Goal(7, wanted, f"{done} of {len(PRESETS) * len(SHAPES)}" if table else "-", verdict if table else NOT_MEASURED)


def finalization(rows):
    yield at_most(8, "finalizers and disappearing links, registered and run, each", 0.5,
                  [(f"{r.case.name}, {r.mode}", r.ratio) for r in rows if r.case.name.startswith("finalize/")])


def goals(results):
    rows = case_rows(results)
    return [*allocation(rows), *scaling(rows), *instructions(count_rows(results)), *marking(rows), *programs(results, rows),
            *empty(rows), *coroutines(rows), *ablation(preset_rows(results)), *finalization(rows)]
