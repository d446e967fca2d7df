# SPDX-License-Identifier: MIT
"""What keeps an object: backward from it, in breadth, to registers, stacks, thread-local variables, static data."""
import array
import collections

import gdb

from sgc_gdb_heap import GRANULE, PAGE, SMALL, WORD, Bound, Clock, Heap, mutators, read, symbol_at, variable, words_of

POINTERS = 1 << 25              # of the heap that are kept in mind, at 16 bytes
CHUNK = 1 << 22                 # bytes of the heap that are looked through at a time
OTHER_STACK = 1 << 20           # bytes of a stack that nobody knows
FIXED = 2                       # enum sgc_tls_place


# ---- roots ----

def registers_by_thread():
    """{kernel's number: {register: value}}, as far as gdb has the thread."""
    found, thread = {}, gdb.selected_thread()
    frame = gdb.selected_frame() if thread is not None else None
    for t in gdb.selected_inferior().threads():
        try:
            t.switch()
            top = gdb.newest_frame()
            values = {}
            for r in top.architecture().registers("general"):
                value = top.read_register(r.name)
                if value.type.sizeof == WORD:
                    values[r.name] = int(value.cast(gdb.lookup_type("unsigned long")))
            values["sp"] = int(top.read_register("sp").cast(gdb.lookup_type("unsigned long")))
            found[t.ptid[1] or t.ptid[2]] = values
        except gdb.error:
            pass
    if thread is not None:
        thread.switch()
        frame.select()
    return found


def block_of(tls, thread_pointer):
    """Where the thread has a module's thread-local variables; 0: nowhere."""
    if int(tls["place"]) == FIXED:
        return (thread_pointer + int(tls["offset"])) & (1 << 64) - 1
    arch = gdb.selected_inferior().architecture().name()
    vector = int.from_bytes(read(thread_pointer + (8 if "x86-64" in arch else 0), 8), "little")
    block = int.from_bytes(read(vector + 16 * int(tls["module"]), 8), "little")
    return 0 if block == (1 << 64) - 1 else block


def thread_local_ranges(m, modules):
    for i in range(int(modules["tlses"])):
        tls = modules["tls"][i]
        try:
            block = block_of(tls, int(m["thread_pointer"]))
        except gdb.MemoryError:
            continue
        if block != 0:
            yield block, block + int(tls["bytes"])
    if int(m["control"]["lo"]) < int(m["control"]["hi"]):
        yield int(m["control"]["lo"]), int(m["control"]["hi"])


def stack_ranges(m, registers):
    """From where the thread stands to the bottom; of one that stands elsewhere what may be that stack, and all of its own."""
    low, high = int(m["stack"]["low"]), int(m["stack"]["high"])
    sp = registers["sp"] - 128 if registers else int(m["sp"])
    if low <= sp < high:
        return [(sp, high)]
    return [(low, high), (sp, sp + OTHER_STACK)]


def root_ranges():
    """(lo, hi, what that is, its thread) of all memory that is scanned besides the heap, stacks last."""
    modules, roots = variable("sgc_root_modules"), variable("roots", "gc/roots/roots.c")
    for i in range(int(modules["ranges"])):
        yield int(modules["range"][i]["lo"]), int(modules["range"][i]["hi"]), "static data", 0
    for i in range(int(roots["added"]["count"]) if roots is not None else 0):
        yield int(roots["added"]["of"][i]["lo"]), int(roots["added"]["of"][i]["hi"]), "a range of GC_add_roots", 0
    for m in mutators():
        for lo, hi in thread_local_ranges(m, modules):
            yield lo, hi, "a thread-local variable", int(m["tid"])
    registers = registers_by_thread()
    for m in mutators():
        for lo, hi in stack_ranges(m, registers.get(int(m["tid"]))):
            yield lo, hi, "the stack", int(m["tid"])


# ---- sgc why ----

Pointer = collections.namedtuple("Pointer", "at to what thread")


class Search:
    """Backward, in breadth, from an object to a root: the first that is found is on the shortest way."""

    def __init__(self, heap):
        self.heap, self.roots, self.at, self.to = heap, [], array.array("Q"), array.array("Q")
        self.form, self.read_bytes = variable("sgc_word_form"), 0

    def pointers(self, lo, hi):
        """(address, where the word there leads) of the words in the range that lead into the heap."""
        base, end, mask, shift = self.heap.base, self.heap.end, int(self.form["mask"]), int(self.form["shift"])
        for first, words in words_of(lo, hi, self.heap.clock):
            self.read_bytes += len(words) * WORD
            yield [(first + WORD * i, w) for i, w in enumerate(words) if base <= w < end]
            if shift != 0 or mask != (1 << 64) - 1:
                formed = ((i, (w & mask) << shift) for i, w in enumerate(words))
                yield [(first + WORD * i, w) for i, w in formed if base <= w < end]

    def read_roots(self):
        for lo, hi, what, thread in root_ranges():
            for found in self.pointers(lo, hi):
                self.roots += [Pointer(at, to, what, thread) for at, to in found]
        for thread, registers in registers_by_thread().items():
            self.roots += [Pointer(0, to, "register %s" % name, thread) for name, to in registers.items()
                           if self.heap.base <= to < self.heap.end]

    def read_heap(self):
        lo = hi = 0
        for page, state, kind, size in self.heap.in_use():
            if not self.heap.scanned[kind]:
                continue
            first = self.heap.base + page * PAGE
            if hi != first or hi - lo >= CHUNK:
                self.read_part(lo, hi)
                lo = first
            hi = first + (PAGE if state == SMALL else (size + PAGE - 1) & -PAGE)
        self.read_part(lo, hi)

    def read_part(self, lo, hi):
        for found in self.pointers(lo, hi):
            self.at.extend(at for at, _ in found)
            self.to.extend(to for _, to in found)
            if len(self.at) > POINTERS:
                raise Bound("when the heap had %d million pointers" % (POINTERS >> 20))

    @staticmethod
    def places_of(objects):
        """Granules and pages that they lie in; of large ones there are only pages."""
        granules, pages = set(), set()
        for o in objects:
            if o.bytes <= PAGE:
                granules.update(range(o.start // GRANULE, (o.start + o.bytes + GRANULE - 1) // GRANULE))
            else:
                pages.update(range(o.start // PAGE, (o.start + o.bytes + PAGE - 1) // PAGE))
        return granules, pages

    def holders(self, objects, seen):
        """The objects with words that lead to these, that have not been seen: {holder: (word, what it leads to)}."""
        granules, pages = self.places_of(objects)
        found = {}
        for at, to in [(at, to) for at, to in zip(self.at, self.to) if to // GRANULE in granules or to // PAGE in pages]:
            self.heap.clock.check()
            holder, target = self.heap.find(at), self.heap.find(to)
            if holder is not None and holder not in seen and target in objects:
                seen.add(holder)
                found[holder] = (at, target)
        return found

    def root_of(self, objects):
        granules, pages = self.places_of(objects)
        for p in self.roots:
            if (p.to // GRANULE in granules or p.to // PAGE in pages) and self.heap.find(p.to) in objects:
                return p, self.heap.find(p.to)
        for o in objects:
            if self.heap.uncollectable[o.kind]:
                return Pointer(0, o.start, "an uncollectable object", 0), o
        return None, None

    def run(self, target, levels):
        """The root, and [(word, object)] from there; None: there is none within so many levels."""
        next_step, level, seen = {target: None}, {target}, {target}
        for _ in range(levels):
            root, o = self.root_of(level)
            if root is not None:
                way = [(root.at, o)]
                while next_step[o] is not None:
                    way.append(next_step[o])
                    o = next_step[o][1]
                return root, way
            if not self.at:
                self.read_heap()
            found = self.holders(level, seen)
            if not found:
                return None, seen
            next_step.update(found)
            level = set(found)
        raise Bound("after %d objects; more are the command's second argument" % levels)


def show_root(root):
    at = symbol_at(root.at) if root.what == "static data" else None
    print("  %s%s%s%s" % (root.what, ", `%s`" % at if at else "", " of thread %d" % root.thread if root.thread else "",
                          ", at %#x" % root.at if root.at else ""))


def why(address, levels, seconds):
    heap = Heap(Clock(seconds))
    target = heap.find(address)
    if target is None:
        print("there is no object at %#x" % address)
        return
    search = Search(heap)
    try:
        search.read_roots()
        root, way = search.run(target, levels)
    except Bound as bound:
        print("%s: no root was found in %d MiB; the search ended %s" % (str(target), search.read_bytes >> 20, bound))
        return
    if root is None:
        print("%s: nothing leads there, nor to the %d objects that do, but perhaps what is not searched: finalization, dates of "
              "short-term memory, frames that AddressSanitizer has put elsewhere, vector registers, stacks that a thread has left"
              % (str(target), len(way) - 1))
        return
    print("%s: held, %d object%s from a root:" % (str(target), len(way), "" if len(way) == 1 else "s"))
    show_root(root)
    for (word, o), before in zip(way, [None] + way):
        lead = "  -> " if before is None else "     word at offset %d of that -> " % (word - before[1].start)
        print(lead + str(o))
