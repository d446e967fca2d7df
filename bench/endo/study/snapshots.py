# SPDX-License-Identifier: MIT
"""Heap snapshots of the programs, and their marks simulated: take, then simulate.

    store = Snapshots(places, folder, timeout)
    path = store.take("bh", "ch3", ("--threads", "8", "--builders", "1"), 5)
    rows = simulate(places, path, "o2k", [1, 8, 64], "endo-opt", timeout)

Both raise Unusable, which says why.
"""
import math
import os
import signal
import subprocess
import time
from dataclasses import dataclass, field

from runner import programs
from runner.cases import SGC

HERE = os.path.dirname(os.path.realpath(__file__))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
MOMENT = 0.02                   # seconds between looks for a file


class Unusable(Exception):
    pass


def tool(places, name):
    return os.path.join(places.build, "perfmodel", "tools", name)


def machine_file(name):
    """A machine is called by the name of a file that SGC has, or by a path."""
    return name if os.sep in name else os.path.join(SOURCE, "perfmodel", "machines", name + ".machine")


# ---- taking ----

@dataclass
class Snapshots:
    """Those of one folder, which is there; each is taken once."""
    places: programs.Places
    folder: str
    timeout: int
    settings: dict = field(default_factory=dict)        # of the collector, beside those that a snapshot needs

    def path(self, app, size, options, number):
        words = [app, size, *(word.lstrip("-") for word in options), str(number)]
        return os.path.join(self.folder, "-".join(words).replace(os.sep, "_") + ".heap")

    def take(self, app, size, options, number):
        """The path of the heap as collection `number` of the program found it, with --set size and the options."""
        return self.take_some(app, size, options, (number,))[0]

    def take_some(self, app, size, options, numbers):
        """Likewise of several collections of one run, which is ended when the last of them is there."""
        paths = [self.path(app, size, options, number) for number in numbers]
        if not all(os.path.exists(path) for path in paths):
            self.run(app, size, options, dict(zip(numbers, paths)))
        return paths

    def run(self, app, size, options, wanted):
        every = math.gcd(*wanted)
        prefix = os.path.join(self.folder, f"{app}.{os.getpid()}.")
        env = {**self.places.environment(SGC), "SGC_MODE": "stop", "SGC_HUGE_PAGES": "off", **self.settings,
               "SGC_SNAPSHOT": f"{prefix}%n,every={every}"}
        command = [os.path.join(self.places.build, "bench", "endo", "apps", app), "--set", size, *options]
        try:
            why = wait_for(f"{prefix}{max(wanted)}", command, env, self.timeout)
            if why:
                raise Unusable(f"{app} --set {size} {' '.join(options)}: collection {max(wanted)} left no snapshot: {why}")
            for number, path in wanted.items():
                os.replace(f"{prefix}{number}", path)
        finally:
            for left in os.listdir(self.folder):
                if left.startswith(os.path.basename(prefix)):
                    os.remove(os.path.join(self.folder, left))


def wait_for(path, command, env, timeout):
    """Runs a program until the file is there, which has its name only when it is complete: why it is not, or an empty string."""
    try:
        process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   text=True, errors="replace", start_new_session=True)
    except OSError as reason:
        raise Unusable(f"{command[0]}: {reason.strerror}") from reason
    with process:
        try:
            end = time.monotonic() + timeout
            while not os.path.exists(path) and process.poll() is None and time.monotonic() < end:
                time.sleep(MOMENT)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            said = programs.first_line(process.communicate()[1])
    if os.path.exists(path):
        return ""
    return said or (f"there was none after {timeout} seconds" if time.monotonic() >= end else "the program ended before")


# ---- using ----

def call(command, timeout):
    try:
        status, out, err = programs.execute(command, os.environ, timeout)
    except OSError as reason:
        raise Unusable(f"{command[0]}: {reason.strerror}") from reason
    failure = programs.reason_of_failure(status, err, timeout)
    if failure:
        raise Unusable(f"{os.path.basename(command[0])}: {failure}")
    return out


def reached(places, snapshot, timeout):
    """(objects, bytes) that its mark reaches."""
    figures = dict(line.split(" ", 1) for line in call([tool(places, "sgc-snapshot"), "stats", snapshot], timeout).splitlines())
    return int(figures["mark_objects"]), int(figures["mark_bytes"])


def simulate(places, snapshot, machine, markers, preset, timeout, options=()):
    """A row for each number of markers, as sgc-simulate prints it: {"markers": 8.0, "time_ms": ..., "speedup": ...}."""
    command = [tool(places, "sgc-simulate"), snapshot, "--machine", machine_file(machine), "--preset", preset, "--tsv",
               "--markers", ",".join(map(str, markers)), *options]
    head, *lines = [line.split("\t") for line in call(command, timeout).splitlines()]
    rows = [{name: float(value) for name, value in zip(head, line) if name != "preset"} for line in lines]
    if [row["markers"] for row in rows] != list(markers):
        raise Unusable(f"sgc-simulate printed other numbers of markers than {command[-1]}")
    return rows
