#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What simulated annealing finds beyond the algorithms: `strag search` over machines and sizes.

    python3 bench/sim/search.py STRAG RESULTS.csv doc/search.md

STRAG is the command. RESULTS.csv gets a line for each search; what it has already is not searched
again. doc/search.md gets the table.
"""
import csv
import io
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import section
from scenarios import KIB, MIB, size_text

MACHINES = {
    "torus 4x4": ("--torus", "4x4"), "torus 3x4": ("--torus", "3x4"),
    "torus 2x8": ("--torus", "2x8"), "tree 2,3": ("--tree", "2,3"),
    "tree 3,3,4": ("--tree", "3,3,4"), "5 hosts, one at half rate": ("-n", "5", "--slow", "0:2"),
    "7 hosts, one at half rate": ("-n", "7", "--slow", "0:2"),
    "8 hosts, one at half rate": ("-n", "8", "--slow", "0:2"),
}
SIZES = 64 * KIB, MIB, 16 * MIB
SEEDS = 1,
STEPS = 500_000
FIELDS = ["machine", "bytes", "seed", "tried", "bound", "best", "best_algorithm", "began",
          "began_with", "found"]


def search(strag, machine, size, seed):
    done = subprocess.run([strag, "search", *MACHINES[machine], "--bytes", str(size), "--seed",
                           str(seed), "--steps", str(STEPS), "--format", "csv"],
                          capture_output=True, text=True, check=True)
    row, = csv.DictReader(io.StringIO(done.stdout))
    return {"machine": machine, **row}


def read(path):
    if not path.exists():
        return {}
    with path.open() as file:
        return {(row["machine"], int(row["bytes"]), int(row["seed"])): row
                for row in csv.DictReader(file)}


def search_all(strag, path):
    rows = read(path)
    for seed in SEEDS:
        for machine in MACHINES:
            for size in SIZES:
                if (machine, size, seed) not in rows:
                    rows[machine, size, seed] = search(strag, machine, size, seed)
                    with path.open("w", newline="") as file:
                        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
                        writer.writeheader()
                        writer.writerows(rows.values())
    return rows


def table(rows):
    print("| machine | vector | lower bound | best algorithm | | found | less than the best "
          "| above the bound | seed |")
    print("|---|---|---:|---:|---|---:|---:|---:|---:|")
    for machine in MACHINES:
        for size in SIZES:
            found = [rows[machine, size, seed] for seed in SEEDS if (machine, size, seed) in rows]
            if not found:
                continue
            row = min(found, key=lambda row: float(row["found"]))
            bound, best, least = (float(row[name]) for name in ("bound", "best", "found"))
            gain = f"{100 * (1 - least / best):.1f} %" if least < best * (1 - 1e-6) else "-"
            print(f"| {machine} | {size_text(size)} | {1e6 * bound:.4g} us | {1e6 * best:.4g} us "
                  f"| {row['best_algorithm']} | {1e6 * least:.4g} us | {gain} "
                  f"| {100 * (min(least, best) / bound - 1):.1f} % | {row['seed']} |")


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: search.py STRAG RESULTS.csv RESULTS.md: the command, what was found, and "
                 "doc/search.md")
    rows = search_all(sys.argv[1], pathlib.Path(sys.argv[2]))
    text = io.StringIO()
    stdout, sys.stdout = sys.stdout, text
    table(rows)
    sys.stdout = stdout
    section.put(sys.argv[3], "search", text.getvalue())


main()
