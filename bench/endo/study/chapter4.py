# SPDX-License-Identifier: MIT
"""Chapter 4's experiments: tables and drawings of how far predictions of the mark are from simulated and measured marks, and of
what predictions are good for.  "Real" is the thesis' word for what its machines did; here a simulator stands for them.
"""
import os
from statistics import median

from runner import plots
from study import model, snapshots
from study.experiments import layout, shown
from study.model import (COUNTED, FAST, GIVEN, HERE, MACHINES, MEASURED, MEASURED_AT, ONCE, OVERLAP, PRED, REAL, RULES,
                         SUBJECTS, UNCONTENDED)
from study.results import thesis

FORMS = (PRED, UNCONTENDED, ONCE)
TABLE_KEYS = ("processors", "nodes", "read_local_ns", "read_remote_ns", "read_occupancy_ns", "rmw_local_ns", "rmw_remote_ns",
              "rmw_occupancy_ns")
SAID = {
    "t4.1": """What a machine file has for the thesis' machines, beside the thesis' table, and where each number is from; then
this machine as sgc-machine measures it. Keys that the thesis does not have stand below: the model needs some of them, the
simulator the others. They were fixed before anything was predicted with them.""",
    "t4.2": """How much faster (+) or slower (-) than real the prediction is with 48 processors: whole; without one of its
parts; and with as many misses as were counted in the simulation instead of Q_1 + N_S L. Real is a simulated mark by the thesis'
marker here. Median, least and most of the collections.""",
    "t4.3": """The whole predictor (slow), and the fast one, which knows only how much lives and where. Overhead is what
predicting computes by what the mark takes, both on this machine, with one marker: of slow all of sgc-predict, from reading the
snapshot on; of fast one more number of processors in all forms together, so it is less than that. Errors as in table 4.2.
Below: marks on this machine, each collection's quickest of all runs, beside what is predicted and simulated with its machine
file.""",
    "t4.4": """All of the markers that are given, or as many of them as a rule chooses: "fast" is the fast predictor with all of
the machine file, "model" and "cost" are rules of SGC_MARKER_CHOICE. Speeds are simulated, one marker's being 1; median,
least and most of the collections.""",
    "f4.4": """Speed by processors, one marker's real speed being 1. Real is simulated; predictions are whole, without
contention (M_P = M_1), without the misses that steals add (Q_P = Q_1), and with as many misses as were counted.""",
    "f4.5": """The same memory with more processors than there were: what is predicted, and beside it what is simulated, which
the thesis has not. One marker's simulated speed is 1.""",
}


def source_of(version):
    return "predicted" if version.startswith("Pred") else "measured" if version == MEASURED else "simulated"


class Page:
    """Text and lines for the TSV of one experiment."""

    def __init__(self, results, folder, quoted):
        self.results, self.folder, self.quoted = results, folder, quoted
        self.text, self.lines = "", []

    def key(self, subject, machine, version, processors):
        return f"{subject.name}/{machine}", version, processors

    def processors(self, subject, machine, version):
        return sorted(n for name, v, n in self.results.runs if (name, v) == (f"{subject.name}/{machine}", version))

    def note(self, subject, machine, version, processors, what, spread, unit, source=None):
        """A cell, and a line for the TSV."""
        if spread is not None:
            self.lines.append((source or source_of(version), "this" if machine == HERE else machine, subject.name, version,
                               processors, what, *(f"{v:.6g}" for v in spread), unit))
        return shown(spread)

    def note_thesis(self):
        self.lines += [("thesis", q.machine, q.program, q.version, q.threads, q.what, q.value, "-", "-", q.unit)
                       for q in self.quoted]

    def speed(self, subject, machine, version, processors, called=None):
        """By one real marker's."""
        spread = self.results.spread_of_ratios(self.key(subject, machine, REAL, 1),
                                               self.key(subject, machine, version, processors), "time_ms")
        return self.note(subject, machine, called or version, processors, "speedup", spread, "-")

    def error(self, subject, machine, version, processors, of=REAL):
        """In percent, + is too fast."""
        spread = self.results.spread_of_ratios(self.key(subject, machine, of, processors),
                                               self.key(subject, machine, version, processors), "time_ms")
        return self.note(subject, machine, version, processors, "error" if of == REAL else "error against measured",
                         spread and tuple((ratio - 1) * 100 for ratio in spread), "%")

    def peak(self, subject, machine, version):
        """The number of processors of figure 4.5 with the least time, in each collection."""
        of = {n: self.results.values(self.key(subject, machine, version, n), "time_ms")
              for n in model.processors_of("f4.5", machine)}
        best = [min(zip(times, of))[1] for times in zip(*of.values())]
        return (median(best), min(best), max(best)) if best else None

    def count(self, subject, machine, version, processors, what):
        """Steals, misses, or how many misses a steal adds."""
        key, one = self.key(subject, machine, version, processors), self.key(subject, machine, version, 1)
        spread = self.results.spread(key, what)
        if what == "added":
            rounds = zip(self.results.runs.get(key, ()), self.results.runs.get(one, ()))
            added = [(many["misses"] - few["misses"]) / many["steals"] for many, few in rounds if many["steals"]]
            spread = (median(added), min(added), max(added)) if added else None
        return self.note(subject, machine, version, processors, what, spread, "number")

    def said(self, **of):
        """The thesis' value of such a line, or an empty string."""
        found = [q for q in self.quoted if all(getattr(q, name) == str(value) for name, value in of.items())]
        return found[0].value if found else ""


# ---- tables ----

def machines(page):
    """Table 4.1."""
    folder = os.path.join(snapshots.SOURCE, "perfmodel", "machines")
    files = {file: model.read_machine(os.path.join(folder, file + ".machine")) for file in (*MACHINES.values(), "rome2")}
    names = {**{file: name for name, file in MACHINES.items()}, "rome2": "rome2"}
    for file, keys in files.items():
        rows = [(key, page.said(machine=names[file], what=key), value, source) for key, value, source in keys]
        first = [row for row in rows if row[0] in TABLE_KEYS]
        rest = [row for row in rows if row[0] not in TABLE_KEYS]
        page.text += layout(f"{file}.machine", ("key", "thesis", "ours", "source"), first + rest)
        page.lines += [("file", names[file], "-", source or "-", "-", key, value, "-", "-", "-") for key, value, source in keys]
    here = model.here(page.folder)
    keys = model.read_machine(here) if os.path.exists(here) else []
    page.text += layout("this machine", ("key", "ours", "source"), keys)
    page.lines += [("measured", "this", "-", source or "-", "-", key, value, "-", "-", "-") for key, value, source in keys]


def percent(text):
    return text and f"{float(text):+g}"


def differences(page):
    """Table 4.2."""
    errors, misses = [], []
    for machine in MACHINES:
        for subject in SUBJECTS:
            of = f"{subject.name}/{machine}"
            cells = []
            for form in FORMS:
                cells += [percent(page.said(machine=machine, program=subject.name, version=form)),
                          page.error(subject, machine, form, MEASURED_AT)]
            errors.append((of, *cells, page.error(subject, machine, COUNTED, MEASURED_AT)))
            misses.append((of, *(page.count(subject, machine, version, MEASURED_AT, what) for version in (PRED, REAL)
                                 for what in ("steals", "misses", "added"))))
    heading = [word for form in FORMS for word in (f"{form}, thesis", "ours")]
    page.text += layout("percent faster (+) or slower (-) than real", ("", *heading, COUNTED), errors)
    page.text += layout("steals, misses, and misses that a steal adds, 48 processors", (
        "", *(f"{what}, {by}" for by in ("predicted", "simulated") for what in ("steals", "misses", "added"))), misses)


def predictors(page):
    """Table 4.3."""
    subject, rows = SUBJECTS[0], []
    for name, version in (("slow", PRED), ("fast", FAST)):
        cost = page.results.spread_of_ratios(page.key(subject, HERE, name, 1), page.key(subject, HERE, MEASURED, 1), "time_ms")
        rows.append((f"{name}, thesis", page.said(version=name, what="overhead"),
                     *(page.said(version=name, what="error", threads=n) for n in (1, MEASURED_AT))))
        rows.append((f"{name}, ours",
                     page.note(subject, HERE, name, 1, "overhead", cost and tuple(100 * c for c in cost), "%", "measured"),
                     *(page.error(subject, "O2K", version, n) for n in (1, MEASURED_AT))))
    page.text += layout("BH-st/O2K, percent", ("predictor", "overhead, 1", "error, 1", f"error, {MEASURED_AT}"), rows)
    on_this(page)


def on_this(page):
    """This machine's marks, for which the thesis has nothing."""
    times, errors, versions = [], [], (MEASURED, OVERLAP, PRED, REAL)
    for subject in SUBJECTS:
        for n in page.processors(subject, HERE, MEASURED):
            spreads = [page.results.spread(page.key(subject, HERE, version, n), "time_ms") for version in versions]
            times.append((subject.name, str(n), *(page.note(subject, HERE, version, n, "time_ms", spread, "ms")
                                                  for version, spread in zip(versions, spreads))))
            errors.append((subject.name, str(n), "",
                           *(page.error(subject, HERE, version, n, MEASURED) for version in versions[1:])))
    heading = ("program", "markers", "measured", "predicted, overlap", "predicted, thesis' form", "simulated, SGC's marker")
    page.text += layout("this machine: ms", heading, times)
    page.text += layout("this machine: percent faster (+) or slower (-) than measured", heading, errors)


def choices(page):
    """Table 4.4."""
    heading, quoted = ("", *(f"of {n}" for n in GIVEN)), []
    for version, what in (("full", "speedup"), ("adapt", "speedup"), ("adapt", "used")):
        quoted.append((f"{version}, {what}", *(page.said(version=version, what=what, threads=n) for n in GIVEN)))
    page.text += layout("thesis: BH-st/O2K", heading, quoted)
    for subject in SUBJECTS:
        rows = [("full, speedup", *(page.speed(subject, "O2K", REAL, n, "full") for n in GIVEN))]
        for rule in RULES:
            used = {n: page.results.spread(page.key(subject, "O2K", rule, n), "used") for n in GIVEN}
            rows.append((f"{rule}, speedup", *(page.speed(subject, "O2K", rule, n) for n in GIVEN)))
            rows.append((f"{rule}, used", *(page.note(subject, "O2K", rule, n, "used", spread, "number", "predicted")
                                            for n, spread in used.items())))
        page.text += layout(f"{subject.name}/O2K", heading, rows)


def state(page):
    page.text += layout("thesis: the figure's points are not in its text", ("program", "curve", "processors", "", "place"), [
        (f"{q.program}/{q.machine}", q.version, q.threads, f"{q.what}: {q.value}", q.place) for q in page.quoted])


def curves(page, name, versions):
    """What is drawn, as tables."""
    state(page)
    for machine in MACHINES:
        for subject in SUBJECTS:
            processors = model.processors_of(name, machine)
            rows = [(version, *(page.speed(subject, machine, version, n) for n in processors)) for version in versions]
            page.text += layout(f"{subject.name}/{machine}: speed", ("processors", *map(str, processors)), rows)


def speeds(page):
    """Figure 4.4."""
    curves(page, "f4.4", (REAL, *FORMS, COUNTED))


def future(page):
    """Figure 4.5."""
    curves(page, "f4.5", (REAL, *FORMS))
    rows = []
    for machine in MACHINES:
        for subject in SUBJECTS:
            best = [page.note(subject, machine, version, "any", "peak", page.peak(subject, machine, version), "processors")
                    for version in (PRED, REAL)]
            rows.append((f"{subject.name}/{machine}", *best))
    page.text += layout("the fastest number of processors, of those above", ("", "predicted", "simulated"), rows)


# ---- plots ----

def of_thesis(page, subject, machine, version):
    """The points of which its text has numbers."""
    mine = [q for q in page.quoted if (q.machine, q.program, q.version, q.what) == (machine, subject.name, version, "speedup")]
    return [(q.threads, q.value) for q in mine if q.threads.isdecimal() and q.value[0].isdecimal()]


def panel(page, subject, machine, number):
    mine = [line for line in page.lines
            if line[0] != "thesis" and line[1:3] == (machine, subject.name) and line[5] == "speedup"]
    curves = [(version, [(line[4], line[6]) for line in mine if line[3] == version], "linespoints pointsize 0.4")
              for version in dict.fromkeys(line[3] for line in mine)]
    curves.append((f"{REAL}, thesis", of_thesis(page, subject, machine, REAL), "points pointsize 0.8"))
    curves = [curve for curve in curves if curve[1]]
    text = "".join(plots.data(f"d{number}x{i}", points) for i, (_, points, _) in enumerate(curves))
    found = [f"$d{number}x{i} with {style} pointtype {i + 4} title '{name}'" for i, (name, _, style) in enumerate(curves)]
    key = "set key at screen 0.5,0.99 center top vertical maxrows 2" if number == 0 else "unset key"
    return f"{text}{key}\nset title '{subject.name}/{machine}'\nplot " + ", \\\n".join(found) + "\n"


def draw(page, name, folder):
    """What went wrong, or an empty string."""
    panels = [(subject, machine) for machine in MACHINES for subject in SUBJECTS if page.processors(subject, machine, PRED)]
    if not name.startswith("f") or not panels:
        return ""
    text = "set grid\nset yrange [0:*]\nset xlabel 'processors'\n"
    text += "set multiplot layout 2,3 margins 0.05,0.98,0.07,0.87 spacing 0.05,0.13\n"
    text += "".join(panel(page, subject, machine, i) for i, (subject, machine) in enumerate(panels))
    return plots.draw_scripts([(name, text + "unset multiplot\n", 640)], folder)[1]


# ---- the interface of a chapter ----

FILLED = {"f4.4": speeds, "f4.5": future, "t4.1": machines, "t4.2": differences, "t4.3": predictors, "t4.4": choices}
EXPERIMENTS = {
    "f4.4": "figure 4.4: real and predicted speed of the mark",
    "f4.5": "figure 4.5: predicted speed with more processors",
    "t4.1": "table 4.1: what the machines' memory takes",
    "t4.2": "table 4.2: predicted against real speed, 48 processors",
    "t4.3": "table 4.3: overhead and accuracy of two predictors; this machine",
    "t4.4": "table 4.4: as many markers as suffice",
}


def chosen_of(names):
    return [name for name in names if name in EXPERIMENTS]


def needed(plan, chosen):
    return model.needed(plan.places, chosen_of(chosen))


def measure_all(study, chosen):
    model.Runs(study).all(chosen_of(chosen))


def make(study, folder, name):
    """The page of an experiment, and what went wrong with its drawing."""
    page = Page(study.results, study.options.out, thesis(folder, name))
    FILLED[name](page)
    page.note_thesis()
    page.text = f"== {name}, {EXPERIMENTS[name]}\n\n{SAID[name]}\n\n{page.text}"
    return page, draw(page, name, study.options.out)
