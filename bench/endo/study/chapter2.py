# SPDX-License-Identifier: MIT
"""Chapter 2's experiments with applications: what they allocate, and what they consume, from where pages come and how long they
take under each page policy.
"""
import os
import tempfile

from runner import machine, programs
from runner.cases import SGC
from study import measure, policies
from study.policies import heading
from study.results import thesis
from study.turns import Sheet, as_number, draw, panel, turns
from study.versions import Program

MATMUL = Program("Matmul", "matmul", (), 1, False)
BH_PT = Program("BH-pt", "bh", ("--builders", "2"), 1, False)
CKY = Program("CKY", "cky", (), 1, False)
PROGRAMS = (MATMUL, BH_PT, CKY)
FIGURES = {"f2.6": MATMUL, "f2.7": BH_PT, "f2.8": CKY}
TABLE_POLICY = "LPS(1)"         # of table 2.2
COUNTED_THREADS = 8             # beyond the processors: for counts, once
PRINTED = ("seconds", "allocated_objects", "allocated_bytes", "pages_consumed", "pages_reused", "pages_foreign", "result")


def run_name(program):
    """As results have it: the same program has other parameters in other chapters."""
    return f"{program.name}, ch2"


# ---- measuring ----

def wanted(chosen):
    """{program: the policies to run it with}."""
    found = {program: (TABLE_POLICY,) for program in PROGRAMS if "t2.2" in chosen}
    found.update({program: tuple(policies.POLICIES) for name, program in FIGURES.items() if name in chosen})
    return found


def needed(plan, chosen):
    return [measure.app(plan, program.file) for program in wanted(chosen)]


def threads_of(options, number):
    """Counts of threads that take turns are not worth more than one round."""
    here = machine.processors()
    usual = {1, here} | ({COUNTED_THREADS} if number == 1 and COUNTED_THREADS > here else set())
    return options.threads or sorted(usual)


def figures_of(printed, cycles):
    """The thesis leaves collections out of a time, and has lazy sweeping in it."""
    value = {name: float(printed[name][0]) for name in PRINTED}
    stopped = sum(cycle["pause_ns"] for cycle in cycles) / 1e9
    seconds = value["seconds"] - stopped
    pages = policies.counted({**value, "demand_mb": 0, "demands_mb": 0})
    return {"seconds": seconds, "gc_seconds": stopped, "cycles": len(cycles), "allocations": value["allocated_objects"],
            "allocated": value["allocated_bytes"] / policies.MB, "speed": value["allocated_objects"] / seconds,
            "consumed": pages["consumed"], "remote": pages["remote"], "result": value["result"]}


def run(plan, program, policy, threads):
    """(figures, failure)."""
    size = "quick" if plan.set == "quick" else "ch2"
    with tempfile.TemporaryDirectory() as scratch, measure.Processors(plan, threads):
        log = os.path.join(scratch, "log")
        command = [measure.app(plan, program.file), "--set", size, "--threads", str(threads), *program.arguments]
        env = {**policies.KEPT, **policies.POLICIES[policy], "SGC_MODE": "stop", "SGC_LOG_JSON": log,
               "GC_MARKERS": str(min(threads, machine.processors()))}
        done = programs.run_once(plan.places, SGC, command, env, PRINTED, plan.timeout)
        return ({}, done.failure) if done.failure else (figures_of(done.figures, measure.read_log(log)), "")


def measure_all(study, chosen):
    def one_round(number):
        for program, versions in wanted(chosen).items():
            for threads in threads_of(study.options, number):
                study.tell(number, program.name, threads)
                for policy in turns(versions, number):
                    study.record((run_name(program), policy, threads), number, *run(study.plan, program, policy, threads))
    study.rounds(one_round)


# ---- table 2.2 ----

COLUMNS = (("allocated", "MB allocated", "MB"), ("allocations", "allocations", "number"),
           ("seconds", "seconds without GC", "s"), ("speed", "allocations a second", "1/s"))


def applications(sheet):
    quoted = {(q.program, q.what): q.value for q in sheet.quoted}
    rows = [("thesis, O2K", program.name, "64", *(as_number(quoted[program.name, what]) for what, _, _ in COLUMNS))
            for program in PROGRAMS]
    for program in PROGRAMS:
        for threads in sheet.threads(run_name(program)):
            rows.append(("ours", program.name, str(threads),
                         *sheet.cells(program.name, run_name(program), TABLE_POLICY, threads, COLUMNS)))
    sheet.add("applications, LPS(1)", ("", "program", "threads", *(title for _, title, _ in COLUMNS)), rows)


# ---- figures 2.6 to 2.8 ----

GRAPHS = (("consumed", "MB consumed", "MB"),
          ("remote", "remote page ratio (another thread was the first to use the page)", "ratio"),
          ("seconds", "seconds without GC", "s"), ("change", "change of that time against PS (by rounds)", "%"))
BOUNDS = {"remote": "0:1", "change": "*:*"}


def spread_of(results, key, what):
    if what != "change":
        return results.spread(key, what)
    ratios = results.spread_of_ratios(key, (key[0], "PS", key[2]), "seconds")
    return ratios and tuple(100 * (ratio - 1) for ratio in ratios)


def application(sheet, program):
    sheet.state("thesis, O2K: its points are not in its text")
    name = run_name(program)
    threads = sheet.threads(name)
    for what, title, unit in GRAPHS:
        rows = []
        for policy in policies.POLICIES:
            keys = [(name, policy, n) for n in threads]
            spreads = [spread_of(sheet.results, key, what) for key in keys]
            rows.append((policy, *(sheet.note("measured", "this", (program.name, policy, n), what, spread, unit)
                                   for n, spread in zip(threads, spreads))))
        sheet.add(f"{program.name}: {title}", ("ours", *heading(threads, machine.processors())), rows)


def panels(sheet, program):
    return [panel(number, f"{program.name}: {title.split(' (')[0]}", unit,
                  [(policy, sheet.points("measured", "this", program.name, policy, what), f"with linespoints pointtype {i + 4}")
                   for i, policy in enumerate(policies.POLICIES)], BOUNDS.get(what, "0:*"))
            for number, (what, title, unit) in enumerate(GRAPHS)]


# ---- the interface of a chapter ----

EXPERIMENTS = {
    "f2.6": "figure 2.6: Matmul under each page policy",
    "f2.7": "figure 2.7: BH-pt under each page policy",
    "f2.8": "figure 2.8: CKY under each page policy",
    "t2.2": "table 2.2: what the applications allocate",
}


def make(study, folder, name):
    """The sheet of an experiment, and what went wrong with its plot."""
    sheet = Sheet(study.results, thesis(folder, name))
    if name == "t2.2":
        applications(sheet)
        return sheet.finish(name, EXPERIMENTS[name]), ""
    application(sheet, FIGURES[name])
    setting = "set logscale x 2\nset xrange [0.9:]\nset xlabel 'threads'"
    wrong = draw(name, study.options.out, panels(sheet, FIGURES[name]), setting)
    return sheet.finish(name, EXPERIMENTS[name]), wrong
