# SPDX-License-Identifier: MIT
"""The figures of real programs: a TSV file and back, and tables of them."""
from runner.cases import PEER, SGC
from runner.summary import mean

# table: (heading, what it is about, (figure, its heading, digits), figures with a ratio and their goals)
TABLES = {
    "default": ("Default settings",
                "Medians; collections and pauses from one run more, with a log.",
                (("cpu", "CPU s", 3), ("wall", "wall s", 3), ("rss", "peak MB", 1), ("collections", "collections", 0),
                 ("pauses", "in pauses ms", 1), ("longest", "longest ms", 2)),
                (("cpu", 1.0, 0.85), ("wall", None, None), ("rss", 1.1, None), ("longest", None, None))),
    "limit": ("Equal heaps",
              "Both have the same heap from the start, and no more.",
              (("cpu", "CPU s", 3), ("wall", "wall s", 3), ("rss", "peak MB", 1), ("collections", "collections", 0),
               ("pauses", "in pauses ms", 1), ("longest", "longest ms", 2)),
              (("cpu", None, None), ("wall", None, None), ("rss", None, None), ("longest", None, None))),
    "instructions": ("Instructions, in millions",
                     "Counted by callgrind, one marker: in the collector's library, and in the whole program.",
                     (("inside", "inside", 2), ("instructions", "all", 1)),
                     (("inside", None, 0.6), ("instructions", None, None))),
}
COLUMNS = ("program", "table", "side", "name", "value")
MILLIONS = 1e6


def write(path, results):
    with open(path, "w", encoding="utf-8") as f:
        print(*COLUMNS, sep="\t", file=f)
        for (program, table), by_side in results.items():
            for side, figures in by_side.items():
                for name, value in figures.items():
                    print(program, table, side, name, f"{value:.6g}" if isinstance(value, float) else value, sep="\t", file=f)


def read(path):
    results = {}
    with open(path, encoding="utf-8") as f:
        lines = [line.rstrip("\n").split("\t") for line in f]
    if not lines or tuple(lines[0]) != COLUMNS:
        raise ValueError(f"{path}: this is no programs.tsv of bench/programs")
    for program, table, side, name, value in lines[1:]:
        results.setdefault((program, table), {}).setdefault(side, {})[name] = float(value)
    return results


def shown(table, figures, name, digits):
    value = figures[name] / (MILLIONS if table == "instructions" else 1)
    return f"{value:.{digits}f}"


def ratio(by_side, name):
    return by_side[SGC][name] / by_side[PEER][name] if by_side[PEER][name] else None


def line_of(table, program, by_side):
    _, _, figures, ratios = TABLES[table]
    cells = [f"{shown(table, by_side[PEER], name, digits)} / {shown(table, by_side[SGC], name, digits)}"
             for name, _, digits in figures]
    cells += ["-" if ratio(by_side, name) is None else f"{ratio(by_side, name):.2f}" for name, _, _ in ratios]
    return "| " + " | ".join([program, *cells]) + " |"


def goals_of(table, rows):
    """Lines that say of each goal whether it is met."""
    headings = {name: heading for name, heading, _ in TABLES[table][2]}
    for name, each, geometric in TABLES[table][3]:
        ratios = {program: ratio(by_side, name) for program, by_side in rows.items()}
        ratios = {program: value for program, value in ratios.items() if value}
        if not ratios:
            continue
        value = mean(ratios.values())
        text = f"- {headings[name]}: geometric mean {value:.2f}"
        if geometric is not None:
            text += f" (at most {geometric:g}: {'met' if value <= geometric else 'not met'})"
        if each is not None:
            above = [f"{program} {value:.2f}" for program, value in ratios.items() if value > each]
            text += f"; each at most {each:g}: {'not met by ' + ', '.join(above) if above else 'met'}"
        yield text


def as_markdown(results):
    lines = ["# Real programs", "", "Each cell has bdwgc's figure and SGC's; ratios are SGC/bdwgc."]
    for table, (heading, about, figures, ratios) in TABLES.items():
        rows = {program: by_side for (program, of), by_side in results.items() if of == table}
        if not rows:
            continue
        names = {name: title for name, title, _ in figures}
        titles = ["program", *(title for _, title, _ in figures), *(names[name] + " ratio" for name, _, _ in ratios)]
        lines += ["", f"## {heading}", "", about, "", "| " + " | ".join(titles) + " |",
                  "|" + " --- |" * len(titles), *(line_of(table, *row) for row in rows.items()), "",
                  *goals_of(table, rows)]
    return "\n".join(lines) + "\n"


def markdown_rows(path):
    """(heading of the section, the cells) of each line of a table."""
    section = ""
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("## "):
                section = line[3:].strip()
            elif line.startswith("| "):
                yield section, [cell.strip() for cell in line.strip().strip("|").split("|")]


def ratios_in(path):
    """What a document like bench/PROGRAMS.md says: {table: {figure: (program, ratio) of all that have one}}."""
    names = {heading: name for name, (heading, _, _, _) in TABLES.items()}
    found, columns = {}, []
    for section, cells in markdown_rows(path):
        table = names.get(section)
        if table and cells[0] == "program":
            titles = {title + " ratio": name for name, title, _ in TABLES[table][2]}
            columns = [(i, titles[title]) for i, title in enumerate(cells) if title in titles]
        elif table and columns and cells[0] != "---":
            for i, name in columns:
                by_program = found.setdefault(table, {}).setdefault(name, [])
                by_program += [(cells[0], float(cells[i]))] if cells[i] not in ("-", "0.00") else []
    if "default" not in found:
        raise ValueError(f"{path}: no table of programs with default settings; is this bench/PROGRAMS.md?")
    return found
