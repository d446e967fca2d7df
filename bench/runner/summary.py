# SPDX-License-Identifier: MIT
"""From single runs to medians, ratios and means."""
import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import median

from runner.cases import MODES, PEER, SGC, Variant, all_cases


@dataclass
class Side:
    """What the runs of one variant of a case come to.  If one of them failed, no median is formed."""
    median: float = math.nan
    least: float = math.nan
    most: float = math.nan
    collections: float = math.nan
    rss: float = math.nan
    handover: float = math.nan      # how far apart two processors were, in ns
    unit: str = ""
    failure: str = ""

    @property
    def failed(self):
        return bool(self.failure)


def numbers(runs, name):
    return [float(run.figures[name][0]) for run in runs if name in run.figures]


def side_of(runs, figure):
    bad = [run.failure for run in runs if run.failure]
    if bad or not runs:
        return Side(failure=f"{len(bad)} of {len(runs)} runs failed: {bad[0]}" if bad else "not run")
    values = numbers(runs, figure)
    return Side(median(values), min(values), max(values), median(numbers(runs, "collections")),
                median(numbers(runs, "peak_rss_mb")), median(numbers(runs, "handover_ns") or [math.nan]),
                runs[0].figures[figure][1])


def ratio(over, under):
    """None where there is no sensible one; nan, of sides that failed, is none."""
    return over / under if over > 0 and under > 0 else None


def mean(ratios):
    """Geometric; None of nothing."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


@dataclass
class Row:
    """A case in one mode, both sides."""
    case: object
    mode: str
    markers: str
    sgc: Side
    peer: Side

    @property
    def ratio(self):
        return ratio(self.sgc.median, self.peer.median)

    @property
    def rss_ratio(self):
        return ratio(self.sgc.rss, self.peer.rss)


@lru_cache(maxsize=None)
def known_cases():
    return {case.name: case for case in all_cases()}


def case_named(name):
    if name not in known_cases():
        raise ValueError(f"the results have a case \"{name}\" that this version of bench/ does not; run it again")
    return known_cases()[name]


def rows_of_case(name, by_variant):
    case = case_named(name)
    for variant, runs in by_variant.items():
        if variant.side == SGC:
            peer = Variant(PEER, MODES[variant.mode], variant.markers)
            yield Row(case, variant.mode, variant.markers, side_of(runs, case.figure),
                      side_of(by_variant.get(peer, []), case.figure))


def case_rows(results):
    return [row for name, by_variant in results.of("cases").items() for row in rows_of_case(name, by_variant)]


@dataclass
class Group:
    name: str
    mode: str
    markers: str
    ratios: list
    cases: int

    @property
    def mean(self):
        """Of a group with a failure there is none: it would be one of the others."""
        return mean(self.ratios) if len(self.ratios) == self.cases else None


def groups(rows):
    """In the order of the rows.  Where more is better a ratio would mean the opposite, so those are left out."""
    found = {}
    for row in rows:
        if row.case.less_is_better:
            key = (row.case.group, row.mode, row.markers)
            group = found.setdefault(key, Group(*key, [], 0))
            group.cases += 1
            group.ratios += [row.ratio] if row.ratio is not None else []
    return list(found.values())


def speed_ups(rows):
    """(case, markers, one marker's Side, many markers' Side) of SGC, in cases that ran with one and with more."""
    ones = {row.case.name: row.sgc for row in rows if row.markers == "1"}
    return [(row.case, row.markers, ones[row.case.name], row.sgc) for row in rows
            if row.markers not in ("-", "1") and row.case.name in ones]


def rates(results):
    """(case, variant, MB/s, objects/s, edges/s) of marking, by the median run; nothing of what failed."""
    found = []
    for name, by_variant in results.of("cases").items():
        for variant, runs in by_variant.items():
            if case_named(name).marks and not side_of(runs, case_named(name).figure).failed:
                seconds = median(numbers(runs, case_named(name).figure)) / 1e3
                found.append((name, variant, median(numbers(runs, "mb_per_s")),
                              *(median(numbers(runs, what)) / seconds for what in ("objects", "edges"))))
    return found


def columns(results, figures_of):
    """(case, variant, the numbers of each of its figures); nothing where a run failed or lacks one, as older results may."""
    for name, by_variant in results.of("cases").items():
        figures = figures_of(case_named(name))
        for variant, runs in by_variant.items():
            if figures and all(not run.failure and set(figures) <= set(run.figures) for run in runs):
                yield name, variant, [numbers(runs, figure) for figure in figures]


@dataclass
class Floor:
    """A case beside what its program takes without a collector, in the same process; medians of all processes."""
    case: str
    variant: Variant
    taken: float
    least: float
    times: float                # the first by the second
    added: float                # the first less the second


def floors(results):
    found = columns(results, lambda case: (case.figure, case.floor) if case.floor else ())
    return [Floor(name, variant, median(taken), median(least), median(one / other for one, other in zip(taken, least)),
                  median(one - other for one, other in zip(taken, least))) for name, variant, (taken, least) in found]


def added(results):
    """(case, mode, what SGC adds to the program by what bdwgc adds), None of the last where bdwgc adds nothing that shows."""
    of_all = {(floor.case, floor.variant.side, floor.variant.mode): floor.added for floor in floors(results)}
    pairs = [(name, mode, value, of_all.get((name, PEER, MODES[mode]))) for (name, side, mode), value in of_all.items()
             if side == SGC]
    return [(name, mode, max(ours, 0) / peers if peers > 0 else None) for name, mode, ours, peers in pairs if peers is not None]


def controls(results):
    """(case, variant, what two processors give it, what they give the control, the first by the second): medians."""
    return [(name, variant, *map(median, figures))
            for name, variant, figures in columns(results, lambda case: case.control)]


def handovers(results):
    """Of all runs: how long a word took to go from one processor to another and back."""
    return [ns for by_variant in results.runs.values() for runs in by_variant.values() for ns in numbers(runs, "handover_ns")]


def preset_rows(results):
    """(case, {preset: Side}, bdwgc's Side)"""
    found = []
    for name, by_variant in results.of("presets").items():
        case = case_named(name)
        presets = {v.preset: side_of(runs, case.figure) for v, runs in by_variant.items() if v.side == SGC}
        peer = next((side_of(runs, case.figure) for v, runs in by_variant.items() if v.side == PEER),
                    Side(failure="not run"))
        found.append((case, presets, peer))
    return found


def count_rows(results):
    """(operation, {side: (instructions, zeroing)}, {side: failure})"""
    found = []
    for name, by_variant in results.of("instructions").items():
        counted, failed = {}, {}
        for variant, runs in by_variant.items():
            if runs[0].failure:
                failed[variant.side] = runs[0].failure
            else:
                counted[variant.side] = tuple(numbers(runs, n)[0] for n in ("instructions", "zeroing"))
        found.append((name, counted, failed))
    return found
