# SPDX-License-Identifier: MIT
"""Elements of HTML and SVG.  Each text and each attribute is escaped here, and nowhere else: what is not an Element is a text."""
import html
import re

VOID = ("meta", "br")
RAW = ("script", "style")
# Characters that have no place in a document, or would turn the text that follows around.
UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def clean(text):
    """The text, as far as it can be shown."""
    return UNSHOWN.sub("\ufffd", str(text))


class Element:
    def __init__(self, tag, attributes=None, *children):
        self.tag, self.attributes, self.children = tag, attributes or {}, children
        assert re.fullmatch("[a-zA-Z0-9]+", tag) and all(re.fullmatch("[a-zA-Z-]+", name) for name in self.attributes)

    def pieces(self):
        yield f"<{self.tag}"
        for name, value in self.attributes.items():
            if value is not None:
                yield f' {name}="{html.escape(clean(value))}"'
        yield ">"
        if self.tag in VOID:
            assert not self.children
            return
        for child in self.children:
            if isinstance(child, Element):
                yield from child.pieces()
            elif self.tag in RAW:
                assert isinstance(child, Ours) and "</" not in child
                yield child
            else:
                yield html.escape(clean(child))
        yield f"</{self.tag}>"

    def __str__(self):
        return "".join(self.pieces())


class Ours(str):
    """The text of a script or of a style sheet, which no one escapes: only files of this folder are such."""
