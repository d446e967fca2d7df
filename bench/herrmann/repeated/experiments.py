# SPDX-License-Identifier: MIT
"""The tables by their places in the thesis, each with its column; and what has to be measured for them.

Results have a key (program, version, threads): the program with what was measured before it, as times/perl, the version a system, a
rule or a function.
"""
from comparison.allocators import BASE
from repeated import standins, systems
from runner import plots
from study.results import thesis
from study.turns import Sheet

EXPERIMENTS = {
    "ahead": "beyond the thesis: a helper that touches memory ahead of a malloc with caches of threads",
    "b11": "table B.11: memory, mean of three moments",
    "b12": "table B.12: memory at three moments",
    "c1": "tables C.1 to C.3: an empty loop, a plain and an atomic increment",
    "c10": "chapter 10: how deep bins are filled, by four rules",
    "d1": "table D.1: predicted arguments of sin and cos",
    "f7.1": "figure 7.1: relative speed of the programs that allocate most",
    "f7.2": "figure 7.2: gain that is possible, expected and measured",
    "t7.1": "table 7.1: relative speed of all programs under each system",
    "t7.2": "table 7.2: instructions within malloc and free",
    "t7.3": "table 7.3: cycles of an instruction",
    "t7.4": "table 7.4: time of compiling",
}
# The measurements that each needs; `shares` are counts with the C library's malloc alone.
NEEDS = {"ahead": ("ahead",), "b11": ("memory",), "b12": ("memory",), "c1": ("increments",), "c10": ("refill",), "d1": ("arguments",), "f7.1": ("times",),
         "f7.2": ("times", "counts"), "t7.1": ("times", "shares"), "t7.2": ("counts",), "t7.3": ("cycles",), "t7.4": ("compile",)}
MODEL = "by the thesis' model over cachegrind's counts, all threads: cycles = instructions + 4 (reads + writes) + 10 L1 misses + " \
        "40 L2 misses + 50 L3 misses, L2 misses = (L1 misses - L3 misses) / 2"
SYSTEM_MB = 3 * 1024 / 100      # a hundredth of the thesis' memory


def needed(chosen):
    """The kinds of measurements that these need."""
    kinds = {kind for name in chosen for kind in NEEDS[name]}
    return kinds - {"shares"} if "counts" in kinds else kinds


def two(value):
    return "-" if value is None else f"{value:.2f}"


def one_of(spread):
    """Its median."""
    return None if spread is None else spread[0]


class Page(Sheet):
    """A sheet whose rows are programs and whose columns are systems."""

    def __init__(self, results, quoted):
        super().__init__(results, quoted)
        self.value = {(q.program, q.version, q.what): q.value for q in quoted}
        self.all = standins.standins("")

    def key(self, kind, program, version):
        return f"{kind}/{program}", version, 1

    def kind_of(self, kind, version):
        """A slow system has times of its own, of smaller sizes, beside the C library's."""
        return "slow" if kind == "times" and version in systems.SLOW else kind

    def versions(self, kind):
        """The systems that were measured, in their order."""
        found = {version for program, version, _ in self.results.runs if program.split("/")[0] == self.kind_of(kind, version)}
        return [name for name in systems.NAMES if name in found]

    def programs(self, kind):
        """The stand-ins that were measured."""
        found = {program for program, _, _ in self.results.runs}
        return [standin for standin in self.all if f"{kind}/{standin.short}" in found]

    def thesis(self, program, version, what):
        return self.value.get((program, version, what), "-")

    def spread(self, kind, program, version, figure):
        return self.results.spread(self.key(kind, program, version), figure)

    def found(self, kind, program, version, figure, unit):
        """A cell of a figure as it was measured."""
        return self.note("measured", "this", (program, version, 1), figure, self.spread(kind, program, version, figure), unit)

    def by_base(self, kind, program, version, figure):
        """The C library's figure by this one's, of the rounds: more is better."""
        kind = self.kind_of(kind, version)
        return self.results.spread_of_ratios(self.key(kind, program, BASE), self.key(kind, program, version), figure)

    def of_base(self, kind, program, version, figure):
        """The other way round: more is worse."""
        kind = self.kind_of(kind, version)
        return self.results.spread_of_ratios(self.key(kind, program, version), self.key(kind, program, BASE), figure)

    def relative(self, kind, program, version, figure, what):
        return self.note("measured", "this", (program, version, 1), what, self.by_base(kind, program, version, figure), BASE)

    def thesis_relative(self, spec, version):
        try:
            return f"{float(self.value[spec, version, 'score']) / float(self.value[spec, BASE, 'score']):.2f}"
        except KeyError:
            return "-"


# ---- time ----

def names_of_standins(page):
    page.add("what stands for SPEC CPU2006", ("here", "for", "what they have in common"),
             [(standin.short, standin.spec, standin.kin) for standin in page.all])
    page.text += f"nothing here stands for: {' '.join(standins.NONE_FOR)}\n\n"


def share(page, standin, version=BASE):
    return page.found("counts", standin.short, version, "share", "%")


def t71(page):
    others = [name for name in page.versions("times") if name != BASE]
    rows = [(standin.short, standin.spec, page.thesis(standin.spec, BASE, "share"), share(page, standin),
             *(page.thesis_relative(standin.spec, version) for version in ("pt", "lb", "lfb")),
             page.found("times", standin.short, BASE, "seconds", "s"),
             *(page.relative("times", standin.short, version, "seconds", "speed") for version in others))
            for standin in page.programs("times")]
    page.add(f"speed by that of {BASE}, more is better; share: of instructions, in malloc and its relatives, %",
             ("here", "for", "share, thesis", "share", "PT, thesis", "LB, thesis", "LFB, thesis", f"{BASE}, s", *others), rows)
    page.add("CPU time of all threads, the manager's included, by that of the C library: more is worse", ("here", *others),
             [(standin.short, *(page.note("measured", "this", (standin.short, version, 1), "cpu",
                                          page.of_base("times", standin.short, version, "cpu_seconds"), BASE) for version in others))
              for standin in page.programs("times")])
    managers(page)
    every = list(dict.fromkeys(q.program for q in page.quoted))
    page.add("thesis, i7, all programs: scores, more is better", ("program", "share, %", BASE, "pt", "lb", "lfb"),
             [(name, page.thesis(name, BASE, "share"), *(page.thesis(name, version, "score") for version in (BASE, "pt", "lb", "lfb")))
              for name in every])
    names_of_standins(page)


def managers(page):
    """A table of the counts of each system's manager."""
    keys = [(page.kind_of("times", version), standin.short, version) for standin in page.programs("times") for version in page.versions("times")]
    figures = {key: {name for run in page.results.runs.get(page.key(*key), ()) for name in run if name.startswith(systems.FIGURES)}
               for key in keys}
    names = sorted({name for found in figures.values() for name in found})
    if names:
        page.add("what the manager did", ("here", "system", *(name[len(systems.FIGURES):] for name in names)),
                 [(*key[1:], *(page.found(*key, name, "-") for name in names)) for key in keys if figures[key]])


def heavy(page, kind):
    return [standin for standin in page.programs(kind) if standin.spec in standins.HEAVY]


def systems_drawn(page):
    """The systems that were measured, and those of the thesis."""
    measured = page.versions("times")
    return [name for name in systems.NAMES if name != BASE and (name in measured or name in ("pt", "lb", "lfb"))]


def f71(page):
    others = systems_drawn(page)
    rows = [(f"{standin.spec}, thesis", *(page.thesis_relative(standin.spec, version) for version in others)) for standin in heavy(page, "times")]
    rows += [(f"{standin.short}, here", *(page.relative("times", standin.short, version, "seconds", "speed") for version in others))
             for standin in heavy(page, "times")]
    page.add(f"speed by that of {BASE}, more is better", ("program", *others), rows)


def gain(page, standin, version, figure, kind):
    """In percent, or None."""
    ratio = page.by_base(kind, standin.short, version, figure)
    return None if ratio is None else tuple(100 * (value - 1) for value in ratio)


def possible_gain(page, standin):
    found = page.spread("counts", standin.short, BASE, "share")
    return None if found is None else tuple(100 * value / (100 - value) for value in found)


def gains(page, standin, version):
    """[(what, spread)] of one system."""
    return [("possible", possible_gain(page, standin)), ("expected", gain(page, standin, version, "instructions", "counts")),
            ("measured", gain(page, standin, version, "seconds", "times"))]


def f72(page):
    page.state("thesis: gains of the three programs that allocate most; the figure's bars are not in its text")
    versions = [name for name in page.versions("counts") if name != BASE and name in page.versions("times")]
    rows = [(standin.short, version, *(page.note("measured", "this", (standin.short, version, 1), what, spread, "%")
                                       for what, spread in gains(page, standin, version)))
            for standin in heavy(page, "times") for version in versions]
    page.add("gains, %: if malloc and its relatives took nothing, by the instructions of the main thread, by time",
             ("here", "system", "possible", "expected", "measured"), rows)


def t74(page):
    compilers = [name for name in ("gcc", "clang") if any(f"compile/{name}" == program for program, _, _ in page.results.runs)]
    others = [name for name in page.versions("compile") if name != BASE]
    trials = [(q.program, q.what, page.thesis(q.program, BASE, q.what), q.value) for q in page.quoted
              if q.version == "lfb" and q.what.startswith("trial")]
    page.add("thesis, i7: compiling SPEC, s", ("compiler", "", BASE, "lfb"), trials)
    page.add("thesis: speed by that of the C library, %", ("compiler", "lfb"),
             [(q.program, q.value) for q in page.quoted if q.what == "speedup"])
    page.add("compiling generated files of C to assembler, s", ("compiler", BASE, *others),
             [(name, *(page.found("compile", name, version, "seconds", "s") for version in (BASE, *others))) for name in compilers])
    page.add(f"speed by that of {BASE}, more is better", ("compiler", *others),
             [(name, *(page.relative("compile", name, version, "seconds", "speed") for version in others)) for name in compilers])


# ---- first touch ----

CONTROL = systems.TOUCHING[1]
GAIN, LOSS = 1.03, 0.99         # what two programs must gain with a processor idle, and none may lose on one


def ahead(page):
    versions = [name for name in systems.TOUCHING if ("ahead/growing", name, 1) in page.results.runs]
    ways = [(kind, title) for kind, title in (("ahead", "all"), ("ahead-one", "one"))
            if any(program.startswith(f"{kind}/") for program, _, _ in page.results.runs)]
    page.state("thesis: what its manager gains over a malloc without caches of threads")
    columns = (("us_of_a_piece", "us"), ("own_faults", "number"), ("cpu_seconds", "s"), ("peak_mb", "MB"))
    page.add("first touch: 64-byte blocks, all written; us for 64 KB", ("processors", "system", "us", "faults of its thread", "CPU s", "peak MB"),
             [(title, version, *(first_touch(page, kind, version, figure, unit) for figure, unit in columns))
              for kind, title in ways for version in versions])
    helpers = [name for name in versions if name not in (systems.SGC, CONTROL)]
    figures = (("seconds", "speed"), ("cpu_seconds", "CPU time"), ("peak_mb", "most memory"))
    page.add(f"programs, by {CONTROL}: speed, more is better; CPU time and most memory, less is better",
             ("here", "system", *(f"{what}, {title}" for _, title in ways for _, what in figures)),
             [(standin.short, helper, *(by_control(page, f"{kind}/{standin.short}", helper, figure) for kind, _ in ways for figure, _ in figures))
              for standin in page.programs("ahead") for helper in helpers])
    page.add("whether it stays: two programs must gain 3 % with a processor idle, and none may lose 1 % on one",
             ("system", *(f"{what}, {title} processor{'s' if title == 'all' else ''}" for _, title in ways for what in ("gain 3 %", "lose 1 %"))),
             [(helper, *(those_that(page, kind, helper, is_so) for kind, _ in ways for is_so in (lambda speed: speed >= GAIN, lambda speed: speed < LOSS)))
              for helper in helpers])


def first_touch(page, kind, version, figure, unit):
    """The program says nanoseconds of a piece."""
    key = (f"{kind}/growing", version, 1)
    spread = page.results.spread(key, "ns_per_operation" if figure == "us_of_a_piece" else figure)
    if spread and figure == "us_of_a_piece":
        spread = tuple(value / 1000 for value in spread)
    return page.note("measured", "this", key, figure, spread, unit)


def ratio_to_control(page, program, helper, figure):
    """Speed is the control's time by the helper's; else the helper's figure by the control's."""
    keys = [(program, version, 1) for version in ((CONTROL, helper) if figure == "seconds" else (helper, CONTROL))]
    return page.results.spread_of_ratios(*keys, figure)


def by_control(page, program, helper, figure):
    return page.note("measured", "this", (program, helper, 1), f"{figure} by {CONTROL}", ratio_to_control(page, program, helper, figure), CONTROL)


def those_that(page, kind, helper, is_so):
    """The names of those programs."""
    speeds = {standin.short: one_of(ratio_to_control(page, f"{kind}/{standin.short}", helper, "seconds")) for standin in page.programs("ahead")}
    return " ".join(name for name, speed in speeds.items() if speed is not None and is_so(speed)) or "none"


# ---- what is counted ----

def t72(page):
    rows = [(standin.short, standin.spec, version, *(page.found("counts", standin.short, version, figure, "%")
                                                     for figure in ("share_malloc", "share_realloc", "share_calloc", "share_free", "share")),
             page.thesis(standin.spec, version, "share_malloc"), page.thesis(standin.spec, version, "share_free"))
            for standin in page.programs("counts") for version in page.versions("counts")]
    page.add("instructions of the program's main thread within these functions, % of all that it executes",
             ("here", "for", "system", "malloc", "realloc", "calloc", "free", "all", "malloc, thesis", "free, thesis"), rows)
    others = [name for name in page.versions("counts") if name != BASE]
    page.add(f"the same by {BASE}'s instructions of the family, in all: less than 1 is less", ("here", *others),
             [(standin.short, *(fewer(page, standin, version) for version in others)) for standin in page.programs("counts")])
    page.add("fewer instructions than with the C library's, %: mean of the programs that stand for the thesis' three", ("", *others),
             [(name, *(less(page, version, name) for version in others)) for name in ("malloc", "free")])
    page.add("thesis: fewer instructions, %", ("", "lfb"), [(q.what, q.value) for q in page.quoted if q.program == "mean of three"])


def instructions_within(page, standin, version, name):
    share, whole = (page.spread("counts", standin.short, version, figure) for figure in (f"share_{name}", "instructions"))
    return share[0] * whole[0] / 100 if share and whole else None


def less(page, version, name):
    """The mean; none if one of the programs was not counted."""
    pairs = [(instructions_within(page, standin, version, name), instructions_within(page, standin, BASE, name))
             for standin in heavy(page, "counts")]
    if not pairs or any(not ours or not base for ours, base in pairs):
        return "-"
    found = sum(100 * (1 - ours / base) for ours, base in pairs) / len(pairs)
    return page.note("measured", "this", ("mean of three", version, 1), f"{name}, less instructions", (found, found, found), "%")


def fewer(page, standin, version):
    spread = page.results.spread_of_ratios(page.key("counts", standin.short, version), page.key("counts", standin.short, BASE), "family")
    return page.note("measured", "this", (standin.short, version, 1), "family", spread, BASE)


def t73(page):
    versions = page.versions("cycles")
    by_model = any(page.spread("cycles", standin.short, BASE, "l1_misses") for standin in page.programs("cycles"))
    rows = [(standin.short, standin.spec, page.thesis(standin.spec, BASE, "cpi"), page.thesis(standin.spec, "lfb", "cpi"),
             *(page.found("cycles", standin.short, version, "cpi", "cycles") for version in versions)) for standin in page.programs("cycles")]
    page.add(f"cycles of an instruction, {MODEL if by_model else 'by perf stat, all threads, without the kernel'}",
             ("here", "for", f"{BASE}, thesis", "lfb, thesis", *versions), rows)
    if by_model:
        for figure, title in (("l1_misses", "L1 misses"), ("l3_misses", "L3 misses"), ("instructions", "instructions of all threads")):
            page.add(title, ("here", *versions),
                     [(standin.short, *(page.found("cycles", standin.short, version, figure, "number") for version in versions))
                      for standin in page.programs("cycles")])
    page.add("thesis: all its programs", ("program", BASE, "lfb"),
             [(q.program, q.value, page.thesis(q.program, "lfb", "cpi")) for q in page.quoted if q.version == BASE])


# ---- memory ----

def in_mb(percent):
    return "-" if percent == "-" else f"{float(percent) * SYSTEM_MB:.0f}"


def b11(page):
    versions = page.versions("memory")
    rows = [(standin.short, standin.spec, *(in_mb(page.thesis(standin.spec, version, "mean")) for version in (BASE, "lfb")),
             *(page.found("memory", standin.short, version, "mean", "MB") for version in versions)) for standin in page.programs("memory")]
    page.add("resident memory, mean of three moments, MB", ("here", "for", f"{BASE}, thesis", "lfb, thesis", *versions), rows)
    every = list(dict.fromkeys(q.program for q in page.quoted))
    page.add("thesis, i7: % of 3 GB", ("program", BASE, "lfb"), [(name, page.thesis(name, BASE, "mean"), page.thesis(name, "lfb", "mean")) for name in every])


def b12(page):
    moments = ("moment 1", "moment 2", "moment 3")
    rows = [(standin.short, standin.spec, version, *(in_mb(page.thesis(standin.spec, version, moment)) for moment in moments),
             *(page.found("memory", standin.short, version, moment, "MB") for moment in moments))
            for standin in page.programs("memory") for version in page.versions("memory")]
    page.add("resident memory, MB: in the thesis after 60, 180 and 300 s, here after a third, two thirds and all of the time",
             ("here", "for", "system", *(f"{k}, thesis" for k in (1, 2, 3)), "1", "2", "3"), rows)
    every = list(dict.fromkeys(q.program for q in page.quoted))
    page.add("thesis, i7: % of 3 GB", ("program", *(f"{version} {k}" for version in (BASE, "lfb") for k in (1, 2, 3))),
             [(name, *(page.thesis(name, version, moment) for version in (BASE, "lfb") for moment in moments)) for name in every])


# ---- increments, prediction ----

def c1(page):
    figures = ("loop_ns", "plain_ns", "atomic_ns")
    value = {(q.machine, q.what): q.value for q in page.quoted}
    machines = list(dict.fromkeys(q.machine for q in page.quoted))
    rows = [(f"thesis, {machine}", *(two(float(value[machine, figure])) for figure in figures),
             f"{float(value[machine, 'atomic_ns']) / float(value[machine, 'plain_ns']):.0f}") for machine in machines]
    spreads = [page.results.spread(("increment", "-", 1), figure) for figure in figures]
    cells = [page.note("measured", "this", ("increment", "-", 1), figure, spread, "ns") for figure, spread in zip(figures, spreads)]
    plain, atomic = map(one_of, spreads[1:])
    rows.append(("here", *cells, f"{atomic / plain:.0f}" if plain and atomic and plain > 0 else "-"))
    page.add("ns of a turn; the increments without the loop", ("machine", "empty loop", "plain", "atomic", "atomic by plain"), rows)


def c10(page):
    page.state("thesis: one rule is built, others are proposed")
    figures = (("hits", "hits, %", "%"), ("made", "blocks made for 1000 mallocs", "number"), ("memory_kb", "in the bins, mean, KB", "KB"),
               ("peak_kb", "at most, KB", "KB"), ("idle_kb", "idle for a period, KB", "KB"))
    rules = ("thesis", "shrinking", "ewma", "context")
    page.add("1000 mallocs a period, a manager that is infinitely fast", ("here", "rule", *(title for _, title, _ in figures)),
             [(standin.short, rule, *(page.found("refill", standin.short, rule, figure, unit) for figure, _, unit in figures))
              for standin in page.programs("refill") for rule in rules])
    page.add("the next size class, told by the context predictor, %", ("here", "right"),
             [(standin.short, page.found("refill", standin.short, "next class", "right", "%")) for standin in page.programs("refill")])


def d1(page):
    functions = ("sin", "cos", "all")
    kinds = list(dict.fromkeys(program.split("/")[1] for program, _, _ in page.results.runs if program.startswith("arguments/")))
    page.add("predicted arguments, % of all calls; all: both functions as one sequence", ("here", *functions),
             [(kind, *(page.found("arguments", kind, function, "right", "%") for function in functions)) for kind in kinds])
    processes = list(dict.fromkeys(q.program for q in page.quoted if q.program.startswith("process")))
    page.add("thesis; near 100 are processes with one call, or with constant arguments", ("process", "sin", "cos", "tan", "all"),
             [(name[len("process "):], *(page.thesis(name, function, "right") for function in ("sin", "cos", "tan", "all"))) for name in processes])
    page.add("the predictor's authors, of other values", ("", "right, %"), [(q.version, q.value) for q in page.quoted if not q.program.startswith("process")])


FILL = {"ahead": ahead, "b11": b11, "b12": b12, "c1": c1, "c10": c10, "d1": d1, "f7.1": f71, "f7.2": f72, "t7.1": t71, "t7.2": t72, "t7.3": t73, "t7.4": t74}
QUOTED = {"ahead": "f7.2", "f7.1": "t7.1"}      # whose figures these have


def make(results, folder, name):
    page = Page(results, thesis(folder, QUOTED.get(name, name)))
    FILL[name](page)
    return page.finish(name, EXPERIMENTS[name])


# ---- drawings ----

def number(spread):
    return "?" if spread is None else f"{spread[0]:.4g}"


def bars_of_speed(page):
    others = systems_drawn(page)
    lines = []
    for standin in heavy(page, "times"):
        quoted = [page.thesis_relative(standin.spec, version) for version in others]
        lines.append((plots.quoted(f"{standin.spec}, thesis"), *("?" if cell == "-" else cell for cell in quoted)))
        lines.append((plots.quoted(f"{standin.short}, here"), *(number(page.by_base("times", standin.short, version, "seconds")) for version in others)))
    return plots.bars(f"Figure 7.1: speed by that of {BASE}", "more is better", others, lines)


def bars_of_gains(page):
    lines = [(plots.quoted(f"{standin.short}, {version}"), *(number(spread) for _, spread in gains(page, standin, version)))
             for standin in heavy(page, "times") for version in ("lfb", "lfb-safe") if version in page.versions("counts")]
    return plots.bars("Figure 7.2: gains", "%", ("possible", "expected", "measured"), lines, "*")


def draw(page, name, folder):
    """(names of files, what went wrong or an empty string)"""
    text = {"f7.1": bars_of_speed, "f7.2": bars_of_gains}[name](page) if name in ("f7.1", "f7.2") else None
    return plots.draw_scripts([(name, f"set xtics rotate by -20 font ',9'\n{text}", 480)], folder) if text else ([], "")
