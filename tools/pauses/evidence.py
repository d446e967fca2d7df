# SPDX-License-Identifier: MIT
"""What was found out about a process: libsgcpauses' file (tools/pauses/file.h) and the collector's log (doc/log-format.md)."""
import json
import os
import struct
from dataclasses import dataclass, field

from pauses.files import shown

HEAD = struct.Struct("=8s7Q32s")
AREA = struct.Struct("=10Q")
AREAS = ("gaps", "control", "stops", "allocations", "stores")
VERSION = 1
WORK, BESIDE = 1, 2


class Unreadable(Exception):
    pass


@dataclass
class Area:
    intervals: list = field(default_factory=list)
    calls: int = 0                  # what was timed, long or not
    threshold: int = 0              # shorter ones were not kept
    dropped: int = 0                # so many
    longest: tuple = (0, 0)


@dataclass
class Process:
    pid: int
    period: int                     # 0: the probe looked without rest
    flags: int
    error: int                      # why there is no probe
    begin: int
    end: int
    collector: str
    areas: dict                     # name: Area
    cycles: list = field(default_factory=list)

    def of(self, name):
        return self.areas[name].intervals


def read_area(data, number):
    offset, capacity, count, _, threshold, calls, dropped, _, first, last = AREA.unpack_from(data, HEAD.size + number * AREA.size)
    if count > capacity or offset + 16 * count > len(data):
        raise Unreadable(f"its area {number} has {count} intervals")
    words = struct.unpack_from(f"={2 * count}Q", data, offset)
    return Area(sorted(zip(words[::2], words[1::2])), calls, threshold, dropped, (first, last))


def read_process(path):
    with open(path, "rb") as file:
        data = file.read()
    try:
        magic, version, pid, period, flags, error, begin, end, collector = HEAD.unpack_from(data)
        if magic != b"sgcpause" or version != VERSION:
            raise Unreadable("it is not what this sgc-pauses reads; install SGC again")
        areas = {name: read_area(data, number) for number, name in enumerate(AREAS)}
    except (struct.error, Unreadable) as reason:
        raise Unreadable(f"{path}: {reason}") from None
    return Process(pid, period, flags, error, begin, end, shown(collector.split(b"\0")[0].decode("ascii", "replace")), areas)


def is_cycle(line):
    """Members that are not known do not matter, and lines that say nothing of a stop are left out."""
    return isinstance(line, dict) and all(isinstance(line.get(name), int) for name in ("pid", "stop_begin_ns", "resumed_ns"))


def read_cycles(path):
    """The last line of a process that was killed may be half a line."""
    cycles = []
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            for text in file:
                try:
                    line = json.loads(text)
                except ValueError:
                    continue
                if is_cycle(line):
                    cycles.append(line)
    except OSError:
        pass
    return cycles


def read_folder(folder, log):
    """All processes that were looked at, those that were so for long first."""
    processes = [read_process(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".pauses")]
    cycles = read_cycles(log)
    for process in processes:
        process.cycles = [cycle for cycle in cycles if cycle["pid"] == process.pid]
        if not process.of("stops"):
            process.areas["stops"].intervals = sorted((c["stop_begin_ns"], c["resumed_ns"]) for c in process.cycles)
    return sorted(processes, key=lambda process: process.begin - process.end)
