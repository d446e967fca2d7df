# SPDX-License-Identifier: MIT
"""The machine: whether it is quiet, what it is, and who else used it meanwhile."""
import os
import platform
import re
import resource
import shlex
import subprocess
import time

BUSY_SHARE = 0.05           # of the processors, over the seconds looked at
LOAD_SHARE = 0.25           # of the load average by the processors
SECONDS_LOOKED_AT = 2.0


OTHER = {}                  # "processors" of the machine that is spoken of, if it is not this one


def processors():
    return OTHER.get("processors") or len(os.sched_getaffinity(0))


def speak_of(described):
    """From now on of the machine that a file of results describes, as describe() does."""
    found = re.search(r"(\d+) processors", described)
    OTHER["processors"] = int(found.group(1)) if found else 0


def jiffies():
    """(busy, stolen, all) of all processors since the machine's start."""
    with open("/proc/stat", encoding="ascii") as f:
        values = [int(v) for v in f.readline().split()[1:9]]
    idle = values[3] + values[4]
    return sum(values[:8]) - idle, values[7], sum(values[:8])


def own_seconds():
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def why_not_quiet():
    """What speaks against measuring now, or an empty string."""
    load = os.getloadavg()[0]
    if load > LOAD_SHARE * processors():
        return f"its load average is {load:.2f} on {processors()} processors, expected at most " \
               f"{LOAD_SHARE * processors():.2f}"
    before = jiffies()
    time.sleep(SECONDS_LOOKED_AT)
    after = jiffies()
    busy = (after[0] - before[0]) / max(1, after[2] - before[2])
    if busy > BUSY_SHARE:
        return f"{busy:.0%} of its processors' time went to other programs in the last {SECONDS_LOOKED_AT:.0f} s, " \
               f"expected at most {BUSY_SHARE:.0%}"
    return ""


class Watch:
    """How much of the machine others had between start() and shares()."""

    def __init__(self):
        self.before, self.own = jiffies(), own_seconds()

    def shares(self):
        after = jiffies()
        ticks = os.sysconf("SC_CLK_TCK")
        whole = max(1, after[2] - self.before[2])
        stolen = after[1] - self.before[1]
        foreign = after[0] - self.before[0] - stolen - (own_seconds() - self.own) * ticks
        return max(0.0, foreign / whole), stolen / whole


def first_match(path, pattern):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            found = re.search(pattern, f.read(), re.MULTILINE)
    except OSError:
        return ""
    return found.group(1).strip() if found else ""


def as_shown(words):
    """A command for others to read: where folders lie on this machine tells them nothing."""
    return shlex.join(re.sub(r"(^|=)/(?:[^/]+/)*(?=[^/])", r"\1.../", word) for word in words)


def make_variable(build, name):
    return first_match(os.path.join(build, "Makefile"), rf"^{name} = (.*)$")


def first_words(command):
    """The first line that a command prints, or nothing if there is no such command."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return (done.stdout.splitlines() or [""])[0] if done.returncode == 0 else ""


NO_SOURCES = (":!doc", ":!README.md", ":!bench/*.md", ":!bench/plots", ":!bench/results")


def source_revision(build):
    """Of what was built: results and documents that are written meanwhile do not make it another one."""
    source = make_variable(build, "abs_top_srcdir")
    revision = first_words(["git", "-C", source, "describe", "--always"]) if source else ""
    changed = first_words(["git", "-C", source, "status", "--porcelain", "--untracked-files=no", "--", ".", *NO_SOURCES]) if revision else ""
    return revision + ("-dirty" if changed else "")


def available_megabytes():
    return int(first_match("/proc/meminfo", r"^MemAvailable:\s*(\d+) kB") or 0) // 1024


def why_too_small(cases):
    """A case that makes the system swap, or end programs, says nothing."""
    most, available = max(cases, key=lambda case: case.memory), available_megabytes()
    return f"{most.name} takes {most.memory} MB, and {available} MB are available" if most.memory > available else ""


def why_build_unfit(build):
    """Figures of a build with assertions or a sanitizer say nothing."""
    if "-DSGC_ASSERTIONS" in make_variable(build, "SGC_CPPFLAGS"):
        return "it has assertions"
    sanitizer = make_variable(build, "sgc_sanitizer")
    if sanitizer not in ("", "none"):
        return f"it has the sanitizer \"{sanitizer}\""
    if "-O0" in make_variable(build, "CFLAGS").split():
        return "it is compiled with -O0"
    return ""


def describe(build):
    memory = first_match("/proc/meminfo", r"^MemTotal:\s*(\d+) kB")
    processor = first_match("/proc/cpuinfo", r"^model name.*?: (.*)$") or platform.machine()
    compiler = first_words([*make_variable(build, "CC").split(), "--version"]) or "unknown compiler"
    name = first_match("/etc/os-release", r'^PRETTY_NAME="?([^"\n]*)')
    return {
        "machine": f"{processor}, {processors()} processors, {int(memory or 0) // 1048576} GB",
        "system": f"{name}, {platform.system()} {platform.release()}, {' '.join(platform.libc_ver())}",
        "compiler": f"{compiler}; {make_variable(build, 'CFLAGS')}",
        "revision": source_revision(build) or "unknown",
        "huge pages": first_match("/sys/kernel/mm/transparent_hugepage/enabled", r"\[(\w+)\]") or "unknown",
    }
