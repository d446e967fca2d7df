# SPDX-License-Identifier: MIT
"""Names across modules, from the sources.  A module is x.c with x.h; its external functions are those that x.c defines and some header
declares; its customers are the other modules in whose code such a name stands, but for headers that do no more than declare it.

    modules.py ROOT             the counts of the ratchet, a line each
    modules.py ROOT --all       what they are made of

    one_customer    external functions that one other module uses alone: they might be static there; not those that a header marks as
                    exported to programs (SGC_EXPORTED)
    unused          external functions that no other module uses
    short_files     files of less than 50 lines
    upward          functions that a header of another folder declares than the one that defines them
    ring            modules in the largest circle by names
"""
import os
import re
import sys
from collections import Counter, defaultdict

FOLDERS = ("platform", "options", "alloc", "malloc", "mark", "gc", "shortterm")
SHORT = 50
NO_CODE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
PIECE = re.compile(r"[{};]|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*$", re.MULTILINE)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
CALLED = re.compile(r"\b(\w+)\s*\((?!\s*\()")
TOKEN = re.compile(r"[A-Za-z_]\w*")


def without_comments(text):
    return NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found.group(0)), text)


def statements(text):
    """(head, end) of each declaration at the outermost level: what stands before its ; or {, and which of them it is."""
    depth, begin = 0, 0
    for piece in PIECE.finditer(text):
        kind = piece.group(0)[0]
        if kind == "{":
            if depth == 0:
                yield text[begin:piece.start()], kind
            depth += 1
        elif kind == "}":
            depth -= 1
        elif kind == ";" and depth == 0:
            yield text[begin:piece.start()], kind
        if depth == 0:
            begin = piece.end()


def function_of(head):
    """The external function that is declared or defined so, or None."""
    if re.search(r"\bstatic\b|\btypedef\b|\bSGC_EXPORTED\b", head):
        return None
    found = CALLED.search(ATTRIBUTE.sub(" ", head))
    return found.group(1) if found and "=" not in head[:found.start()] else None


class Tree:
    def __init__(self, root):
        self.lines, self.defined, self.declared, self.tokens = {}, {}, defaultdict(set), defaultdict(Counter)
        for folder in FOLDERS:
            for where, _, names in os.walk(os.path.join(root, folder)):
                for name in sorted(names):
                    if name.endswith((".c", ".h")):
                        self.take(root, os.path.relpath(os.path.join(where, name), root))
        self.external = {name: module for name, module in self.defined.items() if name in self.declared}
        self.customers = {name: {m for m, tokens in self.tokens.items() if name in tokens and m != module and not self.only_declares(m, name)}
                          for name, module in self.external.items()}

    def take(self, root, path):
        with open(os.path.join(root, path), encoding="utf-8") as f:
            text = f.read()
        self.lines[path] = text.count("\n")
        text, module = without_comments(text), path.rsplit(".", 1)[0]
        self.tokens[module].update(TOKEN.findall(text))
        for head, end in statements(text):
            name = function_of(head)
            if name and end == "{" and path.endswith(".c"):
                self.defined.setdefault(name, module)
            elif name and end == ";" and path.endswith(".h"):
                self.declared[name].add(path)

    def only_declares(self, module, name):
        """Is it the module of a header alone, which names the function once?"""
        header = module + ".h"
        return header in self.declared[name] and module + ".c" not in self.lines and self.tokens[module][name] == 1

    def used_by(self, number):
        return sorted(name for name, customers in self.customers.items() if len(customers) == number)

    def short_files(self):
        return sorted(path for path, lines in self.lines.items() if lines < SHORT)

    def upward(self):
        return sorted(name for name, module in self.external.items()
                      if all(os.path.dirname(header) != os.path.dirname(module) for header in self.declared[name]))

    def ring(self):
        """The modules of the largest circle, after Tarjan."""
        edges = defaultdict(set)
        for name, customers in self.customers.items():
            for module in customers:
                edges[module].add(self.external[name])
        return max(circles(edges), key=len, default=[])


def circles(edges):
    """Sets of modules each of which leads to each other; without recursion, as there are some hundred."""
    index, low, stack, found = {}, {}, [], []
    for start in sorted(edges):
        work = [] if start in index else [(start, None)]
        while work:
            module, rest = work.pop()
            if rest is None:
                index[module] = low[module] = len(index)
                stack.append(module)
                rest = iter(sorted(edges[module]))
            for other in rest:
                if other not in index:
                    work += [(module, rest), (other, None)]
                    break
                if other in stack:
                    low[module] = min(low[module], low[other] if other in low else index[other])
            else:
                if low[module] == index[module]:
                    at = stack.index(module)
                    found.append(sorted(stack[at:]))
                    del stack[at:]
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[module])
    return found


def main():
    tree = Tree(sys.argv[1])
    parts = {"one_customer": tree.used_by(1), "unused": tree.used_by(0), "short_files": tree.short_files(), "upward": tree.upward(),
             "ring": tree.ring()}
    for what, names in parts.items():
        print(what, len(names), sep="\t")
        if "--all" in sys.argv:
            print("".join(f"\t{name}\n" for name in names), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
