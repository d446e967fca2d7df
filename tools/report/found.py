# SPDX-License-Identifier: MIT
"""All that the page says, as one structure: --json prints it, and report/page.py shows it.

    sources     [{kind, file, process}]
    facts       [[what, text]]
    totals      {name: {section, title, unit, value}}
    charts      {name: {title, unit, curves: [{name, points: [[ns since the begin, value]]}]}}
    tables      {name: {title, note, columns: [{title, unit}], rows, all: how many there were}}
    warnings    [text]

Units are those of report/units.py.  Nothing here is escaped.
"""
from collections import Counter

from pauses.figures import histogram, summary
from report import charts
from report.trace import SPANS

VERSION = 1
TEXT_MAX = 300                  # characters of a name; templates of C++ have more
WARNING_MAX = 1000
FRAMES = 12                     # of a stack
COLLECTION_ROWS = 20
WAITS = ("stopped", "assist", "stall")


def short(text):
    return text if len(text) <= TEXT_MAX else text[:TEXT_MAX - 1] + "\u2026"


class Found:
    def __init__(self, title, rows):
        self.rows, self.begin = rows, None
        self.data = {"version": VERSION, "title": title, "sources": [], "facts": [], "totals": {}, "charts": {}, "tables": {},
                     "warnings": []}

    def source(self, kind, path, process):
        self.data["sources"].append({"kind": kind, "file": path, "process": process})

    def fact(self, what, text):
        self.data["facts"].append([what, short(str(text))])

    def total(self, section, name, title, unit, value):
        self.data["totals"][name] = {"section": section, "title": title, "unit": unit, "value": value}

    def warn(self, text):
        self.data["warnings"].append(text if len(text) <= WARNING_MAX else text[:WARNING_MAX] + "\u2026")

    def table(self, name, title, columns, rows, note="", number=None):
        """columns: "unit title"; the first rows that there is room for, of that number, if it is not that of the rows."""
        rows = list(rows)
        if rows:
            self.data["tables"][name] = {"title": title, "note": note, "all": number or len(rows), "rows": rows[:self.rows],
                                         "columns": [dict(zip(("unit", "title"), column.split(" ", 1))) for column in columns]}

    def chart(self, name, title, unit, curves):
        """curves: {name: [(ns, value)]}."""
        if any(curves.values()):
            self.data["charts"][name] = {"title": title, "unit": unit, "curves": [
                {"name": curve, "points": charts.thinned([(at - self.begin, value) for at, value in points])}
                for curve, points in curves.items()]}


# ---- collections ----

COLLECTIONS = ("count number", "at at", "ns last stop", "ns longest stop", "count stops", "ns concurrent", "bytes live before",
               "bytes live after", "bytes heap", "bytes allocated", "text reason", "text stopped for")


def collection_row(found, c):
    return [c["cycle"], c["request_ns"] - found.begin, c["pause_ns"], longest_stop(c), c["earlier_stops"] + 1, c["concurrent_ns"],
            c["live_bytes_before"], c["live_bytes_after"], c["heap_bytes"], c["allocated_bytes"], short(c["reason"]),
            short(c["stopped_for"])]


def longest_stop(c):
    return max(c["longest_stop_ns"], c["pause_ns"])


def add_memory(found, cycles):
    found.total("memory", "heap_bytes", "heap in the end", "bytes", cycles[-1]["heap_bytes"])
    found.total("memory", "heap_bytes_max", "largest heap", "bytes", max(c["heap_bytes"] for c in cycles))
    found.total("memory", "live_bytes", "live in the end", "bytes", cycles[-1]["live_bytes_after"])
    found.total("memory", "live_bytes_max", "largest live size after a collection", "bytes", max(c["live_bytes_after"] for c in cycles))
    found.total("memory", "allocated_bytes", "allocated before the last collection", "bytes", sum(c["allocated_bytes"] for c in cycles))
    found.total("memory", "returned_bytes", "given back to the system", "bytes", sum(c["returned_bytes"] for c in cycles))
    found.chart("memory", "Heap and live bytes", "bytes", {
        "heap": [(c["resumed_ns"], c["heap_bytes"]) for c in cycles],
        "in objects": [point for c in cycles for point in ((c["stop_begin_ns"], c["live_bytes_before"]),
                                                           (c["resumed_ns"], c["live_bytes_after"]))]})


def add_causes(found, cycles):
    causes = Counter((c["reason"], c["stopped_for"]) for c in cycles)
    rows = [[short(reason), short(stopped), number, sum(c["pause_ns"] + c["earlier_stops_ns"] for c in cycles
                                                        if (c["reason"], c["stopped_for"]) == (reason, stopped))]
            for (reason, stopped), number in causes.most_common()]
    found.table("causes", "Why the program was stopped", ["text reason", "text stopped for", "count collections", "ns stopped"], rows,
                "stopped for: why for the whole mark, or for the rest of it; \u201cnothing\u201d is best")
    parts = Counter()
    for c in cycles:
        parts.update(c["parts_ns"])
    whole = sum(parts.values())
    found.table("parts", "Parts of the last stops", ["text part", "ns time", "share share"],
                [[short(part), ns, ns / whole] for part, ns in parts.most_common() if ns > 0])


def add_collections(found, cycles):
    if len(cycles) > COLLECTION_ROWS:
        found.table("longest", "The longest stops", COLLECTIONS,
                    [collection_row(found, c) for c in sorted(cycles, key=longest_stop, reverse=True)[:COLLECTION_ROWS]],
                    number=len(cycles))
    found.table("last", "The last collections", COLLECTIONS, [collection_row(found, c) for c in cycles[:-COLLECTION_ROWS - 1:-1]],
                number=len(cycles))


def add_log(found, path, log, process, has_trace):
    cycles = log.cycles[process]
    found.source("log", path, process)
    concurrent = sum(c["earlier_stops"] > 0 for c in cycles)
    found.total("collections", "collections", "collections", "count", len(cycles))
    found.total("collections", "concurrent", "concurrent collections", "count", concurrent)
    found.fact("mode", "concurrent" if concurrent else "stops the program for each collection, as far as the log says")
    add_memory(found, cycles)
    found.total("pauses", "stopped_ns", "time that the program was stopped", "ns", sum(c["pause_ns"] + c["earlier_stops_ns"] for c in cycles))
    for kind, title in (("assists", "assists: a thread helped a collection along"), ("stalls", "stalls: a thread waited for a collection")):
        if any(c[kind] for c in cycles):
            found.total("pauses", kind, title, "count", sum(c[kind] for c in cycles))
            found.total("pauses", f"{kind}_ns", f"{title}, time", "ns", sum(c[f"{kind}_ns"] for c in cycles))
    if not has_trace:
        stops = len(cycles) + sum(c["earlier_stops"] for c in cycles)
        add_pauses(found, [(c["stop_begin_ns"], c["pause_ns"]) for c in cycles], stops, max(map(longest_stop, cycles)))
        if stops > len(cycles):
            found.warn(f"of the {stops} stops the log has the lengths of the last of each collection, and of the longest: "
                       "median and percentile are of these; a timeline (--trace) has all")
    add_causes(found, cycles)
    add_collections(found, cycles)
    if log.cut:
        found.warn("the log ends within a line, which is left out: the program was killed, or a disk was full")
    if log.wrong:
        found.warn(f"{log.wrong} lines of the log are no collections, and are left out")
    if len(log.cycles) > 1:
        found.warn(f"the log has lines of {len(log.cycles)} processes; this page is about process {process}. Give %p in its name to "
                   "keep them apart")


# ---- stops ----

def add_pauses(found, pauses, number, longest):
    """pauses: [(begin, ns)] of those that are known one by one; number: of all."""
    lengths = [ns for _, ns in pauses]
    sums = summary(lengths)
    found.total("pauses", "pauses", "pauses: how often the program was stopped", "count", number)
    found.total("pauses", "pause_median_ns", "median pause", "ns", sums["p50_ns"])
    found.total("pauses", "pause_p99_ns", "99 % of the pauses are at most", "ns", sums["p99_ns"])
    found.total("pauses", "pause_max_ns", "longest pause", "ns", longest)
    found.chart("pauses", "Pauses", "ns", {"pause": pauses})
    found.table("histogram", "Pauses by length", ["ns from", "ns below", "count pauses"], [list(row) for row in histogram(lengths)])


def add_trace(found, path, trace):
    found.source("trace", path, trace.process)
    if trace.pauses:
        lengths = [ns for _, ns, _ in trace.pauses]
        add_pauses(found, [(begin, ns) for begin, ns, _ in trace.pauses], len(lengths), max(lengths))
        found.total("pauses", "stopped_ns", "time that the program was stopped", "ns", sum(lengths))
    if "memory" not in found.data["charts"]:
        found.total("collections", "collections", "collections", "count", trace.collections)
        found.chart("memory", "Heap and live bytes", "bytes", {"heap": trace.counters["heap"], "in objects": trace.counters["live"]})
    add_threads(found, trace)
    if trace.given_up:
        found.total("collections", "given_up", "collections that were given up", "count", trace.given_up)
    if trace.limits:
        found.warn(f"{trace.limits} collections were made since the heap may not or cannot grow")
    if trace.dropped:
        found.warn(f"{trace.dropped} events of threads are missing in the timeline: there was no room for them")
    if not trace.ended:
        found.warn("the timeline has no end: the program was killed, ended by _exit, or still ran")
    for number, what in ((trace.wrong, "lines of the timeline are no events"), (trace.foreign, "events of it are of other processes")):
        if number:
            found.warn(f"{number} {what}, and are left out")


def add_threads(found, trace):
    """A column for each span that some thread has, and for those that keep the program from working one of the longest."""
    threads = {thread: sums for thread, sums in trace.sums.items() if thread != trace.track}
    spans = [span for span in SPANS if any(sums[span].number for sums in threads.values())]
    columns = ["count thread", "text name", *(f"ns {span}" for span in spans), *(f"ns longest {s}" for s in spans if s in WAITS)]
    rows = [[thread, short(trace.threads.get(thread, "")), *(sums[span].ns for span in spans),
             *(sums[span].longest for span in spans if span in WAITS)] for thread, sums in threads.items()]
    found.table("threads", "What threads did for the collector", columns, sorted(rows, key=lambda row: -sum(row[2:])))


# ---- the heap ----

def add_snapshot(found, path, heap):
    found.source("snapshot", path, heap["process"])
    found.fact("snapshot", f"of collection {heap['cycle']}")
    for name, title, unit in (("objects", "reachable objects", "count"), ("bytes", "reachable bytes", "bytes"),
                              ("unreachable_objects", "objects that the collection reclaims", "count"),
                              ("unreachable_bytes", "bytes that it reclaims", "bytes")):
        found.total("heap", f"snapshot_{name}", title, unit, heap[name])
    groups = sorted(heap["groups"], key=lambda g: -g["bytes"])
    whole = heap["bytes"] or 1
    found.table("groups", "What is in the heap", ["text group", "count objects", "bytes bytes", "share share", "bytes retained"],
                [[short(g["name"]), g["objects"], g["bytes"], g["bytes"] / whole, g["retained"]] for g in groups],
                "retained: what would go away with the objects of the group")
    found.table("retained", "What keeps it", ["level level", "text root or group", "count objects", "bytes retained", "share share"],
                retained_rows(heap["tree"], found.rows, whole),
                "below each root what would go away with it, group by group; \u201cand others\u201d: other roots lead there, too", len(heap["tree"]) - 1)


def retained_rows(tree, rows, whole):
    """The nodes that retain most, in the order in which they are read: each below the one that retains it, the larger first."""
    chosen = set(sorted(range(1, len(tree)), key=lambda i: (-tree[i]["retained"], i))[:rows])
    below = {}
    for i in sorted(chosen, key=lambda i: (-tree[i]["retained"], i)):
        below.setdefault(tree[i]["parent"], []).append(i)
    stack = [(i, 0) for i in reversed(below.get(0, []))]
    while stack:
        i, level = stack.pop()
        yield [level, short(tree[i]["name"]), tree[i]["retained_objects"], tree[i]["retained"], tree[i]["retained"] / whole]
        stack += [(child, level + 1) for child in reversed(below.get(i, []))]


def add_growth(found, path, growth):
    found.source("before", path, growth["process_before"])
    new = growth["new"]
    found.total("growth", "growth_bytes", "grown since the earlier snapshot by", "bytes", growth["now"]["bytes"] - growth["before"]["bytes"])
    found.total("growth", "new_objects", "new objects", "count", new["objects"])
    found.total("growth", "new_bytes", "bytes of new objects", "bytes", new["bytes"])
    found.table("growth", "What has grown", ["text group", "bytes grown by", "bytes before", "bytes now", "count new objects",
                                             "text the new ones are kept by"],
                [[short(g["name"]), g["grown_by"], g["before"], g["now"], g["new_objects"], ", ".join(map(holder, g["held_by"]))]
                 for g in growth["groups"]])


def holder(held):
    return f"{held['bytes']} bytes in {held['objects']} objects: {short(held['root'])}"


# ---- allocation ----

UNITS = {"bytes": "bytes", "count": "count", "nanoseconds": "ns"}


def add_profile(found, path, profile):
    found.source("profile", path, profile.process())
    for message in profile.messages:
        found.warn(message)
    for comment in profile.comments[:20]:
        found.fact("profile", comment)
    for at, (name, unit) in enumerate(profile.types):
        found.total("allocation", f"profile_{name}", short(name), UNITS.get(unit, "count"),
                    sum(values[at] for values in profile.stacks.values()))
    order = sorted(profile.stacks.items(), key=lambda item: -item[1][profile.chosen])
    found.table("sites", "Allocation sites", ["text site"] + [f"{UNITS.get(unit, 'count')} {short(name)}" for name, unit in profile.types]
                + ["text called by"],
                [[short(stack[0]) if stack else "?", *values, " \u2190 ".join(map(short, stack[1:FRAMES]))]
                 for stack, values in order])
