# SPDX-License-Identifier: BSD-3-Clause
"""`lab check`: does the lab work on this machine, and does strag send what its plans say?

Two hosts with two ranks each: every algorithm gives the right result; four hosts on one switch and, on
machines with NFQUEUE, three hosts with latency: a few algorithms do. Nothing is faster
than the links allow, and every link carries what the plan says. Times above the model are only
reported: a busy machine is no failure. Two hosts of which nothing is configured find out about what
their link carries. And nothing of a lab remains when any of its processes is killed.
"""
import contextlib
import io
import os
import pathlib
import re
import select
import signal
import subprocess
import tempfile
import types

import box
import contenders
import measure
import results
import scenarios
import stream

RATE = 200  # Mbit/s
FEW = ("circulant", "ring")
ALL = "two-level"  # the point of all algorithms: on it hosts' ranks share memory and links
SKIPPED = 77  # this machine does not permit latency
LIMIT = 3600  # seconds of one mpirun; as a test it has a limit that does not count other programs' time
# Plans alone: a probe, or a trial of another algorithm, sends what no plan says, and a busy machine
# decides when.
UNWATCHED = {"coll_strag_learn": "false", "coll_strag_slowdown": "none",
             "coll_strag_straggler": "none"}
PING_MOST = 5  # times the bandwidth
SOON = 300  # seconds in which the kernel removes a lab, also on a busy machine
BOX_DEPTH = 2  # of the box's first process below the lab that was started


def who(strag, wanted):
    """strag's algorithms, and Open MPI's ring."""
    return list(contenders.strag_ones(strag, wanted)) + list(contenders.tuned_ones([4]))


def scenario():
    return scenarios.Scenario(
        "check", "Check", [scenarios.Point("star", "star:4", RATE),
                           scenarios.Point(ALL, "tree:2,2", RATE),
                           scenarios.Point("latency", "star:3", RATE, latency="2ms")],
        sizes="1M", settings=("send",), who=who, iterations=2, least=2, rounds=1,
        parameters=UNWATCHED)


def judge(point):
    """Print what was measured. Returns the failures."""
    wrong = list(point.info["failures"])
    for (setting, name, *case), times in point.times.items():
        case = tuple(case)
        error = point.links_error(setting, name, case)
        model = point.model(name, case)
        floor = point.floor(name, case)
        print(f"{point.info['point']:10} {name:24} {1000 * times.middle:8.1f} ms, at least "
              f"{1000 * floor:.1f} ms" + (f", model {1000 * model:.1f} ms" if model else "")
              + (f", links within {100 * error:.2f} %" if error is not None else ""))
        if not point.applies(name):
            wrong.append(f"{name}: another component ran: {', '.join(times.ran)}")
        if min(times.seconds) < results.NOT_BELOW * floor:
            wrong.append(f"{name}: {min(times.seconds):.4f} s is faster than the links allow")
        if error is not None and error > results.LINKS:
            wrong.append(f"{name}: a link carried {100 * error:.1f} % more or less than planned")
    if not point.times:
        wrong.append("nothing was measured")
    for name, ratio in point.calibrations():
        if name == stream.LATENCY:
            print(f"{point.info['point']:10} {name} {ratio:.2f} times what was asked for")
            if ratio < 1 - results.LATENCY:
                wrong.append(f"{name} is {ratio:.2f} times what was asked for")
    return [f"{point.info['point']}: {line}" for line in wrong]


def run_point(scenario_, point, options, folder):
    made = measure.Point(scenario_, point, options.build, folder, options)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        made.measure()
    wrong = judge(results.Point(folder))
    if wrong:
        print((pathlib.Path(folder) / "mpirun.log").read_text(encoding="utf-8"))
    return wrong


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def below(pid, depth):
    for _ in range(depth):
        pid = children(pid)[0]
    return pid


def holder(pid):
    """The program that holds packets in the lab of process `pid`."""
    for child in children(below(pid, BOX_DEPTH)):
        comm = pathlib.Path(f"/proc/{child}/comm").read_text(encoding="ascii").strip()
        if comm == "hold_packets":
            return child
    raise RuntimeError("hold_packets does not run")


def ends_with(program, victim):
    """Start a lab, kill one of its processes, and see whether all of them end: they all hold the pipe
    that is read here. `victim`: finds it, from the one that was started."""
    with subprocess.Popen([*program, "exec", "star:2", "sh", "-c", "echo up; sleep 1000"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as lab:
        if lab.stdout.readline() != b"up\n":
            return False
        os.kill(victim(lab.pid), signal.SIGKILL)
        ready, _, _ = select.select([lab.stdout], [], [], SOON)
        ended = bool(ready) and lab.stdout.read() == b""
        lab.kill()
    return ended


def check_teardown(program):
    """Outside of a box. Returns the exit status."""
    killed = ("lab", "unshare", "the box's first process")
    wrong = [what for depth, what in enumerate(killed)
             if not ends_with(program, lambda pid, depth=depth: below(pid, depth))]
    slow = [*program[:2], "--delay", "1ms", *program[2:]]
    if subprocess.run([*slow, "exec", "star:2", "true"], capture_output=True,
                      check=False).returncode == 0:
        killed += ("hold_packets",)
        wrong += killed[3:] if not ends_with(slow, holder) else ()
    for what in wrong:
        print(f"lab check: after the end of {what} something of a lab remains")
    if not wrong:
        print(f"after SIGKILL of {', of '.join(killed)}: nothing remains")
    return 1 if wrong else 0


def check_ping(program, build):
    """Outside of a box: is the bandwidth of a slow link measured, and not beyond what the shaper's burst and
    a disturbed message explain? A busy machine makes it slower. Returns the exit status."""
    for _ in range(3):  # a busy machine may hide what a longer message takes more
        ended = subprocess.run(
            [*program, "--rate", str(RATE / 10), "--delay", "1ms", "--unconfigured", "mpirun", "star:2",
             "--mca", "coll", "strag", "--mca", "coll_strag_verbose", "2",
             build.folder / "bench/allreduce", "--sizes", "16K", "--iterations", "1"],
            capture_output=True, text=True, check=False)
        if ended.returncode == SKIPPED:
            print(f"ping: omitted: {ended.stderr}")
            return 0
        found = re.search(r"model: .*[^-]bandwidth ([0-9.]+) Gbit/s \(measured\)", ended.stderr + ended.stdout)
        if found:
            print(f"ping: found {1000 * float(found[1]):.0f} Mbit/s of {RATE / 10:.0f}")
        if found and 1000 * float(found[1]) < PING_MOST * RATE / 10:
            return 0
    print("lab check: the ping measures no bandwidth, or too much", ended.stderr)
    return 1


def run(options, number):
    """In a box: one of the check's labs. Returns the exit status."""
    all_of_it = scenario()
    point = all_of_it.points[number]
    options = types.SimpleNamespace(**{**vars(options), "iterations": 0, "launches": 0,
                                       "settings": None, "limit": LIMIT, "add": False, "again": 0,
                                       "algorithms": None if point.label == ALL else FEW})
    with tempfile.TemporaryDirectory() as folder:
        try:
            wrong = run_point(all_of_it, point, options, folder)
        except box.NotPermitted as error:
            if point.latency == "0":
                raise
            print(f"{point.label:10} omitted: {error}")
            return 0
    for line in wrong:
        print(f"lab check: {line}")
    return 1 if wrong else 0
