# SPDX-License-Identifier: BSD-3-Clause
"""What the Swing paper's figures compare, by `strag cost`.

A scenario is a topology at one bandwidth. A line is a curve of the paper's figures: the best of one
or two algorithms at every size. Times are mode `rounds` of `strag cost`.
"""
import collections
import csv
import io
import itertools
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

ALPHAS_US = 0.5, 0.75
GBIT, LINK_NS, HOP_NS = 400, 100, 300
SIZES = [32 * 4**i for i in range(14)]  # 32 B, 128 B, .. 512 MiB, 2 GiB
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

Scenario = collections.namedtuple("Scenario", "name options ranks dims gbit")
Line = collections.namedtuple("Line", "label letter algorithms options")

SWING = Line("Swing", "S", ("swing", "swing-latency"), ())
DOUBLING = Line("recursive doubling", "D", ("torus-doubling", "torus-halving"), ("--ports", "1"))
MIRRORED = Line("mirrored recursive doubling", "M", ("torus-doubling", "torus-halving"), ())
BUCKET = Line("bucket", "B", ("bucket",), ())
RING = Line("Hamiltonian rings", "H", ("hamiltonian",), ())
LINES = SWING, DOUBLING, MIRRORED, BUCKET, RING
KNOWN = DOUBLING, BUCKET, RING  # what the paper compares Swing with


def torus(dims, gbit=GBIT):
    sizes = [int(size) for size in dims.split("x")]
    ranks = 1
    for size in sizes:
        ranks *= size
    name = dims if gbit == GBIT else f"{dims}, {gbit} Gbit/s"
    return Scenario(name, ("--torus", dims), ranks, len(sizes), gbit)


SQUARES = [torus(f"{d}x{d}") for d in (8, 16, 32, 64, 128)]
BANDWIDTHS = [torus("8x8", gbit) for gbit in (100, 200, 400, 800, 1600, 3200)]
RECTANGLES = [torus(dims) for dims in ("64x16", "128x8", "256x4")]
CUBES = [torus(dims) for dims in ("8x8", "8x8x8", "8x8x8x8")]
HX2MESH = Scenario("Hx2Mesh", ("--hammingmesh", "2x2:32x32"), 4096, 2, GBIT)
HX4MESH = Scenario("Hx4Mesh", ("--hammingmesh", "4x4:16x16"), 4096, 2, GBIT)
HYPERX = Scenario("HyperX", ("--hyperx", "64x64"), 4096, 2, GBIT)
LARGE = torus("64x64")

FIGURES = {
    7: [LARGE],
    8: SQUARES,
    9: BANDWIDTHS,
    11: RECTANGLES,
    12: CUBES,
    13: [HX2MESH],
    14: [HX4MESH],
    15: [HYPERX],
    16: SQUARES + RECTANGLES + [b for b in BANDWIDTHS if b.gbit != GBIT] + CUBES[1:]
        + [HX2MESH, HX4MESH, HYPERX],
}


def size_text(size):
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"


class Prices:
    """Seconds of every line in every scenario, for both alphas."""

    def __init__(self, strag):
        self.strag = strag
        scenarios = list(dict.fromkeys(itertools.chain(*FIGURES.values())))
        keys = list(itertools.product(scenarios, LINES, ALPHAS_US))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            self.table = dict(zip(keys, pool.map(self.price, keys)))

    def run(self, command, scenario, alpha, *options):
        words = [self.strag, *command, "-n", scenario.ranks, *scenario.options,
                 "--bytes", ",".join(map(str, SIZES)), "--alpha", alpha,
                 "--bandwidth", scenario.gbit, "--link-latency", LINK_NS, "--hop-latency", HOP_NS,
                 "--reduce-bandwidth", 0, *options]
        return subprocess.run([str(word) for word in words], capture_output=True, text=True)

    def cost(self, algorithm, scenario, options, alpha):
        """{size: seconds}, or nothing where the algorithm cannot be planned."""
        if algorithm == "swing":  # all steps divide: the paper has no fewer blocks
            options = (*options, "--blocks", scenario.ranks * 2 * scenario.dims)
        # The paper's hosts use all ports, and a message costs them nothing.
        if "--ports" not in options:
            options = (*options, "--ports", 2 * scenario.dims)
        run = self.run(["cost", algorithm], scenario, alpha, *options, "--overhead", 0,
                       "--mode", "rounds", "--format", "csv")
        if run.returncode == 2 and f"{algorithm} needs" in run.stderr:
            return {}
        if run.returncode != 0:
            raise RuntimeError(run.stderr)
        return {int(row["bytes"]): float(row["seconds"])
                for row in csv.DictReader(io.StringIO(run.stdout))}

    def price(self, key):
        """{size: (seconds, algorithm)}: the line's best."""
        scenario, line, alpha = key
        best = {}
        for algorithm in line.algorithms:
            for size, seconds in self.cost(algorithm, scenario, line.options, alpha).items():
                best[size] = min(best.get(size, (seconds, algorithm)), (seconds, algorithm))
        return best

    def choice(self, scenario, alpha):
        """What the selector would run: [(first size, algorithm, blocks or None)], {size: seconds}, and the largest
        ratio over the sizes of its time and the least time of any algorithm."""
        run = self.run(["explain"], scenario, alpha, "--format", "json")
        if run.returncode != 0:
            raise RuntimeError(run.stderr)
        answer = json.loads(run.stdout)
        table = [(entry["from"], entry["algorithm"], entry.get("blocks"))
                 for entry in answer["table"]]
        times, worst = {}, 1
        for size in answer["sizes"]:
            chosen = [name for first, name, _ in table if first <= size["bytes"]][-1]
            seconds = {c["algorithm"]: c["seconds"] for c in size["candidates"]}
            times[size["bytes"]] = seconds[chosen]
            worst = max(worst, seconds[chosen] / min(seconds.values()))
        return table, times, worst

    def exists(self, scenario, line):
        return bool(self.table[scenario, line, ALPHAS_US[0]])

    def seconds(self, scenario, line, alpha, size):
        return self.table[scenario, line, alpha][size][0]

    def algorithm(self, scenario, line, alpha, size):
        return self.table[scenario, line, alpha][size][1]

    def goodput(self, scenario, line, alpha, size):
        """Gbit/s of the vector."""
        return size * 8e-9 / self.seconds(scenario, line, alpha, size)

    def best_known(self, scenario, alpha, size):
        """The line that Swing is compared with."""
        return min((line for line in KNOWN if self.exists(scenario, line)),
                   key=lambda line: self.seconds(scenario, line, alpha, size))

    def speedup(self, scenario, alpha, size, line=None):
        """The time of a line, or of the best known one, over Swing's."""
        line = line or self.best_known(scenario, alpha, size)
        return (self.seconds(scenario, line, alpha, size)
                / self.seconds(scenario, SWING, alpha, size))

    def speedups(self, scenario, alpha, most=SIZES[-1]):
        return {size: self.speedup(scenario, alpha, size) for size in SIZES if size <= most}


def peak(scenario):
    """The most goodput that 2D links a host allow, in Gbit/s."""
    return scenario.dims * scenario.gbit
