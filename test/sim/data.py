#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run allreduces of real data in SimGrid's SMPI and check every element.

usage: data.py DATA TORUS COUNT ALGORITHM...

DATA is what smpicc made of data.c. Exits with 1 if an element is wrong, or a line is missing.
"""
import pathlib
import subprocess
import sys
import tempfile

import make_platform
from compare import GBIT, HOP_NS, LINK_NS, SETTINGS


def simulate(data, torus, count, algorithms):
    n = 1
    for size in torus.split("x"):
        n *= int(size)
    with tempfile.TemporaryDirectory() as folder:
        platform, hosts = pathlib.Path(folder, "platform.xml"), pathlib.Path(folder, "hosts")
        platform.write_text(make_platform.make(
            ["--torus", torus, "--bandwidth", str(GBIT), "--latency", str(LINK_NS + HOP_NS)]))
        hosts.write_text("".join(f"r{rank}\n" for rank in range(n)))
        run = subprocess.run(
            ["smpirun", "-no-privatize", "-np", str(n), "-platform", platform, "-hostfile", hosts,
             "--log=root.thres:warning", *(f"--cfg={s}" for s in SETTINGS),
             data, torus, count, *algorithms], stdout=subprocess.PIPE, text=True)
    return n, run.stdout.splitlines()


def main():
    data, torus, count, *algorithms = sys.argv[1:]
    n, lines = simulate(data, torus, count, algorithms)
    print("\n".join(lines))
    expected = [f"{algorithm} {torus}: {n} ranks, {count} elements, 0 wrong"
                for algorithm in algorithms]
    return 0 if lines == expected else 1


if __name__ == "__main__":
    sys.exit(main())
