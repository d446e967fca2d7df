# SPDX-License-Identifier: MIT
"""Chapter 4's runs: the programs' heaps as single collections found them, and the marks of these heaps: predicted by
sgc-predict, simulated by sgc-simulate, and on this machine measured.

A round of the results is a collection, not a repetition: predictions and simulations are the same each time.
"""
import os
import resource
import tempfile
from dataclasses import dataclass

from runner import machine as this_machine
from runner import programs
from runner.cases import SGC
from study import measure, snapshots

MACHINES = {"O2K": "o2k", "E10K": "e10k"}
HERE = "here"
REAL, PRED, UNCONTENDED, ONCE, COUNTED = "Real", "Pred", "Pred(M_P = M_1)", "Pred(Q_P = Q_1)", "Pred(Q_P counted)"
FAST, OVERLAP, MEASURED = "Pred(fast)", "Pred(overlap)", "Measured"
RULES = ("fast", "model", "cost")                       # as sgc-predict --choices has them
GIVEN = (8, 16, 32, 48)                                 # markers, of which table 4.4 uses as many as suffice
MEASURED_AT = 48                                        # tables 4.2 and 4.3
GROWING = (1, 2, 4, 8, 16, 24, 32, 48)
FUTURE = (1, 8, 16, 32, 48, 64, 96, 128, 160, 192, 256)
MANY = 2048                                             # predictions, to time one


@dataclass(frozen=True)
class Subject:
    """A program, and which of its collections are looked at."""
    name: str                   # as the thesis has it
    file: str
    options: tuple
    numbers: tuple
    quick: tuple


SUBJECTS = (
    Subject("BH-st", "bh", ("--builders", "1", "--threads", "1"), (8, 10, 12), (4,)),
    Subject("Cube", "cube", ("--threads", "32"), (10, 12, 14), (6,)),
    Subject("CKY", "cky", ("--threads", "32"), (10, 12, 14), (6,)),
)


def processors_of(name, machine):
    """Of an experiment's predictions and simulations."""
    last = {"O2K": 64, "E10K": 60}[machine]
    return {"t4.1": (), "t4.2": (1, MEASURED_AT), "t4.3": (1, MEASURED_AT), "t4.4": (1, *GIVEN), "f4.4": (*GROWING, last),
            "f4.5": FUTURE}[name]


def wanted(chosen, subject, machine):
    """Numbers of processors, for all chosen experiments."""
    only = {"t4.3": ("BH-st", "O2K"), "t4.4": (subject.name, "O2K")}
    of = [name for name in chosen if only.get(name, (subject.name, machine)) == (subject.name, machine)]
    return sorted({n for name in of for n in processors_of(name, machine)})


# ---- the tools ----

def predict(places, snapshot, machine, processors, timeout, options=()):
    """A row for each number of processors, as sgc-predict prints it."""
    command = [snapshots.tool(places, "sgc-predict"), snapshot, "--machine", snapshots.machine_file(machine), "--tsv",
               "--markers", ",".join(map(str, processors)), *options]
    lines = [line.split("\t") for line in snapshots.call(command, timeout).splitlines() if not line.startswith("#")]
    return [dict(zip(lines[0], map(float, line))) for line in lines[1:]]


def describe_here(plan, path):
    """Measures this machine into a machine file."""
    tool = [snapshots.tool(plan.places, "sgc-machine"), "--name", HERE, "--output", path]
    snapshots.call(tool + (["--quick"] if plan.set == "quick" else []), plan.timeout)


def read_machine(path):
    """[(key, value, source)] of a machine file."""
    found = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            setting, _, source = line.partition("#")
            if setting.strip():
                found.append((*setting.split(), source.strip()))
    return found


def computed_ms(call):
    """What the programs that a call waits for compute."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1e3


def here(folder):
    """This machine's file, which stays beside the results."""
    return os.path.join(folder, HERE + ".machine")


# ---- on the thesis' machines ----

class Runs:
    """What is under way: results get a round for each collection."""

    def __init__(self, study):
        self.study, self.plan, self.say = study, study.plan, study.say
        self.size = "quick" if self.plan.set == "quick" else "ch4"
        self.here = here(study.options.out)
        self.store = None

    def take(self, subject):
        self.say(f"snapshots of {subject.name}")
        return self.store.take_some(subject.file, self.size, subject.options,
                                    subject.quick if self.size == "quick" else subject.numbers)

    def add(self, subject, machine, version, processors, number, **figures):
        self.study.results.add((f"{subject.name}/{machine}", version, processors), number, figures, "")

    def simulate(self, subject, machine, number, snapshot, processors):
        """{processors: row}"""
        rows = snapshots.simulate(self.plan.places, snapshot, MACHINES[machine], processors, "endo-opt", self.plan.timeout)
        for row in rows:
            self.add(subject, machine, REAL, int(row["markers"]), number, time_ms=row["time_ms"], steals=row["steals"],
                     misses=row["read_misses"] + row["rmw_misses"], busiest=row["busiest"])
        return {int(row["markers"]): row for row in rows}

    def predict(self, subject, machine, number, snapshot, processors):
        """{processors: row}"""
        rows = predict(self.plan.places, snapshot, MACHINES[machine], processors, self.plan.timeout)
        for row in rows:
            for version, time in ((PRED, row["time_ms"]), (UNCONTENDED, rows[0]["time_ms"] / row["no_contention"]),
                                  (ONCE, rows[0]["time_ms"] / row["no_extra"]), (FAST, row["fast_ms"])):
                self.add(subject, machine, version, int(row["processors"]), number, time_ms=time, steals=row["steals"],
                         misses=row["misses"], busiest=row["busiest"])
        return {int(row["processors"]): row for row in rows}

    def predict_counted(self, subject, machine, number, snapshot, predicted, real):
        """With as many more misses as the simulated markers had: the model has N_S L, so for each number N_S is chosen."""
        for processors in sorted(set(real) - {1}):
            lines = (predicted[processors]["misses"] - predicted[1]["misses"]) / predicted[processors]["steals"]
            more = sum(real[processors][kind] - real[1][kind] for kind in ("read_misses", "rmw_misses"))
            steals = max(0, round(more / lines)) if lines > 0 else 0
            row = predict(self.plan.places, snapshot, MACHINES[machine], (processors,), self.plan.timeout,
                          ("--steals", str(steals)))[0]
            self.add(subject, machine, COUNTED, processors, number, time_ms=row["time_ms"], misses=row["misses"])

    def choose(self, subject, machine, number, snapshot):
        """How many markers each rule uses of those that are given, and how long these take."""
        rows = predict(self.plan.places, snapshot, MACHINES[machine], GIVEN, self.plan.timeout, ("--choices",))
        used = {int(row[rule]) for row in rows for rule in RULES}
        real = snapshots.simulate(self.plan.places, snapshot, MACHINES[machine], sorted(used), "endo-opt", self.plan.timeout)
        time = {int(row["markers"]): row["time_ms"] for row in real}
        for row in rows:
            for rule in RULES:
                self.add(subject, machine, rule, int(row["markers"]), number, time_ms=time[int(row[rule])], used=row[rule])

    def imagine(self, chosen, subject, paths):
        """The machines that are not there."""
        for machine in MACHINES:
            processors = wanted(chosen, subject, machine)
            for number, path in enumerate(paths if processors else (), 1):
                self.say(f"{subject.name} on {machine}, collection {number} of {len(paths)}")
                predicted = self.predict(subject, machine, number, path, processors)
                real = self.simulate(subject, machine, number, path, processors)
                if {"t4.2", "f4.4"} & set(chosen):
                    near = {n: row for n, row in real.items() if n <= max(GROWING)}
                    self.predict_counted(subject, machine, number, path, predicted, near)
                if "t4.4" in chosen and machine == "O2K":
                    self.choose(subject, machine, number, path)

    # ---- on this machine ----

    def measure(self, subject, sizes, markers):
        """The time of the mark of each of the collections, as it would be if there were as much to mark as in the
        snapshot: which collections there are differs a little from run to run."""
        log = os.path.join(self.store.folder, "log")
        env = {"SGC_MODE": "stop", "SGC_HUGE_PAGES": "off", "SGC_SHARE_PAGES": "off", "GC_MARKERS": str(markers),
               "SGC_MARKER_CHOICE": "all", "SGC_LOG_JSON": log}
        command = [measure.app(self.plan, subject.file), "--set", self.size, *subject.options]
        run = programs.run_once(self.plan.places, SGC, command, env, ("seconds",), self.plan.timeout)
        cycles = measure.read_log(log)
        if run.failure or not cycles:
            raise snapshots.Unusable(run.failure or f"{subject.name} collected nothing")
        os.unlink(log)
        nearest = [min(cycles, key=lambda c, size=size: abs(c["marked_bytes"] - size)) for size in sizes]
        return [(cycle["parts_ns"]["mark"] + cycle["parts_ns"]["roots"]) / measure.MS * size / cycle["marked_bytes"]
                for cycle, size in zip(nearest, sizes)]

    def compare_here(self, subject, paths):
        """Marks on this machine, the quickest of all runs, since other programs only make them slower; predicted; simulated."""
        places, timeout, runs = self.plan.places, self.plan.timeout, self.study.options.times
        processors = sorted({1, min(2, this_machine.processors())})
        sizes = [snapshots.reached(places, path, timeout)[1] for path in paths]
        times = {n: [] for n in processors}
        for around in range(runs):
            self.say(f"{subject.name} here, run {around + 1} of {runs}")
            for n in processors:
                times[n].append(self.measure(subject, sizes, n))
        for number, path in enumerate(paths, 1):
            predicted = predict(places, path, self.here, processors, timeout)
            simulated = snapshots.simulate(places, path, self.here, processors, "sgc", timeout, ("--dirty", "owner"))
            for n, row, real in zip(processors, predicted, simulated):
                self.add(subject, HERE, MEASURED, n, number, time_ms=min(run[number - 1] for run in times[n]))
                self.add(subject, HERE, PRED, n, number, time_ms=row["time_ms"])
                self.add(subject, HERE, OVERLAP, n, number, time_ms=row["overlap_ms"])
                self.add(subject, HERE, REAL, n, number, time_ms=real["time_ms"])

    def weigh_predictor(self, subject, paths):
        """What the predictor computes, and what one more number of processors costs it, all its forms together."""
        for number, path in enumerate(paths, 1):
            def run(processors, path=path):
                predict(self.plan.places, path, MACHINES["O2K"], processors, self.plan.timeout)
            one, many = computed_ms(lambda: run((1,))), computed_ms(lambda: run(range(1, MANY + 1)))
            self.add(subject, HERE, "slow", 1, number, time_ms=one)
            self.add(subject, HERE, "fast", 1, number, time_ms=max(0.0, many - one) / (MANY - 1))


    # ---- all of it ----

    def of_one(self, chosen, subject):
        paths = self.take(subject)
        self.imagine(chosen, subject, paths)
        if "t4.3" in chosen:
            self.compare_here(subject, paths)
            if subject.name == "BH-st":
                self.weigh_predictor(subject, paths)

    def all(self, chosen):
        """Everything that the chosen experiments of the chapter need."""
        if {"t4.1", "t4.3"} & set(chosen):
            self.say("this machine, by sgc-machine")
            describe_here(self.plan, self.here)
        subjects = [subject for subject in SUBJECTS if subject.name in self.study.options.programs and set(chosen) - {"t4.1"}]
        for subject in subjects:
            with tempfile.TemporaryDirectory() as folder:
                self.store = snapshots.Snapshots(self.plan.places, folder, self.plan.timeout)
                try:
                    self.of_one(chosen, subject)
                except snapshots.Unusable as reason:
                    self.study.record((subject.name, "chapter 4", 0), 1, {}, str(reason))
            self.study.results.write(self.study.path)


# ---- what must be there ----

def needed(places, chosen):
    """The files of the build that the chosen experiments run."""
    tools = ["sgc-machine"] if {"t4.1", "t4.3"} & set(chosen) else []
    if not set(chosen) - {"t4.1"}:
        return [snapshots.tool(places, name) for name in tools]
    tools += ["sgc-predict", "sgc-simulate", "sgc-snapshot"]
    apps = [os.path.join(places.build, "bench", "endo", "apps", subject.file) for subject in SUBJECTS]
    return apps + [snapshots.tool(places, name) for name in tools]
