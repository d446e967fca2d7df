# SPDX-License-Identifier: MIT
"""The allocators: what is preloaded for each, and whether a program then really runs on it.

The C library's malloc is preloaded, too: a program that is linked with another malloc would run on that one otherwise.
"""
import os
import re
import subprocess
from dataclasses import dataclass

from runner import programs

BASE = "glibc"
OURS = "libsgcmalloc.so"
LOADER_SAYS = re.compile(r"cannot be preloaded")


@dataclass(frozen=True)
class Allocator:
    name: str
    preload: str                # of LD_PRELOAD: a whole path, or a name that the loader looks for; several with colons, the first is called
    package: str = ""           # Debian's
    variables: tuple = ()       # ((name, value), ...): of its environment


# Name, Debian's package, the names of the file in the order in which they are tried.
PACKAGED = (("jemalloc", "libjemalloc2", ("libjemalloc.so.2",)),
            ("tcmalloc", "libtcmalloc-minimal4", ("libtcmalloc_minimal.so.4", "libtcmalloc.so.4")),
            ("mimalloc", "libmimalloc2.0", ("libmimalloc.so.2", "libmimalloc.so.2.0", "libmimalloc.so")),
            ("tbb", "libtbbmalloc2", ("libtbbmalloc_proxy.so.2",)))
NAMES = (BASE, *(name for name, _, _ in PACKAGED), "sgc")


def loader_paths():
    """{name: path} of the libraries that the loader knows of."""
    try:
        listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return {}
    found = re.findall(r"^\s+(\S+) \([^)]*\) => (\S+)$", listed, re.MULTILINE)
    return {name: path for name, path in reversed(found)}       # of several the first


def find_ours(build, given):
    """Where the library is, or None: as given, in the build, or installed below lib/sgc of a prefix that is the build."""
    places = [given] if given else [os.path.join(build, ".libs"), os.path.join(build, "lib", "sgc")]
    paths = [place if os.path.isfile(place) else os.path.join(place, OURS) for place in places]
    return next((os.path.abspath(path) for path in paths if os.path.exists(path)), None)


def known(build, library=None):
    """(those that are here, {name: why it is not})"""
    paths, found, missing = loader_paths(), [Allocator(BASE, "libc.so.6")], {}
    for name, package, files in PACKAGED:
        path = next((paths[file] for file in files if file in paths), None)
        if path:
            found.append(Allocator(name, path, package))
        else:
            missing[name] = f"no {files[0]} (Debian: {package})"
    ours = find_ours(build, library)
    if ours:
        found.append(Allocator("sgc", ours))
    else:
        missing["sgc"] = f"no {OURS} in {library or 'the build'}"
    return found, missing


def first_library(allocator):
    return allocator.preload.split(":")[0]


def settings(allocator):
    return {**dict(allocator.variables), "LD_PRELOAD": allocator.preload}


def environment():
    """No variable of an allocator, a collector or the loader from outside reaches a run."""
    dropped = ("GC_", "SGC_", "LD_", "MALLOC_", "GLIBC_TUNABLES", "MIMALLOC_", "TCMALLOC_", "TBB_", "PYTHON", "GIT_", "NODE_", "HERRMANN")
    return {**{k: v for k, v in os.environ.items() if not k.startswith(dropped)}, "LC_ALL": "C"}


def is_its_file(allocator, path):
    """Is that the file which was preloaded?  Of the C library's the name is known alone."""
    if allocator.name == BASE:
        return os.path.basename(os.path.realpath(path)).startswith("libc")
    return os.path.realpath(path) == os.path.realpath(first_library(allocator))


def why_not(allocator, program):
    """Why that allocator cannot be measured, or an empty string: `program` is tried with it."""
    env = {**environment(), **settings(allocator), "BENCH_REST_MS": "0"}
    try:
        status, out, err = programs.execute([program, "hot", "1000"], env, 60)
    except OSError as reason:
        return f"{program}: {reason.strerror}"
    if LOADER_SAYS.search(err):
        return programs.first_line(err)
    failure = programs.reason_of_failure(status, err, 60)
    path = programs.parse(out).get("allocator", ("", "nowhere"))[1]
    if not failure and not is_its_file(allocator, path):
        failure = f"malloc is that of {path}"
    return failure
