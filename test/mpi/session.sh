#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A session without MPI_COMM_WORLD, which Open MPI has from 5.0 on: a straggler that the user names by its
# rank in the job is found. MPI_Finalize does not end the calls of a session.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"
own_folder session

status=0
mpi 3 --mca coll_strag_priority 90 --mca coll_strag_straggler 1 --mca coll_strag_save "$files/saved" \
    "$programs/session" > "$output" 2>&1 || status=$?
if [ "$status" = 77 ]; then
    echo "SKIP: this Open MPI has no sessions"
    exit 77
fi
if [ "$status" != 0 ] || ! grep -q '^  - {rank: 1, delay:' "$files/saved"; then
    cat "$output" "$files/saved"
    fail "exit status $status, or rank 1 is not the straggler"
fi
echo "ok: a session's straggler"
mpi 3 --mca coll_strag_priority 90 --mca coll_strag_algorithm ring --mca coll_strag_verbose 1 \
    "$programs/session" finalize > "$output" 2>&1 || { cat "$output"; fail 'MPI_Finalize next to a session'; }
grep -q 'coll:strag: .*allreduce of' "$output" || { cat "$output"; fail 'strag did not run next to a session'; }
echo "ok: MPI_Finalize does not wait for a session's call"
