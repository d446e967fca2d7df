# SPDX-License-Identifier: MIT
"""Chapter 2's experiments with the allocator alone: pages that are consumed and remote when threads take turns, and how much
is allocated in a second, under each page policy.
"""
import os
from dataclasses import dataclass

from runner import plots, programs
from runner.cases import SGC
from study.experiments import layout, shown
from study.results import thesis

POLICIES = {
    "PS": {"SGC_PAGE_POLICY": "ps"},
    "LPS(1)": {"SGC_PAGE_POLICY": "lps", "SGC_LPS_K": "1"},
    "LPS(1.5)": {"SGC_PAGE_POLICY": "lps", "SGC_LPS_K": "1.5"},
    "AL": {"SGC_PAGE_POLICY": "al"},
}
LIBC = "libc malloc"
# As in the thesis nothing goes back to the system, and each page is one thread's.
KEPT = {"SGC_DECAY_MS": "-1", "SGC_SHARE_PAGES": "off", "SGC_HUGE_PAGES": "off"}
OWN = {"GC_INITIAL_HEAP_SIZE": "1g"}                        # no collections but the program's
COUNTED = ("pages_consumed", "pages_reused", "pages_foreign", "demand_mb", "demands_mb")
MB = 1 << 20
PAGE = 1 << 16


@dataclass(frozen=True)
class Subject:
    """A program with its arguments, as results have it."""
    name: str
    file: str
    needed: tuple
    versions: tuple
    processors: bool            # more threads than processors say nothing: they take turns

    def arguments(self, version, threads):
        if self.file == "allocrate":
            return ("--library", "2" if version == LIBC else "1")
        return ("--sharers", str(threads), "--kinds", "2") if self.name == "together" else ()


UNFAIR = Subject("unfair", "unfair", COUNTED, tuple(POLICIES), False)
TOGETHER = Subject("together", "unfair", COUNTED, tuple(POLICIES), False)
RATE = Subject("allocrate", "allocrate", ("throughput",), (*POLICIES, LIBC), True)
SUBJECTS = {"f2.4": (RATE,), "f2.5": (UNFAIR, TOGETHER), "t2.1": (RATE,)}


def subjects(chosen):
    """Those of the chosen experiments, each once."""
    return list(dict.fromkeys(subject for name in chosen for subject in SUBJECTS.get(name, ())))


def threads_of(subject, given, processors):
    """Only one thread runs at a time where they take turns, so that there may be any number of them."""
    return given or (sorted({1, processors}) if subject.processors else [1, 2, 4, 8, 16, 32, 64])


# ---- measuring ----

def app(places, subject):
    return os.path.join(places.build, "bench", "endo", "apps", subject.file)


def counted(figures):
    """What the thesis draws, of what the program says."""
    reused = figures["pages_reused"]
    return {"consumed": figures["pages_consumed"] * PAGE / MB, "demand": figures["demand_mb"], "demands": figures["demands_mb"],
            "remote": figures["pages_foreign"] / reused if reused else 0.0}


def run(plan, subject, version, threads):
    """(figures, failure)."""
    size = "quick" if plan.set == "quick" else "ch2"
    command = [app(plan.places, subject), "--set", size, "--threads", str(threads), *subject.arguments(version, threads)]
    done = programs.run_once(plan.places, SGC, command, {**KEPT, **OWN, **POLICIES.get(version, {})}, subject.needed, plan.timeout)
    if done.failure:
        return {}, done.failure
    figures = {name: float(done.figures[name][0]) for name in subject.needed}
    return (figures if subject is RATE else counted(figures)), ""


# ---- tables ----

def heading(threads, processors):
    return [f"{n} thread{'s' if n > 1 else ''}{' (oversubscribed)' if processors and n > processors else ''}" for n in threads]


class Tables:
    """Text and lines for the TSV of one experiment."""

    def __init__(self, results, quoted, processors):
        self.results, self.quoted, self.processors = results, quoted, processors
        self.text, self.lines = "", []

    def threads(self, subject):
        return sorted({threads for name, _, threads in self.results.runs if name == subject.name})

    def row(self, subject, version, figure, unit):
        """Its cells, and lines for the TSV."""
        threads = self.threads(subject)
        spreads = [self.results.spread((subject.name, version, n), figure) for n in threads]
        self.lines += [("measured", "this", subject.name, version, n, figure, *(f"{v:.6g}" for v in spread), unit)
                       for n, spread in zip(threads, spreads) if spread]
        return map(shown, spreads)

    def table(self, subject, title, rows):
        limit = self.processors if subject.processors else 0
        self.text += layout(f"{subject.name}: {title}", ("ours", *heading(self.threads(subject), limit)), rows)

    def add(self, subject, title, figure, unit):
        self.table(subject, title, [(version, *self.row(subject, version, figure, unit)) for version in subject.versions])

    def add_demand(self, subject, title):
        """The same under each policy."""
        self.table(subject, title, [(what, *self.row(subject, subject.versions[0], figure, "MB")) for what, figure in
                                    (("at a time", "demand"), ("by each thread, summed up", "demands"))])

    def quote(self, title):
        threads = list(dict.fromkeys(q.threads for q in self.quoted))
        versions = list(dict.fromkeys(q.version for q in self.quoted))
        value = {(q.version, q.threads): q.value for q in self.quoted}
        rows = [(version, *(value.get((version, n), "") for n in threads)) for version in versions]
        self.text += layout(title, ("thesis", *threads), rows)

    def state(self, title):
        self.text += layout(title, ("policy", "threads", "", "", "place"),
                            [(q.version, q.threads, q.what, q.value if q.unit == "-" else f"{q.value} {q.unit}", q.place) for q in self.quoted])


def rate(tables):
    """Table 2.1 and its figure."""
    tables.quote("thesis, O2K: million allocations a second, all threads together")
    tables.add(RATE, "million allocations a second, all threads together", "throughput", "million/s")


def unfair(tables):
    """Figure 2.5, and beside it what the policies do for threads that need the same at the same time."""
    tables.state("thesis, O2K, unfair: the figure's points are not in its text")
    for subject, title in ((UNFAIR, "one thread at a time"), (TOGETHER, "all threads at a time, a share each")):
        tables.add(subject, f"{title}: MB consumed", "consumed", "MB")
        tables.add_demand(subject, f"{title}: MB in use at most")
        tables.add(subject, f"{title}: remote page ratio (another thread was the first to use the page)", "remote", "ratio")


EXPERIMENTS = {
    "f2.4": ("figure 2.4: allocations a second, drawn", rate),
    "f2.5": ("figure 2.5: pages consumed and remote, threads in turns", unfair),
    "t2.1": ("table 2.1: allocations a second", rate),
}


# ---- plots ----

def curves(tables, subject, figure, data):
    """(data blocks, gnuplot's curves) of one figure by threads."""
    text, found = "", []
    for i, version in enumerate(subject.versions):
        points = [(line[4], line[6]) for line in tables.lines if line[2:4] == (subject.name, version) and line[5] == figure]
        text += plots.data(f"{data}{i}", points)
        found.append(f"${data}{i} with linespoints pointtype {i + 4} title '{version}'")
    return text, ", \\\n".join(found)


def drawn(tables, panels):
    text = "set logscale x 2\nset xlabel 'threads'\nset grid\nset yrange [0:*]\nset key outside right\n" \
           f"set multiplot layout {len(panels)},1\n"
    for number, (subject, figure, title, unit) in enumerate(panels):
        data, lines = curves(tables, subject, figure, "abcd"[number])
        text += f"{data}set title '{title}'\nset ylabel '{unit}'\nplot {lines}\n"
    return text + "unset multiplot\n"


PANELS = {
    "f2.4": ((RATE, "throughput", "Allocation, all threads together", "million/s"),),
    "f2.5": ((UNFAIR, "consumed", "Unfair: one thread at a time", "MB consumed"),
             (UNFAIR, "remote", "Unfair: one thread at a time", "remote page ratio"),
             (TOGETHER, "consumed", "All threads at a time", "MB consumed"),
             (TOGETHER, "remote", "All threads at a time", "remote page ratio")),
}


def draw(tables, name, folder):
    """(names of files, what went wrong or an empty string)."""
    panels = PANELS.get(name, ())
    return plots.draw_scripts([(name, drawn(tables, panels), 80 + 280 * len(panels))], folder) if panels else ([], "")


def make(results, folder, name, processors):
    """The tables of an experiment, filled."""
    title, fill = EXPERIMENTS[name]
    tables = Tables(results, thesis(folder, "t2.1" if name == "f2.4" else name), processors)
    fill(tables)
    tables.lines += [("thesis", q.machine, q.program, q.version, q.threads, q.what, q.value, "-", "-", q.unit)
                     for q in tables.quoted]
    tables.text = f"== {name}, {title}\n\n{tables.text}"
    return tables
