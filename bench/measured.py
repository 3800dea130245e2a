# SPDX-License-Identifier: BSD-3-Clause
"""What launches of a benchmark left in their folders, and what a page must have of it."""
import csv
import statistics
import sys

import busy

LAUNCHES = 5  # at least, of everything that is published: fewer show no spread


def rows(folders):
    """(NAME, N, row) for every row of the folders' files NAME-npN.csv"""
    for folder in folders:
        for path in sorted(folder.glob("*-np*.csv")):
            name, ranks = path.stem.rsplit("-np", 1)
            with path.open(newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    yield name, int(ranks), row


def machine(folder):
    """The lines of machine.txt (machine.sh), without tabs"""
    text = (folder / "machine.txt").read_text(encoding="utf-8")
    return [" ".join(line.split()) for line in text.splitlines()]


def need_launches(count):
    """Refuse to write a page of too few."""
    if count < LAUNCHES:
        sys.exit(f"{count} launches; a page needs at least {LAUNCHES}")


def spread(ratios):
    """The median, the lowest and the highest, like 0.98 (0.95 to 1.02)"""
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def load(rows):
    """How much other programs ran next to launches (busy.py)."""
    loads = [float(row["foreign_percent"]) for row in rows]
    loud = sum(found > busy.MOST for found in loads)
    return (f"foreign load: {min(loads):.0f} to {max(loads):.0f} % of the processors; above {busy.MOST} % next to {loud} "
            f"of {len(loads)} rows")
