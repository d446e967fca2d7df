# SPDX-License-Identifier: MIT
"""The experiments by their places in the thesis: tables that have its figures beside ours, as text and as TSV."""
from study.results import thesis
from study.versions import STOP, VERSIONS

TSV = ("source", "machine", "program", "version", "threads", "what", "median", "least", "most", "unit")
PAUSES = (("pause_mean", "pause_max", "the stop that ends a cycle, mean / longest, ms; by the collector's log"),
          ("seen_mean", "seen_max", "pauses that the program sees, mean / longest, ms; by sgc-pauses"))
COUNTS = (("cycles", "cycles"), ("cycles_beside", "of these with marks made beside the program"),
          ("stop_max", "longest of all stops, ms; log"), ("written_pages", "written pages in the last stop, mean; log"),
          ("rounds", "rounds of looking at written pages, mean; log"))


def plain(value):
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def shown(spread):
    if spread is None or spread[1] == spread[2]:
        return "-" if spread is None else plain(spread[0])
    return f"{plain(spread[0])} ({plain(spread[1])}..{plain(spread[2])})"


def layout(title, heading, rows):
    """A table of columns as wide as they need to be."""
    lines = [heading, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heading))]
    text = [" | ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
    return "\n".join([title, *text]) + "\n\n"


class Table:
    """Text and lines for the TSV of one experiment."""

    def __init__(self, results, chosen, quoted):
        self.results, self.chosen, self.quoted = results, chosen, quoted
        self.text, self.lines = "", []

    def note(self, program, version, threads, what, spread, unit):
        if spread is not None:
            self.lines.append(("measured", "this", program, version, threads, what, *(f"{v:.6g}" for v in spread), unit))

    def note_thesis(self):
        for q in self.quoted:
            self.lines.append(("thesis", q.machine, q.program, q.version, q.threads, q.what, q.value, "-", "-", q.unit))

    def threads(self, program):
        return sorted({threads for name, _, threads in self.results.runs if name == program.name})

    def cells(self, program, version, cell):
        if version.name in self.results.missing:
            return ["not available"] * len(self.threads(program))
        return [cell((program.name, version.name, threads)) for threads in self.threads(program)]

    def add(self, title, program, cell, versions=VERSIONS):
        heading = ("ours", *(f"{n} thread{'s' if n > 1 else ''}" for n in self.threads(program)))
        self.text += layout(f"{program.name}: {title}", heading,
                            [(version.name, *self.cells(program, version, cell)) for version in versions])

    def quote(self, program):
        """The thesis' rows of a table."""
        mine = [q for q in self.quoted if q.program == program.name]
        threads = sorted({int(q.threads) for q in mine})
        value = {(q.version, q.what, int(q.threads)): q.value for q in mine}
        rows = [(version, *(f"{value[version, 'pause_mean', n]} / {value[version, 'pause_max', n]}" for n in threads))
                for version in ("Stop", "Conc-VM")]
        self.text += layout(f"{program.name}, thesis, {mine[0].machine}: mean / longest, ms",
                            ("thesis", *(f"{n} thread{'s' if n > 1 else ''}" for n in threads)), rows)


def pauses(table):
    """Tables 5.1 and 5.2."""
    results = table.results
    for program in table.chosen:
        table.quote(program)
        for mean, most, title in PAUSES:
            def cell(key, mean=mean, most=most):
                both = [(what, results.spread(key, what)) for what in (mean, most)]
                for what, spread in both:
                    table.note(*key, what, spread, "ms")
                return " / ".join(shown(spread) for _, spread in both)
            table.add(title, program, cell)
        for figure, title in COUNTS:
            def count(key, figure=figure):
                spread = results.spread(key, figure)
                table.note(*key, figure, spread, "ms" if figure == "stop_max" else "number")
                return shown(spread)
            table.add(title, program, count)


def times(table):
    """Figure 5.2."""
    results = table.results
    statements = [(q.version, q.machine, q.threads, q.what.replace("time_", ""), q.value, q.place) for q in table.quoted]
    table.text += layout("thesis: time, Stop = 1, all programs; the figure's points are not in its text",
                         ("version", "machine", "threads", "", "by Stop", "place"), statements)
    for program in table.chosen:
        def ratio(key):
            spread = results.spread_of_ratios(key, (key[0], STOP.name, key[2]), "seconds")
            table.note(*key, "time", spread, "Stop")
            return shown(spread)

        def seconds(key):
            spread = results.spread(key, "seconds")
            table.note(*key, "seconds", spread, "s")
            return shown(spread)
        table.add("time, Stop = 1, by rounds", program, ratio)
        table.add("time, s", program, seconds)


EXPERIMENTS = {
    "f5.2": ("figure 5.2: execution time of the versions", times),
    "t5.1": ("table 5.1: pauses, beside the thesis' of the Enterprise 10000", pauses),
    "t5.2": ("table 5.2: pauses, beside the thesis' of the Origin 2000", pauses),
}


def make(results, chosen, folder, name):
    """(text, lines of the TSV)."""
    title, fill = EXPERIMENTS[name]
    table = Table(results, chosen, thesis(folder, name))
    fill(table)
    table.note_thesis()
    return f"== {name}, {title}\n\n{table.text}", table.lines
