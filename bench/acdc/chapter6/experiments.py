# SPDX-License-Identifier: MIT
"""The experiments of chapter 6: what is run, and how its figures are put beside the thesis'."""
from dataclasses import dataclass, replace

from chapter6 import factorial, versions

COSTS = ("refresh", "refresh_global", "tick", "tick_global")
CHAPTER = ("--lifetime", 10, "--size-least", 3, "--shared", "on")
MB = 1 << 20


@dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    unit: str                   # of its levels
    units: int                  # of time: --duration
    settings: tuple
    versions: tuple
    levels: tuple
    of_level: object            # level: options
    figures: tuple              # (figure of acdc, what it is called, its unit, of how many it is one)
    modes: tuple                # options of the runs of a round; their figures are of one round
    seeds: bool = True          # another in each round


@dataclass(frozen=True)
class Run:
    """What is run in each round."""
    version: versions.Version
    level: object
    arguments: tuple


MEANS = tuple((f"{name}_ns", f"{name}, mean", "ns", 1) for name in COSTS)
MEDIANS = tuple((f"{name}_median_ns", f"{name}, median of units of time", "ns", 1) for name in COSTS)
SWEPT = (versions.LAZY, versions.LAZY_4, versions.EAGER, versions.PIN, versions.NONE)
COST_FIGURES = (*MEANS, *MEDIANS, ("bytes_mean", "managed memory, mean", "MB", MB),
                ("objects_mean", "managed objects, mean", "thousand", 1000))
COST_MODES = (("--cost", "on"), ("--trace", "on"))
SPEED_FIGURES = (("throughput", "throughput", "MB/s", 1), ("throughput_cpu", "throughput by processor time", "MB/s", 1),
                 ("seconds", "time of a run", "s", 1), ("peak_rss_mb", "most resident memory", "MB", 1))

EXPERIMENTS = {e.name: e for e in (
    Experiment("factorial", "figures 6.1 to 6.4: which factor the time of an operation depends on", "factors", 2000,
               (*CHAPTER, "--size-most", 16, "--share-ratio", 10), (versions.shortterm("free", "--mode", "free"),), (),
               None, MEANS, (("--cost", "on"),)),
    Experiment("threads", "figures 6.5 to 6.7: operations and memory by threads", "threads", 200,
               (*CHAPTER, "--size-most", 12, "--share-ratio", 20, "--threshold", 15), SWEPT, (1, 2, 4, 8, 12),
               lambda n: ("--threads", n), COST_FIGURES, COST_MODES),
    Experiment("threshold", "figures 6.8 and 6.9: operations and memory by time threshold, 6 threads", "2^N bytes", 200,
               (*CHAPTER, "--size-most", 12, "--share-ratio", 20, "--threads", 6), SWEPT, tuple(range(12, 25)),
               lambda n: ("--threshold", n), COST_FIGURES, COST_MODES),
    Experiment("throughput", "figure 6.10: throughput by time threshold, 6 threads", "2^N bytes", 200,
               (*CHAPTER, "--size-most", 12, "--share-ratio", 10, "--threads", 6),
               (*versions.PERSISTENT, versions.LAZY, versions.EAGER, versions.PIN, versions.NONE), tuple(range(12, 20)),
               lambda n: ("--threshold", n), SPEED_FIGURES, ((),)),
    Experiment("throughput-threads", "figure 6.11: throughput by threads, threshold 2^18", "threads", 200,
               (*CHAPTER, "--size-most", 12, "--share-ratio", 10, "--threshold", 18),
               (*versions.PERSISTENT, versions.LAZY, versions.EAGER, versions.PIN, versions.NONE), tuple(range(1, 9)),
               lambda n: ("--threads", n), SPEED_FIGURES, ((),)),
    Experiment("memory", "figure 6.12: memory over time, one thread", "% shared", 100,
               (*CHAPTER, "--size-most", 12, "--threshold", 20), (*versions.PERSISTENT, *versions.SHORT_TERM), (0, 10, 100),
               lambda n: ("--share-ratio", n),
               (("bytes_mean", "managed memory, mean", "MB", MB), ("resident_mean", "resident memory, mean", "MB", MB)),
               (("--trace", "on"),), seeds=False),
)}


def short(experiment):
    """For --quick: whether everything runs."""
    small = {"2^N bytes": (10, 11), "threads": (1, 2), "% shared": (0, 100), "factors": ()}
    settings = list(experiment.settings)
    if "--threshold" in settings:
        settings[settings.index("--threshold") + 1] = 11
    return replace(experiment, units=3, levels=small[experiment.unit], settings=(*settings, "--think", 1))


def quick_factors(factors):
    """Large thresholds take long."""
    return (*factors[:4], replace(factors[4], low=("2^10", ("--threshold", 10)), high=("2^11", ("--threshold", 11))))


def runs_of(experiment, quick):
    """All of a round; versions of one level in a row."""
    if experiment.name == "factorial":
        factors = quick_factors(factorial.FACTORS) if quick else factorial.FACTORS
        return [Run(v, signs, arguments) for signs, arguments in factorial.combinations(factors).items() for v in experiment.versions]
    return [Run(v, level, experiment.of_level(level)) for level in experiment.levels for v in experiment.versions]
