# SPDX-License-Identifier: MIT
"""The figures of real programs: a TSV file and back, and tables of them."""
from dataclasses import dataclass

from runner.cases import PEER, SGC
from runner.results import one_line, read_file
from runner.summary import mean


@dataclass(frozen=True)
class Variant:
    """One of the columns that stand side by side: a collector with settings."""
    name: str
    side: str
    settings: tuple = ()        # (variable, value)
    heap: bool = False          # it has all of the list's heap from the start, and no more


@dataclass(frozen=True)
class Table:
    heading: str
    about: str
    variants: tuple
    figures: tuple              # (name, heading, digits)
    ratios: tuple               # (figure, variant, by variant)
    times: int                  # rounds, if nobody says otherwise

    def title(self, figure):
        return next(title for name, title, _ in self.figures if name == figure)


BOTH = (Variant("bdwgc", PEER), Variant("sgc", SGC))
MEASURED = (("cpu", "CPU s", 3), ("wall", "wall s", 3), ("rss", "peak MB", 1), ("collections", "collections", 0),
            ("pauses", "in stops ms", 1), ("longest", "longest ms", 2))
RATIOS = tuple((name, "sgc", "bdwgc") for name in ("cpu", "wall", "rss", "longest"))
P99 = ("p99", "99 % below ms", 2)

TABLES = {
    "default": Table(
        "Default settings", "Medians of all rounds; collections and stops are of as many runs more, with a log.", BOTH, MEASURED, RATIOS, 5),
    "limit": Table(
        "Equal heaps", "Both have the same heap from the start, and no more.",
        tuple(Variant(v.name, v.side, heap=True) for v in BOTH), MEASURED, RATIOS, 3),
    "concurrent": Table(
        "Concurrent mode",
        "bdwgc's incremental mode (`GC_ENABLE_INCREMENTAL=1`), SGC in stop mode and in concurrent mode with the default target. Of the stops "
        "of a cycle the log has the longest and what all took together: for the percentile the others count as their mean.",
        (Variant("incremental", PEER, (("GC_ENABLE_INCREMENTAL", "1"),)), Variant("stop", SGC, (("SGC_MODE", "stop"),)),
         Variant("concurrent", SGC, (("SGC_MODE", "concurrent"),))),
        (*MEASURED, P99),
        tuple((name, "concurrent", by) for name in ("cpu", "rss", "longest") for by in ("stop", "incremental")), 3),
    "instructions": Table(
        "Instructions, in millions",
        "Counted by callgrind, one marker: in the collector's library, and in the whole program. The pacing looks at the clock, and under "
        "callgrind the program is slowed down more than marking is, so there are more collections than otherwise.",
        BOTH, (("inside", "inside", 2), ("instructions", "all", 1)),
        tuple((name, "sgc", "bdwgc") for name in ("inside", "instructions")), 1),
}
COLUMNS = ("program", "table", "variant", "name", "value")
MILLIONS = 1e6


class Programs:
    """All that was measured: of each table how, and {(program, table): {variant: {figure: value}}}."""

    def __init__(self):
        self.about, self.of = {}, {}

    def begin(self, table, about):
        """Rows of a table are of one revision: those of another one go."""
        if self.about.get(table, {}).get("revision") != about["revision"]:
            self.of = {key: value for key, value in self.of.items() if key[1] != table}
        self.about[table] = about

    def add(self, other):
        """Its tables, too."""
        self.about.update(other.about)
        self.of.update(other.of)

    def rows(self, table):
        return {program: variants for (program, of), variants in self.of.items() if of == table}

    def write(self, path):
        with open(path, "w", encoding="utf-8") as f:
            for table, about in self.about.items():
                for key, value in about.items():
                    print(f"# {table} {key}", one_line(str(value)), sep="\t", file=f)
            print(*COLUMNS, sep="\t", file=f)
            for (program, table), variants in self.of.items():
                for variant, figures in variants.items():
                    for name, value in figures.items():
                        print(program, table, variant, name, f"{value:.6g}" if isinstance(value, float) else value, sep="\t", file=f)

    @classmethod
    def read(cls, path):
        kind = "programs.tsv of bench/programs"
        programs, (about, rows) = cls(), read_file(path, COLUMNS, kind, kind)
        for words, value in about.items():
            table, key = words.split(" ", 1)
            programs.about.setdefault(table, {})[key] = value
        for program, table, variant, name, value in rows:
            if table not in TABLES:
                raise ValueError(f"{path}: this is no line of a {kind}, of a table \"{table}\"")
            programs.of.setdefault((program, table), {}).setdefault(variant, {})[name] = float(value)
        return programs


def ratio(variants, name, over, under):
    """None where there is no sensible one."""
    one, other = (variants.get(which, {}).get(name, 0) for which in (over, under))
    return one / other if one > 0 and other > 0 else None


def ratios_of(programs, table, which):
    """(program, ratio) of all that have one."""
    pairs = [(program, ratio(variants, *which)) for program, variants in programs.rows(table).items()]
    return [(program, value) for program, value in pairs if value is not None]


def line_of(name, program, variants):
    table, by = TABLES[name], MILLIONS if name == "instructions" else 1
    cells = [" / ".join(f"{variants[v.name][figure] / by:.{digits}f}" if v.name in variants else "-" for v in table.variants)
             for figure, _, digits in table.figures]
    found = [ratio(variants, *which) for which in table.ratios]
    return "| " + " | ".join([program, *cells, *("-" if value is None else f"{value:.2f}" for value in found)]) + " |"


def means_of(programs, name):
    for which in TABLES[name].ratios:
        found = ratios_of(programs, name, which)
        if found:
            worst = max(found, key=lambda pair: pair[1])
            yield f"- {TABLES[name].title(which[0])}, {which[1]} by {which[2]}: geometric mean {mean([r for _, r in found]):.2f}, " \
                  f"worst {worst[1]:.2f} ({worst[0]})"


def failures_of(programs, name):
    for variant in TABLES[name].variants:
        failed = [program for program, variants in programs.rows(name).items() if variant.name not in variants]
        if failed:
            yield f"- {variant.name}: {len(failed)} of {len(programs.rows(name))} programs crash or answer otherwise: {', '.join(failed)}"


def about_lines(about):
    return ["", f"`{about['command']}`, revision {about['revision']}, {about['date']}, {about['rounds']} rounds; {about['machine']}."] + \
        (["", f"**Not for quoting: {about['not for quoting']}.**"] if about.get("not for quoting", "-") != "-" else [])


def as_markdown(programs):
    lines = ["# Real programs", "", "What the programs are: `tests/programs/list.txt`. Each cell has the figures of what stands side by side, in "
             "that order, - where a program crashed or answered otherwise."]
    for name, table in TABLES.items():
        rows = programs.rows(name)
        if not rows:
            continue
        titles = ["program", *(title for _, title, _ in table.figures),
                  *(f"{table.title(figure)}, {over}/{under}" for figure, over, under in table.ratios)]
        lines += ["", f"## {table.heading}", "", f"{' / '.join(v.name for v in table.variants)}. {table.about}", *about_lines(programs.about[name]),
                  "", "| " + " | ".join(titles) + " |", "|" + " --- |" * len(titles),
                  *(line_of(name, *row) for row in rows.items()), "", *means_of(programs, name), *failures_of(programs, name)]
    return "\n".join(lines) + "\n"
