# SPDX-License-Identifier: MIT
"""A checkout of mimalloc-bench that the user names: it is copied and built, and its programs are run as its own script runs them.

Nothing of it is here but the names of its programs, their arguments, and what they print.
"""
import os
import re
import shutil
import subprocess
from dataclasses import dataclass

from comparison.cases import Case

ABSENT = "int main(void)\n{\n    return 1;\n}\n"        # in place of sources that a checkout gets by its own script alone
FETCHED = ("shbench/sh6bench-new.c", "shbench/sh8bench-new.c")


@dataclass(frozen=True)
class Suite(Case):
    given: str = ""             # standard input, in the suite's folder bench
    rate: str = ""              # what it prints if it runs for a fixed time: a pattern
    unit: float = 1.0           # of that rate, in operations a second


def suite(name, program, *args, threads=1, **more):
    figures = (("ns_per_operation", "ns of an operation"),) if "rate" in more else ()
    return Suite(f"suite/{name}", " ".join((program, *map(str, args))), threads, program, tuple(map(str, args)), more=figures, **more)


def cases(processors):
    """`espresso` gets its input by its path in the folder bench."""
    n = processors
    found = [suite("cfrac", "cfrac", "17545186520507317056371138836327483"),
             suite("espresso", "espresso", "espresso/largest.espresso"),
             suite("barnes", "barnes", given="barnes/input"),
             suite("alloc-test/1", "alloc-test", 1),
             suite("alloc-test/N", "alloc-test", min(n, 16), threads=min(n, 16)),
             suite("larson", "larson", 5, 8, 1000, 5000, 100, 4141, n, threads=n, rate=r"Throughput\s*=\s*([\d.]+) operations per second"),
             suite("sh6bench", "sh6bench", 2 * n, threads=2 * n),
             suite("sh8bench", "sh8bench", 2 * n, threads=2 * n),
             suite("xmalloc-test", "xmalloc-test", "-w", n, "-t", 5, "-s", 64, threads=n, rate=r"free/sec:\s*([\d.]+) M", unit=1e6),
             suite("cache-thrash/1", "cache-thrash", 1, 1000, 1, 2000000, n),
             suite("cache-thrash/N", "cache-thrash", n, 1000, 1, 2000000, n, threads=n),
             suite("cache-scratch/1", "cache-scratch", 1, 1000, 1, 2000000, n),
             suite("cache-scratch/N", "cache-scratch", n, 1000, 1, 2000000, n, threads=n),
             suite("malloc-large", "malloc-large"),
             suite("mstress", "mstress", n, 50, 25, threads=n),
             suite("mleak", "mleak", 5),
             suite("rptest", "rptest", n, 0, 1, 2, 500, 1000, 100, 8, 16000, threads=n, rate=r"\.\.\.\s*(\d+) memory ops"),
             suite("glibc-simple", "glibc-simple"),
             suite("glibc-thread", "glibc-thread", n, threads=n, rate=r"^\s*([\d.]+)")]
    return list({case.name: case for case in found}.values())


def why_no_suite(folder):
    return "" if os.path.isfile(os.path.join(folder, "bench", "CMakeLists.txt")) else \
        f"{folder} is no checkout of mimalloc-bench: it has no bench/CMakeLists.txt"


def last_line(done):
    lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    return lines[-1].strip() if lines else f"exit status {done.returncode}"


class Built:
    """The suite's programs, built in a copy: {program: path}, and why some are not there."""

    def __init__(self, folder, work):
        self.source, self.build = os.path.join(work, "suite"), os.path.join(work, "suite-build")
        self.programs, self.missing = {}, {}
        shutil.rmtree(self.source, ignore_errors=True)
        shutil.copytree(os.path.join(folder, "bench"), self.source)
        for name in FETCHED:
            path = os.path.join(self.source, name)
            if not os.path.exists(path):
                self.missing[os.path.basename(name).split("-")[0]] = "its source is not in this checkout"
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="ascii") as f:
                    f.write(ABSENT)

    def call(self, *words):
        return subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)

    def configure(self):
        """What went wrong, or an empty string."""
        try:
            done = self.call("cmake", "-S", self.source, "-B", self.build, "-DCMAKE_BUILD_TYPE=Release")
        except OSError as reason:
            return f"cmake: {reason.strerror}"
        return f"cmake: {last_line(done)}" if done.returncode != 0 else ""

    def make(self, names):
        for name in names:
            if name in self.missing:
                continue
            done = self.call("cmake", "--build", self.build, "--target", name)
            path = os.path.join(self.build, name)
            if done.returncode == 0 and os.access(path, os.X_OK):
                self.programs[name] = path
            else:
                self.missing[name] = f"it is not built: {last_line(done)}"


def figures_of(case, out):
    """({figure: value}, failure) of what it printed.  Of a program with a fixed time only its rate counts."""
    if not case.rate:
        return {}, ""
    found = re.search(case.rate, out, re.MULTILINE)
    if not found or float(found.group(1)) <= 0:
        return {}, f"it printed nothing like \"{case.rate}\""
    return {"ns_per_operation": 1e9 / (float(found.group(1)) * case.unit)}, ""
