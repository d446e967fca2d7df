# SPDX-License-Identifier: MIT
"""What the malloc is meant to reach, beside what it does: one table, from the results alone."""
import math

from comparison.allocators import BASE

OURS = "sgc"
HEAVY = ("suite/cfrac", "suite/espresso", "suite/barnes", "suite/alloc-test/1", ("suite/sh6bench", "own/batches/1"),
         ("suite/sh8bench", "own/batches/2"), "suite/mstress")         # of several names the first that was run
LARGE_MB = 10               # below that memory is mostly that of programs and libraries


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


class Figures:
    """Of a report: medians of ratios between allocators, by the names of cases."""

    def __init__(self, report):
        self.report = report
        self.cases = {case.name: case for case in report.cases}

    def named(self, names):
        names = (names,) if isinstance(names, str) else names
        return next((name for name in names if name in self.cases), names[0])

    def value(self, name, allocator, figure):
        case = self.cases.get(name)
        spread = self.report.spread(case, allocator, figure) if case else None
        return spread[0] if spread else None

    def ratio(self, name, other, figure):
        case, report = self.cases.get(name), self.report
        if not case or {(name, OURS), (name, other)} & report.failed:
            return None
        spread = report.results.spread_of_ratios(report.key(case, OURS), report.key(case, other), figure)
        return spread[0] if spread else None

    def by_better(self, name, others, figure):
        """By the better of the others that were run."""
        found = [ratio for ratio in (self.ratio(name, other, figure) for other in others) if ratio]
        return max(found) if found else None

    def of_part(self, part):
        return [name for name, case in self.cases.items() if case.part == part]

    def large(self, names):
        return [name for name in names if (self.value(name, BASE, "peak_mb") or 0) >= LARGE_MB]


# ---- rows: (what, at most, found or None, what is said beside it) ----

def mean_of(what, most, ratios):
    """ratios: {case: ratio or None}."""
    missing = [name for name, ratio in ratios.items() if ratio is None]
    found = geometric_mean(ratios.values()) if ratios and not missing else None
    return what, most, found, f"of {len(ratios)}" if found else f"missing: {' '.join(missing) or 'all'}"


def worst_of(what, most, ratios):
    missing = [name for name, ratio in ratios.items() if ratio is None]
    if not ratios or missing:
        return what, most, None, f"missing: {' '.join(missing) or 'all'}"
    worst = max(ratios, key=ratios.get)
    return what, most, ratios[worst], f"{worst}, of {len(ratios)}"


def one(what, most, found, case):
    return what, most, found, case if found is not None else f"missing: {case}"


def count_rows(f):
    pairs = [f"pairs/{pattern}/instructions" for pattern in ("hot", "batch", "random")]
    yield worst_of("a pair of A, B or C: instructions, worst", 45, {name: f.value(name, OURS, "instructions") for name in pairs})
    yield one("a realloc in place: instructions", 45, f.value("pairs/resize/instructions", OURS, "instructions"), "pairs/resize/instructions")


def speed_rows(f):
    heavy = [f.named(names) for names in HEAVY]
    peers, scaled = ("jemalloc", "tcmalloc"), [name for name in f.cases if name.startswith(("suite/cache-scratch", "suite/cache-thrash"))]
    yield mean_of("heavy programs, time by the better of jemalloc and tcmalloc, geometric mean", 1.05,
                  {name: f.by_better(name, peers, "seconds") for name in heavy})
    yield worst_of("the same by mimalloc, worst", 1.15, {name: f.ratio(name, "mimalloc", "seconds") for name in heavy})
    yield one("rptest, CPU time of an operation by glibc", 1.05, f.ratio("suite/rptest", BASE, "cpu_ns_per_operation"), "suite/rptest")
    yield one("larson, time of an operation by mimalloc", 1 / 0.85, f.ratio("suite/larson", "mimalloc", "ns_per_operation"), "suite/larson")
    yield one("xmalloc-test, the same", 1 / 0.45, f.ratio("suite/xmalloc-test", "mimalloc", "ns_per_operation"), "suite/xmalloc-test")
    yield worst_of("cache-scratch and cache-thrash, time by glibc, worst", 1.05, {name: f.ratio(name, BASE, "seconds") for name in scaled})
    yield worst_of("trees, time by tcmalloc, worst", 1.0, {name: f.ratio(name, "tcmalloc", "seconds") for name in ("own/trees/1", "own/trees/2")})
    yield one("one block grown to 1 GB by steps of 1 MB, time by glibc", 2.0, f.ratio("own/resize/giant", BASE, "seconds"), "own/resize/giant")
    yield one("alignments of 32 to 512: memory by what was asked for", 1.1, f.value("own/resize/aligned", OURS, "waste"), "own/resize/aligned")


def memory_rows(f):
    every = f.large([*f.of_part("suite"), *f.of_part("own")])
    yield worst_of(f"programs of the suite and our own, most memory by glibc, worst from {LARGE_MB} MB on", 1.2,
                   {name: f.ratio(name, BASE, "peak_mb") for name in every})
    real = f.of_part("programs")
    large = f.large(real)
    yield mean_of("real programs, CPU time by glibc, geometric mean", 1.0, {name: f.ratio(name, BASE, "cpu_seconds") for name in real})
    yield worst_of("the same, worst", 1.03, {name: f.ratio(name, BASE, "cpu_seconds") for name in real})
    yield mean_of("real programs, most memory by glibc, geometric mean", 1.15, {name: f.ratio(name, BASE, "peak_mb") for name in real})
    yield worst_of(f"the same, worst from {LARGE_MB} MB on", 1.3, {name: f.ratio(name, BASE, "peak_mb") for name in large})


def idle_rows(f):
    starts = [f.value("own/idle/start", allocator, "ns_per_operation") for allocator in (OURS, BASE)]
    yield one("a start of /bin/true, ms more than with glibc", 0.15, None if None in starts else (starts[0] - starts[1]) / 1e6, "own/idle/start")
    yield one("a program that does not allocate, time by glibc", 1.01, f.ratio("own/idle/loop", BASE, "seconds"), "own/idle/loop")


def verdict(most, found):
    return "-" if found is None else "reached" if found <= most else "missed"


def aims_table(report):
    """None without our malloc, or where nothing of it was measured."""
    if OURS not in report.names:
        return None
    figures = Figures(report)
    rows = [row for rows in (count_rows, speed_rows, memory_rows, idle_rows) for row in rows(figures)]
    if all(found is None for _, _, found, _ in rows):
        return None
    return "aims", ("what", "at most", OURS, "", "case"), \
        [(what, f"{most:.3g}", "-" if found is None else f"{found:.3f}", verdict(most, found), said) for what, most, found, said in rows]
