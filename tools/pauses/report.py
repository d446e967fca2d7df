# SPDX-License-Identifier: MIT
"""The report as text: of one way to run a program, or of several side by side."""
from pauses.analysis import ROWS, SEEN, WAITS
from pauses.figures import PERCENTILES

COLUMNS = ("number", "total_ns", "mean_ns", *(f"p{p}_ns" for p in PERCENTILES), "longest_ns")
NAME_WIDTH, BAR_WIDTH, LONGEST = 30, 40, 8
OPTIONAL = ("slow_path", "stores", "control")


def ms(ns):
    return f"{ns / 1e6:.3f}"


def time_name(ns):
    """A bound of a class, whose digits are few."""
    for unit, name in ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")):
        if ns >= unit:
            return f"{ns // unit if ns % unit == 0 else ns / unit} {name}"
    return f"{ns} ns"


def share(value):
    return "-" if value is None else f"{value:.3f}"


def seconds(found):
    return ", ".join(f"{s:.2f} s" for s in found["seconds"])


def probe_of(found):
    looks = "looked at the clock without rest" if found["period_ns"] == 0 else f"slept {time_name(found['period_ns'])} between looks"
    return f"a thread of the program's {looks} for {seconds(found)}; times from {time_name(found['least_ns'])} on count"


def row(name, values):
    cells = [f"{values['number']:8d}"] + [f"{ms(values[column]) if column in values else '-':>11}" for column in COLUMNS[1:]]
    return f"{name:<{NAME_WIDTH}}" + "".join(cells)


def rows(found):
    yield f"{'milliseconds':<{NAME_WIDTH}}{'number':>8}" + "".join(f"{column[:-3]:>11}" for column in COLUMNS[1:])
    yield row("pauses of the program", found[SEEN])
    for name, title in ROWS:
        if found[name]["number"] or name not in OPTIONAL:
            yield row("  " + title, found[name])
    for kind, *_ in WAITS:
        if found[kind]["number"]:
            yield row(f"{kind} of single threads", found[kind])
        if found[kind]["worth_ns"]:
            yield f"{'  worth by what was allocated':<{NAME_WIDTH}}{'':8}{ms(found[kind]['worth_ns']):>11}, and none longer by more than " \
                f"{ms(found[kind]['over_ns'])}"


def utilisations(found):
    yield f"{'least share of the program in':<{NAME_WIDTH}}{'':8}{'pauses':>11}{'with noise':>11}"
    for one in found["utilisation"]:
        yield f"  {time_name(one['window_ns']):<{NAME_WIDTH - 2}}{'':8}{share(one['least']):>11}{share(one['least_with_noise']):>11}"


def causes(found):
    if found["causes"]:
        yield f"{'pauses by cause':<{NAME_WIDTH}}{'number':>8}" + "".join(f"{column[:-3]:>11}" for column in COLUMNS[1:])
        for cause, values in found["causes"].items():
            yield row("  " + cause, values)
    parts = {part: ns for part, ns in found["parts_ns"].items() if ns > 0}
    if parts:
        whole = sum(parts.values())
        yield "stops by part: " + ", ".join(f"{part} {ns / whole:.0%}" for part, ns in sorted(parts.items(), key=lambda p: -p[1]))


def long_stops(found):
    """Of all runs, the longest first."""
    return sorted((stop for run in found["long_stops"] for stop in run), key=lambda stop: -stop["ns"])


def reasons(stop):
    """What the log says of it; only a cycle's last stop has a line there, and bdwgc has no log."""
    known = [stop["reason"], f"stopped for: {stop['stopped_for']}" if stop["stopped_for"] else "",
             f"mostly {stop['part']}" if stop["part"] else ""]
    return ", ".join(filter(None, known)) or "not in the log"


def longest(found):
    stops = long_stops(found)
    if stops:
        yield f"stops from {time_name(found['long_ns'])} on: {len(stops)}; the longest"
    for stop in stops[:LONGEST]:
        yield f"  {ms(stop['ns'])} ms at {stop['at_ns'] / 1e9:.3f} s: {reasons(stop)}"


def bars(found):
    most = max((one["number"] for one in found["histogram"]), default=0)
    if most:
        yield "pauses of the program by length"
    for one in found["histogram"]:
        name = f"  {time_name(one['from_ns']):>7} to {time_name(one['below_ns'])}"
        bar = "#" * -(-one["number"] * BAR_WIDTH // most)
        yield f"{name:<{NAME_WIDTH}}{one['number']:8d}  {bar}".rstrip()


def remarks(found):
    if found["stops_without_a_gap"]:
        yield f"note: {found['stops_without_a_gap']} stops of the collector were too short for the probe to see, or fell into its sleep"
    if found["dropped"]:
        yield f"note: {found['dropped']} short intervals were left out, since there was no room for more"


def text(found):
    """One way to run a program."""
    blocks = (rows(found), utilisations(found), causes(found), longest(found), bars(found), remarks(found))
    lines = [f"{found['collector']}: {probe_of(found)}"]
    for block in blocks:
        block = list(block)
        lines += [""] + block if block else []
    return "\n".join(lines) + "\n"


# ---- side by side ----

def cell_rows(found):
    """(name, cell) of a column."""
    yield "collector", found["collector"]
    yield "looked at", seconds(found)
    yield "stops", str(found["stops"]["number"])
    for column in COLUMNS:
        value = found[SEEN][column]
        yield ("pauses, number" if column == "number" else f"  {column[:-3]} ms"), (str(value) if column == "number" else ms(value))
    for one in found["utilisation"]:
        yield f"least share in {time_name(one['window_ns'])}", share(one["least"])
        yield "  with noise", share(one["least_with_noise"])
    yield f"stops from {time_name(found['long_ns'])} on", str(len(long_stops(found)))
    for kind, *_ in WAITS:
        yield f"{kind}, number", str(found[kind]["number"]) if found[kind]["number"] else "-"
        yield f"  longest of {kind} ms", ms(found[kind]["longest_ns"]) if found[kind]["number"] else "-"
        yield "  longer than worth ms", ms(found[kind]["over_ns"]) if found[kind]["number"] else "-"
    yield "longest allocation ms", ms(found["slow_path"]["longest_ns"]) if found["allocations_timed"] else "-"
    yield "longest store ms", ms(found["stores"]["longest_ns"]) if found["stores_timed"] else "-"
    yield "longest other gap ms", ms(found["noise"]["longest_ns"])
    yield "exit status", ", ".join(map(str, sorted(set(found["statuses"]))))


def table(columns):
    """columns: {title: found}.  A row that says nothing of any is left out."""
    names = [name for name, _ in cell_rows(next(iter(columns.values())))]
    cells = [[cell for _, cell in cell_rows(found)] for found in columns.values()]
    widths = [max(map(len, [title, *column])) + 2 for title, column in zip(columns, cells)]
    lines = [f"{'':<{NAME_WIDTH}}" + "".join(f"{title:>{width}}" for title, width in zip(columns, widths))]
    for name, *line in zip(names, *cells):
        if set(line) == {"-"}:
            continue
        lines.append(f"{name:<{NAME_WIDTH}}" + "".join(f"{cell:>{width}}" for cell, width in zip(line, widths)))
    for title, found in columns.items():
        block = list(longest(found))
        lines += ["", f"{title}: {block[0]}", *block[1:]] if block else []
    return "\n".join(lines) + "\n"
