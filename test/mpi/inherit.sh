#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Communicators inherit the locations of their ranks: dups, splits, reordered and with keys, with
# threads, after the parent's table has changed; through shared memory, and over the PML. Those that
# number their ranks in the same way run one plan. STRAG_TEST_FULL=1: more of them.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

for ranks in ${STRAG_TEST_FULL:+2 3} 5; do
    must "$ranks" --mca coll strag "$programs/inherit"
    must "$ranks" --mca coll strag --mca coll_strag_shared_memory 0 "$programs/inherit"
done
must 4 --mca coll strag --mca coll_strag_watch_size 0 --mca coll_strag_window 4 \
    --mca coll_strag_local_alpha 0.001 "$programs/inherit" --late 2

# has COUNT TEXT: this many lines of $output have it
has()
{
    local found
    found=$(grep -c -- "$2" <<< "$output" || true)
    [ "$found" = "$1" ] || fail "$found lines have \"$2\", $1 were expected:"$'\n'"$output"
}

# share RANKS DUPS MPIRUN-OPTIONS-AND-PROGRAM...: rank 0 plans once for MPI_COMM_WORLD, its dups, a
# split and the group in the same order; and for those in reverse
share()
{
    local ranks=$1 dups=$2
    shift 2
    output=$(mpi "$ranks" --mca coll strag --mca coll_strag_verbose 2 "$@" 2>&1) ||
        fail "status $?: $*"$'\n'"$output"
    has 1 'WORLD: .* planned'
    has $((dups + 2)) 'takes a plan that is there'
    has "$dups" 'DUP FROM .*takes a plan that is there'
    has 1 'SPLIT FROM 0: .* planned'
}

share 3 1 "$programs/inherit" --share 1
share 4 20 --mca coll_strag_shared_memory 0 "$programs/inherit" --share 20
has 2 'planned'
for algorithm in ring ${STRAG_TEST_FULL:+direct swing}; do
    share 4 3 --mca coll_strag_algorithm "$algorithm" "$programs/inherit" --share 3
    has 2 "$algorithm, root 0: planned"
done

# A dup whose watch has found a straggler makes a new plan, and nobody else does.
share 4 3 --mca coll_strag_watch_size 0 --mca coll_strag_window 4 --mca coll_strag_local_alpha 0.001 \
    "$programs/inherit" --share 3 --late 2
grep -q 'DUP FROM 0 .*rank 2 is late by .*: the others go ahead' <<< "$output" ||
    fail "no straggler was found:"$'\n'"$output"
who=$(grep 'DUP FROM .* planned' <<< "$output" | sed 's/.*: \(.* DUP FROM [0-9]*\): .*/\1/' | sort -u)
if [ "$(wc -l <<< "$who")" != 1 ] || [ -z "$who" ]; then
    fail "one dup should have made a new plan:"$'\n'"$output"
fi
