# SPDX-License-Identifier: MIT
"""Instructions of an operation, counted by valgrind's callgrind.

A program is run with two lengths, and the counts are subtracted: what is left belongs to the operations that the
longer run did more.  Only instructions outside the program's own file count, so its loop does not.
Zeroing is told apart: the C library, of which nothing else is called on this way, and functions with such a name.
"""
import os
import re
import tempfile

from runner.cases import PEER, SGC, Variant
from runner.programs import Run, is_number, run_once

ZEROING = re.compile(r"memset|bzero|zero", re.IGNORECASE)
C_LIBRARY = re.compile(r"/libc[.-][^/]*$|/ld-[^/]*$")
VALGRIND = re.compile(r"/vgpreload_|/valgrind/")
HEAP_MEGABYTES = 256


def unfold(table, text):
    """Callgrind writes "(id) name" once and "(id)" from then on."""
    number, _, name = text.partition(" ")
    if name:
        table[number] = name
    return table.get(number, number)


def self_costs(lines):
    """(object file, function): instructions, from callgrind's file."""
    costs, objects, functions = {}, {}, {}
    here, inclusive = ["", ""], False
    for line in lines:
        key, equals, rest = line.rstrip("\n").partition("=")
        if equals and key in ("ob", "cob"):
            name = unfold(objects, rest)
            here[0] = name if key == "ob" else here[0]
        elif equals and key in ("fn", "cfn"):
            name = unfold(functions, rest)
            here[1] = name if key == "fn" else here[1]
        elif key == "calls":
            inclusive = True
        elif line[:1] in "0123456789+-*" and line[:1]:
            if not inclusive:
                cost = int(line.split()[1])
                costs[tuple(here)] = costs.get(tuple(here), 0) + cost
            inclusive = False
    return costs


def sums(costs, program):
    """(instructions without zeroing, instructions of zeroing) outside the program's file."""
    rest = zeroing = 0
    for (where, function), cost in costs.items():
        if os.path.basename(where) == os.path.basename(program) or VALGRIND.search(where):
            continue
        if C_LIBRARY.search(where) or ZEROING.search(function):
            zeroing += cost
        else:
            rest += cost
    return rest, zeroing


def one_length(places, count, side, length, timeout):
    """A run whose figures have the sums added."""
    program = places.program(count.program)
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "callgrind.out")
        command = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out}", program]
        command += [a.format(length) for a in count.args]
        run = run_once(places, side, command, Variant(side, "count").environment(HEAP_MEGABYTES),
                       (count.done, "collections"), timeout)
        if run.failure:
            return run
        with open(out, encoding="utf-8", errors="replace") as f:
            rest, zeroing = sums(self_costs(f), program)
    run.figures["rest"], run.figures["zeroing"] = (str(rest), "instructions"), (str(zeroing), "instructions")
    return run


def value(run, name):
    return float(run.figures[name][0])


def operation(places, count, side, timeout):
    """A run with the figures `instructions` and `zeroing` of one operation."""
    runs = []
    for length in count.lengths:
        runs.append(one_length(places, count, side, length, timeout))
        if runs[-1].failure:
            return runs[-1]
    short, long = runs
    if value(long, "collections") != value(short, "collections"):
        return Run(failure="collected meanwhile, so the count is worth nothing")
    more = value(long, count.done) - value(short, count.done)
    result = Run(dict(long.figures), "", long.warning)
    for name, source in (("instructions", "rest"), ("zeroing", "zeroing")):
        result.figures[name] = (f"{(value(long, source) - value(short, source)) / more:.1f}", "instructions")
    return result if all(is_number(result.figures[n][0]) for n in ("instructions", "zeroing")) else \
        Run(failure="callgrind counted nothing")


SIDES = (SGC, PEER)
