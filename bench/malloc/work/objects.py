# SPDX-License-Identifier: MIT
"""objects.py N: a table of N objects that refer to each other, of which random ones are replaced, four times as often."""
import random
import sys
import zlib

from rest import rest


class Node:
    __slots__ = ("name", "weight", "others", "attributes")

    def __init__(self, i, draw):
        self.name = f"node {i} {'x' * draw(60)}"
        self.weight = draw(1000) / 7
        self.others = [draw(1 << 30) for _ in range(draw(12))]
        self.attributes = {f"key {k}": (i, k, float(k)) for k in range(draw(5))}


def work(n):
    draw = random.Random(7).randrange
    nodes = [Node(i, draw) for i in range(n)]
    for i in range(4 * n):
        nodes[draw(n)] = Node(i, draw)
    digest = 0
    for node in nodes:
        text = f"{node.name} {node.weight:.3f} {sum(node.others)} {len(node.attributes)}"
        digest = zlib.crc32(text.encode(), digest)
    return digest


print("objects", work(int(sys.argv[1])))
rest()
