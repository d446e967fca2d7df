# SPDX-License-Identifier: MIT
"""Running a program so that its pauses are seen: on which library, with which settings."""
import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from pauses import evidence

OBSERVER, PRELOAD, DROP_IN = "libsgcpauses.so", "libsgcpreload.so", "libgc.so.1"


class Failed(Exception):
    """An exit status, what happened, and how to go on."""

    def __init__(self, status, what, hint):
        super().__init__(what)
        self.status, self.hint = status, hint


@dataclass(frozen=True)
class Probe:
    period: int                     # ns between looks; 0: without rest
    least: int                      # ns
    flags: int


@dataclass(frozen=True)
class Way:
    """A way to run a program."""
    title: str
    on_sgc: bool
    settings: tuple = ()            # (name, value) of the environment


@dataclass
class Outcome:
    status: int                     # of the program, as a shell gives it
    processes: list


# ---- what is there ----

def check_libraries(folder):
    for name in (OBSERVER, PRELOAD, DROP_IN):
        if not os.path.exists(os.path.join(folder, name)):
            raise Failed(125, f"SGC's {name} is not in {folder}",
                         "install SGC again, or set SGC_LIBDIR to the directory that holds it")


def find_program(name):
    """Its path."""
    if not name:
        raise Failed(127, "the program's name is empty", "usage: sgc-pauses PROGRAM [ARGUMENT]...")
    path = name if "/" in name else shutil.which(name)
    if path is None:
        raise Failed(127, f"{name}: no such program in PATH", f"give its path (./{name} if it is here), or add its directory to PATH")
    if not os.path.exists(path):
        raise Failed(127, f"{path}: no such file", "check the path; sgc-pauses runs a program, as in: sgc-pauses ./program arguments")
    if os.path.isdir(path):
        raise Failed(126, f"{path} is a directory", "name a program in it")
    if not os.access(path, os.X_OK):
        raise Failed(126, f"{path} is not executable", f"make it so (chmod +x {path}), or name its interpreter first")
    return path


def libraries_of(path):
    """{name: path, or "not found"} of what the loader finds for the program by itself; nothing for a script, or a static
    program."""
    with open(path, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return {}
    try:
        env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        done = subprocess.run(["ldd", path], env=env, capture_output=True, text=True, check=False)
    except OSError:
        return {}
    return dict(re.findall(r"^\s*(\S+) => (.+?)(?: \(0x[0-9a-f]+\))?$", done.stdout, re.MULTILINE))


def modes_of(folder):
    """The words that this SGC accepts as SGC_MODE; nothing if it has no such option."""
    call = "import ctypes, sys; ctypes.CDLL(sys.argv[1]).SGC_print_options()"
    done = subprocess.run([sys.executable, "-c", call, os.path.join(folder, DROP_IN)], capture_output=True, text=True, check=False)
    found = re.search(r"\bSGC_MODE=.*accepted: ([^)]*)\)", done.stderr + done.stdout)
    return found.group(1).split("|") if found else []


def linked_with_collector(path):
    return any(name.startswith(("libgc.so", "libsgc.so")) for name in libraries_of(path))


def linked_with_other(path, folder):
    """Whether the loader by itself finds a libgc.so.1 for the program that is not SGC's."""
    found = libraries_of(path).get(DROP_IN, "")
    return found.startswith("/") and os.path.realpath(found) != os.path.realpath(os.path.join(folder, DROP_IN))


# ---- running ----

def with_what_was(first, name):
    """A list of the loader's, before what is there."""
    return ":".join([*first, *filter(None, [os.environ.get(name)])])


def preloads(folder, way, scratch):
    """By paths, so that children that change LD_LIBRARY_PATH find them too.  Where the folder has characters that LD_PRELOAD
    separates at, the observer is found by another path, and libsgcpreload, which looks for its neighbours, by its name."""
    separated = any(c in folder for c in ": ")
    observer = os.path.join(folder, OBSERVER)
    if separated:
        os.symlink(observer, os.path.join(scratch, OBSERVER))
        observer = os.path.join(scratch, OBSERVER)
    preload = PRELOAD if separated else os.path.join(folder, PRELOAD)
    return [preload, observer] if way.on_sgc else [observer]


def environment(folder, way, probe, scratch, log):
    env = {**os.environ, **dict(way.settings)}
    env["LD_PRELOAD"] = with_what_was(preloads(folder, way, scratch), "LD_PRELOAD")
    if way.on_sgc:
        env["LD_LIBRARY_PATH"] = with_what_was([folder], "LD_LIBRARY_PATH")
    env["SGC_PAUSES"] = f"{probe.period} {probe.least} {probe.flags} {scratch}"
    env.setdefault("SGC_LOG_JSON", log)
    return env


def scratch_folder():
    """In memory if that can be: a store into a file's page may have to wait for a disk."""
    places = [os.environ["TMPDIR"]] if "TMPDIR" in os.environ else ["/dev/shm", None]
    for place in places:
        try:
            return tempfile.TemporaryDirectory(prefix="sgc-pauses-", dir=place)
        except OSError as reason:
            failure = reason
    raise Failed(125, f"no temporary folder can be made: {failure}", "set TMPDIR to a folder that can be written")


def start(command, path, env, quiet):
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} if quiet else {}
    try:
        return subprocess.Popen(command, executable=path, env=env, **streams)
    except OSError as reason:
        if reason.errno == errno.ENOEXEC:
            hint = "is it a program for this machine?  A script needs a first line as #!/bin/sh"
        else:
            hint = "check that it can be run without sgc-pauses"
        raise Failed(126, f"{path}: {reason.strerror}", hint) from None


def wait(child):
    """What the terminal sends reaches the program by itself; what is sent to this process is passed on."""
    before = {s: signal.signal(s, lambda *_: None) for s in (signal.SIGINT, signal.SIGQUIT)}
    before[signal.SIGTERM] = signal.signal(signal.SIGTERM, lambda *_: child.send_signal(signal.SIGTERM))
    status = child.wait()
    for s, action in before.items():
        signal.signal(s, action)
    return status if status >= 0 else 128 - status


def run(command, path, folder, way, probe, quiet):
    with scratch_folder() as scratch:
        log = os.path.join(scratch, "cycles.json")
        status = wait(start(command, path, environment(folder, way, probe, scratch, log), quiet))
        return Outcome(status, evidence.read_folder(scratch, log))
