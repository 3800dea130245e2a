#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Random checked calls: many on many communicators (soak.c), and in a storm of communicators (storm.c);
# over shared memory, the PML and UCX.
#
# STRAG_TEST_FULL=1: 100,000 calls on 50 communicators, 10,000 communicators.
# STRAG_TEST_RESULTS=FOLDER: what was counted goes there (common.sh).
set -eu
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

output=$builddir/soak-output.$$
trap 'rm -f "$output"' EXIT

if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
    mpi_limit=7200
    calls=100000 threaded=100000 steps=10000
else
    calls=800 threaded=500 steps=150
fi
choose 4
find_ways
for way in "${ways[@]}"; do
    over "$way"
    counted soak "$calls calls on 50 communicators" 4 "$programs/soak" --calls "$calls" \
        --algorithms "$(listed)"
    counted soak "$threaded calls by 3 threads" 3 "$programs/soak" --calls "$threaded" --threads 3
    counted storm "$steps communicators" 4 "$programs/storm" --steps "$steps"
done

# ---- What is wrong is noticed ----

over shm
noticed 'element [0-9]+ is not the serial reduction' 3 "$programs/soak" --calls 300 \
    --fault element:50
noticed "results were not bit by bit those" 3 "$programs/storm" --steps 150 --fault bits:5
no_misses
