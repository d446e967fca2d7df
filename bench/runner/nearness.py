# SPDX-License-Identifier: MIT
"""Waits, within bounds, until two processors are as near to each other as they have been."""
import time

FAR = 2.0               # times the nearest
LOOKS = 20              # a second apart, before the first run: how near they can be
PATIENCE = 300          # seconds before a single run,
PATIENCE_IN_ALL = 1500  # and in all


class Nearness:
    """A host that moves a virtual machine's processors to cores without a common cache makes another machine of it, for
    seconds or minutes.  Where they stay apart for longer, all patience is used up once, and nothing waits any more."""

    def __init__(self, ask, looks=LOOKS, patience=PATIENCE, in_all=PATIENCE_IN_ALL, sleep=time.sleep):
        self.ask, self.patience, self.left, self.sleep = ask, patience, in_all, sleep
        self.nearest = float("inf")
        self.runs = self.waited = self.seconds = self.in_vain = 0
        for _ in range(looks):
            if self.look() is None:
                break
            sleep(1)

    def look(self):
        apart = self.ask()
        if apart is not None:
            self.nearest = min(self.nearest, apart)
        return apart

    def is_far(self, apart):
        return apart is not None and apart > FAR * self.nearest

    def wait(self):
        """The last answer, or None where there are not two."""
        apart, seconds = self.look(), 0
        while self.is_far(apart) and seconds < min(self.patience, self.left):
            self.sleep(1)
            seconds += 1
            apart = self.look()
        self.runs += 1
        self.left -= seconds
        self.seconds += seconds
        self.waited += seconds > 0
        self.in_vain += self.is_far(apart)
        return apart

    def in_words(self):
        return f"{self.waited} of {self.runs} runs waited until they were nearer, {self.seconds} s in all; " \
               f"{self.in_vain} began while they were far"
