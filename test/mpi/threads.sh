#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI_THREAD_MULTIPLE (threads.c). Threads share the same data with all algorithms: two for each number
# of ranks. STRAG_TEST_FULL=1: all, and communicators made by two threads at the same time.
set -eu
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

makers=2
for ranks in 1 2 3 4; do
    choose "$ranks"
    if [ "${STRAG_TEST_FULL:-0}" != 1 ]; then
        chosen=("${chosen[@]:0:2}")
        makers=1
    fi
    for algorithm in "${chosen[@]}"; do
        must "$ranks" --mca coll strag --mca coll_strag_algorithm "$algorithm" "$programs/threads" \
            --makers "$makers"
    done
done
