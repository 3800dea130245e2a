#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Turn what bench/scale/scale printed into the page scale of doc/results, and doc/figures/scale.svg.

    build/bench/scale/scale > scale.csv
    python3 bench/scale/report.py doc/results scale.csv
"""
import csv
import pathlib
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

import figure
import section

# Up to how many ranks: ms and MiB of a table, and up to how many: ms of a plan.
TABLE = ((4320, 20, 16), (1 << 17, 100, 64))
PLAN = ((1 << 14, 1), (1 << 17, 5))


def bar(bars, ranks):
    return next(rest for most, *rest in bars if ranks <= most)


def mark(value, limit):
    return f"**{value:g}**" if value > limit else f"{value:g}"


def missed(rows):
    """How many rows have which value above its bar."""
    counts = {"table ms": 0, "table MiB": 0, "plan ms": 0}
    for row in rows:
        ranks = int(row["ranks"])
        limits = zip(counts, bar(TABLE, ranks) + bar(PLAN, ranks))
        for column, limit in list(limits):
            counts[column] += float(row[column]) > limit
    return (f"Of {len(rows)} rows {counts['table ms']} are above the bar with the table's time, "
            f"{counts['table MiB']} with its memory, {counts['plan ms']} with a plan's time.")


def speed(rows):
    """How many operations and messages are examined in a microsecond: the median."""
    return statistics.median(int(row["examined"]) / 1e3 / float(row["table ms"]) for row in rows)


def main(results, source):
    with open(source, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    lines = [
        "# Tables and plans at scale",
        "",
        "CPU time and peak memory, beyond the topology's, of the quick table as the component makes "
        "it, and CPU time of the most expensive plan of one rank that the table names "
        "(`bench/scale/scale`). Each number is the least of five processes. Wanted are 20 ms and "
        "16 MiB up to about 4,096 ranks, 100 ms and 64 MiB up to 131,072; 1 ms for a plan up to "
        "16,384 ranks, 5 ms up to 131,072. What is above is **bold**. How many operations and messages were "
        "examined for a table does not depend on the machine: a fast one examines 40 in a microsecond, "
        f"this one {speed(rows):.0f}.",
        "",
        missed(rows),
        "",
        "![Tables and plans at scale](../figures/scale.svg)",
        "",
        "| ranks | machine | state | table ms | MiB | examined, 1,000 | plan ms | of, in blocks |",
        "|---:|---|---|---:|---:|---:|---:|---|",
    ]
    for row in rows:
        ranks = int(row["ranks"])
        (ms, mib), (plan,) = bar(TABLE, ranks), bar(PLAN, ranks)
        lines.append(f"| {ranks:,} | {row['machine']} | {row['state']} "
                     f"| {mark(float(row['table ms']), ms)} | {mark(float(row['table MiB']), mib)} "
                     f"| {int(row['examined']) // 1000:,} "
                     f"| {mark(float(row['plan ms']), plan)} "
                     f"| {row['algorithm']} in {int(row['blocks']):,} |")
    section.write(results, "scale", "\n".join(lines))
    figure.write(rows, [(most, ms) for most, ms, _ in TABLE], PLAN,
                 pathlib.Path(results).parent / "figures" / "scale.svg")


if __name__ == "__main__":
    main(*sys.argv[1:])
