#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Rank 0's messages of a job with one call, as Open MPI's pml/monitoring counts them: with setup at most 14 log2 n, sent
# and received together (doc/guide/administrators.md). Rank 0 takes part in every round of setup, so no chain of messages
# is longer. The algorithm is pinned: no ping is needed.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"
own_folder setup_messages
if without '6.0.*' 'pml/monitoring crashes in MPI_Init, without strag, too'; then exit 77; fi

# messages RANKS OPTIONS...: in `count`, what rank 0 sends and receives in a job with one call
messages()
{
    local ranks=$1
    shift
    rm -f "$files"/of.*
    into_output "$ranks" --mca pml ob1,monitoring --mca pml_monitoring_enable 1 --mca pml_monitoring_enable_output 3 \
        --mca pml_monitoring_filename "$files/of" "$@"
    [ -e "$files/of.0.prof" ] || { echo "skipped: this Open MPI has no pml/monitoring"; exit 77; }
    count=$(cat "$files"/of.*.prof | awk '$1 ~ /^[EI]$/ && ($2 == 0 || $3 == 0) { sum += $6 } END { print sum + 0 }')
}

# at_most RANKS LOG2 WHAT OPTIONS... PROGRAM
at_most()
{
    local ranks=$1 log2=$2 what=$3
    shift 3
    messages "$ranks" --mca coll strag --mca coll_strag_algorithm recursive-doubling "$@"
    echo "$what, $ranks ranks: rank 0 sends and receives $count messages"
    [ "$count" -le $((14 * log2)) ] || fail "more than 14 log2 n = $((14 * log2))"
    [ "$count" -gt $((6 * log2)) ] || fail 'too few: setup was not counted'
}

for size in '4 2' '16 4'; do
    read -r ranks log2 <<< "$size"
    at_most "$ranks" "$log2" 'one host' "$programs/setup_messages"
    if can_make_hosts; then
        at_most "$ranks" "$log2" 'hosts of 2 ranks' --mca btl tcp,self "$on_hosts" 2 - "$programs/setup_messages"
    fi
done
