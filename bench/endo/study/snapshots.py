# SPDX-License-Identifier: MIT
"""Heap snapshots of the programs, and their marks simulated: take, then simulate.

    store = Snapshots(places, folder, timeout)
    path = store.take("bh", "ch3", ("--threads", "8", "--builders", "1"), 5)         # its collection 5
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
from study import measure

HERE = os.path.dirname(os.path.realpath(__file__))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
MOMENT = 0.02                   # seconds between looks for a file


class Unusable(Exception):
    pass


def tool(places, name):
    """The path of a tool in a build: sgc-snapshot has a folder of its own."""
    return os.path.join(places.build, "snapshot" if name == "sgc-snapshot" else "perfmodel", "tools", name)


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

    def path(self, app, size, options, which):
        words = [app, size, *(word.lstrip("-") for word in options), str(which)]
        return os.path.join(self.folder, "-".join(words).replace(os.sep, "_") + ".heap")

    def take(self, app, size, options, number):
        """The path of the heap as collection `number` of the program found it, with --set size and the options."""
        return self.take_some(app, size, options, (number,))[0]

    def take_some(self, app, size, options, numbers):
        """Likewise of several collections of one run, which is ended when the last of them is there."""
        paths = [self.path(app, size, options, number) for number in numbers]
        if not all(os.path.exists(path) for path in paths):
            with Writer(self, app, size, options, math.gcd(*numbers)) as writer:
                writer.wait(lambda: writer.there(max(numbers)))
                for number, path in zip(numbers, paths):
                    writer.keep(number, path)
        return paths

    def take_large(self, app, size, options, enough):
        """The path of the heap of the first collection that finds so many bytes alive, or of the one that finds most."""
        path = self.path(app, size, options, f"of-{enough}")
        if not os.path.exists(path):
            with Writer(self, app, size, options, 1) as writer:
                writer.wait(lambda: max(writer.found().values(), default=0) >= enough)
                found = writer.found()
                number = next((n for n, size in found.items() if size >= enough), max(found, key=found.get, default=1))
                writer.keep(number, path)
        return path


class Writer:
    """A run of a program that writes snapshots; with the block it ends, and what was not kept is removed."""

    def __init__(self, store, app, size, options, every):
        self.store, self.name = store, f"{app} --set {size} {' '.join(options)}"
        self.prefix = os.path.join(store.folder, f"{app}.{os.getpid()}.")
        self.env = {**store.places.environment(SGC), "SGC_MODE": "stop", "SGC_HUGE_PAGES": "off", "SGC_SHARE_PAGES": "off",
                    **store.settings, "SGC_SNAPSHOT": f"{self.prefix}%n,every={every}", "SGC_LOG_JSON": self.prefix + "log"}
        self.command = [os.path.join(store.places.build, "bench", "endo", "apps", app), "--set", size, *options]
        self.process, self.said = None, ""

    def __enter__(self):
        try:
            self.process = subprocess.Popen(self.command, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
        except OSError as reason:
            raise Unusable(f"{self.command[0]}: {reason.strerror}") from reason
        return self

    def __exit__(self, *_):
        self.end()
        for left in os.listdir(self.store.folder):
            if left.startswith(os.path.basename(self.prefix)):
                os.remove(os.path.join(self.store.folder, left))

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        if not self.process.stderr.closed:
            self.said = programs.first_line(self.process.communicate()[1])

    def wait(self, until):
        """Ends the program when that is so."""
        latest = time.monotonic() + self.store.timeout
        while not until() and self.process.poll() is None and time.monotonic() < latest:
            time.sleep(MOMENT)
        late = time.monotonic() >= latest
        self.end()
        if late:
            raise Unusable(f"{self.name}: not through after {self.store.timeout} seconds")

    def found(self):
        """{number of a collection: bytes} of those that are over."""
        return {cycle["cycle"]: cycle["marked_bytes"] for cycle in measure.read_log(self.prefix + "log")}

    def there(self, number):
        """A snapshot has its name only when it is complete."""
        return os.path.exists(f"{self.prefix}{number}")

    def keep(self, number, path):
        if not self.there(number):
            raise Unusable(f"{self.name}: no snapshot of collection {number}: {self.said or 'the program ended before'}")
        os.replace(f"{self.prefix}{number}", path)


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
