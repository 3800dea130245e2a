#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI_THREAD_MULTIPLE (threads.c).
set -eu
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

for ranks in 1 2 3 4; do
    choose "$ranks"
    for algorithm in "${chosen[@]}"; do
        must "$ranks" --mca coll strag --mca coll_strag_algorithm "$algorithm" "$programs/threads"
    done
done
