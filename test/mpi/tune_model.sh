#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# strag-tune --model: from a clock with configured times of messages, on made-up hosts, it finds just
# that: with latency, on slow links, with more hosts than are measured; and if latency hides the
# bandwidth, the least that it may be. STRAG_TEST_FULL=1: more of them.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

need_hosts
own_folder tune-model
model=$files/model.yaml

# measures RANKS PER ALPHA BANDWIDTH LINE...: PER ranks on a host, messages of ALPHA us at BANDWIDTH
# Gbit/s, for each rank in turn; the file has these lines of numbers, and no others
measures()
{
    local ranks=$1 per=$2 alpha=$3 bandwidth=$4
    shift 4
    rm -f "$model"
    if ! mpi "$ranks" -x "$(preloading "$programs/.libs/configured_clock.so")" -x CLOCK_ALPHA="$alpha" \
        -x CLOCK_BANDWIDTH="$bandwidth" -x CLOCK_LOCAL=3,40 -x CLOCK_REDUCTION=80 \
        -x CLOCK_OVERHEAD=0.7 --mca coll strag \
        "$on_hosts" "$per" - "$builddir/tools/strag-tune" --model "$model" > "$output" 2>&1; then
        cat "$output"
        fail "strag-tune --model, np $ranks"
    fi
    sed -nE 's/^ +(- )?([a-z-]+: [0-9.e+-]+)( .*)?$/\2/p' "$model" | sort > "$files/numbers"
    printf '%s\n' "$@" | sort > "$files/wanted"
    if ! diff "$files/numbers" "$files/wanted"; then
        cat "$model"
        fail "np $ranks, $per per host, alpha $alpha, bandwidth $bandwidth: not what was configured"
    fi
    grep -q "ranks: $ranks, hosts: $(((ranks + per - 1) / per))}" "$model" || fail "measured on what?"
    "$STRAG" explain -n "$ranks" --bytes 1M --model "$model" > "$output" ||
        { cat "$output" "$model"; fail "the command does not read it"; }
    echo "ok: np $ranks, $per per host: alpha $alpha us, bandwidth $bandwidth Gbit/s"
}

reduction='reduce-bandwidth: 80' overhead='overhead: 0.7'
local=('local-alpha: 3.002' 'local-bandwidth: 40')

# A short message has 8 bytes.
measures 2 1 2000 100 'alpha: 2000' 'bandwidth: 100' "$overhead" "$reduction"
# Two on a host, too.
measures 4 2 45 0.1 'alpha: 45.64' 'bandwidth: 0.1' "$overhead" "$reduction" "${local[@]}"
measures 2 2 1 1 "$reduction" "${local[@]}"
# So slow that long messages are shorter.
measures 2 1 200 0.01 'alpha: 206.4' 'bandwidth: 0.01' "$overhead" "$reduction"
# Three hosts: all pairs in a ring. Seven: hosts 0, 1, 3 and 5 and the next ones; each number is the
# third of four, from below.
measures 3 1 10,30,20 100,10,1 'alpha: 20.06' 'bandwidth: 10' "$overhead" "$reduction"
measures 7 1 10,20,900,40,900,30,900 1,2,50,4,50,3,50 'alpha: 30.02' 'bandwidth: 2' "$overhead" "$reduction"
[ "${STRAG_TEST_FULL:-0}" != 1 ] || measures 14 2 10,0,20,0,900,0,40,0,900,0,30,0,900,0 1,0,2,0,50,0,4,0,50,0,3,0,50,0 \
    'alpha: 30.02' 'bandwidth: 2' "$overhead" "$reduction" "${local[@]}"
# The longer of two long messages takes less than 1 % longer: 80 ms for three times 256 KiB.
measures 2 1 40000 100000 'alpha: 40000' 'bandwidth: 15.73' "$overhead" "$reduction"
