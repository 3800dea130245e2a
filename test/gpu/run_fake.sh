#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# test/gpu's programs over the fake driver: correct results, and files that can be read. Nothing is
# measured. Without a driver run.sh must exit with status 77 and a message.
set -eu
: "${srcdir:=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}"
: "${builddir:=$PWD}"
driver=$builddir/test/cuda/.libs
results=$builddir/test/gpu/results.$$
trap 'rm -rf "$results"' EXIT
plugin=$builddir/ompi_coll_strag/.libs/strag_cuda.so
mkdir -p "$results"

fail()
{
    echo "FAIL: $*"
    exit 1
}

if [ ! -e /dev/nvidiactl ]; then
    status=0
    bash "$srcdir/test/gpu/run.sh" "$builddir" "$results" > "$results/none" 2>&1 || status=$?
    [ "$status" -eq 77 ] || fail "without a driver: status $status: $(cat "$results/none")"
    grep -q 'no NVIDIA driver' "$results/none" || fail "without a driver: $(cat "$results/none")"
fi
if [ ! -f "$driver/libcuda.so.1" ] || [ ! -f "${plugin%.so}.kernels" ]; then
    echo "no fake driver (cmocka), or no kernels (nvcc, clang)"
    exit 77
fi
export LD_LIBRARY_PATH=$driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

"$builddir/test/gpu/kernels" "$plugin" check 3
"$builddir/test/gpu/kernels" "$plugin" time 4096 65536 > "$results/kernels.csv"
awk -F , 'NF != 5 { exit 1 } END { exit NR != 21 }' "$results/kernels.csv" || fail "kernels.csv"
for how in device copy; do
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        "$builddir/test/limit" 100 "${STRAG_MPIRUN:-$builddir/strag-mpirun}" --oversubscribe -np 3 -x LD_LIBRARY_PATH \
        --mca coll strag --mca coll_strag_device_buffers yes "$builddir/test/gpu/allreduce" \
        --label "$how" --how "$how" --bytes 65536,300000 < /dev/null > "$results/$how.csv" 2> "$results/log" ||
        { cat "$results/log"; fail "allreduce --how $how"; }
    [ "$(grep -c "^$how,3," "$results/$how.csv")" -eq 2 ] || fail "allreduce --how $how: $(cat "$results/$how.csv")"
done
echo "all right"
