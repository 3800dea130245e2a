#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Turn what the soak tests counted into the page soak of doc/results.

    STRAG_TEST_FULL=1 STRAG_TEST_RESULTS=FOLDER bash .../test/mpi/soak.sh      in the build folder;
                                        and spawn.sh, signals.sh, namespaces.sh, huge.sh
    python3 bench/soak.py doc/results FOLDER

Every row that a run has written is shown, with what failed.
"""
import contextlib
import io
import pathlib
import sys

sys.dont_write_bytecode = True

import measured
import section

CASES = {
    "spawn": "jobs",
    "killed": "deaths",
}
OVER = {"shm": "shared memory", "pml": "the PML", "ucp": "UCX"}


INTRODUCTION = """\
# Soak tests

Written by bench/soak.py from what the long forms of soak.sh, spawn.sh, signals.sh, namespaces.sh and
huge.sh in test/mpi/ counted. A check is one comparison: with a serial reduction, of the bits of two
ranks, or that nothing else was written.

A death is that of one rank, at a random moment. If it `waited`, mpirun with --enable-recovery let
the others live, and their calls returned no error within 3 seconds: the test ended them. So do Open
MPI's own collectives; over UCX errors are returned. UCX may leave a file of its own in /dev/shm when
a rank is killed while it makes that file (3 of 100 deaths in one run).
"""


def show(folder):
    print(INTRODUCTION)
    for line in measured.machine(folder):
        print("    " + line)
    print()
    print("| test | what | over | ranks | cases | failed | seconds |")
    print("|---|---|---|---:|---:|---:|---:|")
    failed = 0
    for line in (folder / "soak.csv").read_text(encoding="utf-8").splitlines():
        test, what, way, ranks, cases, wrong, seconds = line.split(";")
        failed += int(wrong)
        print(f"| {test} | {what} | {OVER.get(way, way)} | {ranks} "
              f"| {int(cases):,} {CASES.get(test, 'checks')} | {wrong} | {seconds} |")
    print(f"\nTarget: none fails. Failed: {failed or 'none'}.")


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: soak.py doc/results FOLDER: a folder that STRAG_TEST_RESULTS named")
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        show(pathlib.Path(sys.argv[2]))
    section.write(sys.argv[1], "soak", text.getvalue())


main()
