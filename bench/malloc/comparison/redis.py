# SPDX-License-Identifier: MIT
"""redis-server with a client of its own: a fixed row of commands by a socket, whose replies are the answer."""
import hashlib
import os
import random
import re
import signal
import socket
import subprocess
import time

START_SECONDS, REST_SECONDS, BATCH = 10.0, 1.0, 100


def encoded(*words):
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


class Client:
    def __init__(self, path, timeout):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def reply(self):
        """Of one command, as bytes; of a list its parts, one behind the other."""
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise OSError("the server ended the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise ValueError(f"redis-server replies {rest.decode(errors='replace')}")
        if kind == b"$":
            return b"(nil)" if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return b" ".join(self.reply() for _ in range(int(rest)))
        return rest

    def ask(self, *words):
        self.socket.sendall(encoded(*words))
        return self.reply()

    def ask_all(self, commands):
        """The replies of many at once."""
        self.socket.sendall(b"".join(encoded(*words) for words in commands))
        return [self.reply() for _ in commands]

    def close(self):
        self.file.close()
        self.socket.close()


def commands(count):
    draw = random.Random(23).randrange
    for i in range(count):
        key, value = f"key:{draw(count // 4 + 1)}", b"v" * (1 + draw(400)) + b"%d" % i
        yield (("SET", key, value), ("SET", key, value), ("GET", key), ("DEL", key), ("APPEND", f"text:{draw(500)}", value[:20]),
               ("LPUSH", f"list:{draw(200)}", value), ("LPOP", f"list:{draw(200)}"),
               ("HSET", f"hash:{draw(100)}", f"field:{draw(2000)}", value))[draw(8)]


def work(client, count):
    """The answer."""
    digest, batch = hashlib.sha256(), []
    for words in commands(count):
        batch.append(words)
        if len(batch) == BATCH:
            digest.update(b"\n".join(client.ask_all(batch)))
            batch = []
    digest.update(b"\n".join(client.ask_all(batch)))
    digest.update(client.ask("DBSIZE"))
    return digest.hexdigest()


def resident_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"^VmRSS:\s+(\d+)", f.read(), re.MULTILINE).group(1)) / 1024


def connect(process, path, timeout):
    """A client, as soon as the server listens."""
    limit = time.monotonic() + START_SECONDS
    while time.monotonic() < limit and process.poll() is None:
        try:
            return Client(path, timeout)
        except OSError:
            time.sleep(0.02)
    raise OSError("redis-server does not listen")


def converse(process, path, count, timeout):
    """(answer, figures): the time is that of the commands, of which the client's part is the same on each allocator."""
    client = connect(process, path, timeout)
    try:
        pid = int(re.search(rb"process_id:(\d+)", client.ask("INFO", "server")).group(1))
        began = time.monotonic()
        answer = work(client, count)
        figures = {"seconds": time.monotonic() - began}
        client.ask("FLUSHALL")
        time.sleep(REST_SECONDS)
        figures["resting_mb"] = resident_mb(pid)
        client.socket.sendall(encoded("SHUTDOWN", "NOSAVE"))
    finally:
        client.close()
    return answer, figures


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run(words, command, folder, environment, timeout):
    """(answer, figures, failure): `words` begin with sgc-measure, command: the server's name, and how many commands it gets."""
    path = os.path.join(folder, "redis.socket")
    settings = ["--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", folder]
    with subprocess.Popen([*words, command[0], *settings], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            answer, figures = converse(process, path, int(command[1]), timeout)
            status = process.wait(timeout=timeout)
        except BaseException as reason:             # the user's interrupt too
            end_group(process)
            if isinstance(reason, (OSError, ValueError, AttributeError, subprocess.TimeoutExpired)):
                return "", {}, f"redis-server: {reason}"
            raise
    return answer, figures, f"exit status {status}" if status else ""
