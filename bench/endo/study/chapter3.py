# SPDX-License-Identifier: MIT
"""Chapter 3's experiments: how much of the time of the applications is collections, and how much faster more markers mark,
measured here and simulated on the thesis' machines.
"""
import os
import tempfile
from dataclasses import replace

from runner import machine, programs
from runner.cases import SGC
from study import measure, simulated, versions
from study.policies import heading
from study.results import thesis
from study.turns import Sheet, as_number, draw, panel, turns

BH_ST = versions.Program("BH-st", "bh", ("--builders", "1"), 50 / 29.4, False)
PROGRAMS = (versions.PROGRAMS[0], BH_ST, *versions.PROGRAMS[1:])
PRESETS = {"Simple": "simple", "No-Opt": "no-opt", "No-SLO": "no-slo", "No-NSB": "no-nsb", "Opt": "opt"}
TIMES = {"f3.5": "E10K", "f3.6": "O2K"}
SPEEDS = {
    "f3.7": ("E10K", ("Simple", "No-Opt", "Opt")),
    "f3.8": ("O2K", ("Simple", "No-Opt", "Opt", simulated.IN_TURN)),
    "f3.9": ("E10K", ("No-SLO", "No-NSB", "Opt")),
    "f3.10": ("O2K", ("No-SLO", "No-NSB", "No-BMB", "Opt")),
}


def run_name(program):
    return f"{program.name}, ch3"


def presets_of(name):
    """Those that can be measured: a machine with one memory node has nothing to balance bitmaps over."""
    every = {"t3.1": ("Opt",), **dict.fromkeys(TIMES, ("Simple", "Opt")), **{f: v for f, (_, v) in SPEEDS.items()}}[name]
    return tuple(preset for preset in every if preset in PRESETS)


def needed(plan, chosen):
    own = [name for name in chosen if name in EXPERIMENTS]
    tools = simulated.tools(plan.places) if any(name in SPEEDS for name in own) else []
    return [measure.app(plan, program.file) for program in PROGRAMS if own] + tools


# ---- measuring ----

def environment(plan, program, preset, threads):
    """Before there is a heap to keep to, collections come as SGC chooses."""
    env = {"SGC_MODE": "stop", "SGC_HUGE_PAGES": "off", "SGC_SHARE_PAGES": "off", "SGC_PRESET": PRESETS[preset],
           "SGC_MARKER_CHOICE": "all", "GC_MARKERS": str(min(threads, machine.processors()))}
    if program in plan.heaps:
        env.update(SGC_PACING="limit", GC_MAXIMUM_HEAP_SIZE=str(plan.heaps[program]))
    return env


def figures_of(seconds, cycles):
    """Speed is of all collections together, as in the thesis: what was reachable by the time of the marks."""
    stopped = sum(cycle["pause_ns"] for cycle in cycles) / 1e9
    marking = sum(cycle["parts_ns"]["mark"] for cycle in cycles) / measure.MS
    reached = sum(cycle["marked_bytes"] for cycle in cycles) / 1e6
    live = max(cycle["marked_bytes"] for cycle in cycles) / (1 << 20)
    return {"seconds": seconds, "gc": stopped, "user": seconds - stopped, "share": 100 * stopped / seconds,
            "cycles": len(cycles), "live": live,
            "heap": max(cycle["heap_bytes"] for cycle in cycles) / (1 << 20),
            "mark": marking / len(cycles), "speed": reached / marking}


def run(plan, program, preset, threads):
    """(figures, failure)."""
    with tempfile.TemporaryDirectory() as scratch, measure.Processors(plan, threads):
        log = os.path.join(scratch, "log")
        env = {**environment(plan, program, preset, threads), "SGC_LOG_JSON": log}
        command = [measure.app(plan, program.file), "--set", plan.set, "--threads", str(threads), *program.arguments]
        done = programs.run_once(plan.places, SGC, command, env, ("seconds", "result"), plan.timeout)
        cycles = measure.read_log(log)
    if done.failure or not cycles:
        return {}, done.failure or "nothing was collected"
    return {**figures_of(float(done.figures["seconds"][0]), cycles), "result": float(done.figures["result"][0])}, ""


def run_with_room(study, plan, program, preset, threads):
    """The thesis' collector takes more memory if a collection finds too little; here the run is made once more with more."""
    figures, failure = run(plan, program, preset, threads)
    if "out of memory" not in failure or program not in plan.heaps:
        return figures, failure
    study.say(f"{program.name}, {preset}: more is alive than before; once more with half as much heap again")
    return run(replace(plan, heaps={**plan.heaps, program: plan.heaps[program] * 3 // 2}), program, preset, threads)


def threads_of(options):
    return options.threads or sorted({1, machine.processors()})


def weigh(study, plan, chosen):
    """{program: bytes that live at most}.  With several threads collections find more alive, since each may keep some by its
    stack; the heap is by what they find, as in the thesis, and the same for all.  Tiny programs would hardly collect in it."""
    alive = {}
    for program in chosen:
        study.say(f"weighing {program.name}")
        heap, failure = measure.weigh(plan, program, versions.STOP, 1)
        found = [(heap, failure)] if failure else [run(plan, program, "Opt", threads) for threads in threads_of(study.options)]
        for _, failure in found:
            if failure:
                raise simulated.Unusable(f"{program.name} cannot be weighed: {failure}")
        alive[program] = int((heap - measure.BESIDE) / program.ratio)
        if plan.set == "quick":
            continue
        most = max(alive[program], *(int(figures["live"] * (1 << 20)) for figures, _ in found))
        plan.heaps[program] = measure.BESIDE + int(most * program.ratio)
        study.results.about[f"heap of {run_name(program)}"] = \
            f"{plan.heaps[program] / (1 << 20):.1f} MB, 1 MB more than {program.ratio:.2f} times the most that was found alive"
    return alive


def measure_all(study, chosen):
    own = [name for name in chosen if name in EXPERIMENTS]
    mine = [program for program in PROGRAMS if program.name in study.options.programs]
    plan = replace(study.plan, set="quick" if study.plan.set == "quick" else "ch3", heaps={})
    wanted = [preset for preset in PRESETS if any(preset in presets_of(name) for name in own)]
    figures = {SPEEDS[name] for name in own if name in SPEEDS}
    if not own:
        return
    alive = weigh(study, plan, mine)

    def one_round(number):
        for program in mine:
            for threads in threads_of(study.options):
                study.tell(number, program.name, threads)
                for preset in turns(wanted, number):
                    study.record((run_name(program), preset, threads), number,
                                 *run_with_room(study, plan, program, preset, threads))
            simulated.simulate_round(study, plan, program, number, figures, alive[program])
    study.rounds(one_round)


# ---- table 3.1 ----

COLUMNS = (("cycles", "collections", "number"), ("seconds", "seconds", "s"), ("live", "MB living at most", "MB"),
           ("heap", "heap MB", "MB"), ("mark", "ms a mark", "ms"))


def applications(sheet, mine, _):
    quoted = {(q.program, q.what): q.value for q in sheet.quoted}
    rows = [("thesis, E10K", program.name, "60", *(as_number(quoted.get((program.name, what), "-")) for what, _, _ in COLUMNS))
            for program in mine]
    for program in mine:
        for threads in sheet.threads(run_name(program)):
            rows.append(("ours", program.name, str(threads),
                         *sheet.cells(program.name, run_name(program), "Opt", threads, COLUMNS)))
    sheet.add("applications, Opt", ("", "program", "threads", *(title for _, title, _ in COLUMNS)), rows)
    return [], ""


# ---- figures 3.5 and 3.6 ----

PARTS = (("user", "User, s", "s"), ("gc", "GC, s", "s"), ("share", "GC, % of both", "%"))


def times(sheet, mine, name):
    sheet.state(f"thesis, {TIMES[name]}: its bars are not in its text")
    panels = []
    for number, program in enumerate(mine):
        key, bars = run_name(program), []
        threads = sheet.threads(key)
        for what, title, unit in PARTS:
            rows = [(preset, *(sheet.note("measured", "this", (program.name, preset, n), what,
                                          sheet.results.spread((key, preset, n), what), unit) for n in threads))
                    for preset in ("Simple", "Opt")]
            sheet.add(f"{program.name}: {title}", ("ours", *heading(threads, machine.processors())), rows)
        for preset in ("Simple", "Opt"):
            user, gc = ([y for _, y in sheet.points("measured", "this", program.name, preset, what)] for what in ("user", "gc"))
            bars += [(f'"{preset} {n}"', u, float(u) + float(g)) for n, u, g in zip(threads, user, gc)]
        panels.append(bars_of(number, program.name, bars))
    return panels, "set style fill solid 0.7\nset boxwidth 0.6\nset xrange [-0.6:]"


def bars_of(number, name, bars):
    """GC above User."""
    rows = [(i, *bar) for i, bar in enumerate(bars)]
    return panel(number, name, "s", [("GC", rows, "using 1:4:xtic(2) with boxes"), ("User", rows, "using 1:3 with boxes")])


# ---- figures 3.7 to 3.10 ----

def speeds(sheet, mine, name):
    where, presets = SPEEDS[name]
    sheet.state(f"thesis, {where}: speed of the mark, Opt on one processor = 1; its points are not in its text")
    panels = []
    for number, program in enumerate(mine):
        measured(sheet, program, [preset for preset in presets if preset in PRESETS])
        simulated.table(sheet, program, where, presets)
        panels.append(simulated.curves(sheet, number, program, where, presets))
    return panels, "set logscale xy 2\nset xlabel 'markers'\nset xrange [0.9:72]"


def measured(sheet, program, presets):
    results, key = sheet.results, run_name(program)
    threads = sheet.threads(key)
    base = (key, "Opt", threads[0] if threads else 0)

    def rows(what, unit, spread):
        return [(preset, *(sheet.note("measured", "this", (program.name, preset, n), what, spread((key, preset, n)), unit)
                           for n in threads)) for preset in presets]
    head = ("ours", *heading(threads, machine.processors()))
    sheet.add(f"{program.name}: speed of SGC's mark with its presets, Opt with {base[2]} = 1", head,
              rows("speedup", "times", lambda one: results.spread_of_ratios(one, base, "speed")))
    sheet.add(f"{program.name}: that speed, 10^6 bytes a ms", head,
              rows("speed", "MB/ms", lambda one: results.spread(one, "speed")))


# ---- the interface of a chapter ----

EXPERIMENTS = {
    "f3.5": "figure 3.5: time of the applications, beside the thesis' of the Enterprise 10000",
    "f3.6": "figure 3.6: time of the applications, beside the thesis' of the Origin 2000",
    "f3.7": "figure 3.7: speed-up of marks, and simulated on the Enterprise 10000",
    "f3.8": "figure 3.8: speed-up of marks, and simulated on the Origin 2000",
    "f3.9": "figure 3.9: the effect of each optimization, and simulated on the Enterprise 10000",
    "f3.10": "figure 3.10: the effect of each optimization, and simulated on the Origin 2000",
    "t3.1": "table 3.1: collections, time and memory of the applications",
}


def make(study, folder, name):
    """The sheet of an experiment, and what went wrong with its plot."""
    sheet = Sheet(study.results, thesis(folder, name))
    mine = [program for program in PROGRAMS if program.name in study.options.programs]
    fill = speeds if name in SPEEDS else times if name in TIMES else applications
    panels, setting = fill(sheet, mine, name)
    wrong = draw(name, study.options.out, panels, setting)
    return sheet.finish(name, EXPERIMENTS[name]), wrong
