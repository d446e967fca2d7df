# SPDX-License-Identifier: MIT
"""One run of one thing: ({figure: value}, failure).  A failure is a result like others."""
import os
import signal
import subprocess
import tempfile
import time
from array import array
from dataclasses import dataclass, field, replace
from glob import escape, glob

from comparison import allocators, inputs, measure, packages
from comparison.allocators import Allocator
from repeated import counting, predictor, refill, standins, systems
from runner import programs

ARGUMENTS = ("fft", "scan", "clock", "curve", "pendulum", "orbit")
ONE_PROCESSOR = ("taskset", "-c", str(min(os.sched_getaffinity(0))))
COMPILERS = (("gcc", "gcc"), ("clang", "clang"))
PERF = ("perf", "stat", "-x", ",", "-e", "cycles:u,instructions:u")
RECORDER = os.path.join("bench", "herrmann", ".libs", "recorder.so")
VALGRIND = ("valgrind", "--quiet")


class Sources(packages.Bench):
    """A folder with files of C."""

    def __init__(self, folder, measure, timeout, files, functions):
        self.files, self.functions = files, functions
        super().__init__(folder, measure, False, timeout)

    def prepare(self, quick):
        inputs.c_sources(self.folder, self.files, self.functions)


@dataclass
class Plan:
    build: str
    quick: bool
    timeout: int
    scratch: str                                        # a folder of this command's own
    by_perf: bool = False                               # perf counts cycles here
    benches: dict = field(default_factory=dict)         # {size: standins.Bench}
    usable: dict = field(default_factory=dict)          # {size: [stand-ins that run]}
    sources: object = None

    @property
    def sgc_measure(self):
        return os.path.join(self.build, "tools", "sgc-measure")

    def program(self, name):
        return os.path.join(self.build, "bench", "herrmann", name)

    def size(self, counted):
        return "quick" if self.quick else "counted" if counted else "full"

    def folder(self, name):
        path = os.path.join(self.scratch, name)
        os.mkdir(path)
        return path

    def bench(self, counted=False):
        return self.benches[self.size(counted)]

    def standins(self, counted=False):
        return self.usable[self.size(counted)]

    def prepare(self, counted, chosen, missing):
        """The stand-ins of one size, each tried once; missing(name, why) is told of those that do not run."""
        size = self.size(counted)
        if size in self.benches:
            return
        found = [standin for standin in standins.standins(self.build, size) if standin.short in chosen]
        self.benches[size], self.usable[size] = standins.Bench(self.folder(size), self.sgc_measure, found, self.timeout), []
        for standin in found:
            why = self.benches[size].why_not(standin)
            if why:
                missing(standin.short, why)
            else:
                self.usable[size].append(standin)

    def compilers(self, missing):
        """The cases of compiling; missing(name, why) as above."""
        files = 1 if self.quick else 10
        self.sources = Sources(self.folder("sources"), self.sgc_measure, self.timeout, files, 2 if self.quick else 20)
        cases = [packages.compiler(name, package, files) for name, package in COMPILERS]
        whys = {case: self.sources.why_not(case) for case in cases}
        for case, why in whys.items():
            if why:
                missing(f"{case.binary} as a compiler", why)
        return [case for case, why in whys.items() if not why]


def fits(standin, system):
    return not (standin.threaded and system.name in systems.ONE_THREAD)


# ---- time ----

def timed(plan, standin, system, before=(), counted=False):
    """before: words in front of the program's command."""
    bench = plan.bench(counted)
    path = os.path.join(bench.folder, "figures")
    figures, failure = bench.measured(replace(standin, command=(*before, *standin.command)), systems.that_writes(system, path))
    return {**figures, **systems.take_figures(path)}, failure


def timed_small(plan, standin, system):
    return timed(plan, standin, system, counted=True)


def grown(plan, system, before=()):
    """First touch, by a program of our own, which says its figures."""
    path = os.path.join(plan.scratch, "figures")
    writing = systems.that_writes(system, path)
    out, failure = measure.execute(plan, [*before, plan.program("growing"), "4" if plan.quick else "512"], writing)
    figures, failure = measure.checked(out, failure, system, (*measure.NEEDED, "own_faults"))
    return {**figures, **systems.take_figures(path)}, failure


def compiled(plan, case, system):
    return plan.sources.measured(case, system)


def incremented(plan):
    done = run_program(plan, [plan.program("increment"), "1" if plan.quick else "100"])
    if done[1]:
        return {}, done[1]
    return {name: float(value) for name, (value, _) in programs.parse(done[0]).items() if programs.is_number(value)}, ""


def run_program(plan, command):
    """(what it printed, failure)"""
    try:
        status, out, err = programs.execute(command, allocators.environment(), plan.timeout)
    except OSError as reason:
        return "", f"{os.path.basename(command[0])}: {reason.strerror}"
    return out, programs.reason_of_failure(status, err, plan.timeout)


# ---- what is counted ----

def read_and_remove(path, more=""):
    """The lines of that file, or of the first that has any and whose name has `more` behind it, a pattern; all of them go."""
    lines = []
    for one in sorted(glob(escape(path) + more)):
        with open(one, encoding="utf-8", errors="replace") as f:
            lines = lines or f.readlines()
        os.remove(one)
    return lines


def counted(plan, standin, system):
    """Instructions of the program's main thread, all and those of the malloc family."""
    bench = plan.bench(True)
    path = os.path.join(bench.folder, "callgrind.out")
    words = (*VALGRIND, "--tool=callgrind", "--separate-threads=yes", "--fair-sched=yes", f"--callgrind-out-file={path}")
    case = replace(standin, command=(*words, *standin.command), settings=(*standin.settings, ("LD_BIND_NOW", "1")))
    _, failure = bench.measured(case, system)
    lines = read_and_remove(path, "*")
    if failure:
        return {}, failure
    library = "" if system.name == allocators.BASE else allocators.first_library(system)
    figures = counting.callgrind_figures(lines, library)
    return figures, "" if figures else "callgrind counted nothing"


def perf_counts_here(scratch):
    path = os.path.join(scratch, "perf")
    try:
        subprocess.run([*PERF, "-o", path, "--", "true"], capture_output=True, check=False)
    except OSError:
        return False
    return bool(counting.perf_figures("".join(read_and_remove(path))))


def cycles(plan, standin, system):
    """Cycles of an instruction: by perf where it may be used, or by the thesis' model."""
    bench = plan.bench(not plan.by_perf)
    path = os.path.join(bench.folder, "counts")
    if plan.by_perf:
        settings = [f"{name}={value}" for name, value in allocators.settings(system).items()]
        words, allocator = (*PERF, "-o", path, "--", "env", *settings), None
    else:
        words, allocator = (*VALGRIND, "--tool=cachegrind", "--cache-sim=yes", f"--cachegrind-out-file={path}"), system
    _, failure = bench.measured(replace(standin, command=(*words, *standin.command)), allocator)
    lines = read_and_remove(path)
    if failure:
        return {}, failure
    if plan.by_perf:
        figures = counting.perf_figures("".join(lines))
    else:
        counts = counting.cachegrind_counts(lines)
        figures = counting.model_figures(counts) if counts.get("Ir") else {}
    return figures, "" if figures else "nothing was counted"


# ---- memory ----

def resident_mb(pid):
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1048576
    except (OSError, IndexError):
        return 0.0


def watch(process, interval, timeout):
    """([(seconds, megabytes)], exit status, most megabytes); the status is None if it took too long."""
    began, samples = time.monotonic(), []
    while True:
        done, status, usage = os.wait4(process.pid, os.WNOHANG)
        now = time.monotonic() - began
        if done:
            process.returncode = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            return samples or [(now, usage.ru_maxrss / 1024)], process.returncode, usage.ru_maxrss / 1024
        if now > timeout:
            return samples, None, 0.0
        megabytes = resident_mb(process.pid)
        if megabytes:
            samples.append((now, megabytes))
        time.sleep(interval)


def start(bench, standin, system, out):
    given = os.path.join(bench.folder, standin.given) if standin.given else os.devnull
    env = {**bench.environment, **dict(standin.settings), **allocators.settings(system)}
    with open(given, "rb") as stdin:
        return subprocess.Popen(standin.command, cwd=bench.folder, env=env, stdin=stdin, stdout=out, stderr=subprocess.DEVNULL,
                                start_new_session=True)


def sampled(plan, standin, system):
    """Resident memory at three moments."""
    bench = plan.bench()
    with tempfile.TemporaryFile(dir=plan.scratch) as out:
        try:
            process = start(bench, standin, system, out)
        except OSError as reason:
            return {}, f"{standin.short}: {reason.strerror}"
        try:
            samples, status, peak = watch(process, 0.001 if plan.quick else 0.01, plan.timeout)
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        failure = programs.reason_of_failure(status, "", plan.timeout)
        out.seek(0)
        printed = out.read().decode("utf-8", "replace").replace("\r\n", "\n")
    if not failure and bench.answer_of(printed, standin.files) != bench.right[standin.name]:
        failure = "its output is not what it is without anything preloaded"
    return {**counting.moments(samples), "peak_mb": peak} if not failure else {}, failure


# ---- prediction ----

def recorded(plan, standin):
    """(events, failure): the program's allocations and frees."""
    bench = plan.bench()
    path = os.path.join(bench.folder, "recorded")
    variables = (("RECORD_FILE", path), ("RECORD_EVENTS", "20000" if plan.quick else "1000000"))
    _, failure = bench.measured(standin, Allocator("recorder", os.path.join(plan.build, RECORDER), variables=variables))
    if not os.path.exists(path):
        return [], failure or "nothing was recorded"
    with open(path, "rb") as f:
        words = array("Q", f.read())
    os.remove(path)
    return refill.read_words(words), failure


def refilled(plan, standin):
    """({rule: figures}, failure)"""
    events, failure = recorded(plan, standin)
    if failure or not events:
        return {}, failure or "it allocates nothing"
    found = {rule.name: refill.simulate(events, rule()) for rule in refill.RULES}
    return {**found, "next class": {"right": refill.next_class_right(events)}}, ""


def argued(plan, kind):
    """({function: {"right": percent}}, failure) of the arguments of sin and cos."""
    out, failure = run_program(plan, [plan.program("arguments"), kind, "500" if plan.quick else "20000"])
    if failure:
        return {}, failure
    try:
        shares = predictor.shares(predictor.read_arguments(out))
    except ValueError as reason:
        return {}, str(reason)
    return {function: {"right": share} for function, share in shares.items()}, ""
