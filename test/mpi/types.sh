#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Derived types and user-defined operators (types.c); with segments of 4K, an element can be longer
# than a segment.
set -eu
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

for ranks in 1 2 3 4 5 8; do
    choose "$ranks"
    for segment in 256K 4K; do
        must "$ranks" --mca coll strag --mca coll_strag_minimum_size 0 \
            --mca coll_strag_segment_size "$segment" "$programs/types" --algorithms "$(listed)"
    done
done
