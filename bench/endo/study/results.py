# SPDX-License-Identifier: MIT
"""What was measured, and what the thesis has; medians with least and most."""
import ast
import os
from dataclasses import dataclass, field
from statistics import median

COLUMNS = ("program", "version", "threads", "round", "figure", "value")


@dataclass
class Results:
    about: dict = field(default_factory=dict)       # how it was made
    runs: dict = field(default_factory=dict)        # (program, version, threads): [figures of a round]
    failures: list = field(default_factory=list)    # (program, version, threads, round, why)
    missing: dict = field(default_factory=dict)     # {version: why it is not there}

    def add(self, key, number, figures, failure):
        self.runs.setdefault(key, []).append({} if failure else figures)
        if failure:
            self.failures.append((*key, number, failure))

    def values(self, key, figure):
        return [figures[figure] for figures in self.runs.get(key, ()) if figure in figures]

    def spread(self, key, figure):
        """(median, least, most), or None."""
        values = self.values(key, figure)
        return (median(values), min(values), max(values)) if values else None

    def spread_of_ratios(self, key, other, figure):
        """By rounds, whose runs were made in turn."""
        pairs = zip(self.runs.get(key, ()), self.runs.get(other, ()))
        ratios = [a[figure] / b[figure] for a, b in pairs if a.get(figure) and b.get(figure)]
        return (median(ratios), min(ratios), max(ratios)) if ratios else None

    def compare(self):
        """A program finds the same on each version, with any number of threads; otherwise that is a failure."""
        found = {}
        for key, rounds in self.runs.items():
            found.setdefault(key[0], set()).update(figures["result"] for figures in rounds if "result" in figures)
        self.failures += [(name, "all", 0, 0, f"{len(digests)} different results") for name, digests in found.items()
                          if len(digests) > 1]

    @staticmethod
    def read(path):
        """What write() has written; ValueError for another file."""
        results, found = Results(), {}
        with open(path, encoding="utf-8") as f:
            lines = [line.rstrip("\n").split("\t") for line in f]
        heads = [fields for fields in lines if fields[0].startswith("# ")]
        for name, *values in heads:
            if name == "# not available":
                results.missing[values[0]] = values[1]
            else:
                results.about[name[2:]] = values[0]
        rows = lines[len(heads):]
        if not rows or tuple(rows[0]) != COLUMNS:
            raise ValueError(f"{path}: expected a line \"{' '.join(COLUMNS)}\" behind its head")
        for program, version, threads, number, figure, value in rows[1:]:
            key = (program, version, ast.literal_eval(threads))     # a number, or a combination of factors
            if figure == "failure":
                results.failures.append((*key, int(number), value))
            else:
                found.setdefault(key, {}).setdefault(int(number), {})[figure] = float(value)
        for key, numbered in found.items():
            results.runs[key] = [numbered.get(number, {}) for number in range(1, max(numbered) + 1)]
        return results

    def write(self, path):
        with open(path, "w", encoding="utf-8") as f:
            for name, value in self.about.items():
                print(f"# {name}", value, sep="\t", file=f)
            for version, why in self.missing.items():
                print("# not available", version, why, sep="\t", file=f)
            print(*COLUMNS, sep="\t", file=f)
            for key, rounds in self.runs.items():
                for number, figures in enumerate(rounds, 1):
                    for name, value in figures.items():
                        print(*key, number, name, f"{value:.9g}", sep="\t", file=f)
            for failure in self.failures:
                print(*failure[:4], "failure", failure[4], sep="\t", file=f)


@dataclass(frozen=True)
class Quoted:
    """A line of thesis.tsv."""
    id: str
    machine: str
    program: str
    version: str
    threads: str
    what: str
    value: str
    unit: str
    place: str


def thesis(folder, wanted, file="thesis.tsv"):
    with open(os.path.join(folder, file), encoding="utf-8") as f:
        lines = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    return [quoted for quoted in (Quoted(*fields) for fields in lines[1:]) if quoted.id == wanted]
