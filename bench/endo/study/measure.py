# SPDX-License-Identifier: MIT
"""One run of one program, twice: for its time and what the collector says of its cycles, and for the pauses that the program
sees, by sgc-pauses.  A failure is a result like others.
"""
import json
import os
import re
import tempfile
from dataclasses import dataclass

from runner import programs
from runner.cases import SGC

MS = 1e6
BESIDE = 1 << 20                # bytes of the heap that do not count: a page for each size and thread
PROBE_SLEEP_US = "200"          # the probe of sgc-pauses takes little then; what is shorter it misses
NOTHING_SEEN, TRIES = 125, 3    # its exit status if a brief program ended before the probe ran


@dataclass
class Plan:
    """How all of a study's runs are made."""
    places: programs.Places
    set: str
    target: int                 # ms, of a stop
    timeout: int
    spread: bool                # over all processors, though there are fewer threads
    heaps: dict                 # {program: bytes}


def app(plan, name):
    return os.path.join(plan.places.build, "bench", "endo", "apps", name)


class Processors:
    """What is started meanwhile runs on as many processors as there are threads: the thesis has one thread on each, and no
    processor beside them."""

    def __init__(self, plan, threads):
        self.all = os.sched_getaffinity(0)
        self.some = self.all if plan.spread else set(sorted(self.all)[:threads])

    def __enter__(self):
        os.sched_setaffinity(0, self.some)

    def __exit__(self, *_):
        os.sched_setaffinity(0, self.all)


def environment(plan, program, version, threads):
    env = {"GC_MARKERS": str(min(threads, len(os.sched_getaffinity(0)))), "SGC_HUGE_PAGES": "off", "SGC_SHARE_PAGES": "off",
           **version.settings(plan.target)}
    if (program, threads) in plan.heaps:
        env.update(GC_MAXIMUM_HEAP_SIZE=str(plan.heaps[program, threads]), SGC_PACING=version.pacing)
    return env


def command(plan, program, version, threads):
    return [app(plan, version.program(program.file)), "--set", plan.set, "--threads", str(threads), *program.arguments]


# ---- the collector's word ----

def read_log(path):
    try:
        with open(path, encoding="ascii") as f:
            return [json.loads(line) for line in f]
    except (OSError, ValueError):
        return []


def mean(values):
    return sum(values) / len(values) if values else 0.0


def of_cycles(cycles):
    """`pause` is the stop that ends a cycle, which is the whole of it if nothing was marked before."""
    beside = [c for c in cycles if c["earlier_stops"] > 0]
    pauses = [c["pause_ns"] / MS for c in cycles]
    return {"cycles": len(cycles), "cycles_beside": len(beside),
            "pause_mean": mean(pauses), "pause_max": max(pauses, default=0.0),
            "stop_max": max((c["longest_stop_ns"] / MS for c in cycles), default=0.0),
            "written_pages": mean([c["written_pages"] for c in beside]), "rounds": mean([c["rounds"] for c in beside])}


def run_timed(plan, program, version, threads):
    with tempfile.TemporaryDirectory() as scratch, Processors(plan, threads):
        log = os.path.join(scratch, "log")
        env = {**environment(plan, program, version, threads), "SGC_LOG_JSON": log}
        run = programs.run_once(plan.places, SGC, command(plan, program, version, threads), env,
                                ("seconds", "live_bytes", "result"), plan.timeout)
        figures = {name: float(run.figures[name][0]) for name in ("seconds", "result") if name in run.figures}
        figures.update(of_cycles(read_log(log)))
    if not run.failure and not figures["cycles"]:
        run.failure = "nothing was collected"
    return figures, run.failure, run.warning


# ---- the program's word ----

def run_observed(plan, program, version, threads):
    """What sgc-pauses saw: of each stop the longest time for which the probe did not come on."""
    tool = os.path.join(plan.places.build, "tools", "sgc-pauses")
    with tempfile.TemporaryDirectory() as scratch, Processors(plan, threads):
        report, env = os.path.join(scratch, "report"), plan.places.environment(SGC)
        env.pop("LD_LIBRARY_PATH", None)
        env.update(environment(plan, program, version, threads), SGC_LIBDIR=plan.places.library)
        call = [tool, "--sleep", PROBE_SLEEP_US, "--json", report, "--", *command(plan, program, version, threads)]
        for _ in range(TRIES):
            try:
                status, _, err = programs.execute(call, env, plan.timeout)
            except OSError as reason:
                return {}, f"{tool}: {reason.strerror}"
            if status != NOTHING_SEEN:
                break
        failure = programs.reason_of_failure(status, err, plan.timeout)
        return ({}, failure) if failure else read_report(report)


def read_report(path):
    try:
        with open(path, encoding="utf-8") as f:
            found = next(iter(json.load(f)["ways"].values()))["pauses"]
    except (OSError, ValueError, KeyError, StopIteration):
        return {}, "sgc-pauses had nothing to report"
    return {"seen": found["number"], "seen_mean": found["mean_ns"] / MS, "seen_max": found["longest_ns"] / MS}, ""


# ---- before the study ----

def weigh(plan, program, version, threads):
    """The heap: as many times what lives at most as in the thesis, and a little.  The program collects at each peak to weigh it."""
    env = {**environment(plan, program, version, threads), "GC_MARKERS": "1"}
    run = programs.run_once(plan.places, SGC, [*command(plan, program, version, threads), "--weigh"], env, ("weighed_bytes",),
                            plan.timeout)
    if run.failure:
        return None, run.failure
    return BESIDE + int(float(run.figures["weighed_bytes"][0]) * program.ratio), ""


def why_not(plan, program, version, accepted):
    """Why a version cannot be measured here, or an empty string: it is tried out in tiny size."""
    if version.dirty and version.dirty not in accepted:
        return f"this SGC does not know SGC_DIRTY={version.dirty}"
    tiny = Plan(plan.places, "quick", 0, plan.timeout, plan.spread, {})
    figures, failure, warning = run_timed(tiny, program, version, 2)
    if not failure and not warning and figures["cycles_beside"] and not version.concurrent:
        return "its cycles run beside the program"
    return failure or warning


def accepted_sources(plan):
    """The words that this SGC accepts as SGC_DIRTY."""
    run = [app(plan, "cky"), "--set", "quick"]
    env = {**plan.places.environment(SGC), "SGC_PRINT_OPTIONS": "1"}
    found = re.search(r"\bSGC_DIRTY=.*accepted: ([^)]*)\)", programs.execute(run, env, plan.timeout)[2])
    return found.group(1).split("|") if found else []
