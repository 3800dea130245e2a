#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every operator x type x count, 1 to 6 ranks with some of the algorithms each, bit by bit (matrix.c).
#
# Vectors of 40,000 elements take most of the time: each algorithm with each number of ranks has them for
# a sixteenth of the combinations, the next one for the next sixteenth, so that each combination has them at
# least once. Short ones are in place with every other number of ranks. STRAG_TEST_FULL=1: all algorithms,
# with all of them, in place and not, 1 M elements, and 7 to 9 ranks, too.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

mpi_limit=600
parts=16 turn=0
for ranks in 1 2 3 4 5 6 ${STRAG_TEST_FULL:+7 8 9}; do
    # Several segments for each block of the large vectors; also of a size that no element divides.
    segment=10K most=40009
    if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
        segment=64K most=1048583
    fi
    case $ranks in
        3 | 7) segment=8001 ;;
        5) segment=4K ;;
    esac
    transport=()
    if [ "$ranks" -eq 5 ]; then # messages in many pieces
        transport=(--mca btl_vader_single_copy_mechanism none)
    fi
    repeat=0
    case $ranks in
        3 | 6) repeat=12 ;;
    esac
    choose "$ranks"
    large=$((turn % parts))/$parts
    turn=$((turn + ${#chosen[@]}))
    if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
        large=0/1
        repeat=100
    fi
    must "$ranks" --mca coll strag --mca coll_strag_minimum_size 0 \
        --mca coll_strag_segment_size "$segment" \
        ${transport[@]+"${transport[@]}"} "$programs/matrix" --algorithms "$(listed)" \
        --most "$most" --large "$large" --repeat "$repeat"
done
[ "$turn" -ge "$parts" ] || fail "some combinations have had no long vectors"
