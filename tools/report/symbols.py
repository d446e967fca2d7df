# SPDX-License-Identifier: MIT
"""Names for places in modules: what addr2line prints of the files that the program was loaded from, if they are the same still."""
import os
import re
import shutil
import struct
import subprocess

SECONDS = 60
LOAD, NOTE, BUILD_ID = 1, 4, 3
ADDRESS = re.compile("0x[0-9a-f]+")
# A file of 64 bits, of this machine's byte order.
IDENT = b"\x7fELF\x02" + (b"\x01" if struct.pack("=H", 1)[0] else b"\x02")


class Module:
    """The loaded parts of a file, as (offset, bytes, address), and its build id."""

    def __init__(self, path):
        self.parts, self.build = [], ""
        with open(path, "rb") as file:
            head = file.read(64)
            if len(head) < 64 or not head.startswith(IDENT):
                return
            at, (size, count) = struct.unpack_from("=Q", head, 32)[0], struct.unpack_from("=HH", head, 54)
            for number in range(count if size == 56 else 0):
                file.seek(at + number * size)
                kind, _, offset, address, _, length, _, _ = struct.unpack("=IIQQQQQQ", file.read(56))
                if kind == LOAD:
                    self.parts.append((offset, length, address))
                elif kind == NOTE and length < 1 << 16:
                    file.seek(offset)
                    self.build = build_of(file.read(length)) or self.build

    def address(self, offset):
        return next((offset - begin + address for begin, length, address in self.parts if begin <= offset < begin + length), None)


def build_of(notes):
    at = 0
    while at + 12 <= len(notes):
        name, length, kind = struct.unpack_from("=III", notes, at)
        text, at = notes[at + 12:at + 12 + name], at + 12 + (name + 3 & ~3)
        if kind == BUILD_ID and text == b"GNU\0":
            return notes[at:at + length].hex()
        at += length + 3 & ~3
    return ""


def parse(text):
    """{address: names, the innermost first}: an address, then a line with a function and one with a place for each."""
    found, lines, at = {}, text.splitlines(), 0
    while at < len(lines):
        if ADDRESS.fullmatch(lines[at]):
            names = found.setdefault(int(lines[at], 16), [])
            at += 1
        elif at + 1 < len(lines):
            file, _, line = os.path.basename(lines[at + 1].split(" (", 1)[0]).rpartition(":")
            if lines[at] != "??":
                names.append(f"{lines[at]} ({file}:{line})" if file not in ("", "??") and line not in ("", "?", "0") else lines[at])
            at += 2
        else:
            break
    return found


def ask(tool, path, addresses):
    try:
        done = subprocess.run([tool, "--addresses", "--functions", "--inlines", "--demangle", f"--exe={path}"], check=False,
                              input="".join(f"{address:#x}\n" for address in addresses).encode(), capture_output=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return parse(done.stdout.decode("utf-8", "replace"))


def of_module(tool, path, build, offsets):
    """({offset: names}, why there are none)."""
    try:
        module = Module(path) if os.path.isfile(path) else None
    except (OSError, struct.error):
        module = None
    if module is None or not module.parts:
        return {}, "cannot be read"
    if module.build != build:
        return {}, "is of another build"
    addresses = {offset: module.address(offset) for offset in offsets}
    known = ask(tool, path, sorted({address for address in addresses.values() if address is not None}))
    return {offset: known[address] for offset, address in addresses.items() if known.get(address)}, None


def find(places):
    """places: {key: (path, build id, offset in the file)}: ({key: names}, what is to be said of it)."""
    tool, found, messages, modules = shutil.which("addr2line"), {}, [], {}
    for key, (path, build, offset) in places.items():
        modules.setdefault((path, build), {}).setdefault(offset, []).append(key)
    if tool is None:
        return {}, ["sites have no names: addr2line is not installed (Debian: binutils)"] if modules else []
    for (path, build), offsets in modules.items():
        names, problem = of_module(tool, path, build, offsets)
        if problem and path.startswith("/"):
            messages.append(f"{path} {problem}: sites in it have no names. Make the page where the program ran, before it is built again")
        found.update((key, names[offset]) for offset in names for key in offsets[offset])
    return found, messages
