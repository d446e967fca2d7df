# SPDX-License-Identifier: MIT
"""Plots, drawn by gnuplot as SVG."""
import os
import shutil
import subprocess

from runner.cases import KINDS, PRESETS
from runner.real_tables import ratios_of
from runner.summary import case_rows, preset_rows

HEAD = "set terminal svg size {width},{height} font 'sans,12' background 'white'\nset output '{path}'\n"


def data(name, rows):
    return f"${name} << END\n" + "".join(" ".join(str(c) for c in row) + "\n" for row in rows) + "END\n"


def quoted(text):
    return '"' + text.replace("_", " ") + '"'


def allocation(rows, kind):
    """Time by size, on one thread."""
    points = {}
    for row in rows:
        words = row.case.name.split("/")
        if words[:3] == ["alloc", "1", kind]:
            for label, side in ((f"SGC, {row.mode}", row.sgc), ("bdwgc", row.peer)):
                if not side.failed:
                    points.setdefault(label, {})[int(words[3])] = (side.median, side.least, side.most)
    if not points:
        return None
    text = f"set logscale xy\nset title 'Allocation on one thread, {kind}'\nset xlabel 'size, bytes'\n" \
           "set ylabel 'ns an object'\nset grid\nset key top left\n"
    curves = []
    for i, (label, by_size) in enumerate(sorted(points.items())):
        text += data(f"d{i}", [(size, *by_size[size]) for size in sorted(by_size)])
        curves.append(f"$d{i} with yerrorlines pointtype 7 pointsize 0.5 title '{label}'")
    return text + "plot " + ", \\\n".join(curves) + "\n"


def ratios(rows):
    """All ratios SGC/bdwgc of a run, one below the other."""
    chosen = [row for row in rows if row.case.less_is_better and row.ratio is not None][::-1]
    if not chosen:
        return None
    labels = [f"{r.case.name}, {r.mode}" + (f", {r.markers} markers" if r.markers != "-" else "") for r in chosen]
    text = data("d", [(r.ratio, i, quoted(label)) for i, (r, label) in enumerate(zip(chosen, labels))])
    return text + "set title 'SGC/bdwgc, medians: to the left of 1 SGC is faster'\nset logscale x\nset grid x\n" \
                  f"set yrange [-1:{len(chosen)}]\nset arrow from 1,-1 to 1,{len(chosen)} nohead linewidth 2\n" \
                  "set ytics font ',9'\nset style fill solid 0.7 noborder\n" \
                  "plot $d using 1:2:($1 < 1 ? $1 : 1):($1 < 1 ? 1 : $1):($2 - 0.35):($2 + 0.35):" \
                  "($1 < 1 ? 2 : 4):ytic(3) with boxxyerror linecolor variable notitle\n"


def bars(title, unit, heading, lines, begin="0"):
    """Clusters of bars: a cluster a line, a bar a column.  begin: where the axis begins, for gnuplot."""
    if not lines:
        return None
    text = data("d", [("case", *map(quoted, heading)), *lines])
    return text + f"set title '{title}'\nset ylabel '{unit}'\nset style data histogram\nset style fill solid 0.7\n" \
                  f"set yrange [{begin}:*]\nset grid y\nset key outside right\n" \
                  f"plot for [i=2:{len(heading) + 1}] $d using i:xtic(1) title columnheader(i)\n"


def number(side):
    return "?" if side.failed else side.median


def marking(rows):
    by_case, heading = {}, []
    for row in rows:
        if row.case.marks:
            for label, side in ((f"SGC, {row.markers}", row.sgc), (f"bdwgc, {row.markers}", row.peer)):
                heading += [label] if label not in heading else []
                by_case.setdefault(row.case.name.split("/")[1], {})[label] = number(side)
    lines = [(name, *(values.get(label, "?") for label in heading)) for name, values in by_case.items()]
    return bars("Marking, by markers", "ms a collection", heading, lines)


def presets(table):
    lines = [(case.name.split("/")[1], *(number(found[p]) if p in found else "?" for p in PRESETS), number(peer))
             for case, found, peer in table]
    return bars("Presets of parallel marking", "ms a collection", (*PRESETS, "bdwgc"), lines)


def programs(ratios):
    """Real programs, one below the other: a mark for each figure, left of 1 where SGC is better.  ratios: {figure: [(program,
    ratio), ...]}."""
    names = [program for program, _ in ratios["cpu"]][::-1]
    rows = {program: i for i, program in enumerate(names)}
    every = [1.0] + [ratio for figure in ("cpu", "rss", "longest") for _, ratio in ratios[figure]]
    text, curves = "", []
    for i, (figure, title) in enumerate((("cpu", "CPU time"), ("rss", "peak memory"), ("longest", "longest pause"))):
        text += data(f"d{i}", [(ratio, rows[program], quoted(program)) for program, ratio in ratios[figure]])
        ticks = ":ytic(3)" if i == 0 else ""
        curves.append(f"$d{i} using 1:2{ticks} with points pointtype {(7, 5, 9)[i]} pointsize 0.9 title '{title}'")
    return text + "set title 'Real programs, SGC by bdwgc: left of 1 SGC takes less'\nset logscale x\n" \
                  f"set xrange [{0.9 * min(every)}:{1.1 * max(every)}]\n" \
                  "set xtics (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.5, 2, 3, 5)\nset grid\nset key outside top center horizontal\n" \
                  f"set yrange [-1:{len(names)}]\nset arrow from 1,-1 to 1,{len(names)} nohead linewidth 2\n" \
                  "plot " + ", \\\n".join(curves) + "\n"


def scripts(results):
    """(name, gnuplot's commands, height) of what there is something to draw of."""
    rows = case_rows(results)
    every = [(f"alloc-{kind}", allocation(rows, kind), 480) for kind in KINDS]
    every += [("ratios", ratios(rows), 160 + 14 * len(rows)), ("marking", marking(rows), 480),
              ("presets", presets(preset_rows(results)), 480)]
    return [plot for plot in every if plot[1]]


def draw(results, folder):
    """The names of the files drawn, and what went wrong or an empty string."""
    return draw_scripts(scripts(results), folder)


def scripts_of_programs(measured):
    """Likewise; measured: real_tables.Programs."""
    ratios = {name: ratios_of(measured, "default", (name, "sgc", "bdwgc")) for name in ("cpu", "rss", "longest")}
    return [("programs", programs(ratios), 160 + 18 * len(ratios["cpu"]))] if ratios["cpu"] else []


def draw_scripts(plots, folder):
    if not shutil.which("gnuplot"):
        return [], "no plots: gnuplot is not installed"
    drawn = []
    for name, text, height in plots:
        file = name + ".svg"
        script = HEAD.format(width=900, height=height, path=os.path.join(folder, file).replace("'", "''")) + text
        done = subprocess.run(["gnuplot"], input=script, capture_output=True, text=True, check=False)
        if done.returncode != 0 or done.stderr.strip():
            return drawn, f"{file}: gnuplot says: {done.stderr.strip()}"
        drawn.append(file)
    return drawn, ""
