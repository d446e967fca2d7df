# SPDX-License-Identifier: MIT
"""Counts of valgrind and perf, read from their files."""
import os
import re

from runner.instructions import VALGRIND, self_costs, unfold

FAMILY = {"malloc": "malloc", "memalign": "malloc", "aligned_alloc": "malloc", "posix_memalign": "malloc", "valloc": "malloc",
          "pvalloc": "malloc", "operator new": "malloc", "new": "malloc", "realloc": "realloc", "reallocarray": "realloc", "calloc": "calloc",
          "free": "free", "cfree": "free", "operator delete": "free"}
FUNCTIONS = ("malloc", "realloc", "calloc", "free")
LINKERS = "???"                 # callgrind's word for the file of code that jumps to another library's function
PREFIX = re.compile(r"^(?:__GI_)?(?:__libc_|__posix_|mi_|je_|tc_)?")
END = re.compile(r"('\d+|\(.*|\[\].*|@.*)$")            # of a recursion, arguments, a version
MANGLED = ((re.compile(r"^_Zn[wa]m"), "malloc"), (re.compile(r"^_Zd[la]Pv"), "free"))

# Cycles, as the thesis estimates them: its table A.5, with its note that half of the last one is hidden by fetching ahead.
ACCESS, L1_MISS, L2_MISS, L3_MISS = 4, 10, 40, 100 * 0.5


# ---- callgrind ----

def of_family(function):
    """Which of FUNCTIONS that is, or None: under the names that valgrind may choose among those of one address."""
    for pattern, name in MANGLED:
        if pattern.match(function):
            return name
    short = END.sub("", function).strip()
    return FAMILY.get(short) or FAMILY.get(PREFIX.sub("", short, count=1))


def calls(lines):
    """((object, function) that calls, (object, function) called, instructions in all that it did), of each line of calls."""
    objects, functions = {}, {}
    here, there, inclusive = ["", ""], [None, ""], False
    for line in lines:
        key, equals, rest = line.rstrip("\n").partition("=")
        if equals and key in ("ob", "fn"):
            here[("ob", "fn").index(key)] = unfold(objects if key == "ob" else functions, rest)
        elif equals and key in ("cob", "cfn"):
            there[("cob", "cfn").index(key)] = unfold(objects if key == "cob" else functions, rest)
        elif key == "calls":
            inclusive = True
        elif line[:1] and line[:1] in "0123456789+-*":
            if inclusive:
                yield tuple(here), (here[0] if there[0] is None else there[0], there[1]), int(line.split()[1])
                there = [None, ""]
            inclusive = False


def is_outside(place, library):
    """Is that (object, function) of the program?  library: the file of the malloc, or nothing for the C library's."""
    where, function = place
    own = library and os.path.basename(where) == os.path.basename(library)
    return not own and not of_family(function) and not VALGRIND.search(where)


def family_costs(lines, library=""):
    """{one of FUNCTIONS: instructions} of all calls by the program: none of the library's own, and none of one of these functions
    by another, as calloc may call malloc.  A piece of code without a file is the linker's, and calls for who has called it."""
    found, every, callers = dict.fromkeys(FUNCTIONS, 0), list(calls(lines)), {}
    for caller, called, _ in every:
        callers.setdefault(called, []).append(caller)
    for caller, called, cost in every:
        name = of_family(called[1])
        real = callers.get(caller, [caller]) if caller[0] == LINKERS else [caller]
        if name and all(is_outside(place, library) for place in real):
            found[name] += cost
    return found


def callgrind_figures(lines, library=""):
    """Instructions and shares in percent, of a file of one thread."""
    whole = sum(cost for (where, _), cost in self_costs(lines).items() if not VALGRIND.search(where))
    if whole == 0:
        return {}
    costs = family_costs(lines, library)
    return {"instructions": whole, "family": sum(costs.values()), "share": 100.0 * sum(costs.values()) / whole,
            **{f"share_{name}": 100.0 * cost / whole for name, cost in costs.items()}}


# ---- cachegrind ----

def cachegrind_counts(lines):
    """{event: count}, of its summary."""
    events = next((line.split()[1:] for line in lines if line.startswith("events:")), [])
    summary = next((line.split()[1:] for line in lines if line.startswith("summary:")), [])
    return dict(zip(events, map(int, summary)))


def model_figures(counts):
    """The thesis' model: cycles by instructions, accesses and misses; it takes half of the misses of the first level that the
    last does not have for misses of the second, which valgrind does not simulate."""
    instructions, accesses = counts["Ir"], counts["Dr"] + counts["Dw"]
    l1 = counts["I1mr"] + counts["D1mr"] + counts["D1mw"]
    l3 = counts["ILmr"] + counts["DLmr"] + counts["DLmw"]
    cycles = instructions + ACCESS * accesses + L1_MISS * l1 + L2_MISS * (l1 - l3) / 2 + L3_MISS * l3
    return {"instructions": instructions, "l1_misses": l1, "l3_misses": l3, "cycles": cycles, "cpi": cycles / instructions}


# ---- perf ----

def perf_figures(text):
    """Of `perf stat -x,` with cycles:u and instructions:u; nothing where the machine counts none."""
    values = {}
    for line in text.splitlines():
        fields = line.split(",")
        if len(fields) > 2 and fields[0].isdecimal():
            values[fields[2].split(":")[0]] = int(fields[0])
    if not values.get("cycles") or not values.get("instructions"):
        return {}
    return {**values, "cpi": values["cycles"] / values["instructions"]}


# ---- memory ----

def moments(samples):
    """Megabytes at a third, two thirds and the end of the time of [(seconds, megabytes)], and their mean."""
    end = samples[-1][0]
    at = [min(samples, key=lambda sample, when=end * k / 3: abs(sample[0] - when))[1] for k in (1, 2, 3)]
    return {**{f"moment {k}": value for k, value in enumerate(at, 1)}, "mean": sum(at) / 3}
