#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compare the cost model with SimGrid: the same plans, run message by message by SMPI.

usage: compare.py STRAG REPLAY

STRAG is the command, REPLAY what smpicc made of replay.c. Prints a table and exits with 1 if the
model is off by more than a case allows. README.md says what is compared and the known deviations.
Each algorithm has one of the sizes and states on every other shape, in turn; STRAG_TEST_FULL=1: all of them.
"""
import collections
import csv
import io
import os
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import make_platform

ALPHA_US, LINK_NS, HOP_NS, GBIT = 1, 100, 300, 100
LOCAL_ALPHA_US, LOCAL_GBIT = 0.5, 400

# CM02 with nothing but the links: no factors, no windows, no traffic for acknowledgements; MPI
# without overheads and without messages that are sent before their receiver is ready.
SETTINGS = """
    network/model:CM02 network/crosstraffic:0 network/TCP-gamma:0 network/weight-S:0
    network/latency-factor:1 network/bandwidth-factor:1 surf/precision:1e-12
    smpi/simulate-computation:no smpi/send-is-detached-thresh:0 smpi/wtime:0
    contexts/stack-size:64 contexts/guard-size:0""".split()

Shape = collections.namedtuple("Shape", "name n strag platform replay")
# slow: (rank, factor). late: (rank, delay as a multiple of the time without it). rounds, clocks:
# the least and the largest ratio of the model's time and SimGrid's that are accepted, per mode.
Case = collections.namedtuple("Case", "algorithm shape bytes slow late rounds clocks")
Result = collections.namedtuple("Result", "case simgrid rounds clocks")

# The bounds of README.md. `clocks` is exact, up to the printed digits, except if SimGrid shares a
# link by 1/latency among routes of different lengths, and where its own torus breaks ties
# differently.
EQUAL = (0.999, 1.001)
BY_LATENCY = (0.98, 1.11)
OTHER_TIES = (0.98, 1.006)
# In `rounds` all ranks wait for what delays only some of them.
ROUNDS_ON_TIME = (0.965, 1.11)
ROUNDS_LATE = (0.97, 1.26)
ROUNDS_SLOW = (0.93, 1.3)

ALGORITHMS = "ring", "recursive-halving", "bucket", "circulant", "recursive-doubling"
SIZES = "32K", "2M"


def torus(dims, listed=False, latency=True):
    """SimGrid's own torus, or one whose links and routes make_platform.py lists."""
    link, hop = (LINK_NS, HOP_NS) if latency else (0, 0)
    n = 1
    for size in dims.split("x"):
        n *= int(size)
    return Shape(
        ("listed " if listed else "torus ") + dims + ("" if latency else ", 0 ns"), n,
        ["--torus", dims, "--ports", 2 * len(dims.split("x")), "--ties", "plus", "--link-latency", link, "--hop-latency", hop],
        ["--torus", dims, "--latency", link + hop, *(["--explicit"] if listed else [])],
        ["--torus", dims])


def tree(hosts, ranks_per_host):
    """Hosts on one switch, with link latencies above 0."""
    n = hosts * ranks_per_host
    name = f"{hosts} hosts" if ranks_per_host == 1 else f"{hosts} hosts x {ranks_per_host}"
    return Shape(
        name, n,
        ["--tree", ",".join([str(ranks_per_host)] * hosts),
         "--link-latency", LINK_NS, "--hop-latency", HOP_NS],
        ["--hosts", f"{n}/{ranks_per_host}", "--latency", LINK_NS + HOP_NS,
         "--local-bandwidth", LOCAL_GBIT],
        ["--hosts", f"{n}/{ranks_per_host}"])


def clocks_bounds(algorithm, shape):
    if shape.name.startswith("torus") and algorithm == "circulant":
        return OTHER_TIES
    if shape.name.startswith("torus") and algorithm == "recursive-halving":
        return BY_LATENCY  # behind a slow host rounds of near and of far pairs share links
    return BY_LATENCY if shape.name in ("listed 6x5", "listed 8x8") else EQUAL


def case(algorithm, shape, size, slow=None, late=None):
    rounds = ROUNDS_SLOW if slow else ROUNDS_LATE if late else ROUNDS_ON_TIME
    return Case(algorithm, shape, size, slow, late, rounds, clocks_bounds(algorithm, shape))


def output(arguments):
    run = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}\nends with {run.returncode}: {run.stderr}")
    return run.stdout


def model(case, mode):
    """The result of `strag cost`, in seconds."""
    state = []
    if case.slow:
        state += ["--slow", f"{case.slow[0]}:{case.slow[1]}"]
    if case.late:
        state += ["--straggler", case.late[0], "--delay", case.late[1]]
    table = output([STRAG, "cost", case.algorithm, "-n", case.shape.n, *case.shape.strag, *state,
                    "--bytes", case.bytes, "--alpha", ALPHA_US, "--overhead", 0, "--local-alpha", LOCAL_ALPHA_US,
                    "--reduce-bandwidth", 0,
                    "--bandwidth", GBIT, "--local-bandwidth", LOCAL_GBIT, "--mode", mode,
                    "--format", "csv"])
    row, = csv.DictReader(io.StringIO(table))
    return float(row["seconds"])


def simulate(case):
    """The result of SimGrid, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        platform, hosts = pathlib.Path(folder, "platform.xml"), pathlib.Path(folder, "hosts")
        slow = ["--slow", f"{case.slow[0]}:{case.slow[1]}"] if case.slow else []
        platform.write_text(make_platform.make(
            [str(word) for word in (*case.shape.platform, "--bandwidth", GBIT, *slow)]))
        hosts.write_text("".join(f"r{rank}\n" for rank in range(case.shape.n)))
        late = ["--late", f"{case.late[0]}:{case.late[1]}"] if case.late else []
        return float(output([
            "smpirun", "-no-privatize", "-np", case.shape.n, "-platform", platform,
            "-hostfile", hosts, "--log=root.thres:warning", *(f"--cfg={s}" for s in SETTINGS),
            REPLAY, case.algorithm, case.bytes, *case.shape.replay, "--alpha", ALPHA_US,
            "--local-alpha", LOCAL_ALPHA_US, *late]))


def measure(case):
    if case.late:
        rank, multiple = case.late
        delay_us = round(model(case._replace(late=None), "rounds") * 1e6 * multiple, 3)
        case = case._replace(late=(rank, delay_us))
    return Result(case, simulate(case), model(case, "rounds"), model(case, "clocks"))


# ---- What is compared ----

def fits(algorithm, shape):
    """Bucket is for one rank per host."""
    return algorithm != "bucket" or shape.name != "4 hosts x 4"


def all_cases(shapes, changes):
    """Every algorithm on every other shape, in a size and state, or on all in all of them."""
    for a, algorithm in enumerate(ALGORITHMS):
        for s, (shape, rank) in enumerate(shapes):
            pairs = [(size, change(rank)) for size in SIZES for change in changes] if fits(algorithm, shape) else []
            if not os.environ.get("STRAG_TEST_FULL"):
                pairs = pairs[(a + s // 2) % len(pairs):][:1] if pairs and (a + s) % 2 == 0 else []
            for size, state in pairs:
                yield case(algorithm, shape, size, **state)


def healthy():
    shapes = [torus("8x8"), torus("16x16"), torus("8x8", listed=True), torus("6x5", listed=True),
              torus("6x5", listed=True, latency=False), torus("4x4x4", listed=True),
              tree(8, 1), tree(13, 1), tree(64, 1), tree(4, 4)]
    return all_cases([(shape, None) for shape in shapes], [lambda rank: {}])


def late():
    shapes = [(torus("8x8"), 0), (torus("8x8", listed=True, latency=False), 20), (tree(13, 1), 5),
              (torus("6x5", listed=True, latency=False), 14), (tree(4, 4), 5)]
    return all_cases(shapes, [lambda rank, multiple=multiple: {"late": (rank, multiple)}
                              for multiple in (0.1, 1, 10)])


def slow():
    shapes = [(torus("8x8"), 36), (torus("6x5", listed=True), 14),
              (torus("6x5", listed=True, latency=False), 14), (tree(13, 1), 12), (tree(4, 4), 5)]
    return all_cases(shapes, [lambda rank, factor=factor: {"slow": (rank, factor)}
                              for factor in (1.14, 2, 4)])


# ---- The table ----

def within(ratio, bounds):
    return bounds[0] <= ratio <= bounds[1]


def line(result):
    case = result.case
    state = "-"
    if case.slow:
        state = f"rank {case.slow[0]} x{case.slow[1]} slower"
    if case.late:
        state = f"rank {case.late[0]} +{case.late[1]:.1f} us"
    ratios = [(result.rounds / result.simgrid, case.rounds),
              (result.clocks / result.simgrid, case.clocks)]
    wrong = "" if all(within(*r) for r in ratios) else "  WRONG"
    texts = [f"{ratio:7.4f} in {low:5.3f}..{high:5.3f}" for ratio, (low, high) in ratios]
    return (f"{case.algorithm:18} {case.shape.name:16} {case.bytes:>4} {state:22} "
            f"{result.simgrid:.6e} {result.rounds:.6e} {texts[0]} {result.clocks:.6e} "
            f"{texts[1]}{wrong}")


def compare(pool, title, cases):
    """Print a table. @return how many lines are wrong"""
    print(f"\n{title}")
    print(f"{'algorithm':18} {'shape':16} {'size':>4} {'state':22} {'SimGrid s':12} "
          f"{'rounds s':12} {'ratio and its bounds':23} {'clocks s':12} ratio and its bounds")
    wrong = 0
    for text in map(line, pool.map(measure, cases)):
        print(text, flush=True)
        wrong += text.endswith("WRONG")
    return wrong


def check_routes():
    """Where no two directions are equally long, the torus of make_platform.py equals SimGrid's own;
    and the comparison detects another routing."""
    wrong = 0
    for dims in ("7x5", "5x3x3"):
        own, listed = (simulate(case("circulant", torus(dims, lists), "2M"))
                       for lists in (False, True))
        print(f"circulant on {dims}: SimGrid's torus {own:.6e} s, listed links {listed:.6e} s")
        wrong += not within(listed / own, (1 - 1e-6, 1 + 1e-6))
    one = case("recursive-halving", torus("8x8"), "2M")
    split = one.shape.strag[:]
    split[split.index("plus")] = "split"
    ratio = model(one._replace(shape=one.shape._replace(strag=split)), "clocks") / simulate(one)
    print(f"recursive-halving on 8x8, ties split in the model only: ratio {ratio:.4f}")
    return wrong + within(ratio, EQUAL)


def main():
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = compare(pool, "All ranks on time, all links equal", healthy())
        wrong += compare(pool, "A straggler", late())
        wrong += compare(pool, "A host with slow links", slow())
    print()
    wrong += check_routes()
    print(f"{wrong} comparisons are out of bounds" if wrong else "all within the bounds")
    return 1 if wrong else 0


if __name__ == "__main__":
    STRAG, REPLAY = sys.argv[1:]
    sys.exit(main())
