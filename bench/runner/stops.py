# SPDX-License-Identifier: MIT
"""What the collectors' logs say of their stops."""
import json
import os
import re

from runner.cases import PEER

PEER_PAUSE = re.compile(rb"^World-stopped marking took (\d+) ms (\d+) ns", re.MULTILINE)


def asked(side, log):
    """Variables that make a collector write one."""
    return {"GC_PRINT_STATS": "1", "GC_LOG_FILE": log} if side == PEER else {"SGC_LOG_JSON": log}


def read(side, log):
    """ms of each stop, and how many collections; nothing of a program that did not collect."""
    if not os.path.exists(log):
        return [], 0
    with open(log, "rb") as f:
        return (of_peer if side == PEER else of_sgc)(f.read())


def of_peer(log):
    stops = [int(ms) + int(ns) / 1e6 for ms, ns in PEER_PAUSE.findall(log)]
    return stops, len(stops)


def of_sgc(log):
    """Of a cycle's stops the record has the longest, and the time of all: the others count as their mean."""
    stops, records = [], [json.loads(line) for line in log.splitlines()]
    for record in records:
        others, whole = record.get("earlier_stops", 0), record["pause_ns"] + record.get("earlier_stops_ns", 0)
        longest = max(record["pause_ns"], record.get("longest_stop_ns", 0))
        stops += [longest / 1e6] + [(whole - longest) / max(1, others) / 1e6] * others
    return stops, len(records)


def percentile(values, percent):
    """The least value that so many of a hundred do not exceed; 0 of none."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)] if ordered else 0.0
