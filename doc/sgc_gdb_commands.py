# SPDX-License-Identifier: MIT
"""The commands sgc types and sgc why ADDRESS."""
import collections

import gdb

from sgc_gdb_heap import GRANULE, PAGE, SMALL, WORD, Bound, Clock, Heap, kind_name, read, symbol_at
from sgc_gdb_why import why

SECONDS = 30                    # that a command takes, unless it is given more
LEVELS = 8                      # objects from the root to the one that is asked about
SYMBOLS = 1000                  # distinct first words that are looked up
LINES = 30                      # of a table
GUARDED, HEADER = 0xdba4e70d, 4 # gc/api/guards.h: what marks a header, and its words


# ---- sgc types ----

def count_types(heap):
    """{(kind, bytes; 0: large): [objects, bytes]} and {first word: the same}; why it has ended early, or None."""
    sizes, firsts = (collections.defaultdict(lambda: [0, 0]) for _ in range(2))
    try:
        for page, state, kind, size in heap.in_use():
            heap.clock.check()
            live = heap.allocated(page) if state == SMALL else 1
            count, entry = live.bit_count(), sizes[kind, size if state == SMALL else 0]
            entry[0] += count
            entry[1] += count * size
            if not heap.scanned[kind]:
                continue
            start = heap.base + page * PAGE
            words = read(start, PAGE if state == SMALL else (HEADER + 1) * WORD).cast("Q")
            for slot, word in enumerate(words[::size // WORD]):
                if word >> 56 == GUARDED >> 24 and is_header(word, start + slot * size) and (slot + 1) * size <= PAGE:
                    word = words[slot * size // WORD + HEADER]
                if word != 0 and not heap.base <= word < heap.end and live >> slot * (size // GRANULE) & 1:
                    firsts[word][0] += 1
                    firsts[word][1] += size
    except Bound as bound:
        return sizes, firsts, bound
    return sizes, firsts, None


def is_header(word, address):
    """Of an object with guards (GC_DEBUG), behind which the program's own part begins."""
    return word >> 32 == GUARDED ^ (address >> 4 & 0xffffff)


def classes_of(firsts):
    """By class, as far as the first word points into a table of virtual functions."""
    classes = collections.defaultdict(lambda: [0, 0])
    for word, (count, size) in sorted(firsts.items(), key=lambda e: -e[1][1])[:SYMBOLS]:
        symbol = symbol_at(word) or ""
        for prefix in ("vtable for ", "_ZTV"):
            if symbol.startswith(prefix):
                entry = classes[symbol[len(prefix):].split(" + ")[0]]
                entry[0] += count
                entry[1] += size
    return classes


def show_table(title, rows):
    print("%12s %10s  %s" % ("bytes", "objects", title))
    rows = sorted(rows, key=lambda r: (-r[1][1], r[0]))
    for name, (count, size) in rows[:LINES]:
        print("%12d %10d  %s" % (size, count, name))
    if len(rows) > LINES:
        print("%12d %10d  %d more" % (sum(r[1][1] for r in rows[LINES:]), sum(r[1][0] for r in rows[LINES:]), len(rows) - LINES))


def types(seconds):
    sizes, firsts, bound = count_types(Heap(Clock(seconds)))
    show_table("kind, size of an object", [("%s, %s" % (kind_name(kind), size or "large"), entry)
                                           for (kind, size), entry in sizes.items() if entry[0] != 0])
    show_table("class, as far as first words tell", list(classes_of(firsts).items()))
    if bound is not None:
        print("this is a part of the heap: the search ended %s" % bound)


# ---- the commands ----

def number(text, kind, lowest, expected):
    """A number of the command's, which may not be below the lowest."""
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not value >= lowest:
        raise gdb.GdbError("%s: expected %s" % (text, expected))
    return value


def seconds_of(text):
    return number(text, float, 0, "a number of seconds")


class Prefix(gdb.Command):
    """Commands that know the heap of SGC: sgc types, sgc why.  See also sgc-heap, sgc-object, sgc-threads."""

    def __init__(self):
        super().__init__("sgc", gdb.COMMAND_DATA, gdb.COMPLETE_NONE, True)


class TypesCommand(gdb.Command):
    """sgc types [SECONDS]: bytes and objects by kind and size, and by C++ class."""

    def __init__(self):
        super().__init__("sgc types", gdb.COMMAND_DATA)

    def invoke(self, text, from_tty):
        types(seconds_of(text) if text else SECONDS)


class WhyCommand(gdb.Command):
    """sgc why ADDRESS [LEVELS [SECONDS]]: what keeps the object in which the address lies, the shortest way from a root."""

    def __init__(self):
        super().__init__("sgc why", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, text, from_tty):
        args = gdb.string_to_argv(text)
        if not 1 <= len(args) <= 3:
            raise gdb.GdbError("sgc why ADDRESS [LEVELS [SECONDS]]; put an expression with blanks into quotes")
        address = int(gdb.parse_and_eval(args[0]).cast(gdb.lookup_type("unsigned long")))
        why(address, number(args[1], int, 1, "how many objects the way may have, 1 or more") if len(args) > 1 else LEVELS,
            seconds_of(args[2]) if len(args) > 2 else SECONDS)


for command in (Prefix, TypesCommand, WhyCommand):
    command()
