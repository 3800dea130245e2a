#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Fuzzes with libFuzzer: run.sh [SECONDS [TARGET...]], in an empty folder of your own.
#
# Builds each target with clang and its sanitizers (Debian: clang, libclang-rt-14-dev) and runs it
# for this many seconds (300), two targets at a time. What it finds stays in the folder; new texts go
# to ./TARGET.corpus, whose useful ones are worth a place in test/fuzz/corpus/TARGET.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
seconds=${1:-300}
shift || true
[ $# -gt 0 ] || set -- parse layout_conf layout_yaml layout_coordinates layout_dims models plans rules saved state

# All of libstrag but what talks to a machine or a network, and the target.
build() {
    local sources=("$here/fuzz_$1.c" "$here/layout_check.c") flags
    mapfile -t -O ${#sources[@]} sources < <(find "$top/src" -name '*.c' ! -name layout_hwloc.c ! -path '*/api/*')
    read -ra flags < <(pkg-config --cflags --libs yaml-0.1 jansson)
    clang -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
        -I"$top/src" -I"$here" "${sources[@]}" "${flags[@]}" -lm -lpthread -o "fuzz_$1"
}

run() {
    mkdir -p "$1.corpus"
    "./fuzz_$1" -max_total_time="$seconds" -max_len=4096 -timeout=20 -rss_limit_mb=3000 \
        -malloc_limit_mb=1000 -artifact_prefix="$1-" -print_final_stats=1 "$1.corpus" \
        "$here/corpus/$1" >"$1.log" 2>&1
}

failures=0
report() {
    local status=0
    wait "$2" || status=$?
    if [ "$status" -ne 0 ]; then
        failures=$((failures + 1))
        echo "$1: a finding, see $1.log"
    else
        echo "$1: $(sed -n 's/^stat::number_of_executed_units: *//p' "$1.log") texts, no finding"
    fi
}

for target; do
    build "$target"
done
while [ $# -gt 0 ]; do
    run "$1" &
    first=$!
    if [ $# -gt 1 ]; then
        run "$2" &
        report "$1" $first
        report "$2" $!
        shift
    else
        report "$1" $first
    fi
    shift
done
exit $((failures > 0))
