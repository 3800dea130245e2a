#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The load of other programs on this host, and launches that are made again because of it.

    python3 bench/busy.py FILE.csv COMMAND...

runs a command that appends rows to FILE.csv, and adds to them the column foreign_percent: the share of the processors'
time that other programs take, shortly before the launch or shortly after it, whichever is more. If that is more
than 20 %, or than one processor, the rows are removed and the command runs again, at most twice.
"""
import os
import pathlib
import subprocess
import sys
import time

MOST = 20  # percent of foreign load; more makes a launch one to be measured again (see `most`)
AGAIN = 2  # times at most


def most(processors=None):
    """Percent of foreign load next to which a launch counts. A busy program on one of many processors disturbs calls."""
    return min(MOST, 100 / (processors or os.cpu_count() or 1))


def share(seconds=1.0):
    """The part of all processors' time that is used, for so long."""
    def read():
        with open("/proc/stat", encoding="ascii") as file:
            numbers = [int(word) for word in file.readline().split()[1:9]]
        return sum(numbers), numbers[3] + numbers[4]
    total, idle = read()
    time.sleep(seconds)
    total_after, idle_after = read()
    return 1 - (idle_after - idle) / max(1, total_after - total)


def quietest(launch, again=AGAIN, seconds=0.5, load=share):
    """Launch until there is little foreign load, at most 1 + `again` times.
    @param launch  is called without arguments; what it returns is kept of the quietest time
    @return that, and the foreign load in percent"""
    best, before = None, load(seconds)
    for _ in range(1 + again):
        found, after = launch(), load(seconds)
        percent = round(100 * max(before, after), 1)
        if best is None or percent < best[1]:
            best = found, percent
        if percent <= most():
            break
        before = after
    return best


def rows_of(path, command, old):
    """Run the command on a file that is empty; if it fails, the file is as it was. @return its lines"""
    if path.exists():
        path.unlink()
    status = subprocess.run(command, check=False).returncode
    if status != 0:
        path.write_text("".join(line + "\n" for line in old), encoding="utf-8")
        sys.exit(status)
    return path.read_text(encoding="utf-8").splitlines()


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: busy.py FILE.csv COMMAND...")
    path, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
    old = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    lines, percent = quietest(lambda: rows_of(path, command, old))
    header = old or [lines[0] + ",foreign_percent"]
    path.write_text("\n".join(header + [f"{line},{percent:g}" for line in lines[1:]]) + "\n", encoding="utf-8")
    if percent > most():
        print(f"busy.py: {path}: other programs took {percent:g} % of the processors", file=sys.stderr)


if __name__ == "__main__":
    main()
