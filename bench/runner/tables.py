# SPDX-License-Identifier: MIT
"""Tables for people, as text and as Markdown, and the summary as TSV."""
import math
from statistics import median

from runner import concurrent
from runner.cases import PEER, PRESETS, SGC
from runner.goals import goals
from runner.summary import case_rows, controls, count_rows, floors, groups, handovers, preset_rows, rates, ratio, speed_ups

FAR = 2.0               # times the least: the processors share no cache then


def plain(value):
    """Three digits that count, none of them lost to an exponent."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value + 0.0:.3g}"


def two(value):
    return "-" if value is None else f"{value:.2f}"


def spread(side):
    return "FAILED" if side.failed else f"{plain(side.median)} ({plain(side.least)}..{plain(side.most)})"


def both(one, other):
    return f"{plain(one)} / {plain(other)}"


def case_table(rows):
    heading = ("case", "mode", "markers", "unit", "SGC", "bdwgc", "ratio", "collections", "peak RSS MB", "RSS ratio")
    body = [(r.case.name, r.mode, r.markers, r.sgc.unit or r.peer.unit, spread(r.sgc), spread(r.peer), two(r.ratio),
             both(r.sgc.collections, r.peer.collections), both(r.sgc.rss, r.peer.rss), two(r.rss_ratio)) for r in rows]
    return "Cases: median (least..most), SGC / bdwgc", heading, body


def group_table(rows):
    body = [(g.name, g.mode, g.markers, f"{len(g.ratios)} of {g.cases}", two(g.mean)) for g in groups(rows)]
    return "Geometric means of the ratios SGC/bdwgc", ("group", "mode", "markers", "cases", "mean"), body


def speed_up_table(rows):
    body = [(case.name, markers, plain(one.median), plain(many.median), two(ratio(one.median, many.median)),
             plain(many.handover)) for case, markers, one, many in speed_ups(rows)]
    return ("SGC: several markers against one (ms); how far apart two processors were (ns)",
            ("case", "markers", "one", "several", "times as fast", "to and fro"), body)


def between_processors(results):
    """What the results say of that, in words."""
    found = handovers(results)
    if not found:
        return "not measured"
    far = sum(ns > FAR * min(found) for ns in found)
    return f"a word goes to and fro in {median(found):.0f} ns ({min(found):.0f}..{max(found):.0f}; more than twice the least " \
           f"before {far} of {len(found)} runs)"


def rate_table(results):
    body = [(name, variant.side, variant.markers, plain(mb), plain(objects / 1e6), plain(edges / 1e6))
            for name, variant, mb, objects, edges in rates(results)]
    return ("Marking rates, to be held against the limits of memory above",
            ("case", "collector", "markers", "MB/s", "M objects/s", "M pointers/s"), body)


def floor_table(results):
    body = [(floor.case, floor.variant.side, floor.variant.mode, plain(floor.taken), plain(floor.least), two(floor.times),
             plain(floor.added)) for floor in floors(results)]
    return ("Beside the same steps with exact frees, in the same process",
            ("case", "collector", "mode", "with it", "exact frees", "times these", "added to these"), body)


def control_table(results):
    body = [(name, variant.side, variant.mode, plain(gain), plain(control), two(relative))
            for name, variant, gain, control, relative in controls(results)]
    return ("What a second processor gives: times the rate of one, beside a control on the same processors in the same run",
            ("case", "collector", "mode", "with it", "control", "relative"), body)


def preset_table(table):
    heading = ("case", *PRESETS, "bdwgc")
    body = [(case.name, *(preset_cell(presets, p) for p in PRESETS), spread(peer)) for case, presets, peer in table]
    return "Presets of parallel marking: ms, and times the time of opt", heading, body


def preset_cell(presets, name):
    side, opt = presets.get(name), presets.get("opt")
    if side is None:
        return "-"
    against = ratio(side.median, opt.median) if opt else None
    return spread(side) + (f", {against:.2f}" if against else "")


def count_table(counted):
    body = [(name, side, "FAILED" if side in failed else plain(by_side[side][0]),
             failed[side] if side in failed else plain(by_side[side][1]))
            for name, by_side, failed in counted for side in (SGC, PEER) if side in by_side or side in failed]
    return "Instructions", ("operation", "collector", "without zeroing", "zeroing and C library"), body


def goal_table(results):
    body = [(str(g.number), g.wanted, g.found, g.verdict) for g in goals(results)]
    return "Goals", ("no.", "wanted", "found", "verdict"), body


def failure_table(results):
    body = [(part, name, str(variant), str(number), reason) for part, name, variant, number, reason in results.failures()]
    return "Failed runs", ("part", "case", "variant", "round", "reason"), body


def warning_table(results):
    body = [(said, where) for said, where in results.warnings().items()]
    return "Messages of SGC", ("message", "first in"), body


def tables(results):
    """All that have something in them."""
    rows = case_rows(results)
    every = [goal_table(results), group_table(rows), case_table(rows), speed_up_table(rows),
             floor_table(results), control_table(results), rate_table(results), preset_table(preset_rows(results)),
             count_table(count_rows(results)), concurrent.table(results, plain, two),
             failure_table(results), warning_table(results)]
    return [table for table in every if table[2]]


def beside(results):
    """Of bench/run --concurrent."""
    every = [concurrent.table(results, plain, two), failure_table(results), warning_table(results)]
    return [table for table in every if table[2]]


# ---- how they look ----

def as_text(table):
    title, heading, body = table
    lines = [heading, *body]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heading))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
    return "\n".join([title, "", *("    " + line for line in text), ""])


def as_markdown(table):
    title, heading, body = table
    lines = [heading, ["---"] * len(heading), *body]
    return "\n".join([f"## {title}", "", *("| " + " | ".join(c.replace("|", "\\|") for c in line) + " |"
                                           for line in lines), ""])


def about_lines(results):
    return [(key, value) for key, value in results.about.items()]


def write_summary(results, path):
    """A line a case and mode, for programs."""
    columns = ("case", "group", "mode", "markers", "unit", "sgc", "sgc_least", "sgc_most", "bdwgc", "bdwgc_least",
               "bdwgc_most", "ratio", "sgc_collections", "bdwgc_collections", "sgc_rss_mb", "bdwgc_rss_mb", "failure")
    with open(path, "w", encoding="utf-8") as f:
        print(*columns, sep="\t", file=f)
        for r in case_rows(results):
            print(r.case.name, r.case.group, r.mode, r.markers, r.sgc.unit or r.peer.unit, r.sgc.median, r.sgc.least,
                  r.sgc.most, r.peer.median, r.peer.least, r.peer.most, r.ratio if r.ratio is not None else "nan",
                  r.sgc.collections, r.peer.collections, r.sgc.rss, r.peer.rss,
                  r.sgc.failure or r.peer.failure or "-", sep="\t", file=f)
