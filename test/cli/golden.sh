#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Small outputs, byte for byte. STRAG_UPDATE=1 writes the files again: then read the difference.
set -eu
. "$(dirname "$0")/common.bash"

# golden NAME ARGUMENT...: stdout is that file, and stderr is $left_out, if there is any.
left_out=
golden() {
    local name=$1
    shift
    gives 0 "$@"
    equal "stderr of strag $*" "$(<"$work/err")" "$left_out"
    if [ -n "${STRAG_UPDATE:-}" ]; then
        cp "$work/out" "$here/golden/$name"
    fi
    checks=$((checks + 1))
    diff -u "$here/golden/$name" "$work/out" || fail "strag $* is not golden/$name"
}

golden ring-3.txt plan ring -n 3
golden ring-3.json plan ring -n 3 --format json
golden recursive-halving-6-rank-3.txt plan recursive-halving -n 6 --rank 3
golden recursive-doubling-5.json plan recursive-doubling -n 5 --format json
golden circulant-5-rank-4.json plan circulant -n 5 --rank 4 --format json
golden circulant-5-rank-4.svg plan circulant -n 5 --rank 4 --format svg
golden recursive-doubling-5.svg plan recursive-doubling -n 5 --format svg
golden one.txt plan circulant -n 1
golden one.json plan circulant -n 1 --format json
golden one.svg plan circulant -n 1 --format svg
golden cost-7.txt cost -n 7 --bytes 0,1,100,2K..16K,1M,512M --alpha 2.5 --bandwidth 25
golden cost-ring-8.txt cost ring -n 8 --bytes 32..256
golden cost-7.csv cost all -n 7 --bytes 0,5,1M --format csv
golden cost-circulant-6.json cost circulant -n 6 --bytes 1K,1G --format json
left_out='strag cost: not possible here: flexreduce, flexreduce-pipelined, flexreduce-direct, blueconnect; strag explain says why'
golden cost-torus-4x4.txt cost --torus 4x4 --slow 3:2 --bytes 1K,64M --mode clocks
left_out=
golden bucket-3x2.txt plan bucket --torus 3x2 --ports 1
golden explain-torus-4x4.txt explain --torus 4x4 --bytes 1K,1M --straggler 3 --delay 20
golden explain-6.json explain -n 6 --bytes 4K,1M --minimum 8K --format json
golden topology-mesh-3x2.txt topology --mesh 3x2 --ranks-per-node 2
golden topology-tree.json topology --tree '((2,1@50)@200,3)' --format json

summary
