# SPDX-License-Identifier: MIT
"""Profiles in the form of pprof (profile.proto, packed or not): what was allocated where.  A reader of what a table needs."""
import re
import zlib

from report import symbols
from report.inputs import Bad, wrong_kind

OPTION = "--profile"
UNPACKED_MAX = 1 << 29
TYPES_MAX = 16
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
# Fields, by the numbers that the format has.
TYPES, SAMPLES, MAPPINGS, LOCATIONS, FUNCTIONS, STRINGS, COMMENTS, DEFAULT = 1, 2, 3, 4, 5, 6, 13, 14


class Malformed(Exception):
    pass


def varint(data, at):
    """(value, behind it)."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise Malformed("it is cut off")
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        if byte < 0x80:
            return value & (2 ** 64 - 1), at
    raise Malformed("a number has more than ten bytes")


def fields(data):
    """(number, value) of each field of a message: a number, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        wire = key & 7
        if wire == VARINT:
            value, at = varint(data, at)
        elif wire in (FIXED64, FIXED32, BYTES):
            length = 8 if wire == FIXED64 else 4
            if wire == BYTES:
                length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            if at > len(data):
                raise Malformed("it is cut off")
        else:
            raise Malformed(f"a field is of type {wire}")
        yield key >> 3, value


def grouped(data):
    """{number: values} of a message."""
    found = {}
    for number, value in fields(data):
        found.setdefault(number, []).append(value)
    return found


def as_number(values):
    """The last of a field's values, 0 if there is none."""
    value = values[-1] if values else 0
    if not isinstance(value, int):
        raise Malformed("bytes stand for a number")
    return value


def as_messages(values):
    if not all(isinstance(value, bytes) for value in values):
        raise Malformed("a number stands for a message")
    return values


def repeated(values):
    """Numbers, packed or one by one."""
    numbers = []
    for value in values:
        if isinstance(value, int):
            numbers.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            numbers.append(number)
    return numbers


def signed(value):
    return value - 2 ** 64 if value >= 2 ** 63 else value


class Profile:
    """types: (name, unit); stacks: {names, the innermost first: values}; chosen: the type to sort by.  find names places in modules
    (report/symbols.py)."""

    def __init__(self, data, find):
        parts = grouped(data)
        self.texts = [text.decode("utf-8", "replace") for text in as_messages(parts.get(STRINGS, []))]
        self.types = [(self.text(t.get(1)), self.text(t.get(2))) for t in map(grouped, as_messages(parts.get(TYPES, [])))]
        if not self.texts or not self.types:
            raise Malformed("it has no kinds of values")
        if len(self.types) > TYPES_MAX:
            raise Malformed(f"it has {len(self.types)} kinds of values, and a table has room for {TYPES_MAX}")
        self.functions = self.numbered(parts.get(FUNCTIONS, []))
        self.mappings = self.numbered(parts.get(MAPPINGS, []))
        self.places = self.name_all(self.numbered(parts.get(LOCATIONS, [])), find)
        self.comments = [self.text([number]) for number in repeated(parts.get(COMMENTS, []))]
        self.chosen = self.choose(self.text(parts.get(DEFAULT)))
        self.stacks = {}
        for sample in map(grouped, as_messages(parts.get(SAMPLES, []))):
            self.add(sample)

    def text(self, values):
        number = as_number(values)
        if number >= len(self.texts) > 0:
            raise Malformed(f"there is no text {number}")
        return self.texts[number] if self.texts else ""

    @staticmethod
    def numbered(messages):
        return {as_number(message.get(1)): message for message in map(grouped, as_messages(messages))}

    def name_all(self, locations, find):
        """{number: functions at a place, the innermost first, or where it is in a module}."""
        places = {number: self.names_of(location) for number, location in locations.items()}
        unnamed = {number: self.place_of(locations[number]) for number, names in places.items() if not any(names)}
        known, self.messages = find({number: place for number, place in unnamed.items() if place[0]})
        for number, (path, _, offset) in unnamed.items():
            places[number] = known.get(number) or [f"{path.rsplit('/', 1)[-1]}+{offset:#x}" if path else f"{offset:#x}"]
        return places

    def names_of(self, location):
        lines = [grouped(line) for line in as_messages(location.get(4, []))]
        names = [self.text(self.functions.get(as_number(line.get(1)), {}).get(2)) for line in lines]
        return [name or "?" for name in names] if any(names) else []

    def place_of(self, location):
        """(path, build id, offset in the file), or the address in no module."""
        address, mapping = as_number(location.get(3)), self.mappings.get(as_number(location.get(2)))
        if mapping is None or address < as_number(mapping.get(2)):
            return "", "", address
        return self.text(mapping.get(5)), self.text(mapping.get(6)), address - as_number(mapping.get(2)) + as_number(mapping.get(4))

    def process(self):
        """The collector says it in a comment."""
        found = re.search(r"\bprocess (\d{1,10})\b", " ".join(self.comments))
        return int(found.group(1)) if found else None

    def choose(self, name):
        names = [type_name for type_name, _ in self.types]
        return names.index(name) if name in names else len(names) - 1

    def add(self, sample):
        values = [signed(value) for value in repeated(sample.get(2, []))]
        if len(values) != len(self.types):
            raise Malformed(f"a sample has {len(values)} values, and there are {len(self.types)} kinds of them")
        names = tuple(name for place in repeated(sample.get(1, [])) for name in self.places.get(place, ["?"]))
        before = self.stacks.get(names, [0] * len(values))
        self.stacks[names] = [a + b for a, b in zip(before, values)]


def unpacked(data):
    if not data.startswith(b"\x1f\x8b"):
        return data
    reader = zlib.decompressobj(wbits=31)
    try:
        result = reader.decompress(data, UNPACKED_MAX)
    except zlib.error as reason:
        raise Malformed(f"it cannot be unpacked ({reason})") from None
    if not reader.eof:
        raise Malformed("it is cut off, or larger than 512 MB when unpacked")
    return result


def read(path, find=symbols.find):
    with open(path, "rb") as file:
        data = file.read(UNPACKED_MAX + 1)
    if len(data) > UNPACKED_MAX:
        raise Bad(f"{OPTION} {path}: it is larger than 512 MB; expected a profile (SGC_PROFILE)", "profile at a higher rate of bytes")
    try:
        return Profile(unpacked(data), find)
    except Malformed as reason:
        raise wrong_kind(OPTION, path, data[:16], str(reason)) from None
