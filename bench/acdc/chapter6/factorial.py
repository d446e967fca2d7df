# SPDX-License-Identifier: MIT
"""The factorial experiment: which of five factors, or of their combinations, the time of an operation depends on.

A 2^k r design: each factor at two levels, all combinations, r runs of each.  With y the means and s the sign of an effect in each
combination, q = sum(s y) / 2^k; the effect's share of the variation is 2^k r q^2 by the sum of all squares, and what runs of the
same combination differ by is the error's.
"""
from dataclasses import dataclass
from itertools import product
from statistics import mean


@dataclass(frozen=True)
class Factor:
    label: str
    meaning: str
    low: tuple                  # (what it is called, options of acdc)
    high: tuple


FACTORS = (
    Factor("A", "threads", ("2", ("--threads", 2)), ("8", ("--threads", 8))),
    Factor("B", "bytes of a page of dates", ("24", ("--page", 24)), ("4096", ("--page", 4096))),
    Factor("C", "longest lifetime, and largest extension", ("10", ("--lifetime", 10)), ("30", ("--lifetime", 30))),
    Factor("D", "when expired objects are taken", ("lazy", ("--collect", "lazy", "--step", 1)), ("eager", ("--collect", "eager"))),
    Factor("E", "time threshold", ("2^18", ("--threshold", 18)), ("2^20", ("--threshold", 20))),
)


def combinations(factors=FACTORS):
    """{signs: options}, of all."""
    found = {}
    for signs in product((-1, 1), repeat=len(factors)):
        chosen = [(f.high if sign > 0 else f.low)[1] for f, sign in zip(factors, signs)]
        found[signs] = tuple(word for options in chosen for word in options)
    return found


def sign_of(effect, signs, labels):
    """Of a combination such as "AD"."""
    sign = 1
    for label, one in zip(labels, signs):
        sign *= one if label in effect else 1
    return sign


def effects(labels):
    """A, B, ..., AB, ...: by length, then by the alphabet."""
    every = ["".join(l for l, taken in zip(labels, bits) if taken) for bits in product((0, 1), repeat=len(labels))]
    return sorted((effect for effect in every if effect), key=lambda effect: (len(effect), effect))


def shares(responses, labels):
    """{effect: % of the variation, "error": %} of {signs: [time of a run, ...]}, each of as many runs; None if nothing varies."""
    runs = len(next(iter(responses.values())))
    means = {signs: mean(values) for signs, values in responses.items()}
    error = sum((value - means[signs]) ** 2 for signs, values in responses.items() for value in values)
    squares = {}
    for effect in effects(labels):
        q = sum(sign_of(effect, signs, labels) * y for signs, y in means.items()) / len(means)
        squares[effect] = len(means) * runs * q * q
    whole = sum(squares.values()) + error
    return {effect: 100 * square / whole for effect, square in (*squares.items(), ("error", error))} if whole else None
