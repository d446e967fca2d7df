# SPDX-License-Identifier: MIT
"""The programs, and the versions of the collector that the thesis compares: which build runs with which settings."""
from dataclasses import dataclass

AN_HOUR = 3600000


@dataclass(frozen=True)
class Program:
    name: str                   # as the thesis has it
    file: str
    arguments: tuple            # beside the set
    ratio: float                # of the heap to what lives at most, in table 3.1
    instrumented: bool          # by hand in the thesis, too


PROGRAMS = (
    Program("BH-pt", "bh", ("--builders", "2"), 50 / 34.9, True),
    Program("CKY", "cky", (), 50 / 33.7, False),
    Program("Cube", "cube", (), 30 / 17.2, True),
)


@dataclass(frozen=True)
class Version:
    name: str
    thesis: str                 # what it is there
    soft: bool                  # the build that reports its stores
    dirty: str                  # the source of written pages; "": none is needed
    concurrent: bool
    pacing: str = "limit"       # all collect when the heap is used up, but for the thesis' own rule

    def program(self, file):
        return file + "-soft" if self.soft else file

    def settings(self, target):
        """A target of an hour makes every cycle one stop, although the barrier works: that is Stop-Soft."""
        if not self.dirty:
            return {"SGC_MODE": "stop"}
        return {"SGC_MODE": "concurrent", "SGC_DIRTY": self.dirty,
                "GC_PAUSE_TIME_TARGET": str(target if self.concurrent else AN_HOUR)}


STOP = Version("Stop", "Stop", False, "", False)
VERSIONS = (
    STOP,
    Version("Stop-Soft", "Stop-Soft", True, "software", False),
    Version("Conc-VM async", "Conc-VM", False, "async", True),
    Version("Conc-VM mprotect", "Conc-VM", False, "mprotect", True),
    Version("Conc-VM mprotect, endo", "Conc-VM", False, "mprotect", True, "endo"),
    Version("Conc-Soft", "Conc-Soft", True, "software", True),
)
