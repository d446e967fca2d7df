# SPDX-License-Identifier: MIT
"""Plots, drawn by gnuplot as SVG: when the pauses of one run were and how many of which length, or how several ways to run a
program compare."""
import shutil
import subprocess

from pauses import files
from pauses.analysis import SEEN, WAITS
from pauses.files import shown

HEAD = "set encoding utf8\nset terminal svg noenhanced size {width},{height} font 'sans,12' background 'white'\n"
WIDTH = 900


class Failed(Exception):
    pass


def check():
    if not shutil.which("gnuplot"):
        raise Failed("gnuplot is not installed; install it (Debian: gnuplot-nox), or take the figures from --json")


def data(name, rows):
    return f"${name} << END\n" + "".join(" ".join(str(c) for c in row) + "\n" for row in rows) + "END\n"


def quoted(text):
    """A string of gnuplot's in which each byte that could mean something to it is a number.  It makes SVG of it itself, but for
    what no text there may have."""
    letters = (chr(b) if chr(b).isascii() and chr(b).isalpha() else f"\\{b:03o}" for b in shown(text).replace("]]>", "]] >").encode())
    return '"' + "".join(letters) + '"'


def nothing(title):
    return f"set title {quoted(title)}\nset label 1 'no pauses' at screen 0.5,0.5 center\nset xrange [0:1]\nset yrange [0:1]\n" \
           "plot -1 notitle\n"


def waits_above(found):
    """The longest wait of a single thread up to each end of a cycle: (data, curves)."""
    text, curves = "", ""
    for kind, longest, _ in WAITS:
        points = [(w["at_ns"] / 1e9, w[longest] / 1e6) for run in found["waits"] for w in run if w[kind]]
        if points:
            text += data(kind, points)
            curves += f", ${kind} with points pointtype 2 pointsize 0.6 title {quoted(f'{kind}, the longest of each cycle')}"
    return text, curves


def one(title, found):
    """Above when, below how long."""
    points = [(p["at_ns"] / 1e9, p["ns"] / 1e6) for run in found["runs"] for p in run]
    if not points:
        return nothing(title), 300
    waits, curves = waits_above(found)
    bars = [((b["from_ns"] * b["below_ns"]) ** 0.5 / 1e6, b["number"], b["from_ns"] / 1e6, b["below_ns"] / 1e6)
            for b in found["histogram"]]
    text = data("when", points) + data("long", bars) + waits
    text += "set multiplot layout 2,1\nset grid\n" \
            f"set title {quoted(title)}\nset xlabel 'seconds'\nset ylabel 'pause, ms'\nset yrange [0:*]\nset xrange [0:*]\n" \
            f"plot $when with impulses linewidth 1 notitle, $when with points pointtype 7 pointsize 0.3 notitle{curves}\n" \
            "unset title\nset logscale x\nset xrange [*:*]\nset xlabel 'pause, ms'\nset ylabel 'pauses'\nset style fill solid 0.7\n" \
            "plot $long using 1:2:3:4:(0):2 with boxxyerror notitle\nunset multiplot\n"
    return text, 600


def beside(title, columns):
    """How many pauses of each way took longer than that."""
    text, curves = "", []
    for number, (name, found) in enumerate(columns.items()):
        lengths = sorted((p["ns"] / 1e6 for run in found["runs"] for p in run), reverse=True)
        if lengths:
            text += data(f"d{number}", [(ms, at + 1) for at, ms in enumerate(lengths)])
            curves.append(f"$d{number} with linespoints pointtype 7 pointsize 0.3 title {quoted(name)}")
    if not curves:
        return nothing(title), 300
    return text + f"set title {quoted(title)}\nset logscale xy\nset grid\nset xlabel 'ms'\n" \
        "set ylabel 'pauses of that length and longer'\nplot " + ", \\\n".join(curves) + "\n", 480


def draw(path, title, columns):
    """columns: {name: found}."""
    found = list(columns.values())
    text, height = one(f"{title}: {found[0][SEEN]['number']} pauses", found[0]) if len(found) == 1 else beside(title, columns)
    done = subprocess.run(["gnuplot"], input=(HEAD.format(width=WIDTH, height=height) + text).encode(), capture_output=True, check=False)
    if done.returncode != 0 or not done.stdout:             # warnings, as that there is one pause only, do not matter
        raise Failed(f"{path}: gnuplot says: {done.stderr.decode(errors='replace').strip()}")
    files.write(path, done.stdout)
