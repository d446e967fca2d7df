# SPDX-License-Identifier: MIT
"""The page of the studies: what each command of a study says of its results in bench/results."""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from runner.results import revisions_in

BENCH = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


@dataclass(frozen=True)
class Study:
    name: str                   # of its file in bench/results, without .tsv
    title: str
    run: str                    # the command, in bench/
    ids: tuple                  # the experiments, or words for all of them


def acdc(name):
    return Study(f"acdc-{name}", f"[SCM-C], chapter 6: {name}", "acdc/run", (name,))


STUDIES = (
    Study("endo-chapter2", "[Endo], chapter 2: page policies", "endo/run", ("t2.1", "f2.4", "f2.5", "f2.6", "f2.7", "f2.8")),
    Study("endo-chapter3", "[Endo], chapter 3: marking", "endo/run", ("t3.1", "f3.5", "f3.6")),
    Study("endo-chapter5", "[Endo], chapter 5: concurrent collection", "endo/run", ("t5.1", "t5.2", "f5.2")),
    *map(acdc, ("factorial", "threads", "threshold", "throughput", "throughput-threads", "memory")),
    Study("shortterm-operations", "[SCM]: operations", "shortterm/run", ("operations",)),
    Study("shortterm-programs", "[SCM]: programs", "shortterm/run", ("leaky", "fixed", "4x", "periods", "converter", "indexer")),
    Study("shortterm-series", "[SCM]: series of figures 11 to 15", "shortterm/series", ()),
    Study("herrmann", "[Herrmann]: a malloc with a thread that prepares blocks", "herrmann/run", ("--all",)),
    Study("malloc", "Mallocs compared", "malloc/run", ()),
)
HEAD = """# The studies

Each part is what one command says of its results, which are in [results](results/); `bench/all` measures them anew, and
`RUN ID --from FILE` makes the tables from a file of results. What the experiments are and what we take their figures to mean:
[endo](../doc/studies/endo.md), [acdc](acdc/README.md), [shortterm](shortterm/README.md), [herrmann](../doc/herrmann.md). The last part
repeats nobody's experiments: [malloc](malloc/README.md).
"""


def recorded(study, results, out):
    """(text of all its experiments, names of its drawings without .svg); OSError or ValueError if there is none."""
    source = os.path.join(results, study.name + ".tsv")
    command = [sys.executable, "-B", os.path.join(BENCH, study.run), *study.ids, "--from", source, "--out", out]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise ValueError(done.stderr.strip())
    return done.stdout.rstrip() + "\n", sorted(name[:-4] for name in os.listdir(out) if name.endswith(".svg"))


def there(results):
    return [study for study in STUDIES if os.path.exists(os.path.join(results, study.name + ".tsv"))]


def revisions(results):
    """{file: revision}"""
    files = [study.name + ".tsv" for study in there(results)]
    return {file: ", ".join(sorted(revisions_in(os.path.join(results, file)))) for file in files}


def part(study, text, drawings):
    pictures = "".join(f"\n![{name}](plots/{drawing(study, name)})\n" for name in drawings)
    return f"\n## {study.title}\n\n```\n{text}```\n{pictures}"


def drawing(study, name):
    return f"{study.name}-{name}.svg"


def drawn_before(study):
    """Of the tree, where there is no gnuplot."""
    names = sorted(os.listdir(os.path.join(BENCH, "plots")))
    return [name[len(study.name) + 1:-4] for name in names if name.startswith(study.name + "-")]


def make(results, work):
    """(the page, {file in bench/plots: where it lies now}) of all studies that have results; work: a folder for drawings."""
    page, files, studies = HEAD, {}, there(results)
    folders = [os.path.join(work, study.name) for study in studies]
    for folder in folders:
        os.makedirs(folder)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = list(pool.map(recorded, studies, [results] * len(studies), folders))
    for study, folder, (text, drawings) in zip(studies, folders, made):
        page += part(study, text, drawings or drawn_before(study))
        files.update({drawing(study, name): os.path.join(folder, name + ".svg") for name in drawings})
    return page, files
