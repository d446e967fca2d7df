# SPDX-License-Identifier: MIT
"""Benchmarks in concurrent mode, beside stop mode, beside bdwgc, and beside bdwgc's incremental mode, which may crash."""
import os
import tempfile
from dataclasses import dataclass
from statistics import median

from runner import programs, stops
from runner.cases import LIMIT, PEER, SGC, Case, Variant, words
from runner.summary import mean, numbers, ratio

GROUP, INCREMENTAL = "concurrent mode", "incremental"
VARIANTS = (Variant(PEER, LIMIT), Variant(PEER, INCREMENTAL), Variant(SGC, "stop"), Variant(SGC, "concurrent"))
TITLES = ("bdwgc", "incremental", "stop", "concurrent")
LOADS = (("expanded", 300, 1), ("disabled", 300, 1), ("grows", 1000, 1), ("large", 250, 1), ("buffers", 125, 1), ("threads", 250, 8),
         ("trees", 100, 4))
MODES = ("default",)            # of none: what a variant's environment is, its own mode says


def case(name, program, args, quick_args, figure, heap, own_gaps=False):
    """With own gaps the program measures how long it was kept waiting; otherwise the log of a second run has the stops."""
    return Case(f"concurrent/{name}", GROUP, program, args, quick_args, figure, heap, MODES,
                control=("gap_longest_ms", "gap_p99_ms") if own_gaps else ())


def all_cases():
    for live, millions in ((128, 50), (1024, 100)):
        yield case(f"latency/{live}", "latency", words(live, millions), words(4, 1), "ns_per_object", 3 * live, own_gaps=True)
    yield case("gcbench", "gcbench", words(16), words(10), "time_ms", 64)
    for threads in (1, 2, 4):
        yield case(f"trees/{threads}", "trees", words(threads, 16), words(threads, 10), "time_ms", 64 if threads < 4 else 128)
    for threads in (1, 2):
        yield case(f"cky/{threads}", "../endo/apps/cky", words("--set", "ch3", "--threads", threads),
                   words("--set", "quick", "--threads", threads), "seconds", 64)
    for what in ("finalizers", "brief"):
        yield case(f"finalize/{what}", "finalize", words(what, 1000000, 3), words(what, 10000, 1), "ns_per_object", 256)
    for what, megabytes, threads in LOADS:
        yield case(f"loads/{what}", "loads", words(what, megabytes, threads), words(what, 4, threads), "time_ms", 4 * megabytes)
    yield case("coroutines/20000", "coroutines", words(20000, 0, 1000), words(20, 0, 10), "collection_us", 64)


def run(places, chosen, variant, quick, timeout):
    """One process for the figures, and one with a log for its stops."""
    done = programs.run_case(places, chosen, variant, quick, timeout)
    if done.failure or chosen.control:
        return done
    args = chosen.quick_args if quick else chosen.args
    with tempfile.TemporaryDirectory() as scratch:
        log = os.path.join(scratch, "log")
        logged = programs.run_once(places, variant.side, [places.program(chosen.program), *args],
                                   {**variant.environment(chosen.heap), **stops.asked(variant.side, log)}, (), timeout)
        done.failure = logged.failure
        found, _ = stops.read(variant.side, log)
    done.figures.update(gap_longest_ms=(f"{max(found, default=0):.6g}", "ms"), gap_p99_ms=(f"{stops.percentile(found, 99):.6g}", "ms"))
    return done


def may_fail(variant):
    """That it crashes is a result, too."""
    return variant.mode == INCREMENTAL


# ---- what came out ----

@dataclass
class Row:
    """A case: medians of all rounds by variant and figure; a variant that failed has nothing."""
    name: str
    unit: str
    of: dict

    def ratio(self, figure, over, under):
        both = [self.of.get(name, {}).get(figure, 0) for name in (over, under)]
        return ratio(*both)


FIGURES = ("time", "cpu_ms", "peak_rss_mb", "collections", "gap_longest_ms", "gap_p99_ms")
HEADINGS = ("time", "CPU ms", "peak MB", "collections", "longest ms", "99 % below ms")
RATIOS = (("time", "time"), ("cpu_ms", "CPU"), ("peak_rss_mb", "peak"), ("gap_longest_ms", "longest"))


def rows(results):
    known = {one.name: one for one in all_cases()}
    for name, by_variant in results.of("concurrent").items():
        if name not in known:
            raise ValueError(f"the results have a case \"{name}\" that this version of bench/ does not; run it again")
        names = dict(zip(FIGURES, (known[name].figure, *FIGURES[1:])))
        good = {variant: runs for variant, runs in by_variant.items() if not any(one.failure for one in runs)}
        units = [runs[0].figures[known[name].figure][1] for runs in good.values()]
        yield Row(name, units[0] if units else "-", {
            TITLES[VARIANTS.index(variant)]: {figure: median(numbers(runs, told)) for figure, told in names.items()}
            for variant, runs in good.items()})


def ratios_of(results, figure, over="concurrent", under="stop"):
    pairs = [(row.name.split("/", 1)[1], row.ratio(figure, over, under)) for row in rows(results)]
    return [(name, value) for name, value in pairs if value is not None]


def failed(results, title=INCREMENTAL):
    """The cases that this variant did not get through."""
    return [row.name.split("/", 1)[1] for row in rows(results) if title not in row.of]


def table(results, plain, two):
    """Title, heading, body."""
    heading = ("case", "unit", *(f"{title}: {' / '.join(TITLES)}" if title == HEADINGS[0] else title for title in HEADINGS),
               *(f"{title}, concurrent/stop" for _, title in RATIOS), "longest, concurrent/incremental")
    body = []
    for row in rows(results):
        cells = [" / ".join(plain(row.of[t][figure]) if t in row.of else "FAILED" for t in TITLES) for figure in FIGURES]
        body.append((row.name, row.unit, *cells, *(two(row.ratio(figure, "concurrent", "stop")) for figure, _ in RATIOS),
                     two(row.ratio("gap_longest_ms", "concurrent", INCREMENTAL))))
    if body:
        found = [[value for _, value in ratios_of(results, figure)] for figure, _ in RATIOS]
        found.append([value for _, value in ratios_of(results, "gap_longest_ms", "concurrent", INCREMENTAL)])
        body.append(("geometric mean", "", *([""] * len(FIGURES)), *(two(mean(values)) for values in found)))
    return "Concurrent mode: bdwgc, its incremental mode, SGC's stop mode and its concurrent mode", heading, body
