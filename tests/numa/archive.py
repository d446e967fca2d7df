# SPDX-License-Identifier: MIT
"""The files of an emulated machine, as the archive (cpio, form "newc") that Linux unpacks at its start."""
import os
import re
import stat
import subprocess

# What programs load by name, so that ldd does not see it.  The last is for threads that are cancelled.
LOADED_LATER = ("libhwloc.so.15", "libgcc_s.so.1")


def real_program(path):
    """What libtool has built, if the file is the script that stands for it in a build directory."""
    folder, name = os.path.split(path)
    built = os.path.join(folder, ".libs", name)
    with open(path, "rb") as f:
        return built if f.read(2) == b"#!" and os.path.exists(built) else path


def libraries_of(path):
    """The shared libraries of a program, and its loader."""
    said = subprocess.run(["ldd", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
    return [found.group(1) for found in re.finditer(r"(/\S+) \(0x", said)]


def libraries_by_name():
    said = subprocess.run(["/sbin/ldconfig", "-p"], stdout=subprocess.PIPE, text=True, check=False).stdout
    return {name: path for name, path in re.findall(r"^\s*(\S+) \(libc6,x86-64.*\) => (\S+)$", said, re.M)}


class Archive:
    def __init__(self):
        self.members = {}       # path without the first slash: (mode, content, device)
        for folder in ("proc", "sys", "tmp", "dev"):
            self.add_folder(folder)
        self.members["dev/console"] = (stat.S_IFCHR | 0o600, b"", (5, 1))

    def add_folder(self, path):
        parts = path.strip("/").split("/")
        for i in range(1, len(parts) + 1):
            self.members.setdefault("/".join(parts[:i]), (stat.S_IFDIR | 0o755, b"", (0, 0)))

    def add(self, path, content, mode=0o755):
        if os.path.dirname(path.strip("/")):
            self.add_folder(os.path.dirname(path))
        self.members[path.strip("/")] = (stat.S_IFREG | mode, content, (0, 0))

    def add_file(self, source, path):
        with open(source, "rb") as f:
            self.add(path, f.read())

    def add_program(self, source, path):
        """With all that it loads, where it will look for that."""
        source = real_program(source)
        self.add_file(source, path)
        for library in libraries_of(source):
            self.add_file(library, library)

    def add_loaded_later(self):
        known = libraries_by_name()
        for path in [known[name] for name in LOADED_LATER if name in known]:
            self.add_program(path, path)

    def pack(self):
        parts = [_member(number, path, *member) for number, (path, member) in enumerate(sorted(self.members.items()), 1)]
        return b"".join(parts) + _member(0, "TRAILER!!!", 0, b"", (0, 0))


def _padded(data):
    return data + bytes(-len(data) % 4)


def _member(number, path, mode, content, device):
    name = path.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name), 0)
    return _padded(b"070701" + b"".join(b"%08x" % f for f in fields) + name) + _padded(content)
