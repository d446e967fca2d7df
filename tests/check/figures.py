# SPDX-License-Identifier: MIT
"""Figures of the documents that do not say where they come from: figures.py ROOT

A figure is a number with a unit of time, rate, share or work.  Its section names a command, a results page or the journal's entry, or a
paper; in README.md its paragraph does, or bench/report wrote it.  A section whose figures are constants, or follow from how things
are built, or come from a command that the reader need not see, says so: <!-- figures: SOURCE -->.  Samples of output do not count.
"""
import re
import sys
from pathlib import Path

FIGURE = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?\s?(?:(?:ns|µs|us|ms|percent|instructions|nanoseconds|microseconds|milliseconds|[MG]B/s)\b|%)")
SOURCE = re.compile(r"<!-- figures: \S.* -->|bench/[a-z]|tests/|check_|journal/|make bench|perfmodel/|acdc|"
                    r"(?:RESULTS|PROGRAMS|TABLES)\.md|\bpapers?\b|\[[A-Z][A-Za-z]+[0-9]*\]")
WRITTEN = re.compile(r"<!-- bench/report writes from here.*?<!-- to here -->", re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")


def without_samples(text):
    """A sample is indented by four blanks, behind an empty line, or fenced."""
    kept, sample, fenced, before = [], False, False, ""
    for line in text.split("\n"):
        fenced = fenced != line.startswith("```")
        indented = line.startswith("    ")
        sample = indented and (sample or not before.strip()) or sample and not line.strip()
        if not sample and not fenced:
            kept.append(line)
        before = line
    return "\n".join(kept)


def sections(text):
    """(heading, text)"""
    parts = re.split(r"^(#{1,3} .*)$", text, flags=re.MULTILINE)
    return list(zip(["its beginning", *parts[1::2]], parts[0::2]))


def paragraphs(text):
    """Of a table each line."""
    for block in re.split(r"\n\s*\n", text):
        lines = block.strip().split("\n")
        yield from ([(line[:40], line) for line in lines] if lines[0].startswith("|") else [(block.strip()[:40], block)])


def problems(root):
    pages = sorted(p for folder in ("doc", "doc/design", "doc/studies", "bench", "bench/*") for p in root.glob(f"{folder}/*.md"))
    for page in [root / "README.md", *pages]:
        text = page.read_text(encoding="utf-8")
        if "Written by bench/report" in text:
            continue
        parts = paragraphs(WRITTEN.sub("", text)) if page.name == "README.md" and page.parent == root else sections(text)
        for place, part in parts:
            found = FIGURE.findall(CODE.sub("", without_samples(part)))
            if found and not SOURCE.search(part):
                yield f"{page.relative_to(root)}, \"{place}\": {len(found)} figures ({found[0]}) without a command, a result or <!-- figures: SOURCE -->"


if __name__ == "__main__":
    print("\n".join(problems(Path(sys.argv[1]))), end="")
