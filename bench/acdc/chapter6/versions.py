# SPDX-License-Identifier: MIT
"""The memories that are compared, as options of acdc."""
from dataclasses import dataclass

from runner.cases import PEER, SGC


@dataclass(frozen=True)
class Version:
    name: str
    arguments: tuple
    baseline: str = ""          # whose managed bytes are counted in the same way
    side: str = SGC             # whose libgc.so.1 it runs on
    settings: tuple = ()        # (variable of the environment, its value)

    @property
    def on_collector(self):
        return self.arguments[1] in ("gc", "gc-free", "shortterm")


def shortterm(name, *arguments):
    return Version(name, ("--memory", "shortterm", *arguments), "GC, GC_free")


NONE = Version("none", ("--memory", "none", "--model", "short-term"))      # ACDC itself
LAZY = shortterm("free, lazy", "--mode", "free", "--collect", "lazy", "--step", "1")
EAGER = shortterm("free, eager", "--mode", "free", "--collect", "eager")
LAZY_4 = shortterm("free, lazy 4", "--mode", "free", "--collect", "lazy", "--step", "4")
PIN = shortterm("pin", "--mode", "pin")
HYBRID = shortterm("hybrid, eager", "--mode", "hybrid", "--collect", "eager")
MALLOC = Version("malloc, free", ("--memory", "malloc"), "malloc, free")
GC = Version("GC", ("--memory", "gc"), "GC, GC_free")
GC_FREE = Version("GC, GC_free", ("--memory", "gc-free"), "GC, GC_free")
BDWGC = Version("bdwgc", ("--memory", "gc"), "bdwgc, GC_free", PEER)
BDWGC_FREE = Version("bdwgc, GC_free", ("--memory", "gc-free"), "bdwgc, GC_free", PEER)

PERSISTENT = (MALLOC, GC, GC_FREE, BDWGC, BDWGC_FREE)
SHORT_TERM = (LAZY, LAZY_4, EAGER, PIN, HYBRID)


def libscm(name, path):
    """Another libscm was compiled for one way of collecting; SGC's own is told, and frees in the mode free alone."""
    settings = (("SGC_SHORTTERM", "free"), ("SGC_SHORTTERM_COLLECT", "eager" if name.startswith("eager") else "lazy"))
    return Version(f"libscm, {name}", ("--memory", "libscm", "--libscm", path), "malloc, free", settings=settings)
