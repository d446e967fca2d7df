# SPDX-License-Identifier: MIT
"""One run of acdc.  A failure is a result like others."""
import os
from dataclasses import dataclass

from runner import programs
from runner.cases import SGC

NEEDED = ("seconds", "allocated_bytes", "unended_objects")
NOT_HERE = 2                    # exit status of acdc if a memory cannot be had


@dataclass
class Plan:
    """How all runs are made."""
    places: programs.Places
    timeout: int


def app(places):
    return os.path.join(places.build, "bench", "acdc", "acdc")


def command(plan, arguments):
    return [app(plan.places), *map(str, arguments)]


def why_wrong(plan, version, figures):
    if version.on_collector:
        fault = programs.find_fault(plan.places, version.side, figures, NEEDED)
        if fault:
            return fault
    missing = [name for name in NEEDED if not programs.is_number(figures.get(name, ("",))[0])]
    if missing:
        return f"printed no number as {missing[0]}"
    return "objects did not come to their ends" if float(figures["unended_objects"][0]) else ""


def run(plan, version, arguments):
    """(figures, failure, exit status)."""
    call = command(plan, (*version.arguments, *arguments))
    try:
        env = {**plan.places.environment(version.side), **dict(version.settings)}
        status, out, err = programs.execute(call, env, plan.timeout)
    except OSError as reason:
        return {}, f"{call[0]}: {reason.strerror}", None
    figures = programs.parse(out)
    failure = programs.reason_of_failure(status, err, plan.timeout) or why_wrong(plan, version, figures)
    return {name: float(value) for name, (value, _) in figures.items() if programs.is_number(value)}, failure, status


def why_not(plan, version):
    """Why a version cannot be measured here, or an empty string: it is tried out in tiny size."""
    _, failure, status = run(plan, version, ("--duration", 2, "--threshold", 10, "--think", 0))
    return failure.rpartition('": ')[2] if status == NOT_HERE else failure
