# SPDX-License-Identifier: MIT
"""The systems that are compared: the C library's malloc, the thesis' systems in front of it, others that are here."""
import os
from dataclasses import replace

from comparison import allocators
from comparison.allocators import BASE, Allocator

HERRMANN = ("none", "pt", "lb", "lfb", "lfb-safe", "magazine", "magazine-off")
SGC, ON_SGC = "sgc", "+sgc"                                 # the latter behind a system's name: over ours instead of the C library's
OVER_OURS = tuple(word + ON_SGC for word in ("lfb-safe", "magazine"))
TOUCHING = (SGC, *(word + ON_SGC for word in ("none", "ahead-self", "ahead")))         # of first touch alone
NAMES = (BASE, *HERRMANN, *OVER_OURS, "mimalloc", SGC)
# Of some measurements not all, since each costs minutes.
MEASURED = {"counts": (BASE, "lb", "lfb", "lfb-safe", "magazine", "mimalloc", SGC),
            "cycles": (BASE, "lfb", "lfb-safe", "magazine", SGC),
            "memory": (BASE, "lb", "lfb", "lfb-safe", "magazine", "mimalloc", SGC),
            "compile": (BASE, "none", "lfb", "magazine", "mimalloc", SGC)}
LIBRARY = os.path.join("bench", "herrmann", ".libs", "libherrmann.so")
ONE_THREAD = ("lfb",)           # refuses a program's second thread
SLOW = ("pt",)                  # timed once, at the sizes that are counted
FIGURES = "herrmann "           # before the names of what the library's manager counts


def of_herrmann(build):
    path = os.path.abspath(os.path.join(build, LIBRARY))
    return [Allocator(name, path, variables=(("HERRMANN", name),)) for name in HERRMANN]


def over(name, first, ours):
    """The system of that name, over our malloc."""
    return Allocator(name, f"{first.preload}:{ours.preload}", variables=(("HERRMANN", name.removesuffix(ON_SGC)),))


def known(build):
    """(those that are here, {name: why it is not}), of NAMES and TOUCHING."""
    found, absent = allocators.known(build)
    found = {allocator.name: allocator for allocator in found}
    layered = (*OVER_OURS, *TOUCHING[1:])
    if os.path.exists(os.path.join(build, LIBRARY)):
        found.update({allocator.name: allocator for allocator in of_herrmann(build)})
    else:
        absent.update({name: f"no {LIBRARY} in the build" for name in (*HERRMANN, *layered)})
    if "none" in found and SGC in found:
        found.update({name: over(name, found["none"], found[SGC]) for name in layered})
    absent.update({name: absent[SGC] for name in layered if name not in (*found, *absent)})
    every = dict.fromkeys((*NAMES, *TOUCHING))
    return [found[name] for name in every if name in found], {name: absent[name] for name in every if name in absent}


def measured_in(kind, systems):
    return [system for system in systems if system.name in MEASURED.get(kind, NAMES)]


def that_writes(system, path):
    """That system, with a file to which its manager's figures go."""
    of_library = any(name == "HERRMANN" for name, _ in system.variables)
    return replace(system, variables=(*system.variables, ("HERRMANN_FIGURES", path))) if of_library else system


def take_figures(path):
    """The manager's counts; the file is removed."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8", errors="replace") as f:
        rows = [line.rstrip("\n").split("\t") for line in f]
    os.remove(path)
    found = {}
    for row in rows:
        try:
            found[FIGURES + row[0]] = float(row[1])
        except (IndexError, ValueError):
            continue
    return found
