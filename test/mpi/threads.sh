#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI_THREAD_MULTIPLE: threads, each with communicators of its own, of which some make others (soak.c).
# They share the same data with all algorithms: two for each number of ranks. STRAG_TEST_FULL=1: all, and
# communicators made by two threads at the same time.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

makers=2
for ranks in ${STRAG_TEST_FULL:+1 3} 2 4; do
    choose "$ranks"
    if [ "${STRAG_TEST_FULL:-0}" != 1 ]; then
        chosen=("${chosen[@]:0:2}")
        makers=1
    fi
    for algorithm in "${chosen[@]}"; do
        must "$ranks" --mca coll strag --mca coll_strag_minimum_size 0 \
            --mca coll_strag_algorithm "$algorithm" "$programs/soak" --threads 5 --communicators 20 \
            --calls 500 --makers "$makers"
    done
done

# A communicator is freed while another thread is still in ob1 with its last message.
export MALLOC_PERTURB_=165 GLIBC_TUNABLES=glibc.malloc.tcache_count=0
status=0
mpi 2 --mca coll strag "$programs/upstream_comm_free" > "$builddir/mpi-output.$$" 2>&1 || status=$?
if [ "$status" != 0 ] && [ "$status" != 77 ]; then
    cat "$builddir/mpi-output.$$"
    fail "upstream_comm_free: exit status $status"
fi
grep '^upstream_comm_free: ' "$builddir/mpi-output.$$" || echo "upstream_comm_free: cannot tell"
rm -f "$builddir/mpi-output.$$"
