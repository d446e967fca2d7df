# SPDX-License-Identifier: MIT
"""Files that are written, as the library makes its own (platform/out_file.h): new, private, there when they are complete, and
not where somebody else has put something into a folder that everybody may write to."""
import errno
import os
import secrets
import stat
import sys


def shown(text):
    """Without what could disturb a terminal."""
    return "".join(c if c.isprintable() else "?" for c in text)


def look(path):
    """What is there: through links, and what its name is; None: nothing."""
    try:
        return os.stat(path), os.lstat(path)
    except FileNotFoundError:
        return None, None


def check_owner(path, named):
    folder = os.stat(os.path.dirname(path) or ".")
    if folder.st_mode & stat.S_IWOTH and named.st_uid not in (os.geteuid(), 0, folder.st_uid):
        raise PermissionError(errno.EPERM, "it is somebody else's, in a folder that everybody may write to", path)


def make_new(path):
    """A file beside it, of a name that nobody can know ahead: (descriptor, name)."""
    other = f"{path}.{os.getpid()}.{secrets.token_hex(4)}.part"
    return os.open(other, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600), other


def is_special(path):
    """A pipe or device is written to as it is."""
    there, named = look(path)
    if there is None:
        return False
    check_owner(path, named)
    if stat.S_ISDIR(there.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    return not stat.S_ISREG(there.st_mode)


def check(path):
    """Before a long run: could it be written?"""
    if not is_special(path):
        descriptor, other = make_new(path)
        os.close(descriptor)
        os.unlink(other)


def write_there(path, text):
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOCTTY), "wb") as file:
        file.write(text)


def write_new(path, text):
    descriptor, other = make_new(path)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
        os.replace(other, path)
    except OSError:
        os.unlink(other)
        raise


def write(path, text):
    """All of it, or nothing: bytes; "-" is the standard output.  An error names the file."""
    if path == "-":
        sys.stdout.buffer.write(text)
        sys.stdout.flush()
        return
    try:
        (write_there if is_special(path) else write_new)(path, text)
    except OSError as reason:
        raise OSError(reason.errno, reason.strerror, path) from None
