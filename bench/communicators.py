#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Turn what bench/communicators.sh wrote into the page communicators of doc/results.

    python3 bench/communicators.py doc/results FOLDER

A time is the median over the launches of a launch's median; a ratio is one of launches that followed each other.
Nothing is omitted.
"""
import csv
import pathlib
import statistics
import sys

sys.dont_write_bytecode = True

import measured
import section

KINDS = {"dup": "MPI_Comm_dup", "halves": "MPI_Comm_split into halves",
         "reversed": "MPI_Comm_split, the other order", "dup-dup": "a dup of a dup"}
MOST = {"dup": 1.2, "halves": 1.5, "reversed": 1.5}  # of stock's time; more is missed


def read(folder):
    """{(kind, ranks, bytes): {contender: [microseconds, one per launch]}}, and all rows"""
    times, every = {}, []
    for path in sorted(folder.glob("communicators-*-*.csv")):
        contender = path.stem.split("-", 2)[2]
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                key = (row["kind"], int(row["np"]), int(row["bytes"]))
                times.setdefault(key, {}).setdefault(contender, []).append(float(row["median_us"]))
                every.append(row)
    return times, every


def rows(times):
    for key in sorted(times, key=lambda key: (list(KINDS).index(key[0]), *key[1:])):
        strag, stock, again = (times[key][contender] for contender in ("strag", "stock", "stock-again"))
        ratios = [2 * one / (two + three) for one, two, three in zip(strag, stock, again)]
        most = MOST.get(key[0])
        missed = "**" if most and statistics.median(ratios) > most else ""
        yield [KINDS[key[0]], str(key[1]), section.size_text(key[2]), f"{statistics.median(strag):.0f}",
               f"{statistics.median(stock):.0f}", missed + measured.spread(ratios).replace(" ", missed + " ", 1),
               f"{most}" if most else "", measured.spread([two / one for one, two in zip(stock, again)])]


def main(results, folder):
    folder = pathlib.Path(folder)
    times, every = read(folder)
    launches = min(len(series) for series in next(iter(times.values())).values())
    measured.need_launches(launches)
    machine = "; ".join(measured.machine(folder))
    head = ["made by", "ranks", "size", "strag us", "stock us", "strag / stock", "at most",
            "stock again / stock"]
    lines = ["# Communicators made, used once and freed", "",
             f"Written by `bench/communicators.sh`: {machine}. Launches with strag, with stock (Open "
             "MPI without strag) and with stock again take turns. A time is the slowest rank's, from "
             "before a communicator is made to after it is freed, with one MPI_Allreduce; median of "
             f"a launch's communicators, and of {launches} launches; {measured.load(every)}. *strag / stock* is against "
             "the mean of both stocks, **bold** where it is more than it should be; *stock again / stock* "
             "shows the noise.", "",
             "| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(cells) + " |" for cells in rows(times)]
    section.write(results, "communicators", "\n".join(lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
