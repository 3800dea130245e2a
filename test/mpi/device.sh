#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Buffers in a device's memory (device.c), over the fake driver: on copies over the PML, over UCX and through
# the memory that a host's ranks share, and on the device over a UCX that takes its memory. In most calls some ranks' buffers are on
# the host. Within a host and between hosts every pair of operator and type has one number of ranks or one way;
# where something else is tried, a few have it. STRAG_TEST_FULL=1: all with all.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

own_folder device
driver=$builddir/test/cuda/.libs
if [ ! -f "$driver/libcuda.so.1" ]; then
    echo "no fake driver: configure found no cmocka"
    exit 77
fi

# part K [M]: an Mth part of the pairs, 3 by default
part()
{
    local parts=${2:-3}
    [ "${STRAG_TEST_FULL:-0}" != 1 ] || parts=1
    echo "$(($1 % parts))/$parts"
}

# over RANKS OPTION...: the program, with its words
over()
{
    must "$1" -x LD_LIBRARY_PATH="$driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
        --mca coll strag --mca coll_strag_device_buffers yes --mca coll_strag_minimum_size 0 "${@:2}"
}

# over_memory RANKS SHARED PARTS: the chosen algorithms within a host, through memory that is shared, or not
over_memory()
{
    over "$1" --mca coll_strag_segment_size 2K --mca coll_strag_shared_memory "$2" \
        "$programs/device" --counts 5,700 --algorithms "$(listed)" --pairs "$(part "$1" "$3")"
}

for ranks in 2 3 4; do
    choose "$ranks"
    if [ "${STRAG_TEST_FULL:-0}" != 1 ] && [ "$ranks" != 3 ]; then
        chosen=("${chosen[@]:0:2}")
    fi
    over_memory "$ranks" 1 6
    if [ "${STRAG_TEST_FULL:-0}" != 1 ]; then
        chosen=("${chosen[0]}")
        [ "$ranks" = 3 ] || continue
    fi
    over_memory "$ranks" 0 12
done

# What auto does: short calls, and those with other operators than MPI's, are handed on.
over 3 --mca coll_strag_verbose 1 "$programs/device" --counts 1,3000
over 2 "$programs/device" --counts 700 --pairs "$(part 1 12)" --thread 1
# What runs on copies is in place on all ranks or on none, as the program says: libnbc sends other messages then.
cat > "$files/rules.yaml" << 'END'
strag-rules: 1
rules:
  - hosts: 1
    sizes:
      - {from: 0, algorithm: ring}
      - {from: 16K, algorithm: previous}
END
over 4 --mca coll_strag_rules "$files/rules.yaml" "$programs/device" --counts 5,20000 --pairs 1/12
# The longest messages go in one piece; other settings of the fake driver.
for seed in 2 ${STRAG_TEST_FULL:+3}; do
    over 3 -x FAKE_CUDA_SEED="$seed" -x FAKE_CUDA_DEVICES=1 --mca coll_strag_algorithm ring \
        "$programs/device" --counts 2,900 --pairs "$(part "$seed" 12)"
done

# Two ranks on each host: within it they share memory, to the other one go messages. A host is a name
# that a process has of its own.
ways=("")
if ldconfig -p | grep -q libucp.so.0; then
    ucp=(--mca coll_strag_transport ucp -x "UCX_TLS=posix,self" -x UCX_LOG_LEVEL=error)
    over 2 "${ucp[@]}" --mca coll_strag_algorithm ring --mca coll_strag_segment_size 2K \
        "$programs/device" --counts 700 --pairs "$(part 1 12)"
    ways+=(host)
fi
# A UCX that takes device memory, preloaded: Open MPI's own components need more of UCX than it has.
fake_ucp=$builddir/test/cuda/ucp/.libs/libucp.so.0
if [ "${#ways[@]}" -gt 1 ] && [ -f "$fake_ucp" ]; then
    direct=("${ucp[@]}" -x "$(preloading "$fake_ucp")" --mca pml ob1 --mca btl '^ofi,openib,uct' --mca osc ^ucx)
    for ranks in 2 3 ${STRAG_TEST_FULL:+4}; do
        choose "$ranks"
        over "$ranks" "${direct[@]}" --mca coll_strag_segment_size 2K "$programs/device" \
            --counts 5,700 --algorithms "${chosen[ranks-2]},ring" --pairs "$(part "$ranks" 3)"
    done
    ways+=(device)
fi
if can_make_hosts; then
    for w in "${!ways[@]}"; do
        way=${ways[w]} options=(--mca coll_strag_shared_memory 1)
        case $way in
            host) options+=("${ucp[@]}") ;;
            device) options=("${direct[@]}") ;;
        esac
        over 4 "${options[@]}" --mca coll_strag_segment_size 1K "$on_hosts" 2 - "$programs/device" --counts 5,900 \
            --algorithms circulant,direct,leaders --pairs "$(part "$w")"
    done
fi

# The job's output with OPTION...; it may fail.
words()
{
    mpi "$1" -x LD_LIBRARY_PATH="$driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
        --mca coll strag --mca coll_strag_algorithm ring "${@:2}" "$programs/device" --counts 500 2>&1
}

# reported RANKS OPTION...: the output of a run in which mpirun has lost no message (see params.sh)
reported()
{
    local attempt
    for ((attempt = 1; attempt <= 40; attempt++)); do
        output=$(words "$@") || fail "$output"
        if ! grep -q 'ORTE_ERROR_LOG.*show_help' <<< "$output"; then
            return
        fi
    done
    fail "mpirun lost its processes' messages 40 times: $*"
}

# It says once why this is not as fast as it could be. Hosts' ranks share memory all the same.
reported 2 --mca coll_strag_device_buffers yes --mca coll_strag_shared_memory 1 \
    --mca coll_strag_verbose 1
[ "$(grep -c 'coll/strag copies buffers in a CUDA device' <<< "$output")" -eq 1 ] ||
    fail "not one warning: $output"
grep -q 'coll_strag_transport=ucp takes them from the device where UCX has CUDA support' \
    <<< "$output" || fail "no reason: $output"
grep -q 'within hosts: shared memory$' <<< "$output" || fail "no shared memory: $output"
if grep -q 'coll_strag_shared_memory=1 asks for shared memory' <<< "$output"; then
    fail "a warning that memory is not shared: $output"
fi
# On a device strag needs kernels, for which configure needs clang or nvcc.
on_device=0
if [ "${ways[-1]}" = device ] && [ -e "$builddir/ompi_coll_strag/.libs/strag_cuda.kernels" ]; then
    on_device=1
fi
if [ "$on_device" = 1 ]; then
    reported 2 "${direct[@]}" --mca coll_strag_device_buffers yes
    if grep -q 'coll/strag copies buffers in a CUDA device' <<< "$output"; then
        fail "a warning, though messages go from the device: $output"
    fi
    reported 2 "${direct[@]}" --mca coll_strag_device_buffers yes --mca coll_strag_shared_memory 1
    grep -q "auto leaves them to UCX, which takes them from the device" <<< "$output" ||
        fail "no reason: $output"
fi

# A call of the driver that fails ends the job; nothing hangs.
must_fail()
{
    local status=0
    output=$(words 2 --mca coll_strag_device_buffers yes -x FAKE_CUDA_FAIL="$1" "${@:2}") || status=$?
    if [ "$status" -eq 0 ] || [ "$status" -eq 124 ]; then
        fail "$1: exit status $status: $output"
    fi
    echo "$1: the job ends with status $status"
}
must_fail MemcpyAsync:500
if [ "$on_device" = 1 ]; then
    must_fail EventQuery:40 "${direct[@]}"
    must_fail LaunchKernel:40 "${direct[@]}"
fi
