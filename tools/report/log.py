# SPDX-License-Identifier: MIT
"""The log of collections (SGC_LOG_JSON, doc/log-format.md): lines of several processes may be in one file."""
from report.inputs import Bad, head_of, is_number, lines_of, numbers, parse, wrong_kind

OPTION, VERSION = "--log", 1
NUMBERS = ("cycle", "request_ns", "stop_begin_ns", "resumed_ns", "pause_ns", "live_bytes_before", "live_bytes_after", "heap_bytes",
           "allocated_bytes", "returned_bytes", "marked_objects", "root_bytes", "threads_stopped", "earlier_stops",
           "earlier_stops_ns", "longest_stop_ns", "concurrent_ns", "assists", "assists_ns", "stalls", "stalls_ns")
WORDS = ("reason", "stopped_for")


class Log:
    """cycles: {process: lines, in the order of their times}; cut: the last line is not whole; wrong: lines that are none."""

    def __init__(self):
        self.cycles, self.cut, self.wrong = {}, False, 0

    def main_process(self, wanted):
        """The one that is wanted if it has lines here, else the one that has most."""
        return wanted if wanted in self.cycles else max(self.cycles, key=lambda process: len(self.cycles[process]))


def is_cycle(line):
    parts = line.get("parts_ns")
    return numbers(line, NUMBERS) and is_number(line.get("pid")) and all(isinstance(line.get(word), str) for word in WORDS) \
        and line["stop_begin_ns"] <= line["resumed_ns"] and isinstance(parts, dict) and all(map(is_number, parts.values()))


def read(path):
    log = Log()
    for text, whole in lines_of(path):
        line = parse(text)
        if line is not None and is_number(line.get("version")) and line["version"] != VERSION and "pause_ns" in line:
            raise Bad(f"{OPTION} {path}: its lines are of version {line['version']}; expected {VERSION}",
                      "use the sgc-report that came with the library")
        if line is not None and is_cycle(line):
            log.cycles.setdefault(line["pid"], []).append({name: line[name] for name in (*NUMBERS, *WORDS, "parts_ns")})
        elif not whole:
            log.cut = True
        elif text:
            log.wrong += 1
    if not log.cycles:
        raise wrong_kind(OPTION, path, head_of(path), "no line of it is a collection")
    for cycles in log.cycles.values():
        cycles.sort(key=lambda line: line["request_ns"])
    return log
