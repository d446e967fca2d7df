# SPDX-License-Identifier: MIT
"""Chapter 3's marks on the thesis' machines: for each number of markers a snapshot of the program with as many threads, and
sgc-simulate with the marker of the thesis.
"""
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor

from runner import machine
from study.snapshots import Snapshots, Unusable, reached, simulate, tool
from study.turns import panel

MACHINES = {"E10K": "e10k", "O2K": "o2k"}
MARKERS = {"E10K": (1, 2, 4, 8, 16, 32, 48, 60), "O2K": (1, 2, 4, 8, 16, 32, 48, 64)}
QUICK = (1, 8)
LARGE = 3 / 4                   # of what lives at most: a snapshot of less is one of a heap that has hardly begun
BASE = ("Opt", 1)
IN_TURN = "Opt, objects in turn"        # not by threads, which on few processors do not share the work evenly


def tools(places):
    return [tool(places, "sgc-simulate"), tool(places, "sgc-snapshot")]


def run_name(program):
    return f"{program.name}, ch3, simulated"


def version(where, preset):
    return f"{where} {preset}"


# ---- simulating ----

def markers_of(options, where):
    return options.markers or (QUICK if options.quick else MARKERS[where])


def jobs_of(options, figures):
    """(machine, preset, markers), each once, with the one that all are compared to.  figures: (machine, presets)."""
    found = {(where, preset, n) for where, presets in figures for preset in presets for n in markers_of(options, where)}
    return sorted(found | {(where, *BASE) for where, _ in figures})


def simulate_round(study, plan, program, number, figures, alive):
    """alive: bytes of the program that live at most."""
    if not figures:
        return

    def tell(what):
        study.say(f"round {number} of {study.options.times}: {program.name}, {what}")
    jobs = jobs_of(study.options, figures)
    with tempfile.TemporaryDirectory() as folder:
        store, heaps = Snapshots(plan.places, folder, plan.timeout), {}
        for n in sorted({n for _, _, n in jobs}):
            tell(f"a snapshot with {n} thread{'s' if n > 1 else ''}")
            try:
                heaps[n] = take(store, plan.set, program, n, int(LARGE * alive))
            except Unusable as why:
                study.record((run_name(program), "snapshot", n), number, {}, str(why))
        jobs = [job for job in jobs if job[2] in heaps]
        tell(f"{len(jobs)} simulated marks")
        with ThreadPoolExecutor(machine.processors()) as pool:
            found = list(pool.map(lambda job: one(plan, heaps[job[2]], *job), jobs))
    for (where, preset, n), result in zip(jobs, found):
        study.record((run_name(program), version(where, preset), n), number, *result)


def take(store, size, program, threads, enough):
    """(path, objects, bytes) of a large heap of the program."""
    path = store.take_large(program.file, size, ("--threads", str(threads), *program.arguments), enough)
    return path, *reached(store.places, path, store.timeout)


def one(plan, heap, where, preset, markers):
    """(figures, failure)."""
    path, objects, size = heap
    try:
        name, options = (BASE[0], ("--objects", "turn")) if preset == IN_TURN else (preset, ())
        row = simulate(plan.places, path, MACHINES[where], [markers], "endo-" + name.lower(), plan.timeout, options)[0]
    except Unusable as why:
        return {}, str(why)
    if row["objects"] != objects:
        return {}, f"{row['objects']:.0f} objects were marked, and {objects} can be reached"
    return {"ms": row["time_ms"], "speed": size / 1e6 / row["time_ms"], "megabytes": size / 1e6, "steals": row["steals"],
            "busiest": row["busiest"]}, ""


# ---- tables and curves ----

COUNTS = (("ms", "ms a mark", "ms"), ("megabytes", "10^6 bytes that are marked", "MB"))


def table(sheet, program, where, presets):
    name = run_name(program)
    markers = sorted({n for key, label, n in sheet.results.runs if key == name and label.split(" ")[0] == where})
    base = (name, version(where, BASE[0]), BASE[1])
    rows = [(preset, *(sheet.note("simulated", where, (program.name, preset, n), "speedup",
                                  sheet.results.spread_of_ratios((name, version(where, preset), n), base, "speed"), "times")
                       for n in markers)) for preset in presets]
    sheet.add(f"{program.name}: simulated on {where}, speed of the thesis' marker, Opt with 1 = 1",
              ("simulated", *(f"{n} marker{'s' if n > 1 else ''}" for n in markers)), rows)
    rows = [(title, *(sheet.note("simulated", where, (program.name, "Opt", n), what,
                                 sheet.results.spread((name, version(where, "Opt"), n), what), unit) for n in markers))
            for what, title, unit in COUNTS]
    sheet.add(f"{program.name}: simulated on {where}, Opt", ("simulated", *map(str, markers)), rows)


def curves(sheet, number, program, where, presets):
    found = []
    for i, preset in enumerate(presets):
        color, last = f"linetype {i + 1}", preset == BASE[0]
        found += [(f"{preset}, simulated", sheet.points("simulated", where, program.name, preset, "speedup"),
                   f"with linespoints {color} pointtype {i + 4}"),
                  ("SGC here" if last else "", sheet.points("measured", "this", program.name, preset, "speedup"),
                   f"with points {color} pointtype 9"),
                  ("thesis" if last else "", of_thesis(sheet, program, preset), f"with points {color} pointtype 3")]
    return panel(number, f"{program.name} on {where}", "times Opt with 1 marker", found, "0.5:*")


def of_thesis(sheet, program, preset):
    """The points of which its text has numbers; of a range both ends."""
    return [(q.threads, value) for q in sheet.quoted if (q.program, q.version, q.unit) == (program.name, preset, "times")
            and q.threads.isdecimal() for value in re.findall(r"[0-9.]+", q.value)]
