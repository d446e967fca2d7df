# SPDX-License-Identifier: MIT
"""What is run: the table of cases, and the environment each side gets.

A case is one program with its arguments.  It has variants: the two sides, each in one or more modes, with
a number of markers and a preset.  One round runs all variants of a case in turn.
"""
from dataclasses import dataclass
from fnmatch import fnmatchcase

SGC, PEER = "sgc", "bdwgc"

# For each mode what SGC gets; the last column is the mode whose runs of bdwgc it is compared with.
#   limit     both have the whole heap from the start and use it up before they collect
#   default   SGC paces itself below the same limit; bdwgc is the one of `limit`
#   count     no collection at all: for counting instructions
LIMIT = "limit"
MODES = {LIMIT: LIMIT, "default": LIMIT, "count": "count"}

# Beside these there are those of runner/concurrent.py, of one side each.  They have the limit alone: bdwgc's incremental mode does not
# begin with all of it.
LIMIT_ALONE = {"stop": {"SGC_MODE": "stop"}, "concurrent": {"SGC_MODE": "concurrent"}, "incremental": {"GC_ENABLE_INCREMENTAL": "1"}}

PRESETS = ("opt", "no-slo", "no-nsb", "no-opt", "simple")
SHAPES = ("tree", "graph", "list", "array", "large")
KINDS = ("conservative", "pointer-free")


@dataclass(frozen=True)
class Variant:
    side: str
    mode: str
    markers: str = "-"          # "-": not set, the collector decides
    preset: str = "-"

    def heap_environment(self, megabytes):
        size = f"{megabytes}m"
        if self.mode in LIMIT_ALONE:
            return {"GC_MAXIMUM_HEAP_SIZE": size, **LIMIT_ALONE[self.mode]}
        if self.side == SGC and self.mode == "default":
            return {"GC_MAXIMUM_HEAP_SIZE": size}
        env = {"GC_INITIAL_HEAP_SIZE": size, "GC_MAXIMUM_HEAP_SIZE": size}
        if self.mode == "count":
            env["GC_DONT_GC"] = "1"
        elif self.side == SGC:
            env["SGC_PACING"] = "limit"
        return env

    def environment(self, megabytes):
        """The variables of the collector; no others of its kind are handed on."""
        env = self.heap_environment(megabytes)
        if self.markers != "-":
            env["GC_MARKERS"] = self.markers
        if self.preset != "-":
            env["SGC_PRESET"] = self.preset
        return env

    def __str__(self):
        words = [self.side, self.mode]
        words += [f"markers={self.markers}"] if self.markers != "-" else []
        words += [f"preset={self.preset}"] if self.preset != "-" else []
        return " ".join(words)


@dataclass(frozen=True)
class Case:
    name: str
    group: str                  # what a geometric mean is taken over
    program: str                # below bench/cases
    args: tuple
    quick_args: tuple
    figure: str                 # the line of its output that counts
    heap: int                   # megabytes
    modes: tuple
    marks: bool = False         # runs with each of the markers asked for
    less_is_better: bool = True
    floor: str = ""             # the figure, if there is one, that says what its program takes without a collector
    turns: int = 1              # how often SGC's variants come in a round, where one process of each says too little
    peer_turns: int = 1         # the same of bdwgc's
    control: tuple = ()         # figures: what two processors give it, what they give its control, the first by the second

    @property
    def memory(self):
        """Megabytes it may take; the control of scaling has a buffer as large as the heap for each of two threads."""
        return self.heap * (3 if self.program == "scaling" else 1)


def words(*values):
    return tuple(str(v) for v in values)


def alloc_case(threads, kind, size, megabytes, warm, heap, group):
    return Case(f"alloc/{threads}/{kind}/{size}", group, "alloc",
                words(size, kind, threads, megabytes, warm), words(size, kind, threads, 8, 8),
                "ns_per_object", heap, ("limit", "default"))


SMALL = (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
# Size and megabytes; pointer-free ones take hardly any time each.
LARGE = {"conservative": ((4096, 2048), (16384, 2048), (65536, 2048), (262144, 2048), (1048576, 2048)),
         "pointer-free": ((4096, 2048), (16384, 4096), (65536, 8192), (262144, 16384), (1048576, 32768))}
TWO_THREADS = (16, 64, 256, 1024, 4096, 32768)


def alloc_cases():
    for kind in KINDS:
        for size in SMALL:
            yield alloc_case(1, kind, size, 512, 192, 128, f"alloc 16 B to 1 KB, {kind}")
        for size, megabytes in LARGE[kind]:
            yield alloc_case(1, kind, size, megabytes, 384, 256, f"alloc 4 KB to 1 MB, {kind}")
        for size in TWO_THREADS:
            yield alloc_case(2, kind, size, 256, 128, 128, f"alloc on 2 threads, {kind}")


def pairs_cases():
    for threads, kinds in ((1, KINDS), (2, ("pointer-free",))):
        for kind in kinds:
            for pattern in ("hot", "batch", "random"):
                yield Case(f"pairs/{threads}/{kind}/{pattern}", f"malloc+free on {threads} thread(s), {kind}", "pairs",
                           words(pattern, 64, kind, 10000000, threads), words(pattern, 64, kind, 100000, threads),
                           "ns_per_pair", 64, ("default",))


def program_cases():
    both = ("limit", "default")
    yield Case("gcbench", "programs", "gcbench", words(16), words(10), "time_ms", 64, both)
    for threads in (1, 2, 4):
        yield Case(f"trees/{threads}", "programs", "trees", words(threads, 16), words(threads, 10), "time_ms",
                   64 if threads < 4 else 128, both)
    yield Case("strings", "programs", "strings", words(200000, 3000000), words(2000, 50000), "time_ms", 64, both,
               floor="exact_ms", turns=3, peer_turns=3)


def mark_cases():
    # What one process takes is up to 2.5 times what the next one does, half a minute later: five of each do not tell 1.5 from 2.
    for shape in SHAPES:
        yield Case(f"mark/{shape}", "marking", "mark", words(shape, 256, 7), words(shape, 4, 3), "collection_ms",
                   640, ("limit",), marks=True, turns=3)


def finalize_cases():
    for what in ("finalizers", "links", "brief"):
        yield Case(f"finalize/{what}", "finalization", "finalize", words(what, 1000000, 3), words(what, 10000, 1),
                   "ns_per_object", 256, ("limit", "default"))


def thread_cases():
    for threads, collections in ((1, 1000), (100, 300), (1000, 100)):
        yield Case(f"empty/{threads}", "empty collection", "empty", words(threads, collections),
                   words(min(threads, 20), 10), "collection_us", 64, ("default",))
    for stacks, mappers in ((1, 0), (20000, 0), (1, 1)):
        yield Case(f"coroutines/{stacks}/{mappers}", "on a coroutine", "coroutines", words(stacks, mappers, 1000),
                   words(min(stacks, 20), mappers, 10), "collection_us", 64, ("default",))
    yield Case("pauses", "pauses", "pauses", words(64, 30), words(4, 3), "pause_net_ms", 256, ("default",))
    for shape in SHAPES:
        yield Case(f"markers/{shape}", "marking by 2 markers", "markers", words(shape, 2, 256, 9), words(shape, 2, 4, 1),
                   "marking_scaling", 640, ("limit",), less_is_better=False,
                   control=("marking_scaling", "marking_control", "marking_relative"))
    for kind, size in (("conservative", 16), ("conservative", 64), ("conservative", 256), ("conservative", 1024),
                       ("pointer-free", 64), ("pointer-free", 1024)):
        # MB, and how many: of several cycles, since the first one finds the caches full of the other side's memory, and as long as
        # a thread takes to be woken many times over, which is soon done where nothing is zeroed.  The lines written in
        # half of the heap are to be more than the caches have: where half of them would fit, two threads that write their
        # halves gain more than two.  In 256 MB that are written as a whole half is 128 MB; of large pointer-free objects only
        # one line is written each, and in 2 GB these are 128 MB, 64 in half.
        slices, rounds = (min(size * 8, 512), 11) if kind == "conservative" else (max(1024, size * 8), 5)
        heap = 256 if kind == "conservative" else 256 * max(1, size // 128)
        yield Case(f"scaling/{kind}/{size}", "scaling to 2 threads", "scaling", words(size, kind, 2, slices, rounds),
                   words(size, kind, 2, 1, 1), "scaling_relative", heap, ("limit", "default"), less_is_better=False,
                   control=("scaling_gc", "scaling_control", "scaling_relative"))


def all_cases():
    return [*alloc_cases(), *pairs_cases(), *program_cases(), *mark_cases(), *finalize_cases(), *thread_cases()]


def choose(cases, patterns):
    """Those whose name matches one of the shell patterns, or begins with one and a slash."""
    if not patterns:
        return list(cases)
    return [c for c in cases if any(fnmatchcase(c.name, p) or c.name.startswith(p.rstrip("/") + "/") for p in patterns)]


def variants(case, markers):
    """All variants of a case, SGC's and its peer's in turn; what serves two modes is there once."""
    found = []
    for count in (markers if case.marks else ("-",)):
        for mode in case.modes:
            found += [Variant(SGC, mode, count), Variant(PEER, MODES[mode], count)]
    return list(dict.fromkeys(found))


def in_turn(case, chosen):
    """What is run in a round: all of them, and again those of a side that is to come more often."""
    turns = {SGC: case.turns, PEER: case.peer_turns}
    return [v for turn in range(max(turns.values())) for v in chosen if turn < turns[v.side]]


def preset_variants(markers):
    return [Variant(SGC, "limit", markers, preset) for preset in PRESETS] + [Variant(PEER, "limit", markers)]


@dataclass(frozen=True)
class Count:
    """An operation whose instructions are counted: what one more of it costs."""
    name: str
    program: str
    args: tuple                 # "{}" stands for the length
    lengths: tuple
    done: str                   # the figure that says how many were done


def counts():
    for size, kind, name in ((64, "conservative", "GC_malloc(64)"), (64, "pointer-free", "GC_malloc_atomic(64)")):
        yield Count(name, "alloc", words(size, kind, 1, "{}", 0), (8, 16), "objects")
    for kind in KINDS:
        for pattern in ("hot", "batch", "random"):
            yield Count(f"pair/{kind}/{pattern}", "pairs", words(pattern, 64, kind, "{}"), (100000, 200000), "pairs")
