# SPDX-License-Identifier: BSD-3-Clause
"""What a launch of a benchmark left in its folder."""
import csv


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
