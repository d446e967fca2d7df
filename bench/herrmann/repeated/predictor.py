# SPDX-License-Identifier: MIT
"""The context predictor of [Herrmann] (chapter 11, appendix D), after Sazeides and Smith (1997).

A context is a sequence of values that came one after the other; with it stands what came next, and how often.  The longest context
that matches the last values predicts what came next most often; of several with the same count one is drawn.  Where no context
matches, the most frequent value of all is predicted.  After each value its contexts are corrected, or begun.

Other than in the thesis, contexts are found in a table, not by search in a matrix, and each value corrects the contexts, the ones
that predicted right, too: counts say nothing otherwise.
"""
import random
from collections import Counter

LONGEST = 3                     # values of a context


class Frequencies:
    """Counts of values, and those that have the greatest, in the order in which they reached it."""

    def __init__(self):
        self.counts, self.greatest, self.leaders = Counter(), 0, []

    def add(self, value):
        self.counts[value] += 1
        if self.counts[value] > self.greatest:
            self.greatest, self.leaders = self.counts[value], [value]
        elif self.counts[value] == self.greatest:
            self.leaders.append(value)

    def choose(self, draw):
        return self.leaders[0] if len(self.leaders) == 1 else draw.choice(self.leaders)


class ContextPredictor:
    def __init__(self, longest=LONGEST, seed=1):
        self.longest, self.draw = longest, random.Random(seed)
        self.followers, self.all, self.last = {}, Frequencies(), ()

    def predict(self):
        """The next value, or None before the first."""
        for length in range(len(self.last), 0, -1):
            followers = self.followers.get(self.last[-length:])
            if followers:
                return followers.choose(self.draw)
        return self.all.choose(self.draw) if self.all.leaders else None

    def learn(self, value):
        for length in range(1, len(self.last) + 1):
            self.followers.setdefault(self.last[-length:], Frequencies()).add(value)
        self.all.add(value)
        self.last = (*self.last, value)[-self.longest:]


def count_right(values, predictor=None):
    """How many of the values the predictor tells beforehand."""
    predictor, right = predictor or ContextPredictor(), 0
    for value in values:
        right += predictor.predict() == value
        predictor.learn(value)
    return right


def share_right(values):
    """In percent of all values, the first included."""
    return 100.0 * count_right(values) / len(values) if values else 0.0


# ---- recorded arguments ----

def read_arguments(text):
    """[(function, argument as it stands there)] of what `arguments` printed; ValueError for another text."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        function, _, argument = line.partition(" ")
        if function not in ("sin", "cos") or len(argument) != 16:
            raise ValueError(f'line {number}: "{line[:40]}" is no argument of sin or cos')
        found.append((function, argument))
    return found


def shares(arguments):
    """{"sin", "cos", "all": percent right}; `all` is both functions in the order of their calls, as one sequence."""
    found = {name: [argument for function, argument in arguments if function == name] for name in ("sin", "cos")}
    return {name: share_right(values) for name, values in {**found, "all": [argument for _, argument in arguments]}.items() if values}
