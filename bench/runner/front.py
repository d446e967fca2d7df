# SPDX-License-Identifier: MIT
"""The first page of the results: what a reader should know before any table."""
from runner.goals import MET
from runner.summary import mean
from runner.tables import as_markdown

GOALS, MEANS = "Goals", "Geometric means of the ratios SGC/bdwgc"

HEAD = """<!-- SPDX-License-Identifier: MIT -->
<!-- Written by bench/report; do not edit. -->
# Results of the benchmarks

"""

ELSEWHERE = """
Real programs one by one: [PROGRAMS.md](PROGRAMS.md). Each benchmark, the machine and the command: [TABLES.md](TABLES.md).
What each case measures and what it does not, and how to run them: [README.md](README.md).

Ratios are SGC/bdwgc of medians of one run: below 1 SGC is faster or smaller. In `scaling` more is better.
"""


def cell(titled, row_begins, column):
    """A cell of a table (title, heading, body): of the row that begins with these cells, the column of that heading."""
    title, heading, body = titled
    for row in body:
        if tuple(row[:len(row_begins)]) == row_begins:
            return row[heading.index(column)]
    return None


def mean_of(ratios):
    return f"{mean([ratio for _, ratio in ratios]):.2f}"


def worst_of(ratios):
    program, ratio = max(ratios, key=lambda pair: pair[1])
    return f"{program} ({ratio:.2f})"


def about_programs(programs):
    """programs: of real_tables.ratios_in, or empty."""
    if not programs:
        return
    cpu, rss, pause = (programs["default"][name] for name in ("cpu", "rss", "longest"))
    yield f"On {len(cpu)} real programs with default settings SGC takes {mean_of(cpu)} of bdwgc's CPU time and {mean_of(rss)} of " \
          f"its peak memory, and its longest pause is {mean_of(pause)} of bdwgc's (geometric means)."
    yield f"The worst programs are {worst_of(cpu)} for CPU time, {worst_of(rss)} for memory and {worst_of(pause)} for the " \
          "longest pause."
    if "limit" in programs:
        yield f"With the same heap for both from the start, and no more, SGC takes {mean_of(programs['limit']['cpu'])} of the " \
              "CPU time."


def about_cases(means):
    """Of benchmarks that do one thing."""
    small = cell(means, ("alloc 16 B to 1 KB, conservative", "limit"), "mean")
    one, two = (cell(means, ("marking", "limit", markers), "mean") for markers in ("1", "2"))
    if None not in (small, one, two):
        yield f"In equal heaps a conservative allocation of 16 to 1024 bytes takes {small} of bdwgc's time, marking with one marker {one} " \
              f"and with two markers {two} (geometric means)."


def about_goals(goals):
    met = sum(row[3] == MET for row in goals[2])
    yield f"Of {len(goals[2])} goals {met} are met" + (", all others stand here:" if met < len(goals[2]) else ".")


def page(about, tables, programs, picture):
    """`picture` is the path of a plot of the programs, or an empty string; `tables` are all tables of the run."""
    by_title = {table[0]: table for table in tables}
    goals = by_title[GOALS]
    means = by_title.get(MEANS, (MEANS, ("group", "mode", "markers", "cases", "mean"), []))
    text = HEAD + "\n".join([*about_programs(programs), *about_cases(means), *about_goals(goals)]) + "\n\n"
    unmet = [row for row in goals[2] if row[3] != MET]
    if unmet:
        text += as_markdown(("Goals that are not met", goals[1], unmet)) + "\n"
    if picture:
        text += f"![Real programs: CPU time, peak memory and longest pause, SGC by bdwgc]({picture})\n"
    spoilt = about.get("not for quoting", "-")
    if spoilt != "-":
        text += f"\n**These figures are not for quoting: {spoilt}.**\n"
    return text + ELSEWHERE + "\n" + "\n".join(as_markdown(table) for table in (goals, means) if table[2])
