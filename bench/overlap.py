#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Turn the files that bench/overlap.sh wrote into the page overlap of doc/results.

    python3 bench/overlap.py doc/results FOLDER...

Each folder is one launch (of some places, if others were left out); five are needed. A figure is the median over the
launches, of times within one launch.
"""
import pathlib
import statistics
import sys

sys.dont_write_bytecode = True

import measured
import section

PLACES = {
    "shm": "Shared memory",
    "lab": "The lab: four hosts at 100 Mbit/s, TCP",
}

HEAD = """\
# What a computation hides of MPI_Iallreduce

Written by bench/overlap.py from the files of bench/overlap.sh. A call is begun, then comes a
computation with MPI_Test after each slice of it, then MPI_Wait; strag and stock Open MPI (libnbc) in
turn within a launch. *wait*: the call waited for at once, in us. *over blocking*: strag's wait over its
MPI_Allreduce (target from 4 KiB on: at most 1.05), in the worst launch in brackets. *total*: with a
computation that is as long as stock's wait, for both. *hidden*: the share of its own wait that the
computation hides. *own*: the same with a computation as long as each one's own wait, as osu_iallreduce has it. A ratio
below 1 means that strag was faster; in brackets the lowest and the highest launch. Medians of the slowest rank's times.

Each side has buffers of its own: if libnbc reads the other rank's buffer, its lines are in two caches,
and who writes there next pays for that.

Through shared memory a rank that waits at once is busy all the time with its own copying and reducing:
a computation hides none of that, as there is nobody else to do it, and the shorter the wait, the less there
is to hide. libnbc with two ranks sums up on one of them, which the other one's computation may hide. If
ranks share processors, the computations do, too, and take twice their time: hidden is then below 0.
"""


def read(folders):
    """{(place, ranks, slice): {bytes: {contender: [one row per launch]}}}"""
    tables = {}
    for place, ranks, row in measured.rows(folders):
        table = tables.setdefault((place, ranks, float(row["slice_us"])), {})
        table.setdefault(int(row["bytes"]), {}).setdefault(row["contender"], []).append(row)
    return tables


def median(rows, column):
    return statistics.median(float(row[column]) for row in rows)


def ratio(mine, stock, column):
    return measured.spread([float(one[column]) / float(other[column]) for one, other in zip(mine, stock)])


def over_blocking(rows):
    ratios = [float(row["wait_us"]) / float(row["blocking_us"]) for row in rows]
    return f"{statistics.median(ratios):.3f} ({max(ratios):.3f})"


def show(place, ranks, slice_us, table):
    launches = min(len(rows["strag"]) for rows in table.values())
    lines = [f"\n## {PLACES[place]}: {ranks} ranks, MPI_Test every {slice_us:g} us "
             f"(launches: {launches})\n",
             "| size | wait, strag | over blocking | stock | total, strag | stock | ratio "
             "| hidden, strag | stock | own ratio | own hidden, strag | stock |",
             "|---:|" + "---:|" * 11]
    for size, rows in sorted(table.items()):
        mine, stock = rows["strag"], rows["stock"]
        times = [median(rows[who], what) for what in ("wait_us", "total_us")
                 for who in ("strag", "stock")]
        texts = [f"{time:.1f}" for time in times]
        texts.insert(1, over_blocking(mine))
        lines.append(f"| {section.size_text(size)} | " + " | ".join(texts)
                     + f" | {ratio(mine, stock, 'total_us')}"
                     + f" | {median(mine, 'overlap'):.2f} | {median(stock, 'overlap'):.2f}"
                     + f" | {ratio(mine, stock, 'own_total_us')}"
                     + f" | {median(mine, 'own_overlap'):.2f} | {median(stock, 'own_overlap'):.2f} |")
    return "\n".join(lines)


def main():
    folders = [pathlib.Path(name) for name in sys.argv[2:]]
    tables = read(folders)
    if not tables:
        sys.exit("usage: overlap.py doc/results FOLDER...: folders that bench/overlap.sh wrote")
    text = [HEAD, *("    " + line for line in measured.machine(folders[0]))]
    rows = [row for table in tables.values() for size in table.values() for found in size.values() for row in found]
    text.append("    " + measured.load(rows))
    measured.need_launches(min(len(found) for table in tables.values() for size in table.values()
                               for found in size.values()))
    order = list(PLACES)
    text += [show(*key, tables[key])
             for key in sorted(tables, key=lambda key: (order.index(key[0]), *key[1:]))]
    section.write(sys.argv[1], "overlap", "\n".join(text))


main()
