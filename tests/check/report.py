# SPDX-License-Identifier: MIT
"""For check_report: what sgc-report makes is read strictly, and files with names that could disturb it are made.

    report.py page PAGE JSON            the page is one well-formed file that loads nothing, and has what the JSON has, as text
    report.py dom DUMP JSON             a browser's document after the scripts: totals as in the JSON, scripts have run
    report.py log LOG JSON              the totals are the sums of the log's lines
    report.py hostile FOLDER            a log, a timeline, a profile and what sgc-snapshot would print of a snapshot
    report.py mutants TOOLS HOSTILE LEAK     each reader, of files of these folders with bytes changed or missing: it accepts or refuses them
    report.py placed OUT PATH BUILD OFFSET     a profile with a place in that module, of that build

A line is printed for each thing that is not so, and no other.
"""
import base64
import hashlib
import json
import os
import re
import sys
from html.parser import HTMLParser
from random import Random

VOID = {"meta", "br"}
HEADLINES = {"html", "head", "title", "body", "h1", "h2", "nav", "a", "main", "section", "dl", "div", "dt", "dd", "ul", "li", "table",
             "caption", "small", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "svg", "path", "text", "span", "footer",
             "script", "style", "meta"}
ATTRIBUTES = {"charset", "http-equiv", "content", "name", "lang", "id", "class", "href", "title", "scope", "viewbox", "role", "d", "x",
              "y", "text-anchor", "aria-label", "data-total", "data-value", "data-level"}
UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def say(text):
    print(text.encode("ascii", "backslashreplace").decode())


def shown(text):
    return UNSHOWN.sub("\ufffd", text)


class Page(HTMLParser):
    """totals: {name: number}; tables: {id: rows of cells, a number or a text}; texts: of elements, by tag."""

    def __init__(self, text, strict):
        super().__init__(convert_charrefs=True)
        self.strict, self.open, self.raw = strict, [], {"script": [], "style": []}
        self.totals, self.tables, self.texts, self.policy, self.html = {}, {}, [], None, {}
        self.feed(text)
        self.close()
        if self.open and strict:
            say(f"not closed: {self.open}")

    def check(self, tag, attributes):
        for name, value in attributes.items():
            if name not in ATTRIBUTES or (name == "href" and not re.fullmatch("#[a-z]+", value)):
                say(f"<{tag}> has {name}={value}")
        if tag not in HEADLINES or (tag == "script" and attributes):
            say(f"<{tag} {attributes}> is there")

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if self.strict:
            self.check(tag, attributes)
        if tag == "html":
            self.html = attributes
        if "data-total" in attributes:
            self.totals[attributes["data-total"]] = int(attributes["data-value"])
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        if tag == "table":
            self.rows = self.tables.setdefault(attributes["id"], [])
        elif tag == "tr" and "tbody" in self.open:
            self.rows.append([int(attributes["data-level"])] if "data-level" in attributes else [])
        elif tag == "td":
            self.rows[-1].append(float(attributes["data-value"]) if "data-value" in attributes else "")
        if tag not in VOID:
            self.open.append(tag)
            self.texts.append("")

    def handle_endtag(self, tag):
        if self.open and self.open[-1] == tag:
            self.open.pop()
        elif self.strict:
            say(f"</{tag}> within {self.open}")

    def handle_data(self, data):
        if not self.open:
            return
        self.texts[-1] += data
        if self.open[-1] in self.raw:
            self.raw[self.open[-1]].append(data)
        if self.open[-1] == "td" and isinstance(self.rows[-1][-1], str):
            self.rows[-1][-1] += data

    def handle_comment(self, data):
        say(f"a comment: {data}")


def load(path):
    with open(path, encoding="utf-8", errors="strict") as file:
        return json.load(file)


def compare_totals(page, data):
    wanted = {shown(name): total["value"] for name, total in data["totals"].items()}
    for name in sorted({*wanted, *page.totals}):
        if wanted.get(name) != page.totals.get(name):
            say(f"total {name}: the page has {page.totals.get(name)}, the JSON {wanted.get(name)}")
    if not wanted:
        say("there are no totals")


def compare_tables(page, data):
    if {f"table-{name}" for name in data["tables"]} != set(page.tables):
        say(f"tables: {sorted(page.tables)}, the JSON has {sorted(data['tables'])}")
    for name, table in data["tables"].items():
        wanted = [[shown(cell) if isinstance(cell, str) else cell for cell in row] for row in table["rows"]]
        if page.tables.get(f"table-{name}") != wanted:
            say(f"table {name} is not that of the JSON")


def check_policy(page):
    def digest(tag):
        return "'sha256-" + base64.b64encode(hashlib.sha256("".join(page.raw[tag]).encode()).digest()).decode() + "'"
    wanted = f"default-src 'none'; style-src {digest('style')}; script-src {digest('script')}; base-uri 'none'; form-action 'none'"
    if page.policy != wanted:
        say(f"the policy is {page.policy}; expected {wanted}")
    for address in re.findall(r"(?:https?:)?//[^\s\"']*", "".join(page.raw["style"])) + \
            re.findall(r"@import|url\(", "".join(page.raw["style"])):
        say(f"the style sheet has {address}")


def check_page(path, json_path):
    with open(path, encoding="utf-8", errors="strict") as file:
        text = file.read()
    page, data = Page(text, True), load(json_path)
    compare_totals(page, data)
    compare_tables(page, data)
    check_policy(page)
    if len(text.encode()) > 5_000_000:
        say(f"it has {len(text.encode())} bytes")
    texts = [data["title"], *data["warnings"], *(text for fact in data["facts"] for text in fact),
             *(total["title"] for total in data["totals"].values()),
             *(c["title"] for table in data["tables"].values() for c in table["columns"] if c["unit"] != "level")]
    for text in texts:
        if shown(text) not in page.texts:
            say(f"{text!r} is no text of the page")


def check_dom(path, json_path):
    with open(path, encoding="utf-8", errors="replace") as file:
        page, data = Page(file.read(), False), load(json_path)
    compare_totals(page, data)
    compare_tables(page, data)
    if page.html.get("data-scripted") != "yes":
        say("the script has not come to its end")


def check_log(path, json_path):
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.endswith("\n")]
    totals = {name: total["value"] for name, total in load(json_path)["totals"].items()}
    wanted = {"collections": len(lines), "heap_bytes_max": max(line["heap_bytes"] for line in lines),
              "live_bytes": lines[-1]["live_bytes_after"], "allocated_bytes": sum(line["allocated_bytes"] for line in lines),
              "stopped_ns": sum(line["pause_ns"] + line["earlier_stops_ns"] for line in lines),
              "pause_max_ns": max(line["longest_stop_ns"] for line in lines)}
    for name, value in wanted.items():
        if totals.get(name) != value:
            say(f"{name}: {totals.get(name)}, the log has {value}")


# ---- files with names that could disturb ----

NAMES = ["quote\" back\\slash 'single'", "new\nline\ttab\rreturn\x01one", "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>",
         "<!-- &amp; ]]> </title></style>", "right \u202eto left", "half a pair \ud800", "\u20ac \U0001f600", "javascript:alert(1)", ""]
ZEROS = ("stopped_ns clear_ns threads_stopped threads_blocked root_bytes marked_objects marked_bytes live_bytes_before "
         "live_bytes_after heap_bytes returned_bytes allocated_bytes earlier_stops earlier_stops_ns longest_stop_ns concurrent_ns "
         "assists assists_ns stalls stalls_ns").split()


def log_line(number, name):
    line = {"version": 1, "pid": 4711, "cycle": number, "reason": name, "stopped_for": name, "request_ns": number * 10 ** 9,
            "stop_begin_ns": number * 10 ** 9 + 5, "resumed_ns": number * 10 ** 9 + 1005, "pause_ns": 1000, "parts_ns": {name: 1000}}
    return json.dumps({**dict.fromkeys(ZEROS, 0), **line}) + "\n"


def trace_lines(name):
    head = {"pid": 4711, "tid": 1 << 22}
    yield "["
    yield json.dumps({"name": "process_name", "ph": "M", **head, "args": {"name": name}}) + ","
    yield json.dumps({"name": "thread_name", "ph": "M", "pid": 4711, "tid": 5, "args": {"name": name}}) + ","
    yield json.dumps({"name": "stopped", "ph": "X", "pid": 4711, "tid": 5, "ts": 5.125, "dur": 1.5, "args": {}}) + ","
    yield json.dumps({"name": "pause", "ph": "X", **head, "ts": 5.125, "dur": 2.5, "args": {"cycle": 1}}) + ","


def varint(value):
    result = b""
    while value > 0x7f:
        result, value = result + bytes([value & 0x7f | 0x80]), value >> 7
    return result + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def profile(texts):
    """Texts from 6 on are functions; a sample each, of the values 1 to 4 times its number; one is twice there."""
    texts = [b"", b"alloc_objects", b"alloc_space", b"inuse_objects", b"inuse_space", b"count", b"bytes"] + texts
    data = b"".join(message(1, number(1, kind) + number(2, unit)) for kind, unit in ((1, 5), (2, 6), (3, 5), (4, 6)))
    for at in range(7, len(texts)):
        data += message(5, number(1, at) + number(2, at)) + message(4, number(1, at) + message(4, number(1, at)))
    for at in [7, *range(7, len(texts))]:
        data += message(2, message(1, varint(at) + varint(7)) + message(2, b"".join(varint(at * k) for k in (1, 2, 3, 4))))
    data += message(2, message(1, varint(1 << 20)) + b"".join(number(2, k) for k in (0, 0, 0, 0)))
    return data + b"".join(message(6, text) for text in texts) + number(13, 7)


def write_placed(out, path, build, offset):
    texts = [b"", b"inuse_space", b"bytes", path.encode(), build.encode()]
    data = message(1, number(1, 1) + number(2, 2)) + b"".join(message(6, text) for text in texts)
    data += message(3, number(1, 1) + number(2, 1 << 20) + number(3, 1 << 30) + number(4, 0x1000) + number(5, 3) + number(6, 4))
    data += message(4, number(1, 1) + number(2, 1) + number(3, (1 << 20) - 0x1000 + int(offset)))
    with open(out, "wb") as file:
        file.write(data + message(2, number(1, 1) + number(2, 700)))


def heap(names):
    tree = [{"parent": -1, "kind": "all", "name": "all", "objects": 0, "bytes": 0, "retained_objects": 9, "retained": 900}]
    tree += [{"parent": at, "kind": "group", "name": name, "objects": 1, "bytes": 10, "retained_objects": 1, "retained": max(1, 800 - at)} for at, name in enumerate(names)]
    groups = [{"name": name, "objects": 1, "bytes": 10, "retained": 10} for name in names]
    return {"version": 1, "process": 4711, "cycle": 3, "objects": 9, "bytes": 900, "unreachable_objects": 0, "unreachable_bytes": 0,
            "groups": groups, "tree": tree}


def growth(names):
    sums = {"bytes": 1, "objects": 1}
    held = [{"root": name, "bytes": 1, "objects": 1, "first": "0x10"} for name in names[:3]]
    groups = [{"name": name, "grown_by": 1, "before": 1, "now": 2, "new_objects": 1, "held_by": held} for name in names]
    return {"version": 1, "process_before": 4711, "process": 4711, "before": sums, "now": sums, "new": sums, "renamed": sums, "groups": groups}


def write_hostile(folder):
    def write(name, data):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)

    write("log", "".join(log_line(at + 1, name) for at, name in enumerate(NAMES)).encode())
    for at, name in enumerate(NAMES):
        write(f"trace-{at}", "\n".join(trace_lines(name)).encode() + b"\n")
    texts = [name.encode("utf-8", "surrogatepass") for name in NAMES] + [b"\xff\xfe no UTF-8", b"cut \xe2\x82", b"long " * 1000]
    write("profile", profile(texts))
    write("export", json.dumps(heap(NAMES)).encode())
    write("growth", json.dumps(growth(NAMES)).encode())
    wide = [f"{at} " + '"' * 400 for at in range(3000)]
    write("wide-export", json.dumps(heap(wide)).encode())
    write("wide-profile", profile([name.encode() for name in wide]))


def mutant(random, data):
    data = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 20))):
        at = random.randrange(len(data))
        data[at] = random.choice((data[at] ^ 1 << random.randrange(8), random.randrange(256), 0x22, 0x7b, 0x30))
    if random.random() < 0.3:
        at = random.randrange(len(data))
        del data[at:at + random.choice((1, 5, len(data)))]
    return bytes(data)


def check_mutants(tools, hostile, leak):
    sys.dont_write_bytecode = True
    sys.path.insert(0, tools)
    from report import found, inputs, log, page, profile, trace
    random, path = Random(7), os.path.join(hostile, "mutant")
    for reader, files in ((log, (f"{hostile}/log", f"{leak}/log")), (trace, (f"{hostile}/trace-0", f"{leak}/trace")),
                          (profile, (f"{hostile}/profile", f"{leak}/profile"))):
        accepted = 0
        for at in range(200):
            with open(files[at % 2], "rb") as file:
                data = mutant(random, file.read())
            with open(path, "wb") as file:
                file.write(data)
            try:
                show(found, log, page, trace, reader.read(path, lambda places: ({}, [])) if reader is profile else reader.read(path))
                accepted += 1
            except inputs.Bad:
                continue
            except Exception as reason:
                say(f"{reader.__name__}: {reason!r} of {data!r}")
        if accepted == 0:
            say(f"{reader.__name__}: none of them is accepted")


def show(found, log, page, trace, what):
    result = found.Found("", 100)
    result.begin = 0
    if isinstance(what, log.Log):
        found.add_log(result, "", what, what.main_process(None), False)
    elif isinstance(what, trace.Trace):
        found.add_trace(result, "", what)
    else:
        found.add_profile(result, "", what)
    page.render(result.data, "")
    json.dumps(result.data)


def main():
    {"page": check_page, "dom": check_dom, "log": check_log, "hostile": write_hostile,
     "mutants": check_mutants, "placed": write_placed}[sys.argv[1]](*sys.argv[2:])


main()
