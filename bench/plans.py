#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Turn the files that bench/plans.sh wrote into the page plans of doc/results.

    python3 bench/plans.py doc/results FOLDER...

Each folder is one launch (of some places, if others were left out); five are needed. A ratio is one of medians within
a launch; the table has the median over the launches, the lowest and the highest. Nothing is omitted.
"""
import pathlib
import statistics
import sys

sys.dont_write_bytecode = True

import measured
import section

PLACES = {"shm": "shared memory", "lab": "the lab, 100 Mbit/s"}

HEAD = """\
# Plans from files

Written by bench/plans.py from the files of bench/plans.sh. An algorithm's plan was written by
`strag plan --format json`, read with coll_strag_plan, and run together with the same algorithm built in, in
turn from call to call; both gave the same bits (test/mpi/plans.c), or there would be no figures.
*file / built in* should be 1, as far as *again / built in* is, which is one thing twice: the median over
the launches, the lowest and the highest.
"""


def read(folders):
    """{(place, ranks, bytes): {contender: [median us per launch]}}"""
    tables = {}
    for place, ranks, row in measured.rows(folders):
        table = tables.setdefault((place, ranks, int(row["bytes"])), {})
        table.setdefault(row["contender"], []).append(float(row["median_us"]))
    return tables


def load(folders):
    return measured.load([row for _, _, row in measured.rows(folders)])


def ratios(over, under):
    found = sorted(one / other for one, other in zip(over, under))
    return f"{statistics.median(found):.3f} ({found[0]:.3f} to {found[-1]:.3f})"


def lines(tables):
    for (place, ranks, size), table in sorted(tables.items(), key=lambda one: (
            list(PLACES).index(one[0][0]), one[0][1:])):
        for name in (name for name in table if f"{name}-file" in table):
            built_in, given = table[name], table[f"{name}-file"]
            yield (f"| {PLACES[place]} | {ranks} | {section.size_text(size)} "
                   f"| {name.removeprefix('strag-')} | {statistics.median(built_in):.1f} "
                   f"| {statistics.median(given):.1f} | {ratios(given, built_in)} "
                   f"| {ratios(table[f'{name}-again'], built_in)} |")


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: plans.py doc/results FOLDER...: folders that bench/plans.sh wrote")
    folders = [pathlib.Path(name) for name in sys.argv[2:]]
    tables = read(folders)
    if not tables:
        sys.exit("plans.py: these folders have no shm-npN.csv or lab-npN.csv")
    measured.need_launches(min(len(found) for table in tables.values() for found in table.values()))
    text = [HEAD, f"{len(folders)} folders; {'; '.join(measured.machine(folders[0]))}; {load(folders)}.", "",
            "| over | ranks | vector | algorithm | built in us | file us | file / built in "
            "| again / built in |", "|---|---:|---:|---|---:|---:|---:|---:|", *lines(tables)]
    section.write(sys.argv[1], "plans", "\n".join(text))


main()
