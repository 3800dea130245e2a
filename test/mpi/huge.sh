#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Vectors of 2^31 - 1 elements and of more than 2 GiB (huge.c); skipped where memory is short.
#
# STRAG_TEST_FULL=1: over shared memory, the PML and UCX; contiguous ones, and such as are packed; that
# a wrong element is noticed. STRAG_TEST_RESULTS=FOLDER: what was counted goes there (common.sh).
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

if [ "${STRAG_TEST_FULL:-0}" != 1 ]; then
    status=0
    mpi 2 --mca coll strag "$programs/huge" || status=$?
    exit "$status"
fi

output=$builddir/huge-output.$$
trap 'rm -f "$output"' EXIT
mpi_limit=900
find_ways
for way in "${ways[@]}"; do
    over "$way"
    counted huge "contiguous, more than 2 GiB" 2 "$programs/huge"
    counted huge "packed, more than 2 GiB" 2 "$programs/huge" --vectors gaps
done
over shm
noticed '36 M elements with a gap: word 288000000 is' 2 "$programs/huge" --vectors gaps --fault 1
noticed '540 M ints: word 270000000 is' 2 "$programs/huge" --vectors ints --fault 1
no_misses
