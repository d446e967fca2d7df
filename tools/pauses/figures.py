# SPDX-License-Identifier: MIT
"""Figures of intervals.  An interval is a pair (begin, end) of whole nanoseconds; lists of them are sorted.

Nothing here knows where intervals come from; tests/check/pause_figures.py compares each function with the plain form of what it
computes.
"""
from bisect import bisect_left, bisect_right
from math import ceil

PERCENTILES = (50, 90, 99)


def length(interval):
    return interval[1] - interval[0]


def percentile(values, percent):
    """The least of the sorted values to which at least so many percent of them are less or equal."""
    return values[max(0, ceil(len(values) * percent / 100) - 1)]


def summary(lengths):
    """What is to be said of lengths: their number, sum, mean, percentiles and the longest; zeros if there are none."""
    values = sorted(lengths)
    if not values:
        return {"number": 0, "total_ns": 0, "mean_ns": 0, **{f"p{p}_ns": 0 for p in PERCENTILES}, "longest_ns": 0}
    return {"number": len(values), "total_ns": sum(values), "mean_ns": sum(values) // len(values),
            **{f"p{p}_ns": percentile(values, p) for p in PERCENTILES}, "longest_ns": values[-1]}


def merged(intervals):
    """The same moments as disjoint intervals."""
    result = []
    for begin, end in sorted(intervals):
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(result[-1][1], end))
        else:
            result.append((begin, end))
    return result


def finder(others):
    """A function that says which of the disjoint others have moments in common with an interval: (first, behind the last)."""
    begins, ends = [begin for begin, _ in others], [end for _, end in others]

    def find(interval):
        first = bisect_right(ends, interval[0])
        return first, max(first, bisect_left(begins, interval[1]))
    return find


def split(intervals, others):
    """(those that meet one of the disjoint others, the rest)."""
    find, met, rest = finder(others), [], []
    for interval in intervals:
        first, behind = find(interval)
        (met if first < behind else rest).append(interval)
    return met, rest


def attributed(intervals, stops):
    """(those that are the longest to meet one of the disjoint stops, the rest).  A thread is stopped once a stop; what else
    falls into a stop, before the thread's signal or after it was told to go on, has another cause."""
    find, longest = finder(stops), {}
    for interval in intervals:
        for stop in range(*find(interval)):
            if stop not in longest or length(interval) > length(longest[stop]):
                longest[stop] = interval
    chosen = set(longest.values())
    return [i for i in intervals if i in chosen], [i for i in intervals if i not in chosen]


def waits(intervals, stops):
    """For those that meet a stop: (from the begin of the first of them to the end of the interval, from the end of the last of
    them to there), the latter 0 if the interval ends before it."""
    find, result = finder(stops), []
    for interval in intervals:
        first, behind = find(interval)
        if first < behind:
            result.append((interval[1] - stops[first][0], max(0, interval[1] - stops[behind - 1][1])))
    return result


def utilisation(intervals, begin, end, window):
    """The minimum mutator utilisation: the least share of a window in [begin, end] that no interval takes; None if it is
    longer than that.

    A window with the most time taken can be moved until it begins with an interval: while its begin lies in one, moving it back
    loses nothing; while it does not, moving it on does not, and beyond the run's end nothing is taken.
    """
    if window <= 0 or end - begin < window:
        return None
    taken = merged((max(b, begin), min(e, end)) for b, e in intervals if e > begin and b < end)
    begins, ends, sums = [b for b, _ in taken], [e for _, e in taken], [0]
    for interval in taken:
        sums.append(sums[-1] + length(interval))

    def until(moment):
        before = bisect_right(begins, moment)
        return sums[before] - max(0, ends[before - 1] - moment if before else 0)

    most = max((until(place + window) - until(place) for place in begins), default=0)
    return 1 - most / window


def bounds(least, most):
    """1, 2, 5, 10, 20, ... times a power of ten: from the last one that is not above least to the first one above most."""
    step, result = 1, []
    while True:
        for digit in (1, 2, 5):
            bound = digit * step
            if bound <= least:
                result = [bound]
            else:
                result = (result or [0]) + [bound]
            if bound > most:
                return result
        step *= 10


def histogram(lengths):
    """(from, below, number) for each class between the bounds, empty ones in between too."""
    values = sorted(lengths)
    if not values:
        return []
    edges = bounds(values[0], values[-1])
    return [(low, high, bisect_left(values, high) - bisect_left(values, low)) for low, high in zip(edges, edges[1:])]
