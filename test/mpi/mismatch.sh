#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Calls with different counts on different ranks must not hang, nor harm later ones (mismatch.c).
set -eu
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# Not auto, which may choose another algorithm for another count.
mpi_limit=240 # 4 s of CPU time, which took 161 s beside other jobs of higher priority
for ranks in 2 3 4 5; do
    must "$ranks" --mca coll strag --mca coll_strag_minimum_size 0 \
        --mca coll_strag_shared_memory 1 "$programs/mismatch" \
        --algorithms direct,circulant,recursive-doubling,ring
    # In segments, through the pipeline
    must "$ranks" --mca coll strag --mca coll_strag_minimum_size 0 \
        --mca coll_strag_segment_size 64 --mca coll_strag_shared_memory 1 \
        "$programs/mismatch"
done
