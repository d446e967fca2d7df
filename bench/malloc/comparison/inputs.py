# SPDX-License-Identifier: MIT
"""What the real programs are given: written into a folder, the same in each run."""
import os
import random
import subprocess

STATEMENTS = (
    "    for (int i = 0; i < n; i++)\n        sum += table[i % 16].weight * (i + {k});\n",
    "    while (sum > {k}000) {{\n        sum = sum / 2 + f{f}_helper(n - 1, sum % 17);\n        n--;\n    }}\n",
    "    switch ((sum + n) % 5) {{\n    case 0:\n        sum += {k};\n        break;\n    case 1:\n    case 3:\n"
    "        sum ^= n << 3;\n        break;\n    default:\n        sum -= table[n & 15].weight;\n    }}\n",
    "    if (n > {k} && table[n & 15].next != 0)\n        sum += table[n & 15].next->weight;\n    else\n        table[n & 15].weight = sum;\n",
    "    for (char *p = table[{k} & 15].name; *p != 0; p++)\n        sum = sum * 31 + *p;\n",
)
FUNCTION_STATEMENTS = 12
WORDS = ("memory", "page", "object", "thread", "queue", "lock", "table", "index", "cache", "line", "free", "block", "size", "list")


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        f.write(text)


# ---- C ----

def c_function(draw, f):
    body = "".join(STATEMENTS[draw(len(STATEMENTS))].format(k=1 + draw(90), f=f) for _ in range(FUNCTION_STATEMENTS))
    return f"static long f{f}_helper(long n, long sum)\n{{\n    return n > 0 ? sum + table[n & 15].weight : {draw(9)};\n}}\n\n" \
           f"long f{f}(long n)\n{{\n    long sum = {draw(1000)};\n\n{body}    return sum;\n}}\n\n"


def c_source(number, functions):
    draw = random.Random(number).randrange
    head = "struct record {\n    struct record *next;\n    char name[24];\n    long weight;\n};\n\nstatic struct record table[16];\n\n"
    return head + "".join(c_function(draw, f"{number}_{k}") for k in range(functions))


def c_sources(folder, files, functions):
    """The names of the sources."""
    names = [f"source{i}.c" for i in range(files)]
    for i, name in enumerate(names):
        write(folder, name, c_source(i, functions))
    return names


# ---- SQL, HTML ----

def sql(folder, rows):
    write(folder, "rows.sql", f"""
CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, weight REAL, kind INTEGER);
WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {rows})
INSERT INTO item SELECT n, 'item ' || (n * 7919 % 1000003) || substr('xxxxxxxxxxxxxxxxxxxxxxxx', 1, n % 24), n % 977 / 8.0, n % 101
FROM number;
CREATE INDEX by_name ON item (name);
SELECT kind, count(*), sum(weight) FROM item GROUP BY kind ORDER BY kind;
UPDATE item SET name = name || '!' WHERE kind < 20;
DELETE FROM item WHERE kind = 33;
SELECT a.kind, count(*) FROM item a JOIN item b ON b.id = a.id + 1 WHERE a.weight < b.weight GROUP BY a.kind ORDER BY a.kind;
SELECT group_concat(name, ',') FROM (SELECT name FROM item ORDER BY name DESC LIMIT 100);
""")


def page(folder, rows):
    draw = random.Random(17).randrange
    lines = [f"<tr><td>{i}</td><td><b>{' '.join(WORDS[draw(len(WORDS))] for _ in range(4))}</b></td><td>"
             f"<ul>{''.join(f'<li>{WORDS[draw(len(WORDS))]} {draw(1000)}</li>' for _ in range(draw(4)))}</ul></td></tr>" for i in range(rows)]
    tables = "".join(f"<h2>Part {k // 50}</h2><table border=1>{''.join(lines[k:k + 50])}</table>" for k in range(0, rows, 50))
    write(folder, "page.html", f"<html><head><title>Rows</title></head><body>{tables}</body></html>\n")


# ---- a repository ----

def version(number, i):
    draw = random.Random(number * 1000 + i).randrange
    return "".join(f"{k} {WORDS[(i + k) % len(WORDS)]} {WORDS[draw(len(WORDS))] if draw(20) == 0 else 'as before'}\n" for k in range(60))


def commits(count):
    """For git fast-import: each commit changes three of a hundred files."""
    draw = random.Random(19).randrange
    for number in range(1, count + 1):
        message = f"Change {number}\n"
        yield f"commit refs/heads/main\ncommitter A <a@example.org> {1000000000 + number * 60} +0000\ndata {len(message)}\n{message}"
        for i in {draw(100) for _ in range(3)}:
            text = version(number, i)
            yield f"M 100644 inline folder{i % 7}/file{i}\ndata {len(text)}\n{text}\n"


def repository(folder, git, count, environment):
    """False if git does not make one."""
    path = os.path.join(folder, "repository")
    made = subprocess.run([git, "init", "--quiet", "--bare", path], env=environment, capture_output=True, check=False)
    stream = "".join(commits(count)).encode()
    filled = subprocess.run([git, "-C", path, "fast-import", "--quiet"], input=stream, env=environment, capture_output=True, check=False)
    return made.returncode == 0 and filled.returncode == 0
