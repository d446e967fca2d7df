# SPDX-License-Identifier: MIT
"""documents.py N: N documents, nested lists and tables, are written as JSON, read again and compared."""
import json
import random
import sys
import zlib

from rest import rest


def value(draw, depth):
    kind = draw(6) if depth > 0 else draw(3)
    if kind == 0:
        return draw(1 << 40)
    if kind == 1:
        return draw(1 << 20) / 64
    if kind == 2:
        return "text " * draw(10)
    if kind == 3:
        return [value(draw, depth - 1) for _ in range(draw(6))]
    return {f"name{draw(1000)}": value(draw, depth - 1) for _ in range(draw(8))}


def work(n):
    draw, digest = random.Random(11).randrange, 0
    kept = []
    for i in range(n):
        document = {"number": i, "body": [value(draw, 4) for _ in range(8)]}
        text = json.dumps(document, sort_keys=True)
        if json.loads(text) != document:
            sys.exit("a document is not what it was")
        digest = zlib.crc32(text.encode(), digest)
        kept.append(document)
        if len(kept) > n // 10:
            kept[draw(len(kept))] = kept.pop()
    return digest


print("documents", work(int(sys.argv[1])))
rest()
