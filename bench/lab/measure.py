# SPDX-License-Identifier: BSD-3-Clause
"""One point of a scenario: build its lab, measure, and write all that is needed to judge it.

    FOLDER/info.json     the lab, the machine, its load, calibration, models, what plans send
    FOLDER/samples.csv   every call
    FOLDER/traffic.csv   bytes that left every port, per contender and size
    FOLDER/mpirun.log    what the programs said
"""
import csv
import dataclasses
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys

import box
import contenders
import launch
import network
import stream
import strag as strag_command

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import busy
import section


def load():
    return {"average": os.getloadavg()[0], "busy": round(busy.share(), 3)}


def output_of(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip().splitlines()[0] if done.stdout.strip() else "unknown"


def machine(build):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")),
                     platform.machine())
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processor": f"{model}, {os.cpu_count()} cores",
        "mpi": output_of(str(build.mpirun), "--version"),
        "strag": output_of(str(build.strag), "--version"),
        "user": os.environ[box.USER],
    }


def algorithms_in(log):
    """{contender: {bytes: [algorithm]}}, in the order in which strag's verbose lines name them. A
    communicator is called CONTENDER/BYTES; other lengths are those of warm-up calls."""
    line = re.compile(r"coll:strag: (\S+)/(\d+) \(.*: allreduce of (\d+) \.\. (\d+) bytes: (.*) \(")
    found = {}
    for match in line.finditer(log):
        if int(match[3]) <= int(match[2]) <= int(match[4]):
            found.setdefault(match[1], {}).setdefault(match[2], []).append(match[5])
    return found


def united(old, new):
    """The information on two runs of a point, of which the second measured other sizes."""
    joined = {name: old[name] + new[name] for name in ("load", "calibration", "failures")}
    more = [name for name in new["contenders"] if name not in old["contenders"]]
    return {**new, **joined, "contenders": old["contenders"] + more,
            "expect": {**old["expect"], **{str(size): found for size, found in new["expect"].items()}}}


class Point:
    """A point while it is measured."""

    def __init__(self, scenario, point, build, folder, options):
        self.scenario, self.point, self.build = scenario, point, build
        self.folder, self.options = pathlib.Path(folder), options
        self.network = point.make()
        state = point.state(self.network, scenario.late)
        self.strag = strag_command.Strag(build.strag, self.network, state)
        self.strag.settle, self.strag.slowdown = scenario.settle, point.slowdown()
        self.lab = None
        self.failures = []
        self.loads = []  # of the machine: next to every launch, and at the end

    # ---- What to expect ----

    def expectations(self, who):
        """Bounds, models and bytes per link, for every size."""
        found = {}
        for size in section.sizes_of(self.scenario.sizes):
            models = {}
            for contender in who:
                algorithm = contender.algorithm or self.chosen(contender, size)
                if algorithm:
                    models[contender.name] = {
                        "algorithm": algorithm,
                        "floor": self.strag.floor_seconds(algorithm, size),
                        "model": self.strag.model_seconds(algorithm, size),
                        "cost": self.costs(algorithm, size),
                        "links": self.strag.traffic(algorithm, size)}
            found[size] = {"bound": self.bound(size), "vector": self.vector(size),
                           "models": models}
        return found

    def chosen(self, contender, size):
        """What auto runs at this size, where that stays the same and strag knows all there is."""
        changes = (self.scenario.late or self.scenario.unconfigured or self.point.degraded
                   or len(self.network.hosts) == 1)
        return self.strag.chosen(size) if contender.is_strag and not changes else None

    def costs(self, name, size):
        """{delay in microseconds: seconds}; of a random delay the shortest. None where the straggler
        is random."""
        if self.scenario.random_arrivals():
            return {}
        delays = [float(text.split("-")[0]) for text in self.scenario.delays.split(",")]
        return {f"{delay:g}": self.strag.cost_seconds(name, size, delay) for delay in delays}

    def bound(self, size):
        return self.network.bound_seconds(size) if len(self.network.hosts) > 1 else 0

    def vector(self, size):
        """Seconds in which a straggler can send its vector; all hosts have the same links there."""
        ports = [port for port in self.network.ports.values() if port.node == "h0"]
        return size / sum(1 / port.seconds_per_byte for port in ports)

    def bar(self, bar):
        """A target, with its delay in microseconds."""
        unit = 1e6 * self.vector(bar.bytes) if self.scenario.of_vector else 1
        delay = None if bar.delay is None else bar.delay * unit
        return {**dataclasses.asdict(bar), "delay": delay}

    # ---- Running ----

    def program(self, who, number):
        scenario = self.scenario
        words = [str(self.build.benchmark), "--check", "--sizes", scenario.sizes,
                 "--iterations", str(self.options.iterations or scenario.iterations),
                 "--least", str(min(scenario.least, self.options.iterations or scenario.iterations)),
                 "--seconds", f"{scenario.seconds:g}", "--delay", scenario.delays,
                 "--seed", str(number), "--output", str(box.PLACE / "samples"),
                 "--links", str(box.PLACE / "links"), "--traffic", str(box.PLACE / "traffic")]
        if scenario.late:
            words += ["--late", scenario.late, "--jitter", f"{scenario.jitter:g}"]
        if scenario.of_vector:
            rate = self.network.rate * network.GOODPUT
            words += ["--bandwidth", f"{rate:g}"]
        if scenario.unconfigured:
            words += ["--fresh"]
        if self.network.latency_us:
            words += ["--latency", str(self.network.latency_us)]
        for contender in who:
            words += ["--contender", contender.argument()]
        degraded = self.point.degraded
        if degraded:
            for name, number, factor in (("degrade", degraded.first, degraded.factor),
                                         ("heal", degraded.end, 1)):
                path = self.lab.write_reshape(name, degraded.host, factor)
                words += ["--at", f"{number}:{path}"]
        return words

    def launch(self, who, setting, number):
        """@return the exit status, and {name: lines of the file}"""
        scenario, files = self.scenario, [box.PLACE / name for name in ("samples", "traffic")]
        for path in files:
            path.unlink(missing_ok=True)
        status = launch.run(self.build, self.network, setting, self.program(who, number),
                            self.folder / "mpirun.log", self.options.limit,
                            self.lab.keep(), scenario.parameters,
                            launch.SPEED if scenario.unconfigured else ())
        return status, {path.name: path.read_text(encoding="utf-8").splitlines() for path in files if path.exists()}

    def run_once(self, who, setting, number):
        """One launch, again if other programs disturb it; the lines of the quietest one are kept."""
        (status, files), percent = busy.quietest(lambda: self.launch(who, setting, number), self.options.again)
        self.loads.append({"average": os.getloadavg()[0], "busy": percent / 100})
        if status:
            self.failures.append(f"{setting}, launch {number}: mpirun ended with {status}")
        for name, lines in files.items():
            self.keep(name, lines, setting, number)

    def keep(self, name, lines, setting, number):
        target = self.folder / f"{name}.csv"
        new = not target.exists()
        with target.open("a", newline="") as file:
            for line, row in enumerate(csv.reader(lines)):
                if line == 0 and new:
                    csv.writer(file).writerow(["setting", "launch"] + row)
                elif line:
                    csv.writer(file).writerow([setting, number] + row)

    def ran(self):
        """What strag said that it runs."""
        log = self.folder / "mpirun.log"
        return algorithms_in(log.read_text(encoding="utf-8")) if log.exists() else {}

    def measure(self):
        """Measure the point. Returns whether all launches succeeded."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.lab = box.Lab(self.network, self.build.holder)
        for old in self.folder.iterdir():
            if old.is_file() and not self.options.add:
                old.unlink()
        wanted = self.options.algorithms or self.scenario.algorithms
        who = list(self.scenario.who(self.strag, wanted))
        calibration = [stream.calibrate(self.lab)]
        for number in range(1, (self.options.launches or self.scenario.rounds) + 1):
            for setting in self.options.settings or self.scenario.settings:
                self.run_once(who, setting, number)
        calibration.append(stream.calibrate(self.lab))
        self.loads.append(load())
        self.write_info(who, calibration)
        for failure in self.failures:
            print(f"{self.scenario.name}/{self.point.label}: {failure}; see mpirun.log")
        return not self.failures

    def write_info(self, who, calibration):
        info = {
            "scenario": self.scenario.name, "title": self.scenario.title,
            "point": self.point.label, "x": self.point.x, "x_axis": self.scenario.x,
            "x_title": self.scenario.x_title, "network": self.network.describe(),
            "kind": self.network.kind, "hosts": len(self.network.hosts),
            "ranks": self.network.ranks, "slow": self.point.slow,
            "degraded": self.point.degraded and dataclasses.asdict(self.point.degraded),
            "window": int(self.scenario.parameters.get("coll_strag_window", 0)),
            "late": self.scenario.late,
            "machine": machine(self.build), "load": self.loads,
            "calibration": calibration, "failures": self.failures,
            "settings": contenders.MEANING, "exact": self.scenario.exact,
            "settle": self.scenario.settle, "unconfigured": self.scenario.unconfigured, "ran": self.ran(),
            "latency_us": self.network.latency_us, "unsure": self.scenario.exponential(),
            "random": self.scenario.random_arrivals(),
            "bars": [self.bar(bar) for bar in self.scenario.bars + self.point.bars],
            "contenders": [contender.name for contender in who],
            "expect": self.expectations(who),
        }
        path = self.folder / "info.json"
        if path.exists():  # other sizes, measured earlier
            info = united(json.loads(path.read_text(encoding="utf-8")), info)
        path.write_text(json.dumps(info, indent=1) + "\n")
