#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Under `--mca coll strag` alone: every other collective (collectives.c), and every way to make a
# communicator (communicators.c).
set -eu
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

for ranks in 1 2 5 8; do
    choose "$ranks"
    for program in collectives communicators; do
        must "$ranks" --mca coll strag --mca coll_strag_algorithm "${chosen[0]}" \
            "$programs/$program"
    done
done
