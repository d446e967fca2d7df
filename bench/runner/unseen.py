# SPDX-License-Identifier: MIT
"""What bench/held-out finds: its file of results, held-out.tsv, and the tables that doc/studies/perfmodel.md has of it.

An error is in percent of what was measured: + is too slow a prediction.  Measured is the quickest of the marks, since other
programs only make them slower; the median stands beside it.
"""
from dataclasses import dataclass
from statistics import median

from runner.results import read_file

COLUMNS = ("set", "heap", "objects", "edges", "megabytes", "markers", "measured_ms", "predicted_ms", "simulated_ms", "chosen")
KINDS = {"fitted": "fitted heaps", "new": "new heaps", "program": "other programs"}
AIM = (15, 40)                  # percent: the median and the worst
FORMS = ("predicted", "simulated")


@dataclass
class Mark:
    kind: str
    heap: str
    objects: int
    edges: int
    megabytes: float
    markers: int
    measured: list              # ms, of all runs, sorted
    predicted: float
    simulated: float
    chosen: int                 # of so many markers, by SGC_MARKER_CHOICE=model

    def fields(self):
        return (self.kind, self.heap, self.objects, self.edges, f"{self.megabytes:.1f}", self.markers,
                " ".join(f"{ms:.3f}" for ms in self.measured), f"{self.predicted:.3f}", f"{self.simulated:.3f}", self.chosen)


def write(path, about, marks):
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(f"# {key}\t{value}\n" for key, value in about.items())
        f.write("\t".join(COLUMNS) + "\n")
        f.writelines("\t".join(map(str, mark.fields())) + "\n" for mark in marks)


def read(path):
    """({key: value} of its head, marks); ValueError if it is something else."""
    about, rows = read_file(path, COLUMNS, "held-out.tsv", "held-out.tsv of bench/held-out")
    return about, [Mark(r[0], r[1], int(r[2]), int(r[3]), float(r[4]), int(r[5]), [float(ms) for ms in r[6].split()], float(r[7]),
                        float(r[8]), int(r[9])) for r in rows]


# ---- errors ----

def error(found, real):
    return 100 * (found / real - 1)


def pairs(marks):
    """(with one marker, with two) of each heap that has both."""
    of = {(mark.kind, mark.heap, mark.markers): mark for mark in marks}
    return [(one, of[kind, heap, 2]) for (kind, heap, n), one in of.items() if n == 1 and (kind, heap, 2) in of]


def time_errors(marks, form, real):
    return [error(getattr(mark, form), real(mark.measured)) for mark in marks]


def gain(pair, form, real=min):
    """How many times as fast two markers are as one."""
    one, two = (real(mark.measured) if form == "measured" else getattr(mark, form) for mark in pair)
    return one / two


def gain_errors(marks, form, real):
    return [error(gain(pair, form), gain(pair, "measured", real)) for pair in pairs(marks)]


def loss(pair):
    """How much longer, in percent, the mark takes with as many markers as SGC_MARKER_CHOICE=model has of two than with the better
    number; measured."""
    times = {mark.markers: min(mark.measured) for mark in pair}
    return 100 * (times[pair[1].chosen] / min(times.values()) - 1)


# ---- tables ----

def table(heading, rows):
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in (heading, ["---"] * len(heading), *rows))


def told(errors):
    sizes = [abs(e) for e in errors]
    return f"{median(sizes):.0f}, {max(sizes):.0f}" if sizes else "-"


def summary(marks):
    """The median and the worst of each set's errors."""
    rows = []
    for kind, name in KINDS.items():
        mine = [mark for mark in marks if mark.kind == kind]
        for what, mine_of, errors in ((f"time, {n} marker{'s' * (n > 1)}", [m for m in mine if m.markers == n], time_errors)
                                      for n in sorted({m.markers for m in mine})):
            rows.append((name, what, *(told(errors(mine_of, form, real)) for real in (min, median) for form in FORMS)))
        if pairs(mine):
            rows.append((name, "speed-up of two", *(told(gain_errors(mine, form, real)) for real in (min, median) for form in FORMS)))
            rows.append((name, "all three", *(told(time_errors(mine, form, real) + gain_errors(mine, form, real))
                                              for real in (min, median) for form in FORMS)))
    return table(("heaps", "error of", "predicted", "simulated", "predicted, by medians", "simulated, by medians"), rows)


def by_time(marks):
    rows = []
    for mark in marks:
        real = min(mark.measured)
        first = (f"{mark.heap}, {mark.kind}", mark.objects, mark.edges, f"{mark.megabytes:.1f}") if mark.markers == 1 else ("",) * 4
        rows.append((*first, mark.markers, f"{real:.2f} ({median(mark.measured):.2f})",
                     *(f"{getattr(mark, form):.2f} ({error(getattr(mark, form), real):+.0f})" for form in FORMS)))
    return table(("heap", "objects", "edges", "MB", "markers", "measured, ms (median)", "predicted (error)", "simulated (error)"), rows)


def by_gain(marks):
    rows = []
    for pair in pairs(marks):
        real = gain(pair, "measured")
        rows.append((f"{pair[0].heap}, {pair[0].kind}", f"{real:.2f} ({gain(pair, 'measured', median):.2f})",
                     *(f"{gain(pair, form):.2f} ({error(gain(pair, form), real):+.0f})" for form in FORMS),
                     pair[1].chosen, f"{loss(pair):.0f}"))
    return table(("heap", "speed-up of two (of medians)", "predicted (error)", "simulated (error)", "`model` has", "and loses, percent"),
                 rows)


def verdict(marks):
    """Whether the aim is met, for the heaps that it is about."""
    new, lines = [mark for mark in marks if mark.kind == "new"], []
    for form in FORMS if new else ():
        sizes = [abs(e) for e in time_errors(new, form, min) + gain_errors(new, form, min)]
        met = median(sizes) <= AIM[0] and max(sizes) <= AIM[1]
        lines.append(f"New heaps, {form}: median error {median(sizes):.0f} percent, worst {max(sizes):.0f}, of {len(sizes)}; the aim is "
                     f"{AIM[0]} and {AIM[1]}: {'met' if met else 'not met'}.\n")
    return "".join(lines)


def tables(marks):
    return "\n".join(part for part in (summary(marks), by_time(marks), by_gain(marks), verdict(marks)) if part)


# ---- the document ----

BEGIN, END = "<!-- bench/held-out --document writes from here -->\n", "<!-- to here -->\n"


def section(about, marks):
    """What a document says of a file of results."""
    spoilt = about["not for quoting"]
    lines = [f"`{about['command']}`, revision {about['revision']}, {about['date']},",
             f"{about['machine']}; {about['rounds']} runs for each number of markers;", f"{about['others']}."]
    lines += ["", f"**These figures are not for quoting: {spoilt}.**"] if spoilt != "-" else []
    return "\n".join(lines) + "\n\n" + tables(marks)


def fill(text, about, marks):
    """The document with its part written anew; ValueError if it has none."""
    if BEGIN not in text or END not in text[text.index(BEGIN):]:
        raise ValueError(f"no part of the document is between {BEGIN.strip()} and {END.strip()}")
    before, rest = text.split(BEGIN, 1)
    return f"{before}{BEGIN}\n{section(about, marks)}\n{END}{rest.split(END, 1)[1]}"
