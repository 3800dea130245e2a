#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Derived types and user-defined operators (types.c); with segments of 4K, an element can be longer
# than a segment. STRAG_TEST_FULL=1: both segments with each number of ranks.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

for ranks in 1 3 4 6 ${STRAG_TEST_FULL:+2 5 8}; do
    choose "$ranks"
    segments='256K 4K'
    case ${STRAG_TEST_FULL:-0}-$ranks in
        0-1 | 0-4) segments=256K ;;
        0-3 | 0-6) segments=4K ;;
    esac
    for segment in $segments; do
        must "$ranks" --mca coll strag --mca coll_strag_minimum_size 0 \
            --mca coll_strag_segment_size "$segment" "$programs/types" --algorithms "$(listed)"
    done
done
