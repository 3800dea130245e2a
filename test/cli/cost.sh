#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# strag cost: estimates that can be computed by hand, the algorithms of `all`, and a large n. (That
# the estimates are those of the plans, execute.sh checks.)
set -eu
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

# seconds ARGUMENT...: the last column of the CSV, in one line.
seconds() {
    succeeds cost "$@" --format csv
    tail -n +2 "$work/out" | cut -d , -f 4 | tr '\n' ' '
}

# 8 Gbit/s is 1 byte per ns. Ring, n = 4: 6 rounds of a quarter of the vector.
equal 'ring' "$(seconds ring -n 4 --alpha 2 --bandwidth 8 --bytes 4K,1G)" '1.8144e-05 1.61062474 '
# Blocks 0..2 of a vector of 1 byte are empty: the last block travels alone, in all 6 rounds.
equal 'one byte' "$(seconds ring -n 4 --alpha 2 --bandwidth 8 --bytes 1,0)" '1.2006e-05 0 '
equal 'no alpha' "$(seconds ring -n 4 --alpha 0 --bandwidth 8 --bytes 4)" '6e-09 '
# Doubling, n = 8: 3 rounds of the whole vector; n = 9: 2 rounds more.
equal 'doubling' "$(seconds recursive-doubling -n 8 --bandwidth 8 --bytes 1000)" '6e-06 '
equal 'folded' "$(seconds recursive-doubling -n 9 --bandwidth 8 --bytes 1000)" '1e-05 '
# 1 us and 100 Gbit/s when nothing is said.
equal 'defaults' "$(seconds recursive-doubling -n 2 --bytes 125000)" '1.1e-05 '
equal 'alone' "$(seconds circulant -n 1 --bytes 32)" '0 '

# A range is the powers of two; without an algorithm and with `all` all are estimated.
succeeds cost ring -n 2 --bytes 32..1G,7,2K --format csv
equal 'sizes of 32..1G,7,2K' "$(tail -n +2 "$work/out" | cut -d , -f 3 | tr '\n' ' ')" \
    "$(for ((b = 32; b <= 1 << 30; b *= 2)); do printf '%d ' "$b"; done)7 2048 "
for all in '' all; do
    succeeds cost $all -n 5 --bytes 32 --format csv
    equal "algorithms of '$all'" "$(tail -n +2 "$work/out" | cut -d , -f 1)" "$(algorithms)"
done

# Many ranks and sizes: one plan at a time.
"$STRAG" cost ring -n 1000 --bytes 32..1G --format csv >"$work/out"
equal 'last of ring' "$(tail -n 1 "$work/out")" 'ring,1000,1073741824,0.173624921'

# What cannot be planned is left out of `all`, with a word, and refused by name.
STRAG=$STRAG_BROKEN
gives 0 cost -n 3 --bytes 32 --format csv
equal 'left out' "$(cat "$work/err")" \
    'strag cost: even-only is left out: n = 3 is odd; even-only needs an even n'
equal 'the others' "$(tail -n +2 "$work/out" | cut -d , -f 1 | tr '\n' ' ')" 'unfinished boastful '
refuses 'strag cost: n = 3 is odd; even-only needs an even n' cost even-only -n 3 --bytes 32

summary
