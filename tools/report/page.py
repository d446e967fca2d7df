# SPDX-License-Identifier: MIT
"""The page, of what report/found.py has.  One file: the style sheet and the script are in it, and its policy allows no other."""
import base64
import hashlib
import os

from report import charts
from report.elements import Element, Ours
from report.units import NUMBERS, shown

HERE = os.path.dirname(os.path.realpath(__file__))
# (id, title, charts, tables)
SECTIONS = (("memory", "Memory over time", ("memory",), ()),
            ("pauses", "Pauses", ("pauses",), ("histogram", "causes", "parts", "threads")),
            ("collections", "Collections", (), ("longest", "last")),
            ("heap", "The heap", (), ("groups", "retained")),
            ("growth", "Growth", (), ("growth",)),
            ("allocation", "Allocation", (), ("sites",)))


def ours(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return Ours(file.read())


def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def head(title, style, script):
    policy = f"default-src 'none'; style-src {hash_of(style)}; script-src {hash_of(script)}; base-uri 'none'; form-action 'none'"
    return Element("head", {}, Element("meta", {"charset": "utf-8"}),
                   Element("meta", {"http-equiv": "Content-Security-Policy", "content": policy}),
                   Element("meta", {"name": "viewport", "content": "width=device-width"}),
                   Element("meta", {"name": "referrer", "content": "no-referrer"}),
                   Element("title", {}, title), Element("style", {}, style))


def cell(value, unit):
    if unit == "text":
        return Element("td", {}, value)
    return Element("td", {"class": "number", "data-value": value}, shown(value, unit))


def row(columns, values):
    """A level is how far the row is moved to the right, not a cell."""
    level = next((value for column, value in zip(columns, values) if column["unit"] == "level"), None)
    cells = [cell(value, column["unit"]) for column, value in zip(columns, values) if column["unit"] != "level"]
    return Element("tr", {"data-level": level, "class": None if level is None else f"level{min(level, 10)}"}, *cells)


def table(name, data):
    columns = data["columns"]
    heads = [Element("th", {"scope": "col", "class": "number" if column["unit"] in NUMBERS else None}, column["title"])
             for column in columns if column["unit"] != "level"]
    more = data["all"] - len(data["rows"])
    note = " ".join(filter(None, (data["note"], f"{more} more are not shown." if more else "")))
    caption = Element("caption", {}, data["title"], *([Element("small", {}, note)] if note else []))
    sortable = "sortable" if all(column["unit"] != "level" for column in columns) else "tree"
    return Element("table", {"id": f"table-{name}", "class": sortable}, caption, Element("thead", {}, Element("tr", {}, *heads)),
                   Element("tbody", {}, *(row(columns, values) for values in data["rows"])))


def section(number, title, *children):
    return Element("section", {"id": number}, Element("h2", {}, title), *children)


def pairs(rows):
    """rows: (title, attributes, text)."""
    return Element("dl", {}, *(Element("div", {}, Element("dt", {}, title), Element("dd", attributes, text))
                               for title, attributes, text in rows))


def totals(data, number):
    return pairs((total["title"], {"data-total": name, "data-value": total["value"], "title": total["value"]},
                  shown(total["value"], total["unit"])) for name, total in data["totals"].items() if total["section"] == number)


def sources(data):
    return pairs((source["kind"], {}, source["file"] + ("" if source["process"] is None else f" (process {source['process']})"))
                 for source in data["sources"])


def sections(data):
    yield section("program", "The program", pairs((what, {}, text) for what, text in data["facts"]))
    if data["warnings"]:
        yield section("warnings", "Warnings", Element("ul", {}, *(Element("li", {}, text) for text in data["warnings"])))
    for number, title, figures, tables in SECTIONS:
        children = [totals(data, number)] if any(total["section"] == number for total in data["totals"].values()) else []
        children += [charts.draw(name, data["charts"][name], charts.end_of(data)) for name in figures if name in data["charts"]]
        children += [table(name, data["tables"][name]) for name in tables if name in data["tables"]]
        if children:
            yield section(number, title, *children)
    yield section("sources", "Made of", sources(data))


def render(data, made_by):
    style, script = ours("page.css"), ours("page.js")
    parts = list(sections(data))
    menu = Element("nav", {}, *(Element("a", {"href": f"#{part.attributes['id']}"}, part.children[0].children[0]) for part in parts))
    foot = Element("footer", {}, f"{made_by}. 1 KB is 1024 bytes. Exact numbers: in the text that appears over a total, and in --json.")
    body = Element("body", {}, Element("h1", {}, data["title"]), menu, Element("main", {}, *parts), foot,
                   Element("script", {}, script))
    return "<!DOCTYPE html>\n" + str(Element("html", {"lang": "en"}, head(data["title"], style, script), body)) + "\n"
