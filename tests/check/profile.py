# SPDX-License-Identifier: MIT
"""A strict reader of allocation profiles (SGC_PROFILE), of the fields of profile.proto that there are.

    profile.py PROFILE          for each size of objects a line: bytes, kind, objects allocated and in use, deepest stack

Whatever is not as the format says ends it with a line that names it.
"""
import sys
from collections import defaultdict

TYPES = [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """Each field of a message: its number, and a number or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            assert key & 7 == 2, "a field of wire type %d" % (key & 7)
            size, at = varint(data, at)
            assert at + size <= len(data), "a field goes beyond its message"
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def message(data):
    found = defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


def one(found, number):
    assert len(found[number]) <= 1, "field %d is there %d times" % (number, len(found[number]))
    return found[number][0] if found[number] else 0


class Profile:
    def __init__(self, path):
        with open(path, "rb") as f:
            top = message(f.read())
        assert set(top) <= {1, 2, 3, 4, 6, 9, 10, 11, 12, 13, 14}, "unknown fields: %s" % sorted(top)
        self.strings = [s.decode() for s in top[6]]
        assert self.strings[0] == ""
        self.types = [tuple(self.strings[one(message(m), i)] for i in (1, 2)) for m in top[1]]
        assert self.types == TYPES, self.types
        assert self.strings[one(top, 14)] == "inuse_space"
        self.period = one(top, 12)
        self.read_mappings(top[3])
        self.read_locations(top[4])
        self.samples = [self.read_sample(message(m)) for m in top[2]]

    def read_mappings(self, messages):
        self.mapping = {}
        for m in map(message, messages):
            start, limit = one(m, 2), one(m, 3)
            assert start < limit and start % 4096 == 0 and one(m, 4) % 4096 == 0, "mapping %x to %x" % (start, limit)
            self.mapping[one(m, 1)] = start, limit, self.strings[one(m, 5)]
        assert sorted(self.mapping) == list(range(1, len(self.mapping) + 1))

    def read_locations(self, messages):
        self.location = {}
        for m in map(message, messages):
            address, mapping = one(m, 3), one(m, 2)
            if mapping:
                start, limit, _ = self.mapping[mapping]
                assert start <= address < limit, "%x is not in its mapping" % address
            self.location[one(m, 1)] = address
        assert len(self.location) == len(messages) == len(set(self.location.values())), "two locations are one"

    def read_sample(self, m):
        labels = {}
        for label in map(message, m[3]):
            labels[self.strings[one(label, 1)]] = one(label, 3)
        stack = [self.location[number] for number in m[1]]
        assert len(m[2]) == 4 and set(labels) == {"bytes", "kind"}, "values %s, labels %s" % (m[2], labels)
        assert m[2][2] <= m[2][0] and m[2][3] <= m[2][1], "more is in use than was allocated"
        return stack, m[2], labels


def main():
    sizes = defaultdict(lambda: [0, 0, 0])
    for stack, values, labels in Profile(sys.argv[1]).samples:
        row = sizes[labels["bytes"], labels["kind"]]
        row[0] += values[0]
        row[1] += values[2]
        row[2] = max(row[2], len(stack))
    for (size, kind), row in sorted(sizes.items()):
        print(size, kind, *row)


if __name__ == "__main__":
    main()
