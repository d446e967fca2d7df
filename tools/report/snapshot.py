# SPDX-License-Identifier: MIT
"""Heap snapshots, as the program sgc-snapshot reads them."""
import json
import os
import subprocess
import tempfile

from report.inputs import Bad, head_of, parse, wrong_kind

OPTION = "--snapshot"
VERSION = 1                     # of what compare --json prints


def plain(path):
    """No option, and not the standard input."""
    return os.path.join(".", path) if path.startswith("-") else path


def messages_of(done):
    text = done.stderr.decode("utf-8", "replace")
    return [line[len("sgc-snapshot: "):] if line.startswith("sgc-snapshot: ") else line for line in text.splitlines() if line]


def run(tool, arguments, option, path):
    """(what it prints, what it has to say about that)."""
    try:
        done = subprocess.run([tool, *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as reason:
        raise Bad(f"{tool}: {reason.strerror}; it reads snapshots", "install SGC again") from None
    messages = messages_of(done)
    if done.returncode != 0:
        text = messages[-1] if messages else f"sgc-snapshot ended with status {done.returncode}"
        raise Bad(f"{option} {path}: {text}", "name a snapshot that the program has written (SGC_SNAPSHOT)")
    return done.stdout.decode("utf-8", "replace"), messages


def check_begin(option, path):
    head = head_of(path)
    if not head.startswith((b"SGCsnap\n", b"\x28\xb5\x2f\xfd")):
        raise wrong_kind(OPTION, path, head, "it is no heap snapshot") if option == OPTION else \
            Bad(f"{option} {path}: it is no heap snapshot; expected an earlier one of the process", "name an earlier snapshot")


def read(tool, path):
    """(groups and the tree of what retains what, messages)."""
    check_begin(OPTION, path)
    with tempfile.TemporaryDirectory(prefix="sgc-report-") as folder:
        out = os.path.join(folder, "export")
        _, messages = run(tool, ["export", "--json", "-o", out, "--", plain(path)], OPTION, path)
        with open(out, encoding="utf-8") as file:
            return json.load(file), messages


def compare(tool, before, path, rows):
    """(what sgc-snapshot compare --json prints, of the groups that grew by most; messages)."""
    check_begin("--before", before)
    text, messages = run(tool, ["compare", "--json", "--top", str(rows), "--", plain(before), plain(path)], "--before", before)
    growth = parse(text)
    if growth is None or growth.get("version") != VERSION:
        raise Bad(f"{tool}: it does not print what this sgc-report expects", "install SGC again, all of one version")
    return growth, messages
