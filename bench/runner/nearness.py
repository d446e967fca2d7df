# SPDX-License-Identifier: MIT
"""Waits, within bounds, until two processors are as near to each other as they usually are."""
import time
from statistics import median

FAR = 2.0               # times the usual
PATIENCE = 60           # seconds before a single run


class Nearness:
    """A host that moves a virtual machine's processors to cores without a common cache makes another machine of it, for some
    seconds.  What is usual comes from the first answer before each run, so where most of them are far, nothing waits."""

    def __init__(self, ask, patience=PATIENCE, sleep=time.sleep):
        self.ask, self.patience, self.sleep = ask, patience, sleep
        self.first_answers = []
        self.waited = []            # seconds, of the runs that had to wait
        self.in_vain = 0            # of these, how many began although

    def is_far(self, apart):
        return apart is not None and apart > FAR * median(self.first_answers)

    def wait(self):
        """The last answer."""
        apart, seconds = self.ask(), 0
        if apart is not None:
            self.first_answers.append(apart)
        while self.is_far(apart) and seconds < self.patience:
            self.sleep(1)
            seconds += 1
            apart = self.ask()
        if seconds:
            self.waited.append(seconds)
            self.in_vain += self.is_far(apart)
        return apart

    def in_words(self):
        if not self.waited:
            return "no run waited until they were nearer"
        return f"{len(self.waited)} of {len(self.first_answers)} runs waited until they were nearer, {sum(self.waited)} s in all, " \
               f"{self.in_vain} in vain"
