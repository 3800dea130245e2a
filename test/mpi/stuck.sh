#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A call that stands still: one rank says after coll_strag_stuck seconds who has not called it, whichever
# rank that is, on one host and on several; healthy calls say nothing; a call with another vector ends
# with an error that names both. STRAG_TEST_FULL=1: more ranks and kinds.
set -eu
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"
own_folder stuck
options=(--mca coll strag --mca coll_strag_minimum_size 0 --mca coll_strag_stuck 2)

# absent RANKS WHO HOW KNOWN COMMAND...: rank WHO stays away until the others have said so
absent()
{
    local ranks=$1 who=$2 how=$3 known=$4 job status=0
    shift 4
    rm -f "$files/go"
    : > "$output"
    mpi "$ranks" "${options[@]}" "$@" "$programs/stuck" --away "$how" --who "$who" \
        --until "$files/go" >> "$output" 2>&1 &
    job=$!
    while ! grep -q 'has stood still' "$output" && kill -0 "$job" 2> /dev/null; do
        sleep 0.1
    done
    touch "$files/go"
    if [ "$how" = stop ]; then
        kill -CONT "$(sed -n 's/^stuck: process //p' "$output")"
    fi
    wait "$job" || status=$?
    [ "$status" = 0 ] || fail "status $status, $ranks ranks, rank $who away ($how): $(cat "$output")"
    # On a busy machine a rank may know little when it speaks a second time.
    [ "$(grep -c 'has stood still for 2 s\.' "$output")" = 1 ] || fail "not once: $(cat "$output")"
    grep -A 2 'has stood still for 2 s\.' "$output" |
        grep -Eq "^  not called by: rank $who \([^)]*\)$known\$" ||
        fail "rank $who of $ranks is away ($how): $(cat "$output")"
}

for ranks in 2 4 ${STRAG_TEST_FULL:+3 5 6 7 8 9}; do
    absent "$ranks" 0 compute ''
    absent "$ranks" "$((ranks - 1))" recv ' in another MPI function'
done
absent 3 1 stop ''
if can_make_hosts; then
    absent 4 0 compute '' "$on_hosts" 1 -
    absent 6 5 recv ' in another MPI function' "$on_hosts" 2 -
    if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
        absent 4 2 stop '' "$on_hosts" 1 -
        absent 6 0 recv ' in another MPI function' "$on_hosts" 2 -
    fi
fi

# Healthy calls, with delays, say nothing; nor does coll_strag_stuck 0.
for ranks in 2 4; do
    into_output "$ranks" "${options[@]}" "$programs/stuck" --healthy 2000 --count 100 --away size
    if grep -q 'has stood still' "$output"; then
        fail "healthy calls: $(cat "$output")"
    fi
done

# Another vector on one rank, shorter or longer than a segment.
for count in 100 8192 100000; do
    into_output 4 "${options[@]}" "$programs/stuck" --away size --who 3 --count "$count"
    grep -q 'have called MPI_Allreduce with different arguments' "$output" ||
        fail "not told: $(cat "$output")"
    grep -Eq "^  rank 3 \([^)]*\): $((count * 16)) bytes" "$output" || fail "no size: $(cat "$output")"
    grep -Eq "^  rank [012] \([^)]*\): $((count * 8)) bytes" "$output" || fail "no size: $(cat "$output")"
done
