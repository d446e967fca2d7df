# SPDX-License-Identifier: MIT
"""Shared by the readers of files: the error that says how to go on, JSON that holds anything, and what a file seems to be."""
import json

LINE_MAX = 1 << 20
NUMBER_MAX = 1 << 64

# (option, what it is, how it begins, what makes one that is not empty)
KINDS = (("--snapshot", "a heap snapshot (SGC_SNAPSHOT)", (b"SGCsnap\n", b"\x28\xb5\x2f\xfd"),
          "let the program run until a collection that writes one is over"),
         ("--log", "a log of collections (SGC_LOG_JSON)", (b'{"version":', b'{"pid":'),
          "let the program run until its first collection is over"),
         ("--trace", "a timeline (SGC_TRACE)", (b'[\n{"name":',), "let the program run until its first collection is over"),
         ("--profile", "a profile (SGC_PROFILE)", (b"\x1f\x8b", b"\x0a"),
          "let the program end by itself, or call SGC_write_profile"))


class Bad(Exception):
    """A file that cannot be used: what is wrong with it, and a hint how to go on."""

    def __init__(self, what, hint):
        super().__init__(what)
        self.hint = hint


def wrong_kind(option, path, head, why):
    """Bad, for a file that is not what the option expects."""
    expected, remedy = next((what, remedy) for name, what, _, remedy in KINDS if name == option)
    if not head:
        return Bad(f"{option} {path}: it is empty; expected {expected}", f"{remedy}, or leave the option out")
    other = next((name for name, _, begins, _ in KINDS if name != option and any(head.startswith(begin) for begin in begins)), None)
    hint = f"it begins like a file for {other}" if other else "name the file that the program has written"
    return Bad(f"{option} {path}: {why}; expected {expected}", hint)


def head_of(path):
    """How the file begins, and so whether it can be read at all."""
    with open(path, "rb") as file:
        return file.read(16)


def lines_of(path):
    """(line, whether it is whole): only the last may lack its end.  None is longer than a reader has room for."""
    with open(path, "rb") as file:
        while True:
            line = file.readline(LINE_MAX)
            if not line:
                return
            yield line.decode("utf-8", "replace").strip(), line.endswith(b"\n")


def no_constant(name):
    raise ValueError(f"{name} is no JSON")


def parse(text, parse_float=float):
    """An object of JSON, or None."""
    try:
        value = json.loads(text, parse_float=parse_float, parse_constant=no_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def is_number(value):
    """As the collector writes them: whole, and of 64 bits."""
    return type(value) is int and 0 <= value < NUMBER_MAX


def numbers(value, names):
    return all(is_number(value.get(name)) for name in names)
