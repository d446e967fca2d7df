# SPDX-License-Identifier: MIT
"""The report: tables for each part, ratios to the C library's malloc, and a picture of time and of memory."""
import math

from comparison.aims import aims_table
from comparison.allocators import BASE
from comparison.cases import PARTS
from runner import plots
from runner.tables import as_markdown

# Figure, title, its unit, of the tables of each part.
COMMON = (("seconds", "time", "s"), ("cpu_seconds", "CPU time of all threads", "s"), ("peak_mb", "most resident memory", "MB"),
          ("resting_mb", "resident memory at rest", "MB"))
TABLES = {"pairs": (("ns_per_operation", "time of a pair", "ns"), ("instructions", "instructions of a pair", "")),
          "own": COMMON, "programs": COMMON,
          "suite": (*COMMON, ("ns_per_operation", "time of an operation of programs that run for a fixed time", "ns"),
                    ("cpu_ns_per_operation", "CPU time of such an operation", "ns"))}
PICTURES = (("time", ("seconds", "ns_per_operation"), "time"), ("peak", ("peak_mb",), "most resident memory"),
            ("resting", ("resting_mb",), "resident memory at rest"))
MARKS = (7, 5, 9, 11, 13, 15, 4, 6, 8, 10)      # gnuplot's


def plain(value):
    if value == 0:
        return "0"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def ratio_cell(spread):
    """Of the rounds, in which both ran one after the other."""
    if spread is None:
        return "-"
    middle, least, most = spread
    return f"{middle:.2f}" if f"{least:.2f}" == f"{most:.2f}" else f"{middle:.2f} ({least:.2f}..{most:.2f})"


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


class Report:
    def __init__(self, cases, names, results, about):
        """cases: those that were run; names: of the allocators; results: study.results.Results."""
        self.cases, self.names, self.results, self.about = cases, names, results, about
        self.failed = {failure[:2] for failure in results.failures}

    def key(self, case, name):
        return case.name, name, case.threads

    def spread(self, case, name, figure):
        """(median, least, most), or None: of what failed once there is none."""
        return None if (case.name, name) in self.failed else self.results.spread(self.key(case, name), figure)

    def ratio(self, case, name, figure):
        if {(case.name, name), (case.name, BASE)} & self.failed:
            return None
        return self.results.spread_of_ratios(self.key(case, name), self.key(case, BASE), figure)

    # ---- tables ----

    def others(self):
        return [name for name in self.names if name != BASE]

    def row(self, case, figure, unit):
        base = self.spread(case, BASE, figure)
        cells = ["FAILED" if (case.name, name) in self.failed else ratio_cell(self.ratio(case, name, figure)) for name in self.others()]
        first = "FAILED" if (case.name, BASE) in self.failed else "-" if base is None else f"{plain(base[0])} {unit}".strip()
        return (case.name.split("/", 1)[1], first, *cells)

    def mean_row(self, cases, figure):
        """Of an allocator that lacks a case there is no mean."""
        cells, cases = [], [case for case in cases if not case.only]
        for name in self.others():
            ratios = [spread[0] for spread in (self.ratio(case, name, figure) for case in cases) if spread and spread[0] > 0]
            cells.append(f"{geometric_mean(ratios):.2f}" if ratios and len(ratios) == len(cases) else "-")
        return ("geometric mean", "", *cells)

    def has(self, case, figure):
        return any(self.results.values(self.key(case, name), figure) for name in self.names)

    def rows_of(self, part, figure):
        """The cases that have the figure.  One that failed on all is in the first table."""
        def is_first(case):
            return figure == ("instructions" if case.counted else TABLES[part][0][0])
        return [case for case in self.cases if case.part == part and
                (self.has(case, figure) or is_first(case) and all((case.name, name) in self.failed for name in self.names))]

    def ratios_table(self, part, figure, title, unit):
        cases = self.rows_of(part, figure)
        if not cases:
            return None
        rows = [self.row(case, figure, unit) for case in cases]
        if len([case for case in cases if not case.only]) > 1:
            rows.append(self.mean_row(cases, figure))
        return f"{part}: {title}", ("case", BASE, *self.others()), rows

    def value_cell(self, case, name, figure):
        spread = self.spread(case, name, figure)
        return "FAILED" if (case.name, name) in self.failed else "-" if spread is None else plain(spread[0])

    def more_table(self, part):
        """What single cases tell beside that, in their own units."""
        rows = [(case.name.split("/", 1)[1], title, *(self.value_cell(case, name, figure) for name in self.names))
                for case in self.cases if case.part == part for figure, title in case.more if self.has(case, figure)]
        return (f"{part}: more", ("case", "what", *self.names), rows) if rows else None

    def tables(self):
        found = [aims_table(self)]
        for part in PARTS:
            found += [self.ratios_table(part, *figure) for figure in TABLES[part]]
            found.append(self.more_table(part))
        return [table for table in found if table]

    def titles(self):
        return "what the cases do", ("case", "what"), [(case.name, case.title) for case in self.cases]

    # ---- pictures ----

    def points(self, name, rows):
        """[(ratio, row)]; rows: [(case, figure)]."""
        spreads = [self.ratio(case, name, figure) for case, figure in rows]
        return [(spread[0], row) for row, spread in enumerate(spreads) if spread and spread[0] > 0]

    def rows_drawn(self, figures):
        """(case, the first of the figures that it has), from the bottom up."""
        found = [(case, next((figure for figure in figures if self.has(case, figure)), None)) for case in self.cases[::-1]]
        return [(case, figure) for case, figure in found if figure]

    def picture(self, figures, title):
        """(gnuplot's commands, height), or None if there is nothing to draw."""
        rows = self.rows_drawn(figures)
        curves = [(name, self.points(name, rows)) for name in self.others()]
        curves = [curve for curve in curves if curve[1]]
        if not curves:
            return None
        names = [(1, row, plots.quoted(case.name)) for row, (case, _) in enumerate(rows)]
        every = [1.0] + [ratio for _, points in curves for ratio, _ in points]
        text = plots.data("names", names) + "".join(plots.data(f"d{i}", points) for i, (_, points) in enumerate(curves))
        lines = ["$names using 1:2:ytic(3) with points pointtype 0 notitle"]
        lines += [f"$d{i} using 1:2 with points pointtype {MARKS[i % len(MARKS)]} pointsize 0.9 title {plots.quoted(name)}"
                  for i, (name, _) in enumerate(curves)]
        return f"{text}set title '{title} by that of {BASE}: left of 1 is less'\nset logscale x\nset grid\nset key outside top center horizontal\n" \
                      f"set xrange [{0.9 * min(every)}:{1.1 * max(every)}]\nset xtics (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50)\n" \
                      f"set yrange [-1:{len(names)}]\nset ytics font ',9'\n" \
                      f"set arrow from 1,-1 to 1,{len(names)} nohead linewidth 2\nplot " + ", \\\n".join(lines) + "\n", 160 + 16 * len(names)

    def draw(self, folder):
        """(the names of the files drawn, what went wrong)"""
        pictures = [(name, self.picture(figures, title)) for name, figures, title in PICTURES]
        return plots.draw_scripts([(name, *picture) for name, picture in pictures if picture], folder)

    # ---- the text ----

    def text(self, pictures):
        parts = ["# malloc compared", ""]
        parts += [f"- {name}: {value}" for name, value in self.about.items()]
        parts += [f"- not available: {name}: {why}" for name, why in self.results.missing.items()]
        parts += [f"- FAILED: {', '.join(map(str, failure))}" for failure in self.results.failures]
        parts += ["", f"Columns behind {BASE} are ratios to it, below 1 where it is less: the median of the rounds, in which all ran in turn",
                  f"(least..most). {BASE} itself is in units.", ""]
        parts += [f"![{name.split('.')[0]}, by that of {BASE}]({name})\n" for name in pictures]
        return "\n".join(parts) + "\n" + "\n".join(as_markdown(table) for table in [*self.tables(), self.titles()])
