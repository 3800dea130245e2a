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

# What auto does: short calls, and those with other operators than MPI's, are handed on.
over 3 --mca coll_strag_verbose 1 "$programs/device" --counts 1,3000
# The longest messages go in one piece; other settings of the fake driver.
for seed in 2 3; do
    over 4 -x FAKE_CUDA_SEED="$seed" -x FAKE_CUDA_DEVICES=1 --mca coll_strag_algorithm ring \
        "$programs/device" --counts 2,900
done
if ldconfig -p | grep -q libucp.so.0; then
    over 3 --mca coll_strag_transport ucp -x UCX_TLS=posix,self -x UCX_LOG_LEVEL=error \
        --mca coll_strag_algorithm ring --mca coll_strag_segment_size 2K "$programs/device" --counts 700
fi

# The job's output with OPTION...; it may fail.
words()
{
    mpi "$1" -x LD_LIBRARY_PATH="$driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
        --mca coll strag --mca coll_strag_algorithm ring "${@:2}" "$programs/device" --counts 500 2>&1
}

# It says once why this is not as fast as it could be.
output=$(words 2 --mca coll_strag_device_buffers yes)
[ "$(grep -c 'coll/strag reduces buffers in a CUDA device' <<< "$output")" -eq 1 ] ||
    fail "no warning, or more than one: $output"
grep -q 'coll_strag_transport=ucp takes them from the device where UCX has CUDA support' \
    <<< "$output" || fail "no reason: $output"

# A call of the driver that fails ends the job; nothing hangs.
for failure in MemcpyAsync:500 EventQuery:900 LaunchKernel:40; do
    status=0
    output=$(words 3 --mca coll_strag_device_buffers yes -x FAKE_CUDA_FAIL="$failure") || status=$?
    if [ "$status" -eq 0 ] || [ "$status" -eq 124 ]; then
        fail "$failure: exit status $status: $output"
    fi
    echo "$failure: the job ends with status $status"
done
