# SPDX-License-Identifier: MIT
"""Words that hide who does what: sentences of comments that begin as a question or lean on another comment, and names made of words
that say nothing of what is done.

    words.py ROOT LIMITS            each file that is not at its limit, a line each; exit status 1 if there is one
    words.py ROOT LIMITS --lower    writes the limits anew, none higher than it was
    words.py ROOT --rooms           what each room has: sentences, names

LIMITS has a line for each file that has any: path, sentences, names.  A file that is not there may have none.
"""
import os
import re
import sys
from collections import Counter

FOLDERS = ("platform", "options", "alloc", "malloc", "mark", "gc", "shortterm", "preload", "snapshot", "perfmodel")
COMMENT = re.compile(r'/\*(.*?)\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
SENTENCE = re.compile(r"(?:^|[.:;?!]\s+|^-\s+)(Who|What|Whoever|Whatever|Likewise|The same|As above)\b", re.MULTILINE)
INCLUDE = re.compile(r"^\s*#\s*include.*$", re.MULTILINE)
NAME = re.compile(r"[A-Za-z_]\w*")
HIDING = {"look", "looks", "looked", "told", "said", "hear", "hears", "heard", "beside", "stray", "took", "most", "least"}


def comments(text):
    """Their texts, without the stars of lines."""
    for match in COMMENT.finditer(text):
        if match.group(1) is not None:
            yield re.sub(r"\n\s*\* ?", " ", match.group(1)).strip()


def hides(name):
    words = name.lower().split("_")
    return bool(HIDING & set(words)) or "_let_go" in "_" + name or "_left_" in "_" + name


def count(text):
    """(sentences, distinct names) of a file."""
    code = COMMENT.sub(" ", INCLUDE.sub("", text))
    return sum(len(SENTENCE.findall(comment)) for comment in comments(text)), len({name for name in NAME.findall(code) if hides(name)})


def measure(root):
    """{path: (sentences, names)} of all files that have any."""
    found = {}
    for folder in FOLDERS:
        for where, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                path = os.path.join(where, name)
                if name.endswith((".c", ".h", ".def")):
                    with open(path, encoding="utf-8") as f:
                        found[os.path.relpath(path, root)] = count(f.read())
    return {path: counts for path, counts in sorted(found.items()) if any(counts)}


def read(path):
    with open(path, encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    return {row[0]: (int(row[1]), int(row[2])) for row in rows}


def differences(found, limits):
    for path in sorted({*found, *limits}):
        for what, have, limit in zip(("sentences", "names"), found.get(path, (0, 0)), limits.get(path, (0, 0))):
            if have > limit:
                yield f"{path}: {have} {what} that hide who does what, at most {limit}: name the actor (CONTRIBUTING.md)"
            elif have < limit:
                yield f"{path}: {have} {what} that hide who does what, and its limit is {limit}: run words.py ROOT LIMITS --lower"


def lower(path, found, limits):
    with open(path, encoding="utf-8") as f:
        head = [line for line in f if line.startswith("#")]
    kept = {name: tuple(map(min, counts, limits.get(name, (0, 0)))) for name, counts in found.items()}
    with open(path, "w", encoding="utf-8") as f:
        f.writelines([*head, *(f"{name}\t{counts[0]}\t{counts[1]}\n" for name, counts in kept.items() if any(counts))])


def rooms(found):
    sums = Counter()
    for path, counts in found.items():
        for i, n in enumerate(counts):
            sums[os.path.dirname(path), i] += n
    for room in sorted({room for room, _ in sums}):
        print(room, sums[room, 0], sums[room, 1], sep="\t")


def main():
    root, rest = sys.argv[1], sys.argv[2:]
    found = measure(root)
    if rest == ["--rooms"]:
        return rooms(found)
    if rest[1:] == ["--lower"]:
        return lower(rest[0], found, read(rest[0]))
    wrong = list(differences(found, read(rest[0])))
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
