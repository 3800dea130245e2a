#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Operators that write both their arguments, and values of which the bits depend on how a vector is cut
# (operators.c): on one host over all that messages can go over, and on hosts of uneven sizes, whose ranks
# cut what they receive through shared memory and over the network differently. STRAG_TEST_FULL=1: more of them.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

# In these several ranks compute the same sums; the others have each from one rank.
redundant=recursive-doubling,swing-latency,bine-latency

find_ways
for way in "${ways[@]}"; do
    over "$way"
    case $way in
        shm) counts="${STRAG_TEST_FULL:+2 3 }4" ;;
        *) counts=3 ;;
    esac
    for ranks in $counts; do
        choose "$ranks"
        must "$ranks" --mca coll strag "$programs/operators" --algorithms "$(listed),$redundant"
    done
done

if can_make_hosts; then
    transport_options=()
    for hosts in ${STRAG_TEST_FULL:+'3 2'} '5 3'; do
        read -r ranks each <<< "$hosts"
        must "$ranks" --mca coll strag --mca coll_strag_minimum_size 0 "$on_hosts" "$each" - \
            "$programs/operators" --algorithms "$redundant,hierarchical-doubling,flexreduce"
    done
else
    echo "left out: hosts, since this user may not give processes names of their own (unshare --uts)"
fi
