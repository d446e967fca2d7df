# SPDX-License-Identifier: MIT
"""How numbers are shown.  Units: bytes, count, ns, at (ns since the first event), share (of 1), level (how deep a row lies), text."""
NUMBERS = ("bytes", "count", "ns", "at", "share", "level")


def scaled(value, steps):
    """(factor, name) of steps are in falling order; three digits or so."""
    for factor, name in steps:
        if abs(value) >= factor:
            number = value / factor
            return f"{number:.0f} {name}" if number >= 100 or number == int(number) else f"{number:.3g} {name}"
    return f"{value} {steps[-1][1]}"


BYTES = ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB"), (1, "bytes"))
TIMES = ((10 ** 9, "s"), (10 ** 6, "ms"), (10 ** 3, "\u00b5s"), (1, "ns"))


def shown(value, unit):
    if unit == "bytes":
        return scaled(value, BYTES)
    if unit == "ns":
        return scaled(value, TIMES)
    if unit == "at":
        return f"{value / 1e9:.3f} s"
    if unit == "share":
        return f"{value:.1%}"
    return str(value)
