#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Under `--mca coll strag` alone: every other collective (collectives.c). Communicators of every kind are
# storm.c's (soak.sh). STRAG_TEST_FULL=1: more of them.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

for ranks in 1 ${STRAG_TEST_FULL:+2 8} 5; do
    choose "$ranks"
    must "$ranks" --mca coll strag --mca coll_strag_algorithm "${chosen[0]}" "$programs/collectives"
done
