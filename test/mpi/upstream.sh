#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# STRAG_TEST_UPSTREAM=1: does this Open MPI, without strag, have the errors that doc/upstream/ tells
# of? Prints how many runs of each program failed, ten by default: upstream.sh [RUNS]. Nothing here
# can fail for a fault of strag; threads.sh checks that strag keeps clear of comm-free.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

[ "${STRAG_TEST_UPSTREAM:-0}" = 1 ] || exit 77
make -C "$builddir" test/mpi/upstream_{fast_boxes,pending,thread_level,truncation}
runs=${1:-10}
mpi_limit=60
transport_options=()

# count NAME RANKS: how many runs fail
count()
{
    local failed=0 skipped=0 status i
    for i in $(seq "$runs"); do
        status=0
        mpi "$2" --mca coll ^strag "$programs/$1" > "$builddir/mpi-output.$$" 2>&1 || status=$?
        case $status in
            0) ;;
            77) skipped=$((skipped + 1)) ;;
            *) failed=$((failed + 1)) ;;
        esac
    done
    grep -E '^[a-z_]+: np ' "$builddir/mpi-output.$$" || true
    rm -f "$builddir/mpi-output.$$"
    echo "$1: $failed of $runs runs failed, $skipped cannot tell"
}

export MALLOC_PERTURB_=165 GLIBC_TUNABLES=glibc.malloc.tcache_count=0
count upstream_thread_level 1
count upstream_comm_free 2
count upstream_pending 4
count upstream_fast_boxes 2
count upstream_truncation 2
