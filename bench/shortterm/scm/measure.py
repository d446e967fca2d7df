# SPDX-License-Identifier: MIT
"""One run of one program with one memory; the least heap in which it runs; the instructions it takes.  A failure is a result like
others.
"""
import os
import tempfile

from runner import instructions, programs
from runner.cases import SGC
from scm.subjects import COUNTED, GC, OPERATIONS

GRAIN = 1 << 16                 # bytes of a page of the heap
EXACT = 50                      # the least heap is found to this part of it
NO_MEMORY = ("exit status 3", "a thread cannot be created")         # as the programs end then
ONE_MARKER = {"GC_MARKERS": "1"}


class Plan:
    """How all runs of a study are made."""

    def __init__(self, options):
        self.places = programs.Places(options.build)
        self.size = "quick" if options.quick else "full"
        self.timeout = options.timeout
        self.libscm = options.libscm

    def app(self, file):
        return os.path.join(self.places.build, "bench", "shortterm", file)


def command(plan, subject, version):
    file, *arguments = subject.command(version, plan.size)
    return [plan.app(file), *arguments]


def figures_of(run):
    return {name: float(value) for name, (value, _) in run.figures.items() if programs.is_number(value)}


def run(plan, subject, version, heap=0, more=()):
    """(figures, failure); in a heap of so many bytes, if given."""
    env = {**ONE_MARKER, **version.environment()}
    if heap:
        env["GC_MAXIMUM_HEAP_SIZE"] = str(heap)
    done = programs.run_once(plan.places, SGC, [*command(plan, subject, version), *more], env, ("result",), plan.timeout)
    return ({}, done.failure) if done.failure else (figures_of(done), "")


# ---- the least heap ----

def least_heap(plan, subject, version):
    """(bytes, failure), by bisection: the program runs in this heap, and not in one smaller by a page or a fiftieth."""
    figures, failure = run(plan, subject, version)
    if failure:
        return 0, failure
    too_small, enough = 0, -(-int(figures["heap_mb"] * (1 << 20)) // GRAIN)
    while enough - too_small > max(1, enough // EXACT):
        middle = (too_small + enough) // 2
        _, failure = run(plan, subject, version, middle * GRAIN)
        if failure and not any(reason in failure for reason in NO_MEMORY):
            return 0, failure
        too_small, enough = (middle, enough) if failure else (too_small, middle)
    return enough * GRAIN, ""


def heaps(plan, subject, versions):
    """{version: (bytes, failure)} of those that have such a heap."""
    return {version: least_heap(plan, subject, version) for version in versions if version.traced}


def in_heaps(plan, subject, version, least):
    """Times in the least heap of the collector alone, and in twice as much."""
    found = {}
    for times in (1, 2):
        if version.traced and GC in least and not least[GC][1]:
            figures, failure = run(plan, subject, version, times * least[GC][0])
            found.update({} if failure else {f"seconds_{times}x": figures["seconds"]})
    return found


# ---- instructions ----

def timed(only):
    """The functions whose instructions count, of the figure with that name."""
    if "_refresh" in only:
        return "timed_refreshes*"
    return "timed_tick*" if only.endswith("_expire") else "timed_*"


def count(plan, subject, version, arguments, only=""):
    """(figures of the run, {(file, function): instructions}, failure); of the whole run, or of one operation."""
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "callgrind.out")
        tool = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out}"]
        tool += ["--collect-atstart=no", f"--toggle-collect={timed(only)}"] if only else []
        call = [*tool, *command(plan, subject, version), *arguments, *(("--only", only) if only else ())]
        done = programs.run_once(plan.places, SGC, call, {**ONE_MARKER, **version.environment()}, ("result",), plan.timeout)
        if done.failure:
            return {}, {}, done.failure
        with open(out, encoding="utf-8", errors="replace") as f:
            return figures_of(done), instructions.self_costs(f), ""


def count_program(plan, subject, version):
    _, costs, failure = count(plan, subject, version, COUNTED[subject])
    return ({}, failure) if failure else ({"instructions": float(sum(costs.values()))}, "")


def count_operation(plan, version, name, rounds):
    """Instructions of one operation in the libraries: two lengths, subtracted, so that the first use of anything does not count."""
    totals = []
    for number in rounds:
        figures, costs, failure = count(plan, OPERATIONS, version, ("--rounds", str(number), "--batch", "128"), name)
        if failure:
            return None, failure
        totals.append((figures[f"{name}_operations"], sum(instructions.sums(costs, plan.app(OPERATIONS.file)))))
    (few, less), (many, more) = totals
    return (more - less) / (many - few), ""
