# SPDX-License-Identifier: MIT
"""An emulated machine: its nodes, its start, and what its jobs said."""
import glob
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

EMULATOR = "qemu-system-x86_64"
SIGN_OF_LIFE = 30           # seconds in which a machine must have started its first process where the processor emulates it
KERNEL_WORDS = "console=ttyS0 quiet panic=-1 no_timer_check mitigations=off random.trust_cpu=on nowatchdog " \
               "numa_balancing=disable rcupdate.rcu_cpu_stall_suppress=1"


class Refused(Exception):
    """Something cannot be done here; the text says why, and what to do."""


class Shape:
    """Nodes, written as PROCESSORS:MEGABYTES with commas between them ("2:256,2:256"); behind a slash distances of nodes
    ("0-1=12"), also with commas."""

    def __init__(self, text):
        nodes, _, distances = text.partition("/")
        self.text = text
        if not re.fullmatch(r"\d+:\d+(,\d+:\d+)*", nodes) or not re.fullmatch(r"(\d+-\d+=\d+(,(?!$))?)*", distances):
            raise Refused(f'"{text}" is no machine; expected nodes as PROCESSORS:MEGABYTES, such as 2:256,2:256, and '
                          'perhaps distances, such as /0-1=12')
        self.nodes = [tuple(map(int, node.split(":"))) for node in nodes.split(",")]
        self.distances = [tuple(map(int, re.split("[-=]", d))) for d in distances.split(",") if d]
        self.processors = sum(cpus for cpus, _ in self.nodes)
        self.megabytes = sum(size for _, size in self.nodes)
        if self.nodes[0][0] == 0 or self.nodes[0][1] < 64:
            raise Refused(f'the first node of "{text}" starts the machine: it needs a processor and 64 megabytes')

    def arguments(self):
        """Each processor is a package of its own, so that none lies on two nodes."""
        words, first = ["-m", f"{self.megabytes}M", "-smp", f"{self.processors},sockets={self.processors}"], 0
        for number, (cpus, size) in enumerate(self.nodes):
            node = f"node,nodeid={number}"
            if size:
                words += ["-object", f"memory-backend-ram,id=memory{number},size={size}M"]
                node += f",memdev=memory{number}"
            if cpus:
                node += f",cpus={first}-{first + cpus - 1}"
            words += ["-numa", node]
            first += cpus
        return words + self.distance_arguments()

    def distance_arguments(self):
        """None, or all: those that are not said are 20, as without any."""
        said = {frozenset(pair): distance for *pair, distance in self.distances}
        pairs = [(i, j) for j in range(len(self.nodes)) for i in range(j)] if said else []
        return [word for i, j in pairs
                for word in ("-numa", f"dist,src={i},dst={j},val={said.get(frozenset((i, j)), 20)}")]


def find_kernel(wish, folder):
    """A kernel's image: the one wished for, one that was fetched into the folder, or this system's."""
    if wish:
        if not os.access(wish, os.R_OK):
            raise Refused(f"the kernel {wish} cannot be read")
        return wish
    for pattern in (f"{folder}/vmlinuz-*", f"/boot/vmlinuz-{platform.release()}", "/boot/vmlinuz-*"):
        images = [image for image in sorted(glob.glob(pattern)) if os.access(image, os.R_OK)]
        if images:
            return images[-1]
    raise Refused("no kernel image can be read in /boot; tests/numa/run --fetch-kernel gets one (27 MB; nothing is "
                  "installed), CHECK_NUMA_KERNEL=FILE names one")


def find_emulator():
    if platform.machine() != "x86_64":
        raise Refused("the emulated machine is one of x86-64, and so must be this one")
    found = shutil.which(EMULATOR)
    if not found:
        raise Refused(f"no {EMULATOR}; install it (Debian and Ubuntu: apt-get install qemu-system-x86)")
    return found


def can_use_kvm():
    """A device that opens is not enough: in a virtual machine without nested ones it is there and does not work."""
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
        return os.access("/dev/kvm", os.R_OK | os.W_OK) and re.search(r"\b(vmx|svm)\b", f.read()) is not None


class Run:
    """What came of a machine: whether it ended by itself, each job's lines, status and seconds, and what the kernel said."""

    def __init__(self, ended, said, console):
        self.ended, self.console = ended, console
        self.output, self.status, self.seconds, at = {}, {}, {}, None
        for line in said.splitlines():
            begin, end = re.fullmatch(r"@begin (\d+)", line), re.fullmatch(r"@end (\d+) (\d+) (\d+)", line)
            if begin:
                at = int(begin.group(1))
                self.output[at] = []
            elif end:
                number, at = int(end.group(1)), None
                self.status[number], self.seconds[number] = int(end.group(2)), int(end.group(3))
            elif at is not None:
                self.output[at].append(line)
        self.alive = "@begin" in said
        for number in self.status:          # init ends the last line, which may have ended already
            if self.output[number] and not self.output[number][-1]:
                self.output[number].pop()


class Machine:
    def __init__(self, kernel, accelerator=None):
        self.kernel, self.emulator = kernel, find_emulator()
        self.accelerators = [accelerator] if accelerator else ["kvm", "tcg"] if can_use_kvm() else ["tcg"]

    def run(self, shape, archive, seconds):
        """Boots a machine with that archive; it is turned off after so many seconds."""
        with tempfile.TemporaryDirectory(prefix="sgc-numa-") as folder:
            with open(f"{folder}/archive", "wb") as f:
                f.write(archive)
            for accelerator in self.accelerators:
                run = self._start(shape, accelerator, folder, seconds)
                if run.alive:
                    break
        return run

    def _start(self, shape, accelerator, folder, seconds):
        processor = {"kvm": "host", "tcg": "max"}[accelerator]
        engine = {"kvm": "kvm", "tcg": "tcg,thread=multi"}[accelerator]
        words = [self.emulator, "-accel", engine, "-cpu", processor, "-machine", "pc", "-nodefaults", "-no-user-config",
                 "-display", "none", "-no-reboot", "-serial", f"file:{folder}/console", "-serial", f"file:{folder}/said",
                 "-kernel", self.kernel, "-initrd", f"{folder}/archive", "-append", KERNEL_WORDS, *shape.arguments()]
        with open(f"{folder}/console", "wb") as errors:
            emulator = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)
        try:
            ended = _wait(emulator, f"{folder}/said", seconds, SIGN_OF_LIFE if accelerator == "kvm" else seconds)
        finally:
            emulator.kill()
            emulator.wait()
        return Run(ended, _text(f"{folder}/said"), _text(f"{folder}/console"))


def _wait(emulator, said, seconds, until_life):
    """Whether it ended by itself in time."""
    began = time.monotonic()
    while emulator.poll() is None:
        passed = time.monotonic() - began
        if passed > seconds or (passed > until_life and "@begin" not in _text(said)):
            return False
        if _text(said).rstrip().endswith("@off"):
            return True                     # nothing more is said, so its end need not be waited for
        time.sleep(0.1)
    return True


def _text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:
        return ""


# ---- a kernel ---------------------------------------------------------------------------------------

KERNEL_PACKAGES = ("linux-image-cloud-amd64", "linux-image-virtual")       # Debian's and Ubuntu's


def have_kernel(folder):
    """The image that find_kernel finds, or else one of a package that is made for virtual machines."""
    try:
        return find_kernel(None, folder)
    except Refused:
        return fetch_kernel(folder)


def fetch_kernel(folder):
    if not shutil.which("apt-get"):
        raise Refused("this is neither Debian nor Ubuntu: name a kernel image with CHECK_NUMA_KERNEL=FILE")
    for name in KERNEL_PACKAGES:
        known = subprocess.run(["apt-cache", "depends", name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               check=False).stdout
        package = re.search(r"Depends: (linux-image-\d\S*)", known)
        if package:
            return _take_image(package.group(1), folder)
    raise Refused(f"apt-get knows none of {', '.join(KERNEL_PACKAGES)}; its lists may be missing (apt-get update)")


def _take_image(package, folder):
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        commands = f"cd '{scratch}' && apt-get -qq download {package} && for d in *.deb; do dpkg-deb --fsys-tarfile \"$d\"; done" \
                   " | tar -x --wildcards './boot/vmlinuz-*'"
        if subprocess.run(["bash", "-o", "pipefail", "-c", commands], stdout=sys.stderr, check=False).returncode != 0:
            raise Refused(f"the package {package} could not be fetched; the reason is above")
        images = glob.glob(f"{scratch}/boot/vmlinuz-*")
        for image in images:
            shutil.move(image, os.path.join(folder, os.path.basename(image)))
    return os.path.join(folder, os.path.basename(images[0]))
