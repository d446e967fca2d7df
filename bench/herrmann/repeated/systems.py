# SPDX-License-Identifier: MIT
"""The systems that are compared: the C library's malloc, the thesis' systems in front of it, others that are here."""
import os
from dataclasses import replace

from comparison import allocators
from comparison.allocators import BASE, Allocator

HERRMANN = ("none", "pt", "lb", "lfb", "lfb-safe", "magazine")
OTHERS = ("mimalloc", "sgc")
NAMES = (BASE, *HERRMANN, *OTHERS)
LIBRARY = os.path.join("bench", "herrmann", ".libs", "libherrmann.so")
ONE_THREAD = ("lfb",)           # refuses a program's second thread
SLOW = ("pt",)                  # one round is enough of it
FIGURES = "herrmann "           # before the names of what the library's manager counts


def of_herrmann(build):
    path = os.path.abspath(os.path.join(build, LIBRARY))
    return [Allocator(name, path, variables=(("HERRMANN", name),)) for name in HERRMANN]


def known(build):
    """(those that are here, {name: why it is not})"""
    ours = os.path.join(build, "malloc", ".libs", allocators.OURS)
    found, absent = allocators.known(build, ours if os.path.exists(ours) else None)
    found = {allocator.name: allocator for allocator in found}
    if os.path.exists(os.path.join(build, LIBRARY)):
        found.update({allocator.name: allocator for allocator in of_herrmann(build)})
    else:
        absent.update({name: f"no {LIBRARY} in the build" for name in HERRMANN})
    return [found[name] for name in NAMES if name in found], {name: absent[name] for name in NAMES if name in absent}


def that_writes(system, path):
    """That system, with a file to which its manager's figures go."""
    return replace(system, variables=(*system.variables, ("HERRMANN_FIGURES", path))) if system.name in HERRMANN else system


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
