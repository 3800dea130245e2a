#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Turn what bench/jobs.sh wrote into the page jobs of doc/results.

    python3 bench/jobs.py doc/results FOLDER

A time is the median over the launches of a launch's median; a ratio is one of times of a launch: of one job, or, for
a job's first calls, of the jobs that ran one after the other. Nothing is omitted.
"""
import csv
import pathlib
import statistics
import sys

sys.dont_write_bytecode = True

import measured
import section

KINDS = {"first": "first call with this size in a job", "set-up": "first call on a later communicator",
         "later": "later calls", "cycle": "a communicator made, used once and freed"}
SLOWER = 1.03  # more is slower than stock


def read(folder):
    """{(kind, ranks, bytes): {contender: [microseconds, one per launch]}}, all rows, and how many launches"""
    times, every = {}, []
    files = sorted(folder.glob("jobs-*-*.csv"))
    for path in files:
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                key = (row["kind"], int(row["np"]), int(row["bytes"]))
                times.setdefault(key, {}).setdefault(row["contender"], []).append(
                    float(row["median_us"]))
                every.append(row)
    return times, every, len({path.stem.rsplit("-", 1)[1] for path in files})


def milliseconds(values):
    return f"{statistics.median(values) / 1000:.3g}"


def rows(times, kind):
    for key in sorted(key for key in times if key[0] == kind):
        mine, stock = times[key]["strag"], times[key]["stock"]
        ratios = [one / other for one, other in zip(mine, stock)]
        again = [one / other for one, other in zip(times[key]["stock-again"], stock)]
        slower = "**" if statistics.median(ratios) > SLOWER else ""
        cells = [str(key[1]), section.size_text(key[2]), milliseconds(mine), milliseconds(stock),
                 slower + measured.spread(ratios).replace(" ", slower + " ", 1), measured.spread(again)]
        if kind == "cycle":
            cells += [f"{1e6 / statistics.median(mine):.0f}", f"{1e6 / statistics.median(stock):.0f}"]
        yield cells


def table(times, kind):
    head = ["ranks", "size", "strag ms", "stock ms", "strag / stock", "stock again / stock"]
    head += ["strag a second", "stock a second"] if kind == "cycle" else []
    lines = [f"## {KINDS[kind].capitalize()}", "", "| " + " | ".join(head) + " |",
             "|" + "---:|" * len(head)]
    return lines + ["| " + " | ".join(cells) + " |" for cells in rows(times, kind)] + [""]


def main(results, folder):
    folder = pathlib.Path(folder)
    times, every, launches = read(folder)
    measured.need_launches(launches)
    machine = "; ".join(measured.machine(folder))
    lines = ["# Jobs with many ranks on one host", "",
             f"Written by `bench/jobs.sh`: {machine}; more ranks than cores. strag's choice and stock "
             "(Open MPI without strag) take turns in one job, on communicators of their own, made by "
             "MPI_Comm_dup_with_info; a job's first calls are of jobs of their own, with one of the three each, "
             "from the shortest size on; times of the slowest rank, "
             f"medians over {launches} launches, the lowest and the highest; {measured.load(every)}. "
             "Where strag takes more than 1.03 times as long it is **bold**; "
             "*stock again / stock* shows the noise.", ""]
    for kind in KINDS:
        lines += table(times, kind)
    section.write(results, "jobs", "\n".join(lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
