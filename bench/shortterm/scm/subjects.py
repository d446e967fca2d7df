# SPDX-License-Identifier: MIT
"""The programs with their arguments, and the memories that are compared."""
from dataclasses import dataclass

NO_LIMIT = "without limit"


@dataclass(frozen=True)
class Version:
    name: str
    memory: str
    arguments: tuple = ()
    settings: tuple = ()        # pairs

    def environment(self):
        return dict(self.settings)

    @property
    def traced(self):
        """Only a collector's heap can be limited."""
        return self.memory != "malloc"


@dataclass(frozen=True)
class Subject:
    """A program with its arguments, as results have it."""
    name: str
    file: str
    arguments: tuple
    versions: tuple

    def command(self, version, size):
        return (self.file, "--set", size, "--memory", version.memory, *self.arguments, *version.arguments)


def dates(name, *arguments, mode="free", **settings):
    return Version(name, "dates", arguments, (("SGC_SHORTTERM", mode), *settings.items()))


def scm(extension, every):
    """SCM(n, t) of the paper: the largest extension, and a tick each t-th round."""
    return dates(f"SCM({extension},{every})", "--extension", str(extension), "--every", str(every))


def pages(extension, size):
    """(n, m) of the paper: the largest extension, and the bytes of a page of dates."""
    return dates(f"dates ({extension}, {size} B)", "--extension", str(extension), SGC_SHORTTERM_PAGE=str(size))


MALLOC, GC, GC_FREE = Version("malloc", "malloc"), Version("GC", "gc"), Version("GC_free", "gc-free")
LAZY, EAGER = dates("dates, lazy", "--collect", "lazy"), dates("dates, eager", "--collect", "eager")
PIN = dates("dates, pin", mode="pin")
BY_HAND = (MALLOC, GC, GC_FREE)
PAGES = tuple(pages(n, m) for m in (256, 4096) for n in (1, 10))
SCM = (scm(1, 1), scm(50, 20))
EAGER_SCM = dates("SCM(1,1), eager", "--extension", "1", "--collect", "eager")
PERIODS = tuple(scm(50, every) for every in (1, 50, 200))

LEAKY = Subject("leaky", "montecarlo", ("--leak", "1"), (*BY_HAND, *SCM, EAGER_SCM, PIN))
FIXED = Subject("fixed", "montecarlo", (), (*BY_HAND, *SCM, EAGER_SCM, PIN))
FOUR = Subject("4x", "montecarlo", ("--instances", "4"), (*BY_HAND, *SCM, EAGER_SCM, PIN))
TICKS = Subject("ticks", "montecarlo", (), PERIODS)
MPG123 = Subject("converter", "convert", (), (*BY_HAND, LAZY, EAGER, *PAGES, PIN))
JLAYER = Subject("converter by frames", "convert", ("--each-frame", "1"), (*BY_HAND, LAZY, EAGER, PIN))
LUINDEX = Subject("indexer", "indexer", (), (*BY_HAND, LAZY, EAGER, PIN))
OPERATIONS = Subject("operations", "operations", (), (LAZY, EAGER, PIN))

SUBJECTS = {
    "4x": (FOUR,),
    "converter": (MPG123, JLAYER),
    "fixed": (FIXED,),
    "indexer": (LUINDEX,),
    "leaky": (LEAKY,),
    "operations": (OPERATIONS,),
    "periods": (TICKS,),
}

# What is counted by callgrind, with these arguments in place of a set's; operations have their own.
COUNTED = {
    LEAKY: ("--walks", "400"), FIXED: ("--walks", "400"), FOUR: ("--walks", "100"), TICKS: ("--walks", "400"),
    MPG123: ("--files", "40"), JLAYER: ("--files", "40"), LUINDEX: ("--segments", "20"),
}
OPERATION_NAMES = ("libc_pair", "libc_request", "gc_pair", "gc_request", "arena_region", "arena_cleared_region", "arena_request",
                   "arena_cleared_request", "dates_request", "dates_request_region", "gc_plain_pair",
                   "gc_batch", "gc_plain_batch", "dates_cycle", "dates_plain_cycle",
                   "dates_malloc_dated", "dates_malloc_dated_plain", "dates_refresh", "dates_refresh_global", "dates_refresh_other",
                   "dates_expire", "dates_tick", "dates_tick_global", "dates_region", "dates_hold")
