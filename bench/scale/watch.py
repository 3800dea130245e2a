#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Turn what bench/scale/watch printed into the page watch of doc/results.

    build/bench/scale/watch > watch.csv
    python3 bench/scale/watch.py doc/results watch.csv
"""
import csv
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

import section

TEXT = """\
# Judging watched calls at scale

Processor time of rank 0 for judging 100,000 calls of 400 us, and its memory (`bench/scale/watch`). Windows \
follow each other without a pause, which is as often as can be: a job's budget (1/500 of the time in calls) \
allows far fewer. The bars are 20 us a call in the mean, 2 ms in one piece, and 64 KiB. What is above \
is **bold**."""

BARS = {"us a call": 20, "longest us": 2000, "KiB": 64}


def cell(row, column):
    value = float(row[column])
    return f"**{value:g}**" if value > BARS.get(column, value) else f"{value:g}"


def main(results, source):
    with open(source, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    above = sum(float(row[column]) > bar for row in rows for column, bar in BARS.items())
    columns = ("us a call", "us a window", "longest us", "KiB")
    lines = [TEXT, "", f"Of {len(rows)} rows, {above} figures are above their bar.", "",
             "| ranks | job | windows | us a call | us a window | longest us | KiB |",
             "|---:|---|---:|---:|---:|---:|---:|"]
    for row in rows:
        lines.append(f"| {int(row['ranks']):,} | {row['job']} | {int(row['windows']):,} | "
                     + " | ".join(cell(row, column) for column in columns) + " |")
    section.write(results, "watch", "\n".join(lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
