# SPDX-License-Identifier: MIT
"""Compares the reference with the headers' comments.

    reference.py man INCLUDE FOLDER       the manual pages
    reference.py html INCLUDE FOLDER      what doxygen has made

Prints what is wrong, a line each: a function without a comment or without a page, a page whose text is not the comment, a page
for nothing.
"""
import html.parser
import os
import re
import sys
from collections import defaultdict

COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)
NAME = re.compile(r"\b(?:S?GC|scm)_\w+")
TYPE = re.compile(r"(typedef|inline|template|namespace) |.*\{|(struct|union|enum|class) \w+$")
FUNCTION = re.compile(r"(\w+)\(|\*(\w+)\)\(|(\w+)$")


def words(text):
    """What is to be read, without marks of paragraphs, lists and code."""
    return re.sub(r"(?m)^\s*-\s", " ", text.replace("`", "")).split()


def text_of(comment):
    return re.sub(r"(?m)(?<=\n) \* ?", "", comment).strip("\n ")


def headers(include):
    for where, _, names in sorted(os.walk(include)):
        for name in sorted(names):
            if name.endswith(".h"):
                with open(os.path.join(where, name), encoding="utf-8") as f:
                    yield name, f.read()


def pieces(source):
    """(number of the comment, comment, declaration, remark) of each declaration at the outermost level."""
    number, comment, depth, code, remark, new_line = 0, "", 0, "", "", True
    for part in re.split(r"(/\*.*?\*/|^#(?:[^\n]*\\\n)*[^\n]*|\n(?:[ \t]*\n)?)", source, flags=re.DOTALL | re.MULTILINE):
        if code.endswith(";") and not depth and (new_line or part.count("\n") == 2) and part.strip(" \t"):
            yield number, comment, code, remark
            code = remark = ""
        if part.count("\n") == 2 and not part.strip() and not depth:
            number, comment = number + 1, ""
        elif part.startswith("/*") and not depth:
            if code:
                remark += " " + part[2:-2]
            else:
                number, comment = number + 1, text_of(part[2:-2])
        elif part.strip() and not part.startswith(("/*", "#")) and part.strip() not in ('extern "C" {', "}"):
            depth += part.count("{") - part.count("}")
            code += " " + part.strip()
        new_line = "\n" in part or (new_line and not part)


def declared(include):
    """{function or variable: [(what its comment says, what the remark on its line says, key of the comment), ...]}"""
    found = defaultdict(list)
    for header, source in headers(include):
        for number, comment, code, remark in pieces(source):
            code = re.sub(r"GC_(?:API|CALL|CALLBACK|PTHREAD_EXIT_ATTRIBUTE|ATTR_\w+(?:\([\d, ]*\))?)(?=\W)", "", code)
            code = re.sub(r" +", " ", code.rstrip(";")).strip()
            match = FUNCTION.search(code)
            if match and match.start() and not TYPE.match(code) and NAME.fullmatch(name := next(filter(None, match.groups()))):
                found[name].append((words(comment), words(remark), (header, number)))
    return found


# ---- manual pages ----

ESCAPES = {"\\(aq": "'", "\\(ti": "~", "\\(ha": "^", "\\(bu": "", "\\-": "-", "\\e": "\\", "\\&": ""}


def description(page):
    """The words of a page's DESCRIPTION; a link's are those of the page that it leads to."""
    with open(page, encoding="utf-8") as f:
        text = f.read()
    if text.startswith(".so man3/"):
        return description(os.path.join(os.path.dirname(page), text[len(".so man3/"):].strip()))
    text = text.split(".SH DESCRIPTION\n", 1)[-1].split("\n.SH ", 1)[0]
    text = re.sub(r"(?m)^\.IP (\S+) 4$", r"\1", text)
    text = re.sub(r"(?m)^\..*\n?", "", text + "\n")
    text = re.sub(r"\\f[BIPR]", "", text)
    return re.sub(r"\\(?:\(..|.)", lambda match: ESCAPES[match.group()], text).replace("`", "").split()


def defined(page):
    with open(page, encoding="utf-8") as f:
        return re.findall(r"#define (\w+)", re.sub(r"\\(?:\(..|.)", lambda match: ESCAPES.get(match.group(), ""), f.read()))


def wanted_on_page(functions, comment, key):
    """The comment, and behind it each name that has a remark, with that."""
    wanted = list(comment)
    for name, places in functions.items():
        for _, remark, other in places:
            if remark and other == key:
                wanted += [name, *remark]
    return wanted


def check_man(include, folder):
    functions = declared(include)
    for name, places in sorted(functions.items()):
        page = os.path.join(folder, name + ".3sgc")
        if not any(comment or remark for comment, remark, _ in places):
            yield f"{name}: no comment says what it does"
        if not os.path.exists(page):
            yield f"{name}: no page"
        elif description(page) not in [wanted_on_page(functions, comment, key) for comment, _, key in places]:
            yield f"{name}: the page does not say what the comment says"
    known, all_words = set(functions), set()
    for header, source in headers(include):
        known |= {header, *NAME.findall(COMMENT.sub("", source))}
        all_words |= set(re.findall(r"\w+", source))
    for page in sorted(os.listdir(folder)):
        if page.removesuffix(".3sgc") not in known:
            yield f"{page}: a page for nothing"
        for macro in defined(os.path.join(folder, page)):
            if macro not in all_words:
                yield f"{page}: no header has the macro {macro}"


# ---- HTML ----

class Page(html.parser.HTMLParser):
    """{name: the words of each section of documentation under it}"""

    def __init__(self, path):
        super().__init__()
        self.found = defaultdict(list)
        self.name, self.inside, self.depth = "", "", 0
        with open(path, encoding="utf-8") as f:
            self.feed(f.read())

    def handle_starttag(self, tag, attributes):
        kind = dict(attributes).get("class")
        if kind == "memtitle":
            self.inside, self.name = "title", ""
        elif kind == "memdoc":
            self.inside, self.depth = "text", 0
            self.found[self.name].append([])
        elif tag == "div" and self.inside == "text":
            self.depth += 1

    def handle_endtag(self, tag):
        if tag == "h2" and self.inside == "title":
            self.inside = ""
        elif tag == "div" and self.inside == "text":
            self.depth -= 1
            if self.depth < 0:
                self.inside = ""

    def handle_data(self, data):
        if self.inside == "title":
            match = NAME.search(data)
            self.name = match.group() if match else self.name
        elif self.inside == "text":
            self.found[self.name][-1] += data.replace("`", "").split()


def check_html(include, folder):
    found = defaultdict(list)
    for name in sorted(os.listdir(folder)):
        if name.endswith("_8h.html"):
            for member, texts in Page(os.path.join(folder, name)).found.items():
                found[member] += ["".join(text) for text in texts]
    for name, places in sorted(declared(include).items()):
        if name not in found:
            yield f"{name}: not in the HTML"
        elif not any("".join(comment + remark) in found[name] for comment, remark, _ in places):
            yield f"{name}: the HTML does not say what the comment says"


def main():
    what, include, folder = sys.argv[1:]
    for problem in {"man": check_man, "html": check_html}[what](include, folder):
        print(problem)


if __name__ == "__main__":
    main()
