# SPDX-License-Identifier: MIT
"""Real programs: the list in tests/programs, one run of one of them, and what the collectors' logs say of it."""
import fnmatch
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass

from runner import stops
from runner.cases import PEER, SGC
from runner.instructions import self_costs

SIDES = (PEER, SGC)
COLLECTOR = re.compile(r"/lib(gc|sgc)\.so")


@dataclass(frozen=True)
class Program:
    name: str
    package: str
    binary: str
    torture: str
    limit: str
    input: str
    files: str
    command: str


def read_list(path, pattern):
    with open(path, encoding="utf-8") as f:
        lines = [line.rstrip("\n") for line in f if line.strip() and not line.startswith("#")]
    programs = [Program(*line.split("|", 7)) for line in lines]
    return [p for p in programs if fnmatch.fnmatchcase(p.name, pattern)]


class Bench:
    """Runs programs in a scratch folder; `places` is as for bench/run: build, library (SGC's), system (bdwgc's)."""

    def __init__(self, source, build, library, system, scratch, timeout):
        self.build, self.library, self.system, self.timeout = build, library, system, timeout
        self.scratch, self.work = scratch, os.path.join(scratch, "work")
        os.mkdir(self.work)
        subprocess.run([os.path.join(source, "tests", "programs", "prepare"), self.work], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        kept = {k: v for k, v in os.environ.items() if not re.match(r"GC_|SGC_|LD_|MALLOC_", k)}
        with open(os.path.join(self.work, "environment"), encoding="utf-8") as f:
            self.environment = {**kept, **dict(line.rstrip("\n").split("=", 1) for line in f)}

    def binary(self, program):
        if "/" in program.binary:
            path = os.path.join(self.work, program.binary)
            return path if os.access(path, os.X_OK) else None
        return shutil.which(program.binary)

    def libraries(self, side, preload=True):
        if side == PEER:
            return {"LD_LIBRARY_PATH": self.system} if self.system else {}
        settings = {"LD_LIBRARY_PATH": self.library}
        preloaded = os.path.join(self.library, "libsgcpreload.so")
        return {**settings, "LD_PRELOAD": preloaded} if preload and os.path.exists(preloaded) else settings

    def execute(self, program, before, environment, timeout=None):
        """(exit status, what it wrote); `before` are words in front of the command."""
        with open(os.path.join(self.work, program.input) if program.input else os.devnull, "rb") as given:
            done = subprocess.run([*before, *program.command.split()], cwd=self.work, env=environment, stdin=given,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout or self.timeout)
        wrote = done.stdout
        for name in program.files.split():
            path = os.path.join(self.work, name)
            if os.path.exists(path):            # else it has failed, and says so otherwise
                with open(path, "rb") as f:
                    wrote += b"\n".join(line for line in f.read().split(b"\n") if b"CreationDate" not in line)
                os.remove(path)
        return done.returncode, wrote, done.stderr

    def timed(self, program, side, settings):
        """One run without logs: (status, output), and wall-clock s, CPU s, peak MB."""
        used = os.path.join(self.scratch, "used")
        words = [f"{k}={v}" for k, v in {**self.libraries(side), **settings}.items()]
        status, wrote, _ = self.execute(program, [os.path.join(self.build, "tools", "sgc-measure"), used, *words],
                                        self.environment)
        with open(used, encoding="ascii") as f:
            wall, cpu, kilobytes, _ = f.read().split()
        os.remove(used)
        return (status, wrote), {"wall": float(wall), "cpu": float(cpu), "rss": int(kilobytes) / 1024}

    def logged(self, program, side, settings):
        """One run with a log: collections, ms in pauses, the longest, and what 99 percent do not exceed."""
        log = os.path.join(self.scratch, "log")
        self.execute(program, [], {**self.environment, **self.libraries(side), **settings, **stops.asked(side, log)})
        found, collections = stops.read(side, log)
        if os.path.exists(log):
            os.remove(log)
        return {"collections": collections, "pauses": sum(found), "longest": max(found, default=0.0),
                "p99": stops.percentile(found, 99)}

    def counted(self, program, side):
        """Instructions in the collector's library and in the whole program, with one marker.  A script's program counts."""
        environment = {**self.environment, **self.libraries(side, preload=False), "GC_MARKERS": "1"}
        inside = total = 0
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            words = ["valgrind", "--tool=callgrind", "--trace-children=yes", f"--callgrind-out-file={folder}/%p"]
            status, _, said = self.execute(program, words, environment, timeout=self.timeout * 50)
            for name in os.listdir(folder):
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as f:
                    costs = self_costs(f)
                total += sum(costs.values())
                inside += sum(cost for (where, _), cost in costs.items() if COLLECTOR.search(where))
        if inside == 0:
            raise RuntimeError(f"{program.name} ended with {status} under valgrind: {said[-300:]!r}")
        return {"inside": inside, "instructions": total}
