# SPDX-License-Identifier: MIT
"""What is run: the parts, and the cases of each.

A case is one program with its arguments, or one real program with a piece of work.  A round runs each case on all allocators in
turn.  Of all figures of a case less is better.
"""
from dataclasses import dataclass
from fnmatch import fnmatchcase

PARTS = {"pairs": "malloc and free in pairs: instructions by callgrind, and time",
         "own": "programs of bench/malloc: servers, messages, mixed lives, batches, trees, false sharing, resizing, memory that comes back",
         "suite": "a checkout of mimalloc-bench, named by --suite",
         "programs": "real programs from packages, each with a fixed piece of work"}


@dataclass(frozen=True)
class Case:
    name: str                   # part/program[/...]
    title: str
    threads: int = 1
    program: str = ""           # of bench/malloc
    args: tuple = ()
    quick_args: tuple = ()
    more: tuple = ()            # (figure, title): what this case tells beside time and memory
    counted: bool = False       # its instructions are counted by callgrind, once
    only: tuple = ()            # run on these allocators alone, if any are named, and in no mean

    @property
    def part(self):
        return self.name.split("/")[0]


def words(*values):
    return tuple(str(value) for value in values)


def pair_cases():
    common = {"hot": "A: 64 bytes, freed at once", "batch": "B: 1000 of 16 to 512 bytes, then freed in order",
              "random": "C: of 10 000 of 16 to 512 bytes a random one is replaced"}
    others = {"medium": "1000 of 1 to 21 KB, then freed in order", "remote": "1000 of 16 to 512 bytes, freed by another thread",
              "resize": "a realloc to 100 or 104 bytes"}
    for threads, patterns in ((1, {**common, **others}), (2, common)):
        for pattern, title in patterns.items():
            pairs = 2000000 if pattern == "medium" else 20000000
            yield Case(f"pairs/{pattern}/{threads}", f"{title}; {threads} thread{'s' if threads > 1 else ''}", threads, "pairs",
                       words(pattern, pairs, threads), words(pattern, 100000, threads), (("ns_per_operation", "ns of a pair"),))
    for pattern, title in {**common, **others}.items():
        yield Case(f"pairs/{pattern}/instructions", title, 1, "pairs", (pattern,), (pattern,), (("instructions", "instructions of a pair"),),
                   counted=True)


def own(name, title, threads, program, args, quick, more=(), only=()):
    return Case(f"own/{name}", title, threads, program, words(*args), words(*quick), more, only=only)


# The programs say at their heads what they do.
OWN = [
    own("server/1", "server threads that hand over, one chain", 1, "server", (1, 50, 100000), (1, 4, 1000)),
    own("server/2", "two chains", 2, "server", (2, 50, 100000), (2, 4, 1000)),
    own("messages/1-1", "a producer and a consumer", 2, "messages", (1, 1, 10000000), (1, 1, 20000)),
    own("messages/2-2", "two of each", 4, "messages", (2, 2, 5000000), (2, 2, 20000)),
    own("mixed/1", "mixed lives", 1, "mixed", (1, 2000000), (1, 20000)),
    own("mixed/2", "on two threads, which hand over", 2, "mixed", (2, 2000000), (2, 20000)),
    own("batches/1", "batches of many sizes, freed in order and in reverse", 1, "batches", (1, 4000), (1, 30)),
    own("batches/2", "on two threads", 2, "batches", (2, 4000), (2, 30)),
    own("sharing/active", "two threads allocate, and write what they have", 2, "sharing", ("active", 2, 1000, 100000),
        ("active", 2, 20, 100), (("shared_rounds", "rounds in which objects shared a line"),)),
    own("sharing/passive", "after the main thread allocated for both", 2, "sharing", ("passive", 2, 1000, 100000),
        ("passive", 2, 20, 100), (("shared_rounds", "rounds in which objects shared a line"),)),
    own("trees/1", "binary trees", 1, "trees", (1, 16), (1, 8)),
    own("trees/2", "on two threads", 2, "trees", (2, 16), (2, 8)),
    own("resize/large", "one block grows to 256 MB by steps of 1 MB", 1, "resize", ("large", 256), ("large", 8)),
    own("resize/giant", "the same to 1 GB; others copy it for minutes", 1, "resize", ("large", 1024), ("large", 8), only=("glibc", "sgc")),
    own("resize/small", "a thousand buffers grow", 1, "resize", ("small", 4096), ("small", 8)),
    own("resize/aligned", "blocks aligned to 32 to 512 bytes", 1, "resize", ("aligned", 256), ("aligned", 4),
        (("waste", "resident memory by what was asked for"),)),
    own("phases/sizes", "1 GB of 64-byte blocks, freed, then of 128-byte ones", 1, "phases", ("sizes", 1024), ("sizes", 8)),
    own("phases/turns", "four threads in turn, 256 MB each, freed", 4, "phases", ("turns", 256), ("turns", 4)),
    own("phases/burst", "1 GB freed, then no call at all", 1, "phases", ("burst", 1024), ("burst", 8)),
    own("phases/teeth", "64 MB ten times a second", 1, "phases", ("teeth", 64), ("teeth", 1),
        (("faults_of_a_tooth", "page faults of a tooth"),)),
    own("phases/threads", "10 000 threads in turn", 1, "phases", ("threads", 10000), ("threads", 120),
        (("growth_mb", "what memory grows by, MB"),)),
    own("idle/start", "/bin/true, started 1000 times", 1, "idle", ("start", 1000), ("start", 5), (("ns_per_operation", "ns of a start"),)),
    own("idle/loop", "no allocation at all", 1, "idle", ("loop", 1000), ("loop", 1)),
]


def built_cases():
    """Those of bench/malloc."""
    return [*pair_cases(), *OWN]


def choose(cases, patterns):
    """Those whose name matches one of the shell patterns, or begins with one and a slash."""
    return [case for case in cases if any(fnmatchcase(case.name, p) or case.name.startswith(p.rstrip("/") + "/") for p in patterns)]
