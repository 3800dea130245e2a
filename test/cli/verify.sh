#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# strag verify: every n from 1 to 256, 1000 and 1024, with the rounds and bytes of the textbooks; and
# algorithms that are not what they claim are found out.
set -eu
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

# What the line must say, from the formulas. The folded rank gives its vector to a neighbour and gets
# the result: 2 rounds more, and one vector more for the neighbour to send and to combine.
# shellcheck disable=SC2016
expected='
function ceil_log2(n,   q) { for (q = 0; 2 ^ q < n; q++); return q }
{
    n = $1; up = ceil_log2(n); log2p = 2 ^ up == n ? up : up - 1; p = 2 ^ log2p; extra = n - p
    fold = extra > 0
    if (name == "ring" || name == "circulant") {
        blocks = n; rounds = name == "ring" ? 2 * (n - 1) : 2 * up
        most = 2 * (n - 1) / n; total = 2 * (n - 1); reduce = (n - 1) / n
    } else if (name == "recursive-doubling") {
        blocks = 1; rounds = log2p + 2 * fold
        most = log2p + fold; total = p * log2p + 2 * extra; reduce = log2p + fold
    } else {
        blocks = p; rounds = 2 * log2p + 2 * fold
        most = 2 * (p - 1) / p + fold; total = 2 * (p - 1) + 2 * extra; reduce = (p - 1) / p + fold
    }
    printf "verified %s n=%d blocks=%d rounds=%d sent-max=%.6gxS sent-total=%.6gxS reduce-max=%.6g\n",
           name, n, blocks, rounds, most, total, reduce
}'

for name in ring recursive-doubling recursive-halving circulant; do
    succeeds verify "$name" -n 1..256,1000,1024
    { seq 256; echo 1000; echo 1024; } | awk -v name="$name" "$expected" >"$work/expected"
    checks=$((checks + 258))
    diff "$work/expected" "$work/out" >"$work/diff" ||
        fail "$name is not as the formulas: $(head -n 4 "$work/diff")"
done

# The given number of blocks is the plan's; a list keeps its order.
succeeds verify circulant -n 12 --blocks 12
equal 'circulant' "$(cat "$work/out")" \
    'verified circulant n=12 blocks=12 rounds=8 sent-max=1.83333xS sent-total=22xS reduce-max=0.916667'
succeeds verify ring -n 5,2..3,5
equal 'order of a list' "$(sed 's/.* n=\([0-9]*\) .*/\1/' "$work/out" | tr '\n' ' ')" '5 2 3 5 '

# Found out: a plan that is no allreduce from n = 3 on; one that sends more than it claims.
STRAG=$STRAG_BROKEN
gives 1 verify unfinished -n 2..4
equal 'what is true of unfinished' "$(cat "$work/out")" \
    'verified unfinished n=2 blocks=1 rounds=1 sent-max=1xS sent-total=2xS reduce-max=1'
equal 'failures of unfinished' "$(grep -c '^strag verify: unfinished n=[34]: ' "$work/err")" 2
equal 'lines about unfinished' "$(wc -l <"$work/err")" 2
gives 1 verify boastful -n 2
equal 'what is true of boastful' "$(cat "$work/out")" ''
grep -q '^strag verify: boastful n=2: .*sen' "$work/err" || fail "boastful: $(cat "$work/err")"
# Some n cannot be planned: wrong use, at once.
gives 2 verify even-only -n 2,3,2
equal 'stderr of even-only' "$(cat "$work/err")" \
    'strag verify: even-only n=3: n = 3 is odd; even-only needs an even n'
equal 'even-only up to the refusal' "$(wc -l <"$work/out")" 1

summary
