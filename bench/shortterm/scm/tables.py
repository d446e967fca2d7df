# SPDX-License-Identifier: MIT
"""The experiments: tables that have the paper's figures beside ours, as text and as TSV."""
from study.experiments import layout, shown
from study.results import thesis

from scm.subjects import OPERATION_NAMES, OPERATIONS, SUBJECTS

MB, MS = 1 << 20, 1e6
LEAST = (("least_heap", "least heap, MB", MB), ("seconds_1x", "s in GC's", 1), ("seconds_2x", "s in twice that", 1))
TIMES = (("seconds", "s", 1), ("period_ns", "period, ms", MS), ("period_ns_least", "shortest", MS),
         ("period_ns_most", "longest", MS))
MEMORY = (("heap_steady_mb", "heap, 20th period, MB", 1), ("heap_most_mb", "most", 1), ("heap_last_mb", "last", 1),
          ("collections_steady", "collections since", 1), ("resident_last_mb", "resident, MB", 1), ("date_kb", "dates, KB", 1))
COUNTS = (("instructions", "instructions, million", 1e6), ("ticks", "ticks", 1),
          ("freed_by_dates", "freed by dates", 1), ("expired_left", "expired at the end", 1))


class Tables:
    """Text and lines for the TSV of one experiment."""

    def __init__(self, results, quoted):
        self.results, self.quoted = results, quoted
        self.text, self.lines = "", []

    def cell(self, subject, version, figure, unit):
        spread = self.results.spread((subject.name, version.name, 0), figure)
        if spread is None:
            return "-"
        self.lines.append(("measured", "this", subject.name, version.name, "-", figure, *(f"{v:.6g}" for v in spread), "-"))
        return shown(tuple(v / unit for v in spread))

    def add(self, subject, title, columns):
        rows = [(version.name, *(self.cell(subject, version, figure, unit) for figure, _, unit in columns))
                for version in subject.versions]
        kept = [i for i in range(len(columns)) if any(row[i + 1] != "-" for row in rows)]
        if kept:
            self.text += layout(f"{subject.name}: {title}", ("ours", *(columns[i][1] for i in kept)),
                                [(row[0], *(row[i + 1] for i in kept)) for row in rows])

    def add_operations(self):
        """A row for each operation, a column for each version."""
        names = dict.fromkeys(name for key, rounds in self.results.runs.items() if key[0] == OPERATIONS.name
                              for figures in rounds for name in figures if name.endswith(("_ns", "_ms")))
        for what, chosen, title in ((1, names, "ns, those of pauses ms; median"),
                                    (1, [f"{name}_instructions" for name in OPERATION_NAMES], "instructions in the libraries")):
            rows = [(name, *(self.cell(OPERATIONS, version, name, what) for version in OPERATIONS.versions)) for name in chosen]
            rows = [row for row in rows if any(value != "-" for value in row[1:])]
            if rows:
                self.text += layout(f"{OPERATIONS.name}: {title}", ("ours", *(v.name for v in OPERATIONS.versions)), rows)

    def quote(self):
        self.text += layout("paper", ("program", "version", "", "", "unit", "place"),
                            [(q.program, q.version, q.what, q.value, q.unit, q.place) for q in self.quoted])


EXPERIMENTS = {
    "4x": ("Monte Carlo, four at once: table 4, figure 12", SUBJECTS["4x"]),
    "converter": ("converter: mpg123 (tables 5 and 6, figure 15) and JLayer (table 4)", SUBJECTS["converter"]),
    "fixed": ("Monte Carlo, whose walks go: table 4, figures 9 to 11", SUBJECTS["fixed"]),
    "indexer": ("indexer: LuIndex (table 4)", SUBJECTS["indexer"]),
    "leaky": ("Monte Carlo that keeps its walks: table 4, figures 9 to 11", SUBJECTS["leaky"]),
    "operations": ("what operations cost: table 5", SUBJECTS["operations"]),
    "periods": ("Monte Carlo with a tick each 1, 50, 200 rounds: figures 13 and 14", SUBJECTS["periods"]),
}


def make(results, folder, name):
    """(text, lines of the TSV)."""
    title, subjects = EXPERIMENTS[name]
    tables = Tables(results, thesis(folder, name, "paper.tsv"))
    tables.quote()
    for subject in subjects:
        if subject == OPERATIONS:
            tables.add_operations()
            continue
        tables.add(subject, "least heap, and time in it", LEAST)
        tables.add(subject, "time without a limit", TIMES)
        tables.add(subject, "memory without a limit", MEMORY)
        tables.add(subject, "counts", COUNTS)
    tables.lines += [("paper", q.machine, q.program, q.version, q.threads, q.what, q.value, "-", "-", q.unit) for q in tables.quoted]
    return f"== {name}, {title}\n\n{tables.text}", tables.lines
