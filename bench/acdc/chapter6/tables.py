# SPDX-License-Identifier: MIT
"""Figures of an experiment beside the thesis': text, TSV, and gnuplot's commands."""
from chapter6 import factorial
from chapter6.experiments import COSTS
from runner import plots
from study.experiments import layout, shown

TSV = ("source", "machine", "experiment", "version", "level", "what", "median", "least", "most", "unit")
PLOT = "set termoption noenhanced\nset grid\nset key outside right\n"     # names have underlines
LEAST_SHARE = 1.0               # %: effects below it are in the TSV only


class Report:
    """Of one experiment.  `runs` are those of a round, in order; results have them by (experiment, version, level)."""

    def __init__(self, experiment, runs, results, quoted, processors):
        self.experiment, self.results, self.quoted, self.processors = experiment, results, quoted, processors
        self.versions = list(dict.fromkeys(run.version for run in runs))
        self.levels = list(dict.fromkeys(run.level for run in runs))
        self.lines, self.panels = [], []
        self.text = f"== {experiment.name}, {experiment.title}\n\n"
        self.quote()

    def quote(self):
        rows = [(q.program, q.version, q.threads, q.what, q.value if q.unit == "-" else f"{q.value} {q.unit}", q.place)
                for q in self.quoted]
        self.text += layout("thesis; the curves' points are not in its text", ("what", "version", "level", "", "", "place"), rows)
        self.lines += [("thesis", q.machine, q.program, q.version, q.threads, q.what, q.value, "-", "-", q.unit) for q in self.quoted]

    def spread(self, version, level, figure, scale):
        found = self.results.spread((self.experiment.name, version.name, level), figure)
        return tuple(value / scale for value in found) if found else None

    def note(self, version, level, what, spread, unit):
        if spread is not None:
            self.lines.append(("measured", "this", self.experiment.name, version, level, what, *(f"{v:.6g}" for v in spread), unit))

    def heading(self):
        """Threads beyond the processors take turns."""
        shared = " (time-shared)"
        return [f"{level}{shared if self.experiment.unit == 'threads' and level > self.processors else ''}" for level in self.levels]

    def figure(self, figure, what, unit, scale):
        rows, curves = [], {}
        for version in self.versions:
            spreads = [self.spread(version, level, figure, scale) for level in self.levels]
            if not any(spreads):
                continue
            rows.append((version.name, *map(shown, spreads)))
            curves[version.name] = [(level, s[0]) for level, s in zip(self.levels, spreads) if s]
            for level, spread in zip(self.levels, spreads):
                self.note(version.name, level, what, spread, unit)
        if rows:
            self.text += layout(f"{what}, {unit}", (self.experiment.unit, *self.heading()), rows)
            self.panels.append((what, unit, curves))

    def ratio(self, figure, what):
        """By the version that counts bytes in the same way, by rounds."""
        name, rows = self.experiment.name, []
        for version in self.versions:
            spreads = [self.results.spread_of_ratios((name, version.name, level), (name, version.baseline, level), figure)
                       for level in self.levels]
            if any(spreads):
                rows.append((version.name, version.baseline, *map(shown, spreads)))
            for level, spread in zip(self.levels, spreads):
                self.note(version.name, level, what, spread, version.baseline)
        if rows:
            self.text += layout(what, (self.experiment.unit, "by", *self.heading()), rows)

    # ---- the factorial experiment ----

    def shares_of(self, version, figure):
        responses = {level: self.results.values((self.experiment.name, version.name, level), figure) for level in self.levels}
        runs = min(map(len, responses.values()))
        labels = "".join(f.label for f in factorial.FACTORS)
        return factorial.shares({level: values[:runs] for level, values in responses.items()}, labels) if runs else None

    def factors(self, factors):
        self.text += layout("factors", ("", "", "low", "high"), [(f.label, f.meaning, f.low[0], f.high[0]) for f in factors])
        for version in self.versions:
            found = {cost: self.shares_of(version, f"{cost}_ns") for cost in COSTS}
            found = {cost: shares for cost, shares in found.items() if shares}
            if found:
                self.effects(version, found)

    def effects(self, version, found):
        rows = []
        for effect in next(iter(found.values())):
            for cost, shares in found.items():
                self.note(version.name, effect, f"{cost}, share of the variation", (shares[effect],) * 3, "%")
            if max(shares[effect] for shares in found.values()) >= LEAST_SHARE:
                rows.append((effect, *(f"{shares[effect]:.1f}" for shares in found.values())))
        self.text += layout(f"{version.name}: share of the variation, %", ("effect", *found), rows)
        self.panels.append((f"{version.name}: share of the variation", "%", rows, tuple(found)))

    # ---- drawings ----

    def script(self):
        """(gnuplot's commands, height), or None."""
        if not self.panels:
            return None
        draw = self.bars if self.experiment.unit == "factors" else self.curves
        text = f"{PLOT}set multiplot layout {len(self.panels)},1\n"
        for number, panel in enumerate(self.panels):
            text += draw(number, *panel)
        return text + "unset multiplot\n", 80 + 280 * len(self.panels)

    def curves(self, number, what, unit, points):
        text = f"set xlabel '{self.experiment.unit}'\nset xtics ({', '.join(map(str, self.levels))})\nset title '{what}'\n" \
               f"set ylabel '{unit}'\nset logscale y\n"
        drawn = []
        for i, (version, line) in enumerate(points.items()):
            text += plots.data(f"d{number}x{i}", [point for point in line if point[1] > 0])
            if any(point[1] > 0 for point in line):
                drawn.append(f"$d{number}x{i} with linespoints pointtype {i + 4} title '{version}'")
        return text + (f"plot {', '.join(drawn)}\n" if drawn else "")

    def bars(self, number, what, unit, rows, costs):
        text = plots.data(f"d{number}", [("effect", *map(plots.quoted, costs)), *rows])
        return text + f"set title '{what}'\nset ylabel '{unit}'\nset style data histogram\nset style fill solid 0.7\n" \
                      f"set yrange [0:*]\nplot for [i=2:{len(costs) + 1}] $d{number} using i:xtic(1) title columnheader(i)\n"


def over_time(report, units, level):
    """Managed memory by the time of the thread, of the last round: another drawing."""
    text, drawn = f"{PLOT}set xlabel 'time'\nset ylabel 'MB'\nset title 'Managed memory over time'\n", []
    for i, version in enumerate(report.versions):
        rounds = report.results.runs.get((report.experiment.name, version.name, level), [])
        points = [(t, rounds[-1][f"bytes_at_{t}"] / (1 << 20)) for t in range(1, units + 1) if rounds and f"bytes_at_{t}" in rounds[-1]]
        if points:
            text += plots.data(f"t{i}", points)
            drawn.append(f"$t{i} with lines title '{version.name}'")
        for t, megabytes in points:
            report.note(version.name, level, f"managed memory at {t}", (megabytes,) * 3, "MB")
    return (text + f"plot {', '.join(drawn)}\n", 480) if drawn else None
