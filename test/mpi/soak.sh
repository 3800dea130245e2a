#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Random checked calls: many on many communicators (soak.c), and in a storm of communicators (storm.c);
# over shared memory, the PML and UCX.
#
# STRAG_TEST_FULL=1: 100,000 calls on 50 communicators, a storm of 10,000 steps.
# STRAG_TEST_RESULTS=FOLDER: what was counted goes there (common.sh).
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

output=$builddir/soak-output.$$
trap 'rm -f "$output"' EXIT

if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
    mpi_limit=7200
    calls=100000 threaded=100000 steps=10000
else
    calls=500 threaded=300 steps=100
fi
choose 4
find_ways
for way in "${ways[@]}"; do
    over "$way"
    counted soak "$calls calls on 50 communicators" 4 "$programs/soak" --calls "$calls" \
        --algorithms "$(listed)"
    counted soak "$threaded calls by 3 threads" 3 "$programs/soak" --calls "$threaded" --threads 3
    counted storm "$steps steps" 4 "$programs/storm" --steps "$steps"
done

# ---- Errors are noticed ----

over shm
for fault in 'element:50=is not the serial reduction' ${STRAG_TEST_FULL:+'bits:5=results were not bit by bit those'} \
    ${STRAG_TEST_FULL:+'behind:50=bytes behind the receive buffer were changed'} \
    'operator:50=calls of the operator with another type or a wrong length'; do
    noticed "${fault#*=}" 3 "$programs/soak" --calls 400 --communicators 10 --fault "${fault%%=*}"
done
noticed 'is not the serial reduction' 3 "$programs/storm" --steps 100 --fault element:5
no_misses
