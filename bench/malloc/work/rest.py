# SPDX-License-Identifier: MIT
"""What a script does at its end, when it has dropped all of its objects: it rests, and says on stderr how much memory it has."""
import gc
import sys
import time

REST = 0.3                      # seconds, as in comparison/packages.py


def rest():
    gc.collect()
    time.sleep(REST)
    with open("/proc/self/status", encoding="ascii") as f:
        print("resting_kb", next(line.split()[1] for line in f if line.startswith("VmRSS:")), file=sys.stderr)
