# SPDX-License-Identifier: MIT
"""What the commands that repeat a thesis' experiments share: messages, arguments, and whether measuring makes sense now."""
import argparse
import os
import sys

from runner import machine

ENOUGH_TIMES = 5


class Command:
    def __init__(self, name):
        self.name = name

    def say(self, text):
        print(f"{self.name}: {text}", file=sys.stderr, flush=True)

    def refuse(self, text):
        self.say(text)
        sys.exit(2)

    def parser(self, description):
        """Mistakes are told as all others are."""
        parser = argparse.ArgumentParser(prog=self.name, description=description, allow_abbrev=False)
        parser.error = lambda message: self.refuse(f"{message}; --help says more")
        return parser

    def choose(self, given, every, names):
        """Of all experiments' names those that are given, or all of them."""
        unknown = [name for name in given if name not in names]
        if unknown:
            self.refuse(f"no experiment is called {' or '.join(unknown)}; there are {' '.join(names)}")
        if every and given:
            self.refuse("--all and single experiments: give one of them")
        chosen = list(names) if every else list(dict.fromkeys(given))
        return chosen or self.refuse(f"no experiment is named; there are {' '.join(names)}, or --all")

    def check_quiet(self, options, build):
        """Why figures are not for quoting; ends the command if nobody said that they may be so."""
        unfit, noise = machine.why_build_unfit(build), machine.why_not_quiet()
        if unfit and not options.noisy:
            self.refuse(f"the build {build} is unfit: {unfit}. Configure one without, or --noisy")
        if noise and not options.noisy:
            self.refuse(f"the machine is not quiet: {noise}. Wait until it is, or --noisy (the figures will be of no use)")
        reasons = [f"the build was unfit: {unfit}"] if unfit else []
        reasons += [f"the machine was not quiet: {noise}"] if noise else []
        reasons += ["tiny sizes (--quick)"] if options.quick else []
        return reasons + ([f"fewer than {ENOUGH_TIMES} rounds"] if options.times < ENOUGH_TIMES else [])

    def recorded(self, path, kind):
        """Former results, of the class kind; tables then speak of the machine that they are of."""
        try:
            results = kind.read(path)
        except (OSError, ValueError, SyntaxError) as reason:
            self.refuse(f"--from {path}: {reason}; give a results.tsv that {self.name} has written")
        machine.speak_of(results.about.get("machine", ""))
        return results

    def make_folder(self, path):
        try:
            os.makedirs(path, exist_ok=True)
        except OSError as reason:
            self.refuse(f"{path}: {reason.strerror}; give another folder as --out")


def number_from(least, most):
    def parse(text):
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f'"{text}" is no number from {least} to {most}')
        return int(text)
    return parse


def list_from(least, most):
    one = number_from(least, most)
    return lambda text: sorted({one(part) for part in text.split(",")})


def add_common(add, folder, timeout=600):
    """Arguments that all such commands have."""
    add("--all", action="store_true", help="all experiments")
    add("--list", action="store_true", help="print the experiments and end")
    add("--quick", action="store_true", help="tiny sizes, to see whether everything runs")
    add("--times", type=number_from(1, 100), metavar="N", help=f"rounds ({ENOUGH_TIMES}; with --quick 1)")
    add("--build", metavar="DIR", help="where make bench was run (the current folder)")
    add("--out", metavar="DIR", default=folder, help=f"where results go ({folder})")
    add("--from", dest="recorded", metavar="FILE", help="measure nothing; make the tables of that results.tsv")
    add("--timeout", type=number_from(1, 36000), default=timeout, metavar="SECONDS",
        help=f"bound of a single run ({timeout})")
    add("--noisy", action="store_true", help="run on a busy machine or with an unfit build, though figures are of no use")


def rounds(options):
    return options.times or (1 if options.quick else ENOUGH_TIMES)
