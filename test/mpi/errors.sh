#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# One rank fails in a call, at each place in turn that can fail: memory, a message that cannot be
# posted, one that ends with an error. No later call of any rank has a wrong result and MPI_SUCCESS,
# and none waits for ever. A part of the places; STRAG_TEST_FULL=1: all of them, np 2 to 5.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"
own_folder errors
options=(--mca coll strag --mca coll_strag_stuck 1)
shim=$builddir/test/mpi/.libs/failing.so
full=${STRAG_TEST_FULL:-0}
if [ "$full" = 1 ]; then
    mpi_limit=600 # most cases wait for a tick or two
fi

# fail_at RANKS WHAT RANK STEP KIND COMMAND...: every STEP-th place of RANK; KIND of communicators
fail_at()
{
    local ranks=$1 what=$2 rank=$3 step=$4 kind=$5
    shift 5
    if [ "$full" = 1 ]; then
        step=1
    fi
    into_output "$ranks" "${options[@]}" --mca coll_strag_minimum_size "${minimum:-0}" "$@" env "$(preloading "$shim")" "$programs/errors" \
        --what "$what" --rank "$rank" --first "${first:-1}" --step "$step" --comm "$kind" \
        --calls "${calls:-0}" --many "${many:-0}" --elements "${elements:-many}" --world "${world:-0}" --freed "${freed:-0}"
    grep -a '^errors: np .* places' "$output"
    grep -aq 'ranks with an error in a case: [1-9]' "$output" || fail "nothing has failed"
}

# While calls are watched, and where another rank may be late in each.
watched=(--mca coll_strag_local_alpha 0.1 --mca coll_strag_watch_size 2K --mca coll_strag_window 4
    --mca coll_strag_straggler dynamic)
for rank in 0 1; do
    calls=24 fail_at 3 memory $rank 9 dup "${watched[@]}"
    [ "$full,$rank" = 0,0 ] || calls=24 fail_at 3 post $rank 37 dup "${watched[@]}"
    [ "$full,$rank" = 0,0 ] || calls=24 fail_at 3 request $rank 37 dup "${watched[@]}"
done
# The fourth call ends a window: rank 1 sends its samples to rank 0.
into_output 2 "${options[@]}" --mca coll_strag_minimum_size 0 "${watched[@]}" env "$(preloading "$shim")" \
    "$programs/errors" --what post --on 1 --step 1000 --last 4
for ranks in 3 ${STRAG_TEST_FULL:+2 4 5}; do
    for rank in 0 1; do
        fail_at "$ranks" memory "$rank" 5 dup
        [ "$full,$rank" = 0,1 ] || fail_at "$ranks" memory "$rank" 7 key
    done
    fail_at "$ranks" post 1 7 dup
    # The first place is what setup needs, which a nonblocking call has begun.
    many=24 fail_at "$ranks" memory 1 41 dup
    # The fifth message is the last one of a setup that a nonblocking call has begun.
    many=24 first=5 fail_at "$ranks" post 1 6 dup
    [ "$full" = 0 ] || many=24 fail_at "$ranks" request 1 1 dup
    fail_at "$ranks" request 0 13 key
    fail_at "$ranks" post 1 29 dup --mca coll_strag_shared_memory 0
    freed=1 fail_at "$ranks" memory 1 1 dup
    # Elements that are longer than a message through shared memory.
    elements=one first=20 fail_at "$ranks" post 1 15 dup
done
# A blocking call sets a communicator up from another one, and shorter calls are delegated; that call, too.
for minimum in 50000 200000; do
    [ "$full,$minimum" = 0,200000 ] || world=1 fail_at 4 post 1 2 dup
    [ "$full" = 0 ] || world=1 fail_at 4 post 1 1 split
done
unset minimum
if can_make_hosts; then
    for ranks in 4 ${STRAG_TEST_FULL:+2 3 5}; do
        fail_at "$ranks" memory 1 29 dup "$on_hosts" 2 -
        fail_at "$ranks" post 0 43 dup "$on_hosts" 2 -
        fail_at "$ranks" request 1 47 key "$on_hosts" 1 -
    done
fi
