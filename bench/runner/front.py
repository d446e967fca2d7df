# SPDX-License-Identifier: MIT
"""The first page of the results, and what README.md says of them: what a reader should know before any table."""
import re

from runner import concurrent
from runner.goals import MET
from runner.real_tables import ratios_of
from runner.summary import mean
from runner.tables import as_markdown

GOALS, MEANS = "Goals", "Geometric means of the ratios SGC/bdwgc"

BEGIN, END = "<!-- bench/report writes from here", "<!-- to here -->"

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


def of(programs, table, figure, over="sgc", under="bdwgc"):
    return ratios_of(programs, table, (figure, over, under))


def about_programs(programs):
    cpu, rss, pause = (of(programs, "default", name) for name in ("cpu", "rss", "longest"))
    if not cpu:
        return
    yield f"On {len(cpu)} real programs with default settings SGC takes {mean_of(cpu)} of bdwgc's CPU time and {mean_of(rss)} of " \
          f"its peak memory, and its longest pause is {mean_of(pause)} of bdwgc's (geometric means)."
    yield f"The worst programs are {worst_of(cpu)} for CPU time, {worst_of(rss)} for memory and {worst_of(pause)} for the " \
          "longest pause."
    limit = of(programs, "limit", "cpu")
    if limit:
        yield f"With the same heap for both from the start, and no more, SGC takes {mean_of(limit)} of the CPU time."


def about_concurrent(programs):
    cpu, rss, longest = (of(programs, "concurrent", name, "concurrent", "stop") for name in ("cpu", "rss", "longest"))
    if not cpu:
        return
    yield f"Concurrent mode takes {mean_of(cpu)} of the CPU time of stop mode, at worst {worst_of(cpu)}, and {mean_of(rss)} of its memory, at worst " \
          f"{worst_of(rss)}; the longest stop is {mean_of(longest)} of stop mode's, at worst {worst_of(longest)}."
    peer, stops = (of(programs, "concurrent", name, "concurrent", "incremental") for name in ("cpu", "longest"))
    if peer and stops:
        yield f"Bdwgc's incremental mode runs {len(peer)} of these {len(cpu)} programs; against it concurrent mode takes {mean_of(peer)} of the " \
              f"CPU time, and its longest stop is {mean_of(stops)} of bdwgc's."


def readme(programs):
    """The sentences of README.md."""
    cpu, rss, pause = (of(programs, "default", name) for name in ("cpu", "rss", "longest"))
    if not cpu:
        return "No results of real programs are in the tree."
    return f"{len(cpu)} real programs, from w3m to LilyPond, run on SGC unchanged. In the geometric mean they take {mean_of(cpu)} of the CPU time and\n" \
           f"{mean_of(rss)} of the memory that they take on bdwgc, the Boehm-Demers-Weiser garbage collector, and their longest pause is {mean_of(pause)} of\n" \
           f"bdwgc's; at worst, CPU time of {worst_of(cpu)}, memory of {worst_of(rss)}, the longest pause of\n{worst_of(pause)}. " \
           "([bench/RESULTS.md](bench/RESULTS.md) says more, and which goals are not met.)"


def fill(text, programs):
    """README.md with what stands between its marks written anew."""
    pattern = re.compile(f"({re.escape(BEGIN)}[^\n]*\n).*?(\n{re.escape(END)})", re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"README.md has no part between \"{BEGIN} ... -->\" and \"{END}\"")
    return pattern.sub(lambda found: found.group(1) + readme(programs) + found.group(2), text)


def about_cases(means):
    """Of benchmarks that do one thing."""
    small = cell(means, ("alloc 16 B to 1 KB, conservative", "limit"), "mean")
    one, two = (cell(means, ("marking", "limit", markers), "mean") for markers in ("1", "2"))
    if None not in (small, one, two):
        yield f"In equal heaps a conservative allocation of 16 to 1024 bytes takes {small} of bdwgc's time, marking with one marker {one} " \
              f"and with two markers {two} (geometric means)."


def about_benchmarks(results):
    """Of concurrent mode."""
    cpu, longest = (concurrent.ratios_of(results, name) for name in ("cpu_ms", "gap_longest_ms"))
    if cpu and longest:
        yield f"In {len(cpu)} benchmarks with a limit of the heap concurrent mode takes {mean_of(cpu)} of the CPU time of stop mode, at worst " \
              f"{worst_of(cpu)}, and the longest wait is {mean_of(longest)} of stop mode's, at worst {worst_of(longest)}."


def about_goals(goals):
    met = sum(row[3] == MET for row in goals[2])
    yield f"Of {len(goals[2])} goals {met} are met" + (", all others stand here:" if met < len(goals[2]) else ".")


def page(cases, beside, tables, programs):
    """`cases` and `tables` are of bench/run, `beside` of bench/run --concurrent, `programs` a real_tables.Programs."""
    by_title = {table[0]: table for table in tables}
    goals = by_title[GOALS]
    means = by_title.get(MEANS, (MEANS, ("group", "mode", "markers", "cases", "mean"), []))
    text = "# Results of the benchmarks\n\n" + \
        "\n".join([*about_programs(programs), *about_concurrent(programs), *about_benchmarks(beside),
                   *about_cases(means), *about_goals(goals)]) + "\n\n"
    unmet = [row for row in goals[2] if row[3] != MET]
    if unmet:
        text += as_markdown(("Goals that are not met", goals[1], unmet)) + "\n"
    if of(programs, "default", "cpu"):
        text += "![Real programs: CPU time, peak memory and longest pause, SGC by bdwgc](plots/programs.svg)\n"
    spoilt = cases.about.get("not for quoting", "-")
    if spoilt != "-":
        text += f"\n**These figures are not for quoting: {spoilt}.**\n"
    return text + ELSEWHERE + "\n" + "\n".join(as_markdown(table) for table in (goals, means) if table[2])
