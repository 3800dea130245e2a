#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Buffers in a device's memory (device.c), over the fake driver: combined by the device or on the
# host, sent by way of pinned memory.
set -eu
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

driver=$builddir/test/cuda/.libs
if [ ! -f "$driver/libcuda.so.1" ]; then
    echo "no fake driver: configure found no cmocka"
    exit 77
fi

# over RANKS OPTION...: the program, with its words
over()
{
    must "$1" -x LD_LIBRARY_PATH="$driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
        --mca coll strag --mca coll_strag_device_buffers yes "${@:2}"
}

for ranks in 2 3 4; do
    choose "$ranks"
    for algorithm in "${chosen[@]}"; do
        over "$ranks" --mca coll_strag_algorithm "$algorithm" --mca coll_strag_segment_size 2K \
            "$programs/device" --counts 5,700
    done
done
