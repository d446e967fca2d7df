# SPDX-License-Identifier: MIT
"""From what was seen of processes to what is reported: a dictionary, which --json writes as it is.

A pause is a time in which the probe, a thread of the program's, did not come on: the longest gap that meets a stop of the
collector, or an allocation or a store of its own that took as long as a gap that counts.  Other gaps are the system's doing, and
stand beside the pauses as a control.

A thread may also wait by itself, for a mark beside the program: an assist or a stall.  The probe does not see those of others, so
they are taken from the collector's log, which has how many there were up to the end of each cycle, their sum and the longest; and what
they were worth by what the threads had allocated.
"""
from pauses.figures import attributed, finder, histogram, length, merged, split, summary, utilisation, waits

SEEN, ROWS = "pauses", (
    ("first_signal_to_wake", "first signal to wake"),
    ("stops", "stops, by the collector"),
    ("wake", "told to go on to wake"),
    ("slow_path", "slow path of allocation"),
    ("stores", "slow stores into old objects"),
    ("noise", "other gaps"),
    ("control", "gaps of the control thread"),
)

WAITS = (("assists", "longest_assist_ns", "assist_over_ns"), ("stalls", "longest_stall_ns", "stall_over_ns"))


def figure(cycle, name):
    """A member of a line of the log; 0 if an older collector has none."""
    value = cycle.get(name, 0)
    return value if isinstance(value, int) else 0


def longest_part(cycle):
    """The part of its stop that took longest."""
    parts = cycle.get("parts_ns")
    return max(parts, key=parts.get) if isinstance(parts, dict) and parts else ""


class Sight:
    """One process: what its probe saw, sorted out."""

    def __init__(self, process):
        self.process = process
        self.least = process.areas["gaps"].threshold
        self.stops = merged(process.of("stops"))
        self.in_stops, self.noise = attributed(process.of("gaps"), self.stops)
        self.slow = self.long_ones("allocations")
        self.late = self.long_ones("stores")
        self.pauses = merged(self.in_stops + self.slow + self.late)

    def long_ones(self, area):
        return [interval for interval in self.process.of(area) if length(interval) >= self.least]

    def lengths(self):
        of = self.process.of
        away = waits(self.pauses, self.stops)
        return {"first_signal_to_wake": [whole for whole, _ in away], "stops": [length(s) for s in of("stops")],
                "wake": [behind for _, behind in away], "slow_path": [length(i) for i in of("allocations")],
                "stores": [length(i) for i in of("stores")], "noise": [length(i) for i in self.noise],
                "control": [length(i) for i in of("control")]}

    def cycle_finder(self):
        """A function that gives the log's line of the cycle whose last stop an interval meets; an empty one if there is none."""
        cycles = sorted(self.process.cycles, key=lambda cycle: cycle["stop_begin_ns"])
        find = finder([(cycle["stop_begin_ns"], cycle["resumed_ns"]) for cycle in cycles])

        def cycle_of(interval):
            first, behind = find(interval)
            return cycles[first] if first < behind else {}
        return cycle_of

    def by_cause(self):
        """{cause: lengths}: the collector's reason where its log has it."""
        causes = {}
        met, rest = split(self.pauses, self.stops)
        cycle_of = self.cycle_finder()
        for interval in met:
            causes.setdefault(str(cycle_of(interval).get("reason") or "collection"), []).append(length(interval))
        slow = set(self.slow)
        for interval in rest:
            causes.setdefault("allocation without a stop" if interval in slow else "store", []).append(length(interval))
        return causes

    def waits(self):
        """Of the cycles before which threads waited: how often, for how long, and when such a cycle was over."""
        names = [name for kind, longest, over in WAITS for name in (kind, f"{kind}_ns", f"{kind}_worth_ns", longest, over)]
        return [{"at_ns": cycle["resumed_ns"] - self.process.begin, **{name: figure(cycle, name) for name in names}}
                for cycle in self.process.cycles if any(figure(cycle, kind) for kind, *_ in WAITS)]

    def long_stops(self, least):
        """The collector's stops that took so long, and for what its log says they did: the last stop of a cycle has a line in it."""
        cycle_of = self.cycle_finder()
        for stop in self.process.of("stops"):
            if length(stop) < least:
                continue
            cycle = cycle_of(stop)
            yield {"at_ns": stop[0] - self.process.begin, "ns": length(stop), "reason": str(cycle.get("reason", "")),
                   "stopped_for": str(cycle.get("stopped_for", "")), "part": longest_part(cycle)}

    def unseen(self):
        return len(split(self.stops, self.pauses)[1])


def joined(dictionaries):
    result = {}
    for dictionary in dictionaries:
        for key, values in dictionary.items():
            result.setdefault(key, []).extend(values)
    return result


def least_utilisation(sights, window, intervals_of):
    found = [utilisation(intervals_of(s), s.process.begin, s.process.end, window) for s in sights]
    found = [share for share in found if share is not None]
    return min(found) if found else None


def parts_of(sights):
    """What the log says that stops were spent on: {part: ns}."""
    sums = {}
    for sight in sights:
        for cycle in sight.process.cycles:
            parts = cycle.get("parts_ns")
            for part, ns in parts.items() if isinstance(parts, dict) else ():
                sums[part] = sums.get(part, 0) + ns
    return sums


def waits_of(waits):
    """{kind: what the cycles have of it together}."""
    result = {}
    for kind, longest, over in WAITS:
        number, total, worth = (sum(wait[name] for wait in waits) for name in (kind, f"{kind}_ns", f"{kind}_worth_ns"))
        result[kind] = {"number": number, "total_ns": total, "mean_ns": total // number if number else 0, "worth_ns": worth,
                        "longest_ns": max((wait[longest] for wait in waits), default=0),
                        "over_ns": max((wait[over] for wait in waits), default=0)}
    return result


def analyse(processes, windows, long_ns=2_000_000):
    """windows in nanoseconds; stops of long_ns and more are told one by one.  Several processes are runs of one program: their
    pauses are taken together, and the least utilisation of any of them counts."""
    sights = [Sight(process) for process in processes]
    lengths = joined(sight.lengths() for sight in sights)
    pauses = [length(interval) for sight in sights for interval in sight.pauses]
    first = processes[0]
    return {
        "collector": first.collector,
        "period_ns": first.period,
        "least_ns": max(sight.least for sight in sights),
        "seconds": [round((p.end - p.begin) / 1e9, 6) for p in processes],
        SEEN: summary(pauses),
        **{name: summary(lengths[name]) for name, _ in ROWS},
        **waits_of([wait for sight in sights for wait in sight.waits()]),
        "allocations_timed": sum(p.areas["allocations"].calls for p in processes),
        "stores_timed": sum(p.areas["stores"].calls for p in processes),
        "stops_without_a_gap": sum(sight.unseen() for sight in sights),
        "long_ns": long_ns,
        "long_stops": [list(sight.long_stops(long_ns)) for sight in sights],
        "dropped": sum(area.dropped for p in processes for area in p.areas.values()),
        "utilisation": [{"window_ns": window, "least": least_utilisation(sights, window, lambda s: s.pauses),
                         "least_with_noise": least_utilisation(sights, window, lambda s: s.pauses + s.noise)}
                        for window in windows],
        "causes": {cause: summary(values) for cause, values in sorted(joined(s.by_cause() for s in sights).items())},
        "parts_ns": parts_of(sights),
        "histogram": [{"from_ns": low, "below_ns": high, "number": number} for low, high, number in histogram(pauses)],
        "runs": [[{"at_ns": begin - s.process.begin, "ns": end - begin} for begin, end in s.pauses] for s in sights],
        "waits": [sight.waits() for sight in sights],
    }
