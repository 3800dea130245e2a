#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Everything that needs an NVIDIA GPU: run.sh [BUILD-FOLDER [RESULTS-FOLDER]]
#
# Results: all kernels, operators and types, all algorithms, several ranks on one GPU. Times, as CSV in
# the results folder: kernels and copies (kernels.csv), and MPI_Allreduce of 64 KiB to 1 GiB on 2,
# 4 and 8 ranks (allreduce.csv): strag, strag on copies in pinned memory, all copied to the host and
# back, and NCCL where it is installed and every rank has a GPU. Without a GPU: a message, status 77.
#
# The build folder is created if it does not exist (configure, make). GPU_QUICK=1: short sizes only.
set -eu
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
builddir=$(realpath -m "${1:-$top/build}")
results=$(realpath -m "${2:-$builddir/gpu-results}")
export builddir srcdir=$top OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

say()
{
    echo "gpu: $*"
}

# Is there a driver's library, where programs find it?
has_driver()
{
    local folder folders
    IFS=: read -r -a folders <<< "${LD_LIBRARY_PATH:-}"
    for folder in ${folders[@]+"${folders[@]}"}; do
        if [ -e "$folder/libcuda.so.1" ]; then
            return 0
        fi
    done
    ldconfig -p | grep -q 'libcuda\.so\.1 '
}

if ! has_driver; then
    say "no libcuda.so.1: no NVIDIA driver, so no GPU"
    exit 77
fi

mkdir -p "$results"
if [ ! -f "$builddir/Makefile" ]; then
    say "configuring in $builddir"
    [ -x "$top/configure" ] || (cd "$top" && autoreconf -i > "$results/build.log" 2>&1)
    mkdir -p "$builddir"
    (cd "$builddir" && "$top/configure" > "$results/build.log" 2>&1) || { tail "$results/build.log"; exit 1; }
fi
say "building (log: $results/build.log)"
make -C "$builddir" -j "$(nproc)" all check-programs >> "$results/build.log" 2>&1 ||
    { tail "$results/build.log"; exit 1; }

programs=$builddir/test/gpu
plugin=$builddir/ompi_coll_strag/.libs/strag_cuda.so
status=0
"$programs/kernels" "$plugin" check 1 > /dev/null || status=$?
if [ "$status" -eq 77 ]; then
    say "a driver, but no GPU"
    exit 77
fi

failed=0
# step NAME COMMAND...: its output goes to a file
step()
{
    local name=$1
    shift
    if timeout 1200 "$@" > "$results/$name.log" 2>&1 < /dev/null; then
        say "PASS $name: $(grep -E ' (wrong|failed)$' "$results/$name.log" | tail -n 1)"
    else
        failed=$((failed + 1))
        say "FAIL $name"
        tail -n 15 "$results/$name.log"
    fi
}

run()
{
    "$builddir/strag-mpirun" --oversubscribe -np "$1" -x LD_LIBRARY_PATH --mca coll strag \
        --mca coll_strag_device_buffers yes "${@:2}"
}

# ---- Right ----

counts=1,1000,100003
sizes='65536 1048576 16777216 67108864 268435456'
bytes=65536,262144,1048576,4194304,16777216,67108864,268435456,1073741824
ranks='2 4 8'
if [ "${GPU_QUICK:-0}" = 1 ]; then
    counts=5 sizes='65536 1048576' bytes=65536,1048576 ranks=2
fi

step kernels "$programs/kernels" "$plugin" check "${GPU_CASES:-200}"
if command -v compute-sanitizer > /dev/null; then
    for tool in memcheck racecheck; do
        step "sanitizer-$tool" compute-sanitizer --tool "$tool" --error-exitcode 1 \
            "$programs/kernels" "$plugin" check 5
    done
else
    say "no compute-sanitizer: left out"
fi
mapfile -t algorithms < <("$builddir/tools/strag" list | cut -d ' ' -f 1)
for np in $ranks; do
    for algorithm in "${algorithms[@]}"; do
        if "$builddir/tools/strag" plan "$algorithm" -n "$np" --ranks-per-node "$np" --rank 0 \
            > /dev/null 2>&1; then
            step "right-$np-$algorithm" run "$np" --mca coll_strag_algorithm "$algorithm" \
                "$builddir/test/mpi/device" --counts "$counts"
        fi
    done
done

# ---- Fast ----

say "kernels and copies: $results/kernels.csv"
# shellcheck disable=SC2086 # a list
"$programs/kernels" "$plugin" time $sizes > "$results/kernels.csv" || failed=$((failed + 1))
awk -F , '$2 == 67108864 { printf "gpu: %-14s %7.1f GB/s, %.2f of a copy\n", $1, $4, $5 }' "$results/kernels.csv"

# timed LABEL RANKS HOW OPTION...: lines of allreduce.csv; what is not possible is omitted
timed()
{
    local label=$1 np=$2 how=$3 status=0
    shift 3
    run "$np" "$@" "$programs/allreduce" --label "$label" --how "$how" --bytes "$bytes" \
        >> "$results/allreduce.csv" 2>> "$results/allreduce.log" < /dev/null || status=$?
    case $status in
        0) say "timed $label, $np ranks" ;;
        77) say "left out: $label, $np ranks: not possible here" ;;
        *)
            say "FAIL $label, $np ranks (status $status): $results/allreduce.log"
            failed=$((failed + 1))
            ;;
    esac
}

echo "what,ranks,bytes,least_seconds,median_seconds,gigabytes_per_second" > "$results/allreduce.csv"
for np in $ranks; do
    timed strag "$np" device
    timed strag-copies "$np" device --mca coll_strag_transport pml
    timed copy-all "$np" copy
    timed nccl "$np" nccl
done
say "MPI_Allreduce: $results/allreduce.csv"
awk -F , 'NR > 1 { time[$1, $2, $3] = $4 }
    END { for (key in time) { split(key, part, SUBSEP)
        if (part[1] == "strag-copies" && (("copy-all", part[2], part[3]) in time))
            printf "gpu: %s ranks, %11d bytes: copies %.2f times as fast as by the program\n", part[2],
                part[3], time["copy-all", part[2], part[3]] / time[key] } }' "$results/allreduce.csv" | sort -k 2n -k 4n
say "$failed failed"
[ "$failed" -eq 0 ]
