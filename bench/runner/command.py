# SPDX-License-Identifier: MIT
"""What the commands share that repeat the experiments of a paper: arguments, whether the machine is fit, and what they write."""
import argparse
import os
import sys
import time
from pathlib import Path

from runner import machine

ENOUGH_TIMES = 5


def own_name():
    """The command as it is called from the top of the source: its folder and its file."""
    return "/".join(os.path.realpath(sys.argv[0]).split(os.sep)[-2:])


def say(text):
    print(f"{own_name()}: {text}", file=sys.stderr, flush=True)


def refuse(text):
    say(text)
    sys.exit(2)


# ---- arguments ----

class Parser(argparse.ArgumentParser):
    def error(self, message):
        refuse(f"{message}; --help says more")


def number_from(least, most):
    def parse(text):
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f'"{text}" is no number from {least} to {most}')
        return int(text)
    return parse


def parser(description, places, out):
    """With the arguments that all have."""
    made = Parser(prog=own_name(), description=description, allow_abbrev=False)
    add = made.add_argument
    add("ids", nargs="*", metavar="ID", help=f"experiments by {places}; --list names them")
    add("--all", action="store_true", help="all experiments")
    add("--list", action="store_true", help="print the experiments and end")
    add("--quick", action="store_true", help="tiny sizes, to see whether everything runs")
    add("--times", type=number_from(1, 100), metavar="N", help=f"rounds ({ENOUGH_TIMES}; with --quick 1)")
    add("--build", metavar="DIR", help="where make bench was run (the current folder)")
    add("--out", metavar="DIR", default=out, help=f"where results go ({out})")
    add("--timeout", type=number_from(1, 36000), default=600, metavar="SECONDS", help="bound of a single run (600)")
    add("--noisy", action="store_true", help="run on a busy machine or with an unfit build, though figures are of no use")
    return made


def parse(made):
    options = made.parse_args()
    options.times = options.times or (1 if options.quick else ENOUGH_TIMES)
    options.build = options.build or os.getcwd()
    return options


def choose(options, known):
    unknown = [name for name in options.ids if name not in known]
    if unknown:
        refuse(f"no experiment is called {' or '.join(unknown)}; there are {' '.join(known)}")
    if options.all and options.ids:
        refuse("--all and single experiments: give one of them")
    chosen = list(known) if options.all else list(dict.fromkeys(options.ids))
    return chosen or refuse(f"no experiment is named; there are {' '.join(known)}, or --all")


def print_list(known):
    print("\n".join(f"{name}  {title}" for name, (title, _) in known.items()))


# ---- before anything is measured ----

def check_built(build, files):
    missing = sorted({os.path.relpath(path, build) for path in files if not os.access(path, os.X_OK)})
    if missing:
        refuse(f"{build} has no {', '.join(missing)}; run `make bench` in a build, and give its folder as --build")


def check_quiet(options):
    """What speaks against quoting the figures."""
    unfit, noise = machine.why_build_unfit(options.build), machine.why_not_quiet()
    if unfit and not options.noisy:
        refuse(f"the build {options.build} is unfit: {unfit}. Configure one without, or --noisy")
    if noise and not options.noisy:
        refuse(f"the machine is not quiet: {noise}. Wait until it is, or --noisy (the figures will be of no use)")
    reasons = [f"the build was unfit: {unfit}"] if unfit else []
    reasons += [f"the machine was not quiet: {noise}"] if noise else []
    reasons += ["tiny sizes (--quick)"] if options.quick else []
    return reasons + ([f"fewer than {ENOUGH_TIMES} rounds"] if options.times < ENOUGH_TIMES else [])


def open_folder(folder):
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as reason:
        refuse(f"{folder}: {reason.strerror}; give another folder as --out")


def about(options, spoilt):
    """The first lines of all that is written."""
    return {"command": machine.as_shown([f"bench/{own_name()}", *sys.argv[1:]]), "date": time.strftime("%Y-%m-%d %H:%M %Z"),
            "not for quoting": "; ".join(spoilt) or "-", "rounds": options.times, **machine.describe(options.build)}


# ---- the end ----

def head_of(results):
    head = "\n".join(f"{name}: {value}" for name, value in results.about.items()) + "\n"
    head += "".join(f"not available: {name}: {why}\n" for name, why in results.missing.items())
    return head + "".join(f"FAILED: {', '.join(map(str, failure))}\n" for failure in results.failures)


def write(folder, name, head, text, rows):
    """An experiment's text and TSV."""
    (Path(folder) / f"{name}.txt").write_text(f"{head}\n{text}", encoding="utf-8")
    (Path(folder) / f"{name}.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
