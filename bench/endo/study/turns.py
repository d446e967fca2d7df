# SPDX-License-Identifier: MIT
"""What chapters 2 and 3 share: rounds, in which versions take turns, and tables that have the thesis' figures beside ours."""
import os
from dataclasses import dataclass

from runner import plots
from study.experiments import layout, plain, shown
from study.results import Results


@dataclass
class Study:
    """What is measured, and where it goes."""
    plan: object                # measure.Plan
    options: object
    results: Results
    path: str                   # of results.tsv
    say: object                 # tells the user how far it is

    def rounds(self, measure):
        for number in range(1, self.options.times + 1):
            measure(number)
            self.results.about["rounds"] = number       # an interrupted run has fewer than were asked for
            self.results.write(self.path)

    def tell(self, number, program, threads):
        self.say(f"round {number} of {self.options.times}: {program}, {threads} thread{'s' if threads > 1 else ''}")

    def record(self, key, number, figures, failure):
        self.results.add(key, number, figures, failure)
        if failure:
            self.say(f"{', '.join(map(str, key))}, round {number}: FAILED: {failure}")


def turns(things, number):
    """Every second round backwards, so that a slow moment of the machine meets all."""
    return things if number % 2 == 1 else things[::-1]


class Sheet:
    """Text and lines for the TSV of one experiment."""

    def __init__(self, results, quoted):
        self.results, self.quoted = results, quoted
        self.text, self.lines = "", []

    def threads(self, name):
        return sorted({threads for program, _, threads in self.results.runs if program == name})

    def note(self, source, machine, key, what, spread, unit):
        """A cell of a table; what was found is a line, too.  key: (program, version, threads)."""
        if spread is not None:
            self.lines.append((source, machine, *key, what, *(f"{v:.6g}" for v in spread), unit))
        return shown(spread)

    def cells(self, program, name, version, threads, columns):
        """Of one row; name: the program's in the results, columns: (figure, title, unit)."""
        return [self.note("measured", "this", (program, version, threads), what,
                          self.results.spread((name, version, threads), what), unit) for what, _, unit in columns]

    def add(self, title, head, rows):
        self.text += layout(title, head, rows)

    def state(self, title):
        """What the thesis says, as it stands there."""
        self.add(title, ("program", "version", "threads", "", "", "place"),
                 [(q.program, q.version, q.threads, q.what, q.value if q.unit == "-" else f"{q.value} {q.unit}", q.place)
                  for q in self.quoted])

    def finish(self, name, title):
        self.lines += [("thesis", q.machine, q.program, q.version, q.threads, q.what, q.value, "-", "-", q.unit)
                       for q in self.quoted]
        self.text = f"== {name}, {title}\n\n{self.text}"
        return self

    def points(self, source, machine, program, version, what):
        """(x, y) of the lines that are this."""
        wanted = (source, machine, program, version)
        return [(line[4], line[6]) for line in self.lines if line[:4] == wanted and line[5] == what]


def as_number(text):
    try:
        return plain(float(text))
    except ValueError:
        return text


# ---- plots ----

def panel(number, title, unit, curves, bounds="0:*"):
    """gnuplot's commands for one of several graphs.  curves: [(title, points, style)]."""
    curves = [curve for curve in curves if curve[1]]
    text = "".join(plots.data(f"p{number}c{i}", points) for i, (_, points, _) in enumerate(curves))
    lines = [f"$p{number}c{i} {style} title '{name}'" for i, (name, _, style) in enumerate(curves)]
    head = f"set title '{title}'\nset ylabel '{unit}'\nset yrange [{bounds}]\nplot "
    return text + head + ", \\\n".join(lines) + "\n" if curves else ""


def draw(name, folder, panels, setting):
    """Draws panels in two columns into NAME.svg: what went wrong, or an empty string."""
    panels = [text for text in panels if text]
    if not panels:
        return ""
    rows = (len(panels) + 1) // 2
    text = f"{setting}\nset grid\nset key below\nset multiplot layout {rows},2\n{''.join(panels)}unset multiplot\n"
    return plots.draw_scripts([(name, text, 60 + 340 * rows)], os.fspath(folder))[1]
