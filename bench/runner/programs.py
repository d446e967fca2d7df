# SPDX-License-Identifier: MIT
"""Running one program once, and reading what it printed.

A run fails if the program does, if it takes too long, if it did not run on the collector it should have, or if
a figure is missing.  A failure is a result like others: it is kept and shown.
"""
import os
import signal
import subprocess
from dataclasses import dataclass, field

from runner.cases import SGC


@dataclass
class Run:
    figures: dict = field(default_factory=dict)     # name: (value, unit), values as printed
    failure: str = ""
    warning: str = ""                               # the first line the collector said on stderr


class Places:
    """Where the programs and the two libraries are."""

    def __init__(self, build, library=None, system=None):
        self.build = os.path.abspath(build)
        self.library = os.path.abspath(library or os.path.join(build, ".libs"))
        self.system = os.path.abspath(system) if system else ""

    def program(self, name):
        return os.path.join(self.build, "bench", "cases", name)

    def environment(self, side):
        """No variable of a collector or of the loader from outside reaches a run."""
        env = {k: v for k, v in os.environ.items()
               if not k.startswith(("GC_", "SGC_", "LD_", "MALLOC_", "GLIBC_TUNABLES"))}
        path = self.library if side == SGC else self.system
        if path:
            env["LD_LIBRARY_PATH"] = path
        return env

    def is_right(self, side, collector, path):
        ours = os.path.dirname(os.path.realpath(path)) == os.path.realpath(self.library)
        return collector.startswith("sgc-") and ours if side == SGC else collector.startswith("bdwgc-") and not ours


def parse(text):
    figures = {}
    for line in text.splitlines():
        name, _, rest = line.partition(" ")
        value, _, unit = rest.partition(" ")
        if name and unit:
            figures[name] = (value, unit)
    return figures


def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


def execute(command, env, timeout):
    """Runs a command in a process group of its own, which is ended with it: (status, stdout, stderr)."""
    with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=timeout)
            return process.returncode, out, err
        except BaseException as reason:         # the user's interrupt too
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            if isinstance(reason, subprocess.TimeoutExpired):
                return None, "", ""
            raise


def first_line(text):
    """But for what valgrind says of itself."""
    return next((line.strip() for line in text.splitlines() if line.strip() and not line.startswith(("==", "--"))), "")


def reason_of_failure(status, err, timeout):
    if status is None:
        return f"ended after {timeout} seconds"
    if status < 0:
        return f"killed by signal {-status}: {first_line(err)}"
    return f"exit status {status}: {first_line(err)}" if status else ""


def find_fault(places, side, figures, needed):
    collector, path = figures.get("collector", ("none", "nowhere"))
    if not places.is_right(side, collector, path):
        return f"ran on the wrong collector: {collector} from {path}, wanted {side}"
    for name in needed:
        if not is_number(figures.get(name, ("", ""))[0]):
            return f"printed no number as {name}"
    return ""


def run_once(places, side, command, collector_env, needed, timeout):
    env = places.environment(side)
    env.update(collector_env)
    try:
        status, out, err = execute(command, env, timeout)
    except OSError as reason:
        return Run(failure=f"{command[0]}: {reason.strerror}")
    run = Run(parse(out), reason_of_failure(status, err, timeout), first_line(err) if side == SGC else "")
    run.failure = run.failure or find_fault(places, side, run.figures, needed)
    return run


def handover(places, timeout):
    """How far apart two processors are just now, in ns; None where it cannot be said."""
    run = run_once(places, SGC, [places.program("handover")], {}, ("handover_ns",), timeout)
    return None if run.failure else float(run.figures["handover_ns"][0])


def run_case(places, case, variant, quick, timeout):
    args = case.quick_args if quick else case.args
    needed = (case.figure, "collections", "peak_rss_mb", *filter(None, (case.floor,)), *case.control)
    return run_once(places, variant.side, [places.program(case.program), *args],
                    variant.environment(case.heap), needed, timeout)
