#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Turn what bench/scale/host printed into the page host of doc/results.

    build/bench/scale/host > host.csv
    python3 bench/scale/host.py doc/results host.csv
"""
import csv
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

import section

TEXT = """\
# One host with a processor for each rank: counted

Counted from the plans that run and from the sources of Open MPI, **not measured** \
(`bench/scale/host`, which says how). What the busiest rank does in a call: messages sent and \
received (xhc: ranks whose flags it looks at); vectors that it copies, has the kernel copy (CMA), \
and sums up; and cache lines that it reads after another rank has written them. *us* is reckoned \
from these and from measurements with 2 ranks that have a processor each: 0.4 us a message \
(0.23 up to 48 bytes) and 20 GB/s through strag's slots; 4 us (0.35 up to 4 KiB) and 16 GB/s over \
btl vader. tuned \
is Open MPI 4.1.4's own choice. xhc runs only if its priority is raised, above 4 KiB only \
with XPMEM; long vectors it touches less than strag, which has no way to read another process's own \
memory."""

COLUMNS = ("messages", "copied", "kernel", "summed", "lines", "us")


def touched(row):
    return sum(float(row[column]) for column in ("copied", "kernel", "summed"))


def summary(rows):
    """Where strag is not the better one of strag and tuned, by reckoned time and by bytes."""
    slower, more = [], []
    pairs = {}
    for row in rows:
        pairs.setdefault((row["ranks"], row["bytes"]), {})[row["who"]] = row
    for (ranks, size), pair in pairs.items():
        where = f"{ranks} ranks, {section.size_text(int(size))}"
        if float(pair["strag"]["us"]) >= float(pair["tuned"]["us"]):
            slower.append(where)
        if touched(pair["strag"]) > touched(pair["tuned"]):
            more.append(where)
    return (f"Of {len(pairs)} cases strag is reckoned to be no faster than tuned in {len(slower)}"
            f"{' (' + '; '.join(slower) + ')' if slower else ''}. It touches more bytes in "
            f"{len(more)}{' (' + '; '.join(more) + ')' if more else ''}.")


def main(results, source):
    with open(source, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    lines = [TEXT, "", summary(rows), "",
             "| ranks | size | | algorithm | messages | copied | kernel | summed | lines | us |",
             "|---:|---:|---|---|---:|---:|---:|---:|---:|---:|"]
    for row in rows:
        numbers = " | ".join(f"{float(row[c]):g}" if row[c] else "" for c in COLUMNS)
        lines.append(f"| {row['ranks']} | {section.size_text(int(row['bytes']))} | {row['who']} "
                     f"| {row['algorithm']} | {numbers} |")
    section.write(results, "host", "\n".join(lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
