# SPDX-License-Identifier: MIT
"""How deep bins are filled, by four rules, over recorded sequences of allocations and frees.

The bins are those of the thesis' last library: one for each size class, a power of two.  A malloc takes a block of its bin: that is
a hit.  If there is none it is a miss: the caller gets a block by itself, and all bins are refilled.  All are refilled each 1000
mallocs, too.  A freed block goes to its own bin, if the rule has room for it; otherwise it goes back.  The manager is taken to be
infinitely fast, so rules differ only by what they keep in the bins.

    thesis      the wish of a bin is the number of its misses, at most 10 000, and never less; a bin is filled to half its wish, and
                has room for all of it
    shrinking   so, but the wish is halved for each period in which nobody asked for the size, and what has no room goes back
    ewma        what a period asked for, averaged (the last period counts a quarter), one more for each miss since; filled to that,
                room for twice as much
    context     what the next period will ask for, rounded up to a power of two, as the context predictor tells for each size, and one
                more for each miss in the period; filled to that, room for twice as much
"""
from collections import defaultdict

from repeated.predictor import ContextPredictor, count_right

PERIOD, GREATEST = 1000, 10000
WEIGHT = 0.25                   # of the last period in the average
NEW, FREED = "new", "freed"
NEW_CODE, FREED_CODE, CLASS_BIT, KIND_BIT = 1, 2, 48, 56


# ---- recorded sequences ----

def read_words(words):
    """[(NEW or FREED, size class)] of what the recorder wrote; frees of blocks that it has not seen are left out."""
    classes, events = {}, []
    for word in words:
        if word == 0:
            break
        address, size_class, what = word & (1 << CLASS_BIT) - 1, word >> CLASS_BIT & 0xff, word >> KIND_BIT
        if what == NEW_CODE:
            classes[address] = size_class
            events.append((NEW, size_class))
        elif what == FREED_CODE and address in classes:
            events.append((FREED, classes.pop(address)))
    return events


# ---- rules ----

class Thesis:
    name = "thesis"

    def __init__(self):
        self.wishes = defaultdict(int)

    def missed(self, size_class):
        self.wishes[size_class] = min(self.wishes[size_class] + 1, GREATEST)

    def period(self, asked):
        """The end of a period; asked: {size class: mallocs of it}."""

    def depth(self, size_class):
        """The number of blocks that a refill brings the bin to."""
        return (self.wishes[size_class] + 1) // 2 if self.wishes[size_class] else 0

    def room(self, size_class):
        """How many blocks the bin takes with those that are freed."""
        return self.wishes[size_class]


class Shrinking(Thesis):
    name = "shrinking"

    def period(self, asked):
        for size_class in self.wishes:
            if not asked.get(size_class):
                self.wishes[size_class] //= 2


class Ewma:
    name = "ewma"

    def __init__(self):
        self.means, self.misses = defaultdict(float), defaultdict(int)

    def missed(self, size_class):
        self.misses[size_class] += 1

    def period(self, asked):
        for size_class in {*self.means, *asked}:
            self.means[size_class] += WEIGHT * (asked.get(size_class, 0) - self.means[size_class])
        self.misses.clear()

    def depth(self, size_class):
        return min(GREATEST, round(self.means[size_class]) + self.misses[size_class])

    def room(self, size_class):
        return 2 * self.depth(size_class)


class Context:
    name = "context"

    def __init__(self):
        self.predictors, self.expected, self.misses = defaultdict(ContextPredictor), defaultdict(int), defaultdict(int)

    def missed(self, size_class):
        self.misses[size_class] += 1

    def period(self, asked):
        for size_class in {*self.predictors, *asked}:
            predictor = self.predictors[size_class]
            predictor.learn(round_up(asked.get(size_class, 0)))
            self.expected[size_class] = predictor.predict()
        self.misses.clear()

    def depth(self, size_class):
        return min(GREATEST, self.expected[size_class] + self.misses[size_class])

    def room(self, size_class):
        return 2 * self.depth(size_class)


RULES = (Thesis, Shrinking, Ewma, Context)


def round_up(count):
    """To a power of two; 0 stays."""
    return 1 << (count - 1).bit_length() if count > 0 else 0


# ---- the bins ----

class Bins:
    """A sequence of events goes through these under a rule."""

    def __init__(self, rule, period=PERIOD):
        self.rule, self.length = rule, period
        self.stock = defaultdict(int)           # {size class: blocks in its bin}
        self.untouched = {}                         # the same, at least in this period
        self.asked = defaultdict(int)           # in this period
        self.mallocs = self.hits = self.made = 0
        self.bytes = self.peak = 0              # in the bins
        self.sum = self.idle_sum = self.periods = 0

    def put(self, size_class, blocks):
        """Into its bin, or out of it."""
        self.stock[size_class] += blocks
        self.bytes += blocks << size_class
        self.peak = max(self.peak, self.bytes)
        self.untouched[size_class] = min(self.untouched.get(size_class, 0), self.stock[size_class])

    def refill(self):
        for size_class in list(self.stock):
            lacking = self.rule.depth(size_class) - self.stock[size_class]
            if lacking > 0:
                self.put(size_class, lacking)
                self.made += lacking

    def give_back(self):
        for size_class in list(self.stock):
            self.put(size_class, min(0, self.rule.room(size_class) - self.stock[size_class]))

    def new(self, size_class):
        self.mallocs += 1
        self.asked[size_class] += 1
        if self.stock[size_class] > 0:
            self.hits += 1
            self.put(size_class, -1)
        else:
            self.rule.missed(size_class)
            self.made += 1
            self.refill()
        self.sum += self.bytes
        if self.mallocs % self.length == 0:
            self.end_period()

    def freed(self, size_class):
        if self.stock[size_class] < self.rule.room(size_class):
            self.put(size_class, 1)

    def end_period(self):
        """Blocks that lay in a bin all the time were of no use in this period."""
        self.idle_sum += sum(blocks << size_class for size_class, blocks in self.untouched.items())
        self.periods += 1
        self.rule.period(self.asked)
        self.asked.clear()
        self.give_back()
        self.refill()
        self.untouched = dict(self.stock)

    def figures(self):
        """Hits in percent, blocks made for 1000 mallocs, and bytes in the bins, in KB: mean, at most, and idle for a whole period."""
        mallocs = max(1, self.mallocs)
        return {"hits": 100.0 * self.hits / mallocs, "made": 1000.0 * self.made / mallocs, "memory_kb": self.sum / mallocs / 1024,
                "peak_kb": self.peak / 1024, "idle_kb": self.idle_sum / max(1, self.periods) / 1024}


def simulate(events, rule, period=PERIOD):
    bins = Bins(rule, period)
    for what, size_class in events:
        if what == NEW:
            bins.new(size_class)
        else:
            bins.freed(size_class)
    return bins.figures()


def next_class_right(events):
    """How many of the size classes the context predictor tells beforehand, in percent."""
    classes = [size_class for what, size_class in events if what == NEW]
    return 100.0 * count_right(classes) / max(1, len(classes))
