#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The last rank is not waited for (last.c). STRAG_TEST_FULL=1: 10000 calls with 2 to 8 ranks.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

calls=600
ranks=(4)
if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
    calls=10000
    ranks=(3 4 5 6 7 8)
    mpi_limit=1200
fi

model=(--mca coll strag --mca coll_strag_local_alpha 0.1)
strag=("${model[@]}" --mca coll_strag_watch_size 2K)
dynamic=(--mca coll_strag_straggler dynamic)

for n in "${ranks[@]}"; do
    must "$n" "${strag[@]}" "${dynamic[@]}" --mca coll_strag_window 8 "$programs/last" \
        --calls "$calls"
done
# Over the PML alone; policies change with every other call.
must 5 "${strag[@]}" "${dynamic[@]}" --mca coll_strag_shared_memory none --mca coll_strag_window 2 \
    "$programs/last" --calls "$calls" --seed 2
must 4 "${strag[@]}" "${dynamic[@]}" --mca coll_strag_window 8 "$programs/last" --calls 400 --promised 1
# Two ranks have nobody to go ahead; nor do any where results are to be the same in every run, or
# nobody is looked for, or a straggler is named.
must 2 "${strag[@]}" "${dynamic[@]}" --mca coll_strag_window 8 "$programs/last" --calls 300 --ahead 0
must 3 "${strag[@]}" "${dynamic[@]}" --mca coll_strag_window 8 --mca coll_strag_reproducible mapping \
    "$programs/last" --calls 300 --ahead 0
must 3 "${strag[@]}" --mca coll_strag_straggler 1:1000 --mca coll_strag_window 8 "$programs/last" \
    --calls 300 --ahead 0
# Threads, communicators that come and go, nonblocking collectives pending.
must 3 "${model[@]}" "${dynamic[@]}" --mca coll_strag_minimum_size 0 --mca coll_strag_watch_size 0 \
    --mca coll_strag_window 4 "$programs/soak" --threads 5 --communicators 20 --calls 500 --makers 1
must 4 "${model[@]}" "${dynamic[@]}" --mca coll_strag_minimum_size 0 --mca coll_strag_watch_size 0 \
    --mca coll_strag_window 3 "$programs/nonblocking" --steps 600 --communicators 4 --outstanding 3 \
    --delay 2000
