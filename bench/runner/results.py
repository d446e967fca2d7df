# SPDX-License-Identifier: MIT
"""The raw results of a run: a TSV file with every figure of every single run, and back.

Lines `# key<tab>value` say how it was made; then a heading, and a line a figure.  A failed run has a line with the name
`failure` and the reason as value; nothing is left out.
"""
import os

from runner.cases import Variant
from runner.programs import Run

COLUMNS = ("part", "case", "side", "mode", "markers", "preset", "round", "name", "value", "unit")


def one_line(text):
    return " ".join(text.split()) or "-"


def read_file(path, columns, kind, written):
    """({key: value} of its head, the fields of each line); ValueError if it is not of that kind, such as is `written`."""
    about, rows, heading_seen = {}, [], False
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            fields = line.rstrip("\n").split("\t")
            if line.startswith("# ") and len(fields) == 2:
                about[fields[0][2:]] = fields[1]
            elif tuple(fields) == columns:
                heading_seen = True
            elif heading_seen and len(fields) == len(columns):
                rows.append(fields)
            else:
                raise ValueError(f"{path}:{number}: this is no line of a {kind}: {line.rstrip()[:60]}")
    if not heading_seen:
        raise ValueError(f"{path}: no heading; is this a {written}?")
    return about, rows


def revisions_in(path):
    """All that the head of a file of results names."""
    if not os.path.exists(path):
        return set()
    with open(path, encoding="utf-8") as f:
        heads = [line[2:].rstrip("\n").split("\t") for line in f if line.startswith("# ")]
    return {fields[1] for fields in heads if len(fields) == 2 and fields[0].split(" ")[-1] == "revision"}


class Results:
    def __init__(self):
        self.about = {}             # how it was made
        self.runs = {}              # (part, case name): {variant: [Run of round 1, ...]}

    def add(self, part, name, variant, run):
        self.runs.setdefault((part, name), {}).setdefault(variant, []).append(run)

    def of(self, part):
        return {name: by_variant for (p, name), by_variant in self.runs.items() if p == part}

    def failures(self):
        for (part, name), by_variant in self.runs.items():
            for variant, runs in by_variant.items():
                for number, run in enumerate(runs, 1):
                    if run.failure:
                        yield part, name, variant, number, run.failure

    def warnings(self):
        """Each first line that SGC said, once: (text, the first that said it)."""
        seen = {}
        for (_, name), by_variant in self.runs.items():
            for variant, runs in by_variant.items():
                for run in runs:
                    if run.warning:
                        seen.setdefault(run.warning, f"{name}, {variant}")
        return seen

    # ---- the file ----

    def write(self, path):
        with open(path, "w", encoding="utf-8") as f:
            for key, value in self.about.items():
                print(f"# {key}", one_line(str(value)), sep="\t", file=f)
            print(*COLUMNS, sep="\t", file=f)
            for (part, name), by_variant in self.runs.items():
                for variant, runs in by_variant.items():
                    for number, run in enumerate(runs, 1):
                        write_run(f, (part, name, variant.side, variant.mode, variant.markers, variant.preset,
                                      number), run)

    @classmethod
    def read(cls, path):
        results = cls()
        results.about, rows = read_file(path, COLUMNS, "results file", "results.tsv of bench/run")
        for fields in rows:
            results.take(fields)
        return results

    def take(self, fields):
        part, name, side, mode, markers, preset, number, figure, value, unit = fields
        runs = self.runs.setdefault((part, name), {}).setdefault(Variant(side, mode, markers, preset), [])
        while len(runs) < int(number):
            runs.append(Run())
        run = runs[int(number) - 1]
        if figure == "failure":
            run.failure = value
        elif figure == "warning":
            run.warning = value
        else:
            run.figures[figure] = (value, unit)


def write_run(f, start, run):
    if run.failure:
        print(*start, "failure", one_line(run.failure), "-", sep="\t", file=f)
    if run.warning:
        print(*start, "warning", one_line(run.warning), "-", sep="\t", file=f)
    for name, (value, unit) in run.figures.items():
        print(*start, name, one_line(value), one_line(unit), sep="\t", file=f)
