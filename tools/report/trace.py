# SPDX-License-Identifier: MIT
"""The timeline (SGC_TRACE, doc/tracing.md), of which the sums of each thread are kept, and every stop.  Its end may be missing."""
from collections import defaultdict
from decimal import Decimal

from report.inputs import head_of, is_number, lines_of, numbers, parse, wrong_kind

OPTION = "--trace"
MICROSECONDS_MAX = 10 ** 16
SPANS = ("stopped", "collects", "assist", "stall", "mark", "finalizers", "sweep", "give back")


class Sum:
    def __init__(self):
        self.number, self.ns, self.longest = 0, 0, 0

    def add(self, ns):
        self.number, self.ns, self.longest = self.number + 1, self.ns + ns, max(self.longest, ns)


class Trace:
    """track: the thread's number that stands for collections; pauses: (begin, ns, cycle); sums: {thread: {span: Sum}}; counters: {name: [(ns, bytes)]}."""

    def __init__(self):
        self.process, self.track, self.name, self.threads = None, None, None, {}
        self.pauses, self.collections, self.given_up = [], 0, 0
        self.sums = defaultdict(lambda: defaultdict(Sum))
        self.counters = {"heap": [], "live": []}
        self.dropped, self.limits, self.ended, self.wrong, self.foreign = 0, 0, False, 0, 0


def ns_of(value):
    """Nanoseconds, of microseconds; None if they are none."""
    if not isinstance(value, (int, Decimal)) or isinstance(value, bool) or not 0 <= value < MICROSECONDS_MAX:
        return None
    return round(value * 1000)


def take_name(trace, event, args):
    if isinstance(args.get("name"), str):
        if event["name"] == "process_name":
            trace.track, trace.name = event["tid"], args["name"]
        elif event["name"] == "thread_name":
            trace.threads[event["tid"]] = args["name"]


def take_span(trace, event, args):
    begin, length = ns_of(event.get("ts")), ns_of(event.get("dur"))
    if begin is None or length is None:
        trace.wrong += 1
    elif event["name"] == "pause" and is_number(args.get("cycle")):
        trace.pauses.append((begin, length, args["cycle"]))
    elif event["name"] == "collection":
        trace.given_up += "given_up" in args
        trace.collections += "given_up" not in args
    elif event["name"] in SPANS:
        trace.sums[event["tid"]][event["name"]].add(length)


def take_counter(trace, event, args):
    moment = ns_of(event.get("ts"))
    if event["name"] in trace.counters and moment is not None and is_number(args.get("bytes")):
        trace.counters[event["name"]].append((moment, args["bytes"]))


def take_instant(trace, event, args):
    if event["name"] == "events dropped" and is_number(args.get("count")):
        trace.dropped += args["count"]
    trace.limits += event["name"] == "heap limit reached"
    trace.ended |= event["name"] == "the end"


TAKE = {"M": take_name, "X": take_span, "C": take_counter, "i": take_instant}


def is_event(event):
    return event is not None and numbers(event, ("pid", "tid")) and isinstance(event.get("name"), str) and \
        isinstance(event.get("args"), dict) and event.get("ph") in TAKE


def take(trace, event):
    if not is_event(event):
        trace.wrong += 1
        return
    if trace.process is None:
        trace.process = event["pid"]
    if event["pid"] == trace.process:
        TAKE[event["ph"]](trace, event, event["args"])
    else:
        trace.foreign += 1


def read(path):
    """An event a line, as the collector writes them."""
    trace = Trace()
    for text, whole in lines_of(path):
        if text in ("", "[", "]") or (not whole and not text.endswith("}")):
            continue
        take(trace, parse(text.rstrip(","), Decimal))
        if trace.process is None:
            break
    if trace.process is None:
        raise wrong_kind(OPTION, path, head_of(path), "it does not begin with an event")
    trace.pauses.sort()
    return trace
