# SPDX-License-Identifier: MIT
"""Waits, within bounds, until two processors are as near to each other as they have been."""
import time

FAR = 2.0               # times the nearest
LOOKS = 20              # a second apart, before the first run: how near they can be
CONFIRMED = 3           # so many answers have been as near, so that one that is wrong does not count
PATIENCE = 300          # seconds before a single run,
PATIENCE_IN_ALL = 1500  # and in all


class Nearness:
    """A host that moves a virtual machine's processors to cores without a common cache makes another machine of it, for
    seconds or minutes.  Where they stay apart for longer, all patience is used up once, and nothing waits any more."""

    def __init__(self, ask, looks=LOOKS, patience=PATIENCE, in_all=PATIENCE_IN_ALL, sleep=time.sleep, clock=time.monotonic,
                 say=lambda *_: None):
        self.ask, self.sleep, self.clock, self.say = ask, sleep, clock, say
        self.looks, self.patience, self.left = looks, patience, in_all
        self.smallest = []          # answers, the CONFIRMED smallest
        self.runs = 0
        self.waits = []             # seconds, of the runs that waited

    def look(self):
        """None where it cannot be said; that is not far."""
        apart = self.ask()
        if apart is not None:
            self.smallest = sorted([*self.smallest, apart])[:CONFIRMED]
        return apart

    def is_far(self, apart):
        return apart is not None and apart > FAR * self.smallest[-1]

    def learn(self):
        for _ in range(self.looks):
            if self.look() is not None:
                self.sleep(1)
        self.looks = 0

    def wait(self):
        """The last answer, with which a run may begin."""
        self.learn()
        apart = self.look()
        self.runs += 1
        return self.wait_until_near(apart) if self.is_far(apart) and self.left > 0 else apart

    def wait_until_near(self, apart):
        began, bound = self.clock(), min(self.patience, self.left)
        self.say(f"two processors are {apart:.0f} ns apart instead of {self.smallest[-1]:.0f}; waiting for {bound:.0f} s at most")
        while self.is_far(apart) and self.clock() - began < bound:
            self.sleep(1)
            apart = self.look()
        self.waits.append(self.clock() - began)
        self.left = max(0, self.left - self.waits[-1])
        return apart

    def in_words(self):
        return f"{len(self.waits)} of {self.runs} runs waited for them, {sum(self.waits):.0f} s in all" if self.smallest else ""
