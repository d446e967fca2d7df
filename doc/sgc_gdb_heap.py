# SPDX-License-Identifier: MIT
"""The heap of a stopped process or a core dump, for the commands of sgc_gdb_commands.py.  Memory is read, nothing is called."""
import collections
import time

import gdb

CHUNK = 1 << 22                 # bytes read at a time
GRANULE, PAGE, PAGE_GRANULES, WORD = 16, 65536, 4096, 8
SMALL, SPAN, TAIL = 2, 3, 4     # enum sgc_page_state
BUILT_IN = ("pointer-free", "conservative", "uncollectable", "pointer-free uncollectable")


class Bound(Exception):
    """The time is over, or there is too much: what has been found so far is shown."""


class Clock:
    def __init__(self, seconds):
        self.seconds, self.end = seconds, time.monotonic() + seconds

    def check(self):
        if time.monotonic() > self.end:
            raise Bound("after %g seconds; more are the command's last argument" % self.seconds)


def variable(name, file=None):
    """A variable of the library's; None: its file has no such static one, or says nothing of it."""
    if file is None:
        symbol = gdb.lookup_global_symbol(name)
    else:
        found = [s for s in gdb.lookup_static_symbols(name) if s.symtab.filename.endswith(file)]
        symbol = found[0] if found else None
    value = symbol.value() if symbol is not None else None
    if value is not None and value.type.strip_typedefs().code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_ARRAY):
        return value
    if file is None:
        raise gdb.GdbError("there is no SGC here, or its debugging information is missing (%s): build it with -g" % name)
    return None


def read(address, size):
    return memoryview(bytes(gdb.selected_inferior().read_memory(address, size)))


def words_of(lo, hi, clock):
    """Chunks of whole words in a range, as (address, words); what cannot be read is left out."""
    lo, hi = (lo + WORD - 1) & -WORD, hi & -WORD
    while lo < hi:
        clock.check()
        end = min(hi, (lo + CHUNK) & -CHUNK)
        try:
            yield lo, read(lo, end - lo).cast("Q")
        except gdb.MemoryError:
            for page in range(lo & -4096, end, 4096):
                first, last = max(page, lo), min(page + 4096, end)
                try:
                    yield first, read(first, last - first).cast("Q")
                except gdb.MemoryError:
                    pass
        lo = end


def symbol_at(address):
    """'variable + 8', demangled, or None."""
    text = gdb.execute("info symbol %#x" % address, to_string=True)
    return None if text.startswith("No symbol") else text.split(" in section ")[0].strip()


class Object(collections.namedtuple("Object", "start bytes kind")):
    def __str__(self):
        return "%d bytes at %#x, %s" % (self.bytes, self.start, kind_name(self.kind))


def kind_name(kind):
    names = variable("kind_names", "gc/snapshot/names_part.c")
    name = names[kind].string() if names is not None else ""
    return name or (BUILT_IN[kind] if kind < len(BUILT_IN) else "kind %d" % kind)


class Heap:
    """The heap's tables, as far as they are needed."""

    def __init__(self, clock):
        heap = variable("sgc_heap")
        self.clock, self.base = clock, int(heap["base"])
        if self.base == 0:
            raise gdb.GdbError("the collector has not started")
        self.end = self.base + int(heap["limit"]["value"])
        self.pages = (self.end - self.base) // PAGE
        self.role = int(heap["alloc_role"])
        self.bits, self.span_bits, self.remote = (int(heap[n]) for n in ("bits", "span_bits", "remote_bits"))
        first = heap["pages"].dereference()
        self.each = first.type.sizeof
        self.table = read(int(first.address), self.pages * self.each)
        self.at = {name: int(first[name].address) - int(first.address)
                   for name in ("granules", "span_bytes", "back", "state", "kind", "remote")}
        kinds = variable("sgc_kinds")
        self.kinds = [kinds["of"][i] for i in range(int(kinds["count"]["value"]))]
        self.scanned = [int(k["scan"]) != 0 for k in self.kinds]
        self.uncollectable = [bool(k["uncollectable"]) for k in self.kinds]
        self.unused, self.known = self.claimed_runs(), {}

    def field(self, page, name, size):
        at = page * self.each + self.at[name]
        return int.from_bytes(self.table[at:at + size], "little")

    def state(self, page):
        return self.field(page, "state", 1)

    def claimed_runs(self):
        """Slots that threads have claimed and not handed out: [cur, end) of each bin, by page."""
        runs = collections.defaultdict(list)
        for m in mutators():
            bins = m["cache"]["bin"]
            size = bins[0].type.sizeof * len(self.kinds)
            each = bins[0][0].type.sizeof
            end = (int(bins[0][0]["end"].address) - int(bins.address)) // WORD
            try:
                words = read(int(bins.address), size).cast("Q")
            except gdb.MemoryError:
                continue
            for b in range(0, size // WORD, each // WORD):
                if words[b] < words[b + end] and self.base <= words[b] < self.end:
                    runs[(words[b] - self.base) // PAGE].append(((words[b] - self.base) // GRANULE % PAGE_GRANULES,
                                                                  (words[b + end] - words[b]) // GRANULE))
        return runs

    def allocated(self, page):
        """The allocated granules of a page of small objects, as the bits of a number."""
        if page not in self.known:
            self.known[page] = self.read_allocated(page, PAGE_GRANULES // 8)
        return self.known[page]

    def read_allocated(self, page, size):
        live = int.from_bytes(read(self.bits + 2 * size * page, 2 * size).cast("Q")[self.role::2].tobytes(), "little")
        if self.field(page, "remote", 1):
            live &= ~int.from_bytes(read(self.remote + size * page, size), "little")
        for first, count in self.unused.get(page, ()):
            live &= ~(((1 << count) - 1) << first)
        return live

    def span_is_allocated(self, page):
        word = int.from_bytes(read(self.span_bits + 8 * (2 * (page // 64) + self.role), 8), "little")
        return word >> page % 64 & 1 != 0

    def find(self, address):
        """The allocated object in which the address lies; None: there is none."""
        if not self.base <= address < self.end:
            return None
        page = (address - self.base) // PAGE
        if self.state(page) == TAIL:
            page -= self.field(page, "back", 4)
        start, kind = self.base + page * PAGE, self.field(page, "kind", 1)
        if self.state(page) == SPAN and self.span_is_allocated(page) and address < start + self.field(page, "span_bytes", 8):
            return Object(start, self.field(page, "span_bytes", 8), kind)
        if self.state(page) != SMALL:
            return None
        size = self.field(page, "granules", 2)
        first = (address - start) // GRANULE // size * size
        if first + size > PAGE_GRANULES or not self.allocated(page) >> first & 1:
            return None
        return Object(start + first * GRANULE, size * GRANULE, kind)

    def in_use(self):
        """(page, state, kind, bytes of an object) of all pages with objects, and spans."""
        for page in range(1, self.pages):
            state = self.state(page)
            if state == SMALL:
                yield page, state, self.field(page, "kind", 1), self.field(page, "granules", 2) * GRANULE
            elif state == SPAN and self.span_is_allocated(page):
                yield page, state, self.field(page, "kind", 1), self.field(page, "span_bytes", 8)


def mutators():
    """The records of the registered threads whose stacks are roots."""
    m = variable("sgc_registry")["first"]
    while int(m) != 0:
        if not m["service"] and not m["gone"]:
            yield m
        m = m["next"]
