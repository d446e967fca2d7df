# SPDX-License-Identifier: MIT
"""text.py N: a text of N lines is split, matched, counted, replaced and sorted."""
import collections
import random
import re
import sys
import zlib

from rest import rest

SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu")


def word(draw):
    return "".join(SYLLABLES[draw(len(SYLLABLES))] for _ in range(1 + draw(4)))


def work(n):
    draw = random.Random(13).randrange
    lines = [" ".join(word(draw) for _ in range(4 + draw(12))) for _ in range(n)]
    counts = collections.Counter(found for line in lines for found in line.split())
    doubled = re.compile(r"\b(\w{4,}) (\w+)\b")
    turned = [doubled.sub(r"\2-\1", line).upper() for line in lines]
    turned.sort(key=lambda line: (len(line), line))
    text = "\n".join(turned) + " ".join(f"{key}={count}" for key, count in sorted(counts.items()))
    return zlib.crc32(text.encode())


print("text", work(int(sys.argv[1])))
rest()
