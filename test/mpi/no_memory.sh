#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# One rank runs out of memory in MPI_Allreduce, at each of the component's allocations in turn: the
# job ends, with right results or with an MPI error, never with a crash, and nobody waits for ever.
# A part of the allocations; STRAG_TEST_FULL=1: all of them. If there is no memory in MPI_Comm_dup for what
# strag keeps of the communicator, the job ends.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

mpi_limit=60
output=$builddir/no-memory-output.$$
trap 'rm -f "$output"' EXIT
shim=$builddir/test/mpi/.libs/failing.so

# run RANK NUMBER ON: on this rank that allocation fails, or all from there on
run()
{
    local status=0
    mpi 3 -x "$(preloading "$shim")" -x FAILING="$2" -x FAILING_ON="$3" \
        -x FAILING_RANK="$1" --mca coll strag "$programs/strangers" \
        > "$output" 2>&1 || status=$?
    if [ "$status" = 124 ] || [ "$status" = 137 ] ||
        grep -Eq '(exited on|received) signal|checks, [1-9][0-9]* failed' "$output" ||
        { [ "$status" = 0 ] && ! grep -q ' checks, 0 failed$' "$output"; }; then
        cat "$output"
        fail "exit status $status: rank $1, allocation $2, all after it: $3"
    fi
}

for rank in 0 1; do
    run "$rank" 1000000 0
    made=$(sed -n 's/^failing: \([0-9]*\) places$/\1/p' "$output")
    if [ "${made:-0}" -lt 100 ]; then
        cat "$output"
        fail "the component made ${made:-no} allocations on rank $rank"
    fi
    # Rank 0 makes most of its allocations while it prices algorithms.
    step=$((made / 3 + 1))
    if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
        step=1
    fi
    for on in 0 1; do
        for ((number = 1 + on * step / 2; number <= made; number += step)); do
            run "$rank" "$number" "$on"
        done
    done
    echo "ok: rank $rank, $made allocations, every $step"
done

status=0
mpi 3 --mca coll strag env "$(preloading "$shim")" "$programs/errors" --what making \
    > "$output" 2>&1 || status=$?
if [ "$status" = 0 ] || [ "$status" = 124 ] || [ "$status" = 137 ] ||
    ! grep -q '^coll/strag: out of memory while a communicator is made' "$output"; then
    cat "$output"
    fail "exit status $status: no memory in MPI_Comm_dup"
fi
echo "ok: no memory in MPI_Comm_dup"
