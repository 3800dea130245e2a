#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Watching calls under load: ranks come at random times, communicators are freed while updates are in flight
# (nonblocking.c); also with threads (soak.c), and the report.
# STRAG_TEST_FULL=1: 10000 calls with 2 to 8 ranks.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

output=$builddir/watch-output.$$
trap 'rm -f "$output"' EXIT

calls=600
ranks=(2 5)
if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
    calls=10000
    ranks=(2 3 4 5 6 7 8)
    mpi_limit=600
fi

# Half of the steps are calls that are watched.
load=("$programs/nonblocking" --steps $((2 * calls)) --communicators 4 --outstanding 3 --delay 2000)
strag=(--mca coll strag --mca coll_strag_local_alpha 0.1)

# Watch updates are in flight most of the time, rarely, and with every call measured.
for n in "${ranks[@]}"; do
    must "$n" "${strag[@]}" --mca coll_strag_window 8 --mca coll_strag_watch_size 16K "${load[@]}"
done
must 4 "${strag[@]}" --mca coll_strag_window 2 --mca coll_strag_watch_size 0 "${load[@]}" --seed 2
must 4 "${strag[@]}" --mca coll_strag_window 7 --mca coll_strag_watch_size 4 \
    --mca coll_strag_report 1 "${load[@]}" --seed 3
must 4 --mca coll_strag_priority 100 --mca coll_strag_window 5 --mca coll_strag_watch_size 1K \
    --mca coll ^tuned "${load[@]}" --seed 4

# Each thread has communicators of its own.
for report in ${STRAG_TEST_FULL:+0} 1; do
    must 3 "${strag[@]}" --mca coll_strag_minimum_size 0 --mca coll_strag_watch_size 0 \
        --mca coll_strag_window 4 --mca coll_strag_report "$report" "$programs/soak" \
        --threads 5 --communicators 20 --calls 500 --makers 1
done
must 4 "${strag[@]}" --mca coll_strag_minimum_size 0 --mca coll_strag_watch_size 0 \
    --mca coll_strag_window 2 --mca coll_strag_report 1 "$programs/storm" --steps 100
