# SPDX-License-Identifier: MIT
"""The programs that stand for those of SPEC CPU2006, which is not free: the same program, one of its ancestry, or one of our own of
the same kind.  Each has three sizes: full, counted (under valgrind), quick.
"""
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache

from comparison import packages
from repeated import inputs

SIZES = ("full", "counted", "quick")
HEAVY = ("tonto", "gcc", "omnetpp")     # the thesis' three that allocate most
NONE_FOR = ("bwaves", "gamess", "milc", "zeusmp", "gromacs", "cactusADM", "leslie3d", "namd", "dealII", "soplex", "calculix", "GemsFDTD",
            "lbm", "wrf", "sphinx3", "mcf", "sjeng", "libquantum", "astar")


@dataclass(frozen=True)
class Standin(packages.Real):
    spec: str = ""              # the benchmark of SPEC CPU2006
    kin: str = ""               # what they have in common
    threaded: bool = False      # it runs threads of its own
    prepare: object = None      # writes its input: (function, argument)

    @property
    def short(self):
        return self.name.split("/", 1)[1]


@lru_cache(maxsize=None)
def compiler_proper():
    """The path of cc1."""
    try:
        return subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=False).stdout.strip() or "cc1"
    except OSError:
        return "cc1"


def game(name):
    """Its path where Debian has games, which the search path of a service has not."""
    path = os.path.join("/usr/games", name)
    return path if os.path.exists(path) else name


def own(build, name, spec, kin, args, folder="herrmann"):
    path = os.path.join(build, "bench", folder, name)
    return Standin(f"standin/{name}", kin, binary=path, command=(path, *map(str, args)), settings=(("BENCH_REST_MS", "0"),), spec=spec, kin=kin)


def package(name, binary, debian, spec, kin, args, **more):
    return Standin(f"standin/{name}", kin, binary=binary, package=debian, command=(binary, *map(str, args)), spec=spec, kin=kin, **more)


def standins(build, size="full"):
    """All, installed or not."""
    def sized(*three):
        return three[SIZES.index(size)]
    words = os.path.join(packages.SCRIPTS, "words.pl")
    return [
        own(build, "partitions", "tonto", "numbers in short-lived small blocks; our own, nothing else in common", [sized(60000, 4000, 300)]),
        package("cc1", compiler_proper(), "gcc", "gcc", "the same program, newer", ["-quiet", "-O2", "source0.c", "-o", "source0.s"],
                files="*.s", prepare=(inputs.c_source, sized(80, 5, 2))),
        own(build, "events", "omnetpp", "a simulation event by event, our own", [sized(6000000, 100000, 5000)]),
        package("perl", "perl", "perl", "perlbench", "the same program, newer", [words, sized(100000, 3000, 300)],
                settings=(("PERL_HASH_SEED", "0"),), rests=True),
        package("xsltproc", "xsltproc", "xsltproc", "xalancbmk", "another program for the same language",
                ["style.xsl", "document.xml"], prepare=(inputs.document, sized(30000, 1000, 100))),
        own(build, "trees", "xalancbmk", "trees of small nodes, our own, nothing else in common", [1, sized(17, 10, 6)], "malloc"),
        package("phmmer", "phmmer", "hmmer", "hmmer", "the same program, much newer", ["--cpu", "0", "--noali", "--seed", "1", "wanted.fa", "sequences.fa"],
                prepare=(inputs.sequences, sized(20000, 500, 50))),
        package("povray", "povray", "povray", "povray", "the same program, newer; it has threads now",
                ["+Iscene.pov", "+Oscene.bmp", "+FB", f"+W{sized(320, 80, 32)}", f"+H{sized(240, 60, 24)}", "-D", "+WT1", "-GA"],
                files="*.bmp", threaded=True, prepare=(inputs.scene, sized(40, 10, 4))),
        package("gnugo", game("gnugo"), "gnugo", "gobmk", "the same program, newer", ["--mode", "gtp", "--seed", "1", "--level", "5"],
                given="game.gtp", prepare=(inputs.game, sized(40, 4, 2))),
        package("x264", "x264", "x264", "h264ref", "another program for the same format",
                ["--quiet", "--no-progress", "--threads", "1", "--asm", "SSE2", "--sync-lookahead", "0", "-o", "video.264", "video.y4m"], files="*.264",
                prepare=(inputs.video, sized(100, 5, 2))),
        package("bzip2", "bzip2", "bzip2", "bzip2", "the same program, newer", ["-k", "-f", "text"], files="*.bz2",
                prepare=(inputs.text, sized(100000, 5000, 300))),
    ]


class Bench(packages.Bench):
    """A folder with the inputs of one size, and the answers that are right."""

    def __init__(self, folder, measure, standins_of_size, timeout):
        self.standins = standins_of_size
        super().__init__(folder, measure, False, timeout)

    def prepare(self, quick):
        for standin in self.standins:
            if standin.prepare and shutil.which(standin.binary):
                write, argument = standin.prepare
                write(self.folder, argument)

    def why_not(self, case):
        if not case.package and not os.access(case.binary, os.X_OK):
            return f"{os.path.basename(case.binary)} is not built: run `make all bench` in a build, and give its folder as --build"
        return super().why_not(case)

    def answer_of(self, out, pattern):
        """Of programs of our own the result alone, of others what does not change from run to run."""
        lines = out.splitlines()
        results = [line for line in lines if line.startswith("result ")]
        return super().answer_of("\n".join(results or [line for line in lines if not line.startswith("#")]), pattern)
