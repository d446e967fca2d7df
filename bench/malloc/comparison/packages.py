# SPDX-License-Identifier: MIT
"""Real programs, each with a fixed piece of work.  What it prints and writes must be the same on each allocator."""
import hashlib
import os
import re
import shutil
import sys
from dataclasses import dataclass
from glob import glob

from comparison import allocators, inputs, redis
from comparison.cases import Case
from runner import programs

SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "work")
REST = 0.3                      # seconds that each script rests at its end
RESTING = re.compile(r"^resting_kb (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Real(Case):
    binary: str = ""            # what must be there
    package: str = ""           # Debian's
    command: tuple = ()
    settings: tuple = ()        # ((variable, value), ...)
    files: str = ""             # what it writes into its folder, as a shell pattern
    given: str = ""             # its standard input, in its folder
    rests: bool = False         # it rests at its end, and says how much memory it has
    server: bool = False        # it is run by comparison/redis.py


def real(name, title, binary, package, command, **more):
    return Real(f"programs/{name}", title, binary=binary, package=package, command=tuple(map(str, command)), **more)


def compiler(name, package, files):
    return real(name, f"compiles {files} files of C", name, package,
                [name, "-O2", "-S", *(f"source{i}.c" for i in range(files))], files="*.s")


def script(name, title, words, **more):
    return real(f"python3/{name}", title, sys.executable, "python3", [sys.executable, "-B", os.path.join(SCRIPTS, words[0]), words[1]],
                rests=True, settings=(("PYTHONHASHSEED", "0"), *more.pop("settings", ())), **more)


def cases(quick):
    """All, installed or not."""
    def sized(full, tiny):
        return tiny if quick else full
    git = (("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_PAGER", "cat"))
    return [
        compiler("gcc", "gcc", sized(50, 2)),
        compiler("clang", "clang", sized(50, 2)),
        script("objects", "a table of objects", ("objects.py", sized(60000, 500))),
        script("objects-malloc", "all of them by malloc (PYTHONMALLOC)", ("objects.py", sized(60000, 500)),
               settings=(("PYTHONMALLOC", "malloc"),)),
        script("documents", "JSON", ("documents.py", sized(4000, 50))),
        script("text", "words and patterns", ("text.py", sized(50000, 500))),
        real("perl", "tables of words", "perl", "perl", ["perl", os.path.join(SCRIPTS, "words.pl"), sized(300000, 2000)],
             settings=(("PERL_HASH_SEED", "0"),), rests=True),
        real("sqlite3", f"a table of {sized(1000000, 5000)} rows", "sqlite3", "sqlite3", ["sqlite3", "-batch", ":memory:"], given="rows.sql"),
        real("redis-server", "commands, then FLUSHALL and rest", "redis-server", "redis-server",
             ["redis-server", sized(200000, 1000)], server=True),
        real("git/log", "log with differences", "git", "git", ["git", "-C", "repository", "log", "-p", "--stat", "main"], settings=git),
        real("git/pack", "packs all objects", "git", "git", ["git", "-C", "repository", "-c", "pack.threads=1", "pack-objects", "--all",
             "--no-reuse-delta", "--no-reuse-object", "--stdout", "-q"], settings=git),
        real("node", "objects, strings and buffers", "node", "nodejs",
             ["node", "--expose-gc", os.path.join(SCRIPTS, "objects.js"), sized(300000, 3000)], rests=True),
        real("w3m", "lays a table out", "w3m", "w3m", ["w3m", "-dump", "-T", "text/html", "-cols", "100", "page.html"]),
    ]


# ---- the folder in which they run ----

class Bench:
    """Inputs, and the answers that are right."""

    def __init__(self, folder, measure, quick, timeout):
        """measure: the program sgc-measure."""
        self.folder, self.measure, self.timeout = folder, measure, timeout
        self.right = {}         # {case name: answer}
        self.environment = {**allocators.environment(), "HOME": folder}
        self.has_repository = False
        self.prepare(quick)

    def prepare(self, quick):
        """Writes what the programs work on."""
        inputs.c_sources(self.folder, 2 if quick else 50, 3 if quick else 8)
        inputs.sql(self.folder, 5000 if quick else 1000000)
        inputs.page(self.folder, 100 if quick else 5000)
        git_environment = {**self.environment, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
        self.has_repository = shutil.which("git") is not None and \
            inputs.repository(self.folder, "git", 30 if quick else 2000, git_environment)

    def why_not(self, case):
        """Why it cannot be run here, or an empty string; keeps the answer that it gives by itself."""
        if shutil.which(case.binary) is None:
            return f"{case.binary} is not installed (Debian: {case.package})"
        if case.name.startswith("programs/git/") and not self.has_repository:
            return "git made no repository to work on"
        answer, _, failure = self.run(case, None)
        self.right[case.name] = answer
        return failure

    def answer_of(self, out, pattern):
        """One for all that it printed and wrote; what it wrote goes."""
        digest = hashlib.sha256(out.encode("utf-8", "surrogateescape"))
        for path in sorted(glob(os.path.join(self.folder, pattern))) if pattern else []:
            with open(path, "rb") as f:
                digest.update(os.path.basename(path).encode() + b"\n" + f.read())
            os.remove(path)
        return digest.hexdigest()

    def words(self, case, allocator, used):
        """The command behind sgc-measure, which gives the settings to the program alone."""
        preload = allocators.settings(allocator) if allocator else {}
        settings = {**dict(case.settings), **preload}
        return [self.measure, used, *(f"{name}={value}" for name, value in settings.items())]

    def run(self, case, allocator):
        """(answer, figures, failure); without an allocator as the program is by itself."""
        used = os.path.join(self.folder, "used")
        try:
            if case.server:
                answer, figures, failure = redis.run(self.words(case, allocator, used), case.command, self.folder, self.environment, self.timeout)
            else:
                answer, figures, failure = self.run_command(case, self.words(case, allocator, used))
        except OSError as reason:
            return "", {}, f"{self.measure}: {reason.strerror}"
        more = take_used(used)
        if not failure and not more:
            failure = "sgc-measure wrote nothing"
        if case.rests and "seconds" in more:
            more["seconds"] -= REST
        return answer, {**more, **figures}, failure

    def run_command(self, case, words):
        given = os.path.join(self.folder, case.given) if case.given else os.devnull
        status, out, err = programs.execute(["/bin/sh", "-c", 'cd "$1" && exec <"$2" && shift 2 && exec "$@"', "sh", self.folder, given,
                                             *words, *case.command], self.environment, self.timeout)
        failure = programs.reason_of_failure(status, RESTING.sub("", err), self.timeout)
        if not failure and allocators.LOADER_SAYS.search(err):
            failure = programs.first_line(err)
        found = RESTING.search(err)
        figures = {"resting_mb": int(found.group(1)) / 1024} if found else {}
        return self.answer_of(out, case.files), figures, failure

    def measured(self, case, allocator):
        """(figures, failure); a wrong answer is a failure."""
        answer, figures, failure = self.run(case, allocator)
        if not failure and answer != self.right[case.name]:
            failure = "its output is not what it is without anything preloaded"
        return figures, failure


def take_used(path):
    """What sgc-measure wrote; the file goes."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="ascii") as f:
        wall, cpu, kilobytes, _ = f.read().split()
    os.remove(path)
    return {"seconds": float(wall), "cpu_seconds": float(cpu), "peak_mb": int(kilobytes) / 1024}
