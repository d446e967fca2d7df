# SPDX-License-Identifier: MIT
"""One run of one case on one allocator: ({figure: value}, failure).  A failure is a result like others.

Figures: seconds (wall clock), cpu_seconds (all threads), peak_mb, resting_mb (all freed, and nothing is called any more), and those
that a case names.
"""
import os
import tempfile
from dataclasses import dataclass

from comparison import allocators, packages, suite
from runner import programs
from runner.instructions import VALGRIND, self_costs

NEEDED = ("seconds", "cpu_seconds", "peak_mb", "resting_mb", "result")
LENGTHS = (20000, 120000)       # of the runs whose instructions are compared
REST_MS, QUICK_REST_MS = 1000, 50


@dataclass
class Plan:
    build: str
    quick: bool
    timeout: int
    scratch: str                # a folder of this command's own
    real: object = None         # packages.Bench
    suite: object = None        # suite.Built

    def program(self, name):
        return os.path.join(self.build, "bench", "malloc", name)

    @property
    def sgc_measure(self):
        return os.path.join(self.build, "tools", "sgc-measure")


def execute(plan, command, allocator, more=()):
    """(what it printed, failure)"""
    env = {**allocators.environment(), **allocators.settings(allocator), "BENCH_REST_MS": str(QUICK_REST_MS if plan.quick else REST_MS),
           **dict(more)}
    try:
        status, out, err = programs.execute(command, env, plan.timeout)
    except OSError as reason:
        return "", f"{command[0]}: {reason.strerror}"
    failure = programs.reason_of_failure(status, err, plan.timeout)
    if not failure and allocators.LOADER_SAYS.search(err):
        failure = programs.first_line(err)
    return out, failure


# ---- programs of bench/malloc ----

def checked(out, failure, allocator, needed):
    """The numbers that it printed, if they are of that allocator and complete."""
    figures = programs.parse(out)
    path = figures.pop("allocator", ("", "nowhere"))[1]
    if not failure and not allocators.is_its_file(allocator, path):
        failure = f"ran on the malloc of {path}"
    missing = [name for name in needed if name not in figures]
    if not failure and missing:
        failure = f"printed nothing as {', '.join(missing)}"
    return {name: float(value) for name, (value, _) in figures.items() if programs.is_number(value)}, failure


def run_built(plan, case, allocator):
    at_rest = [] if case.part == "own" else [("BENCH_REST_MS", "0")]       # pairs say nothing of memory
    out, failure = execute(plan, [plan.program(case.program), *(case.quick_args if plan.quick else case.args)], allocator, at_rest)
    return checked(out, failure, allocator, NEEDED)


def count_once(plan, case, allocator, length):
    """Instructions outside the program's own file, in a run of that length."""
    program, pattern = plan.program(case.program), case.args[0]
    with tempfile.TemporaryDirectory(dir=plan.scratch) as folder:
        path = os.path.join(folder, "callgrind.out")
        command = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={path}", program, pattern, str(length)]
        out, failure = execute(plan, command, allocator, [("BENCH_REST_MS", "0")])
        figures, failure = checked(out, failure, allocator, ("pairs",))
        if failure:
            return 0, 0, failure
        with open(path, encoding="utf-8", errors="replace") as f:
            costs = self_costs(f)
    inside = sum(cost for (where, _), cost in costs.items()
                 if os.path.basename(where) != os.path.basename(program) and not VALGRIND.search(where))
    return inside, figures["pairs"], ""


def count(plan, case, allocator):
    """What one pair more costs, in instructions: the difference of two runs."""
    found = []
    for length in LENGTHS:
        inside, pairs, failure = count_once(plan, case, allocator, length)
        if failure:
            return {}, failure
        found.append((inside, pairs))
    (less, few), (more, many) = found
    if more <= less or many <= few:
        return {}, "callgrind counted nothing"
    return {"instructions": (more - less) / (many - few)}, ""


# ---- programs of a suite, real programs ----

def run_suite(plan, case, allocator):
    folder, used = plan.suite.source, os.path.join(plan.scratch, "used")
    given = os.path.join(folder, case.given) if case.given else os.devnull
    preload = [f"{name}={value}" for name, value in allocators.settings(allocator).items()]
    command = ["/bin/sh", "-c", 'cd "$1" && exec <"$2" && shift 2 && exec "$@"', "sh", folder, given, plan.sgc_measure, used, *preload,
               plan.suite.programs[case.program], *case.args]
    try:
        status, out, err = programs.execute(command, allocators.environment(), plan.timeout)
    except OSError as reason:
        return {}, f"{command[0]}: {reason.strerror}"
    failure, figures = programs.reason_of_failure(status, err, plan.timeout), packages.take_used(used)
    rate, wrong = suite.figures_of(case, out)
    if case.rate:
        wall, cpu = figures.pop("seconds", None), figures.pop("cpu_seconds", None)      # the first was said before
        if rate and wall and cpu:
            rate["cpu_ns_per_operation"] = rate["ns_per_operation"] * cpu / wall
    return {**figures, **rate}, failure or wrong


def run(plan, case, allocator):
    if case.counted:
        return count(plan, case, allocator)
    if case.part == "suite":
        return run_suite(plan, case, allocator)
    if case.part == "programs":
        return plan.real.measured(case, allocator)
    return run_built(plan, case, allocator)
