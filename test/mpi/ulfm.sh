#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Communicators that are revoked and ranks that are killed amid calls, where the program repairs that
# by itself (ULFM, from Open MPI 5.0 on): the errors are those of stock Open MPI, over shared memory and
# the PML, on one host and several (ulfm.c).
#
# STRAG_TEST_FULL=1: 20 moments of each kind. STRAG_TEST_SEED=N: other moments.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

case $ompi_version in
    4.*)
        echo "skipped: Open MPI $ompi_version has no ULFM"
        exit 77
        ;;
esac
if ! "$OMPI_INFO" | grep -q 'FT MPI support: yes'; then
    echo "skipped: this Open MPI was built without ULFM (FT MPI support)"
    exit 77
fi

own_folder ulfm
seed=${STRAG_TEST_SEED:-20240229}
RANDOM=$seed
echo "ulfm: STRAG_TEST_SEED=$seed"
moments=1
[ "${STRAG_TEST_FULL:-0}" != 1 ] || moments=20
mpi_limit=90

stock=(--mca coll '^strag') expect=(--expect-strag 0)
strag=(--mca coll strag --mca coll_strag_minimum_size 0)

# left COUNT RANKS OPTIONS-AND-PROGRAM...: this number of ranks is left in the end, and all checks are
# right. (mpirun's exit status is that of the rank that was killed, or 0.)
left()
{
    local count=$1 ranks=$2
    shift 2
    mpi "$ranks" --with-ft ulfm "$@" > "$output" 2>&1 || true
    if [ "$(grep -ac '^ulfm: rank [0-9]*: [0-9]* checks, 0 failed$' "$output")" -ne "$count" ]; then
        tail -n 60 "$output"
        fail "not all of $count ranks are left, or not all is right: mpirun -np $ranks --with-ft ulfm $*"
    fi
}

# revoked RANKS OPTIONS...
revoked()
{
    local ranks=$1
    shift
    left "$ranks" "$ranks" "$@" "$programs/ulfm" --case revoke "${expect[@]}"
    echo "ok: revoked: np $ranks $*"
}

# killed KIND RANKS OPTIONS...: a rank, after some microseconds, as often below 1 ms as above 10 ms
killed()
{
    local kind=$1 ranks=$2 i victim after
    shift 2
    for ((i = 0; i < moments; i++)); do
        after=$((RANDOM % (10 ** (2 + RANDOM % 4)) * (1 + RANDOM % 9)))
        victim=$((RANDOM % ranks))
        left $((ranks - 1)) "$ranks" "$@" "$programs/ulfm" --case kill --kind "$kind" \
            --victim "$victim" --after "$after" "${expect[@]}"
        echo "ok: rank $victim killed after $after us, $kind: np $ranks $*"
    done
}

revoked 3 "${stock[@]}"
killed blocking 3 "${stock[@]}"

expect=()
for memory in 1 0; do
    ways=("${strag[@]}" --mca coll_strag_shared_memory "$memory" --mca coll_strag_transport pml)
    revoked 3 "${ways[@]}"
    for kind in blocking nonblocking persistent; do
        killed "$kind" 4 "${ways[@]}"
    done
done
killed blocking 2 "${strag[@]}"

# With messages of the watch and of the report.
busy=("${strag[@]}" --mca coll_strag_window 4 --mca coll_strag_report 1)
if can_make_hosts; then
    revoked 4 "${busy[@]}" "$on_hosts" 2 -
    killed blocking 5 "${busy[@]}" "$on_hosts" 2 -
fi

# UCX does not learn of failures. (Without UCX that is said instead, and the PML is used as well.)
transport_options=()
revoked 2 "${strag[@]}" --mca coll_strag_transport ucp --mca coll_strag_verbose 1
grep -aq 'transport: pml' "$output" || fail "strag did not say what messages go over"
! grep -aq 'transport: ucp' "$output" || fail "UCX is used in a job that repairs failures"
