#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Calls with different counts on different ranks must not hang, nor harm later ones (mismatch.c).
# STRAG_TEST_FULL=1: with more algorithms.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

# Not auto, which may choose another algorithm for another count. A call that stands still ends sooner
# if it is said sooner who is missing.
mpi_limit=240 # 4 s of CPU time, which took 161 s next to other jobs of higher priority
options=(--mca coll strag --mca coll_strag_minimum_size 0 --mca coll_strag_shared_memory 1
    --mca coll_strag_stuck 1)
for ranks in ${STRAG_TEST_FULL:+2 3} 4; do
    must "$ranks" "${options[@]}" "$programs/mismatch" \
        --algorithms "direct,circulant${STRAG_TEST_FULL:+,recursive-doubling,ring}"
    # In segments, through the pipeline
    must "$ranks" "${options[@]}" --mca coll_strag_segment_size 64 "$programs/mismatch"
done
# Persistent requests are compared when they are made, whatever the messages go over.
must 3 --mca coll strag --mca coll_strag_minimum_size 50000 --mca coll_strag_shared_memory 0 \
    "$programs/mismatch" --requests 1
for ranks in ${STRAG_TEST_FULL:+2 4 5} 3; do
    must "$ranks" "${options[@]}" "$programs/mismatch" --watched 20
done
for per in ${STRAG_TEST_FULL:+1 2}; do # each of them takes seconds
    can_make_hosts || break
    must 3 "${options[@]}" "$on_hosts" "$per" - "$programs/mismatch" --watched 20 --later error
done
