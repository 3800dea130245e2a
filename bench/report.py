#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Turn the files that bench/shm.sh wrote into the page shared-memory of doc/results.

    python3 bench/report.py doc/results FOLDER/*

Each folder is one launch of bench/shm.sh; five are needed. A ratio is that of medians within one launch; the table
shows the median over the launches, and the lowest and highest. Stock is the fastest of the contenders
without strag, in the median over the launches. Nothing is omitted.
"""
import contextlib
import io
import pathlib
import statistics
import sys

sys.dont_write_bytecode = True

import measured
import section

TITLES = {
    "ring": ("Ring: the engine against Open MPI's own ring (tuned algorithm 4)", 0.97),
    "auto-short": ("auto, short vectors, against all of Open MPI's", 0.97),
    "auto": ("auto, longer vectors, against all of Open MPI's", 0.97),
    "oversubscribed": ("auto, more ranks than processors, against all of Open MPI's", 0.97),
    "ucp": ("strag over UCX (here: strag) against strag over the PML (here: stock), "
            "without memory that strag shares", 0.9),
}


def read(folders):
    """{(name, ranks): {bytes: {contender: [one row per launch]}}}"""
    tables = {}
    for name, ranks, row in measured.rows(folders):
        table = tables.setdefault((name, ranks), {})
        table.setdefault(int(row["bytes"]), {}).setdefault(row["contender"], []).append(row)
    return tables


def microseconds(rows):
    return statistics.median(float(row["median_us"]) for row in rows)


def best_stock(size, mine):
    """The name of the fastest other contender, without the repeated one that shows the noise."""
    return min((name for name in size if name != mine and not name.endswith("-again")),
               key=lambda name: microseconds(size[name]))


def ratios(size, over, under):
    """One contender's time over another one's, in every launch; sorted."""
    return sorted(float(one["median_us"]) / float(other["median_us"])
                  for one, other in zip(size[over], size[under]))


def noise(size):
    """One contender against its own repetition."""
    again = next(name for name in size if name.endswith("-again"))
    return statistics.median(ratios(size, again[:-len("-again")], again))


def show(name, ranks, table):
    title, bar = TITLES[name]
    print(f"\n## {title}: {ranks} ranks\n")
    print("| size | strag us | stock us | stock is | stock / strag | lowest .. highest "
          "| stock / stock again |")
    print("|---:|---:|---:|---|---:|---:|---:|")
    missed = []
    for bytes_, size in sorted(table.items()):
        first = next(iter(size))
        stock = best_stock(size, first)
        mine = ratios(size, stock, first)
        ratio = statistics.median(mine)
        if ratio < bar:
            missed.append(f"{section.size_text(bytes_)} ({ratio:.3f})")
        print(f"| {section.size_text(bytes_)} | {microseconds(size[first]):.2f} "
              f"| {microseconds(size[stock]):.2f} | {stock} | {ratio:.3f} "
              f"| {mine[0]:.3f} .. {mine[-1]:.3f} | {noise(size):.3f} |")
    print(f"\nTarget: {bar} at every size. Missed: {', '.join(missed) or 'none'}.")


def show_all(folders, tables):
    print("# Shared memory\n")
    print("Written by bench/report.py from the files of bench/shm.sh. Shared memory of one machine,")
    print("pml ob1 with btl vader; all contenders interleaved within a launch, every result checked. A")
    print("ratio above 1 means that strag was faster.\n")
    for line in measured.machine(folders[0]):
        print("    " + line)
    print(f"    launches: {len(folders)}")
    print("    " + measured.load([row for table in tables.values() for size in table.values()
                                  for rows in size.values() for row in rows]))
    for (name, ranks), table in sorted(tables.items(), key=lambda item: (item[0][1], item[0][0])):
        show(name, ranks, table)


def main():
    folders = [pathlib.Path(name) for name in sys.argv[2:]]
    tables = read(folders)
    if not tables:
        sys.exit("usage: report.py doc/results FOLDER...: folders that bench/shm.sh wrote")
    measured.need_launches(len(folders))
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        show_all(folders, tables)
    section.write(sys.argv[1], "shared-memory", text.getvalue())


main()
