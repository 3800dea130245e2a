#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# strag verify: the rounds and bytes of the textbooks, for every n from 1 to 40 and for some up to 1024, with
# STRAG_TEST_FULL=1 for every n to 256, or as many of them as take a second; and algorithms that are not
# what they claim are detected.
set -eu
. "$(dirname "$0")/common.bash"

# What the line must have, from the formulas; flexreduce-pipelined chooses its number of segments,
# which is taken from the line. The folded rank sends its vector to a neighbour and gets the result: 2
# rounds more, and one vector more for the neighbour to send and to reduce.
expected='
function ceil_log2(n,   q) { for (q = 0; 2 ^ q < n; q++); return q }
{
    n = substr($3, 3) + 0; up = ceil_log2(n); log2p = 2 ^ up == n ? up : up - 1; p = 2 ^ log2p
    extra = n - p; fold = extra > 0
    if (kind == "least traffic" || kind == "few rounds" || kind == "segments" || kind == "two rounds") {
        blocks = n; rounds = kind == "few rounds" ? 2 * up : 2 * (n - 1)
        if (kind == "two rounds" && n > 1) rounds = 2
        if (kind == "segments" && n > 1) {
            blocks = substr($4, 8); segments = blocks / n; rounds = (segments + 1) * (n - 1)
            if (segments != int(segments) || segments < 4) {
                print name, n, "has", blocks, "blocks"
                exit 1
            }
        }
        most = 2 * (n - 1) / n; total = 2 * (n - 1); reduce = (n - 1) / n
    } else if (kind == "a chain") {  # to the first rank behind rank 0, and back from there
        blocks = n > 1 ? n - 1 : 1; rounds = n > 2 ? 3 * n - 4 : 2 * (n - 1)
        most = n > 2 ? 2 : n - 1; total = 2 * (n - 1); reduce = most
    } else if (kind == "doubling") {
        blocks = 1; rounds = log2p + 2 * fold
        most = log2p + fold; total = p * log2p + 2 * extra; reduce = log2p + fold
    } else if (kind == "halving") {
        blocks = p; rounds = 2 * log2p + 2 * fold
        most = 2 * (p - 1) / p + fold; total = 2 * (p - 1) + 2 * extra; reduce = (p - 1) / p + fold
    } else if (fold) {  # steps that do not halve take any n
        printf "verified %s n=%d blocks=1 rounds=%d sent-max=%dxS %s %s\n", name, n, up, up, $7, $8
        next
    } else {  # of its steps some halve, and what is left is swapped in the others
        swap = up - halve; blocks = 2 ^ halve; rounds = 2 * halve + swap
        most = 2 - 2 / blocks + swap / blocks; total = n * most; reduce = 1 - 1 / blocks + swap / blocks
    }
    printf "verified %s n=%d blocks=%d rounds=%d sent-max=%.6gxS sent-total=%.6gxS reduce-max=%.6g\n",
           name, n, blocks, rounds, most, total, reduce
}'

# formulas KIND LIST NAME...: verify's lines for the list of n agree with the formulas of this kind;
# with $halve set, with this many steps that halve.
proved='' halve=0
formulas() {
    local kind=$1 list=$2 name form=()
    shift 2
    ((halve == 0)) || form=(--blocks $((2 ** halve)))
    for name; do
        succeeds verify "$name" -n "$list" "${form[@]}"
        awk -v name="$name" -v kind="$kind" -v halve="$halve" "$expected" "$work/out" >"$work/expected" ||
            fail "$(tail -n 1 "$work/expected")"
        checks=$((checks + $(wc -l <"$work/out")))
        diff "$work/expected" "$work/out" >"$work/diff" ||
            fail "$name is not as the formulas: $(head -n 4 "$work/diff")"
        proved+="$name"$'\n'
    done
}
all=1..40,64,100,127..129,192,256,1000,1024 most=1..24,64,100,128 some=1..12,32
powers='2 3 4 5 6 7 8 10'
if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
    all=1..256,1000,1024 most=1..100,127,128,255,256 some=1..48,64,100 # more take longer than a second
fi
formulas doubling $all recursive-doubling bine-latency torus-doubling hierarchical-doubling
formulas halving $all recursive-halving bine torus-halving
formulas 'few rounds' $all circulant swing
formulas 'some halve' $all swing-latency
# Swing in fewer blocks: of 2^q ranks' steps this many quarters halve.
for steps in $powers; do
    for quarters in 1 2 3; do
        halve=$(((steps * quarters + 2) / 4))
        ((halve == steps)) || formulas 'some halve' $((2 ** steps)) swing
    done
done
halve=0
formulas 'least traffic' $most ring bucket hamiltonian flexreduce blueconnect leaders \
    direct optcc weighted
formulas 'two rounds' $most flexreduce-direct
formulas 'a chain' $most torus-trees
formulas segments $some flexreduce-pipelined
equal 'algorithms with formulas' "$(sort -u <<<"${proved%$'\n'}")" "$(symmetric | sort)"

# The given number of blocks is the plan's; a list keeps its order.
succeeds verify circulant -n 12 --blocks 12
equal 'circulant' "$(<"$work/out")" \
    'verified circulant n=12 blocks=12 rounds=8 sent-max=1.83333xS sent-total=22xS reduce-max=0.916667'
succeeds verify ring -n 5,2..3,5
equal 'order of a list' "$(sed 's/.* n=\([0-9]*\) .*/\1/' "$work/out" | tr '\n' ' ')" '5 2 3 5 '

# With slow links: segments in their patterns, chunks that fill bubbles; shares by rate.
succeeds verify optcc -n 8 --slow 3:1.5
equal 'optcc' "$(<"$work/out")" \
    'verified optcc n=8 blocks=109 rounds=104 sent-max=1.82724xS sent-total=14xS reduce-max=0.966776'
succeeds verify weighted -n 8 --ranks-per-node 2 --slow 3:1.25
equal 'weighted' "$(<"$work/out")" \
    'verified weighted n=8 blocks=256 rounds=38 sent-max=1.78947xS sent-total=14xS reduce-max=0.93421'

# verified_on NAMES TOPOLOGY...: 24 ranks there, by each of these algorithms
verified_on() {
    local names=$1
    shift
    succeeds verify "${names// /,}" "$@"
    equal "verified on $*" "$(awk '$3 == "n=24" { print $2 }' "$work/out" | paste -s -d ' ')" "$names"
}
names=$(symmetric | paste -s -d ' ')
verified_on "$names" --tree 20,4
verified_on "$names" -n 24 --ranks-per-node 5
verified_on "$names" --tree '((3,5),(4,(6,6)))'
names=$(symmetric | grep -Ev '^(flexreduce|blueconnect$|hamiltonian$)' | paste -s -d ' ') # these need a tree, or a whole torus of at most 2 dimensions
verified_on "$names" --torus 4x3x2
verified_on "$names" --mesh 6x4
verified_on "$names" --hyperx 4x6
verified_on "$names" --hammingmesh 2x2:3x2
verified_on hamiltonian --torus 6x4
verified_on hamiltonian --torus 24

# The algorithms for a straggler: rounds count from its arrival.
succeeds verify stragglar -n 2,4,8 --straggler 1
equal 'stragglar' "$(<"$work/out")" \
    'verified stragglar n=2 blocks=1 rounds=1 sent-max=1xS sent-total=2xS reduce-max=1 rounds-before=0
verified stragglar n=4 blocks=3 rounds=4 sent-max=2xS sent-total=6xS reduce-max=1 rounds-before=2
verified stragglar n=8 blocks=7 rounds=9 sent-max=2xS sent-total=14xS reduce-max=1 rounds-before=3'
refuses 'strag verify: stragglar n=5: stragglar pairs the ranks, so it needs an even number of them,'\
' not 5; straggler-pipeline takes any' verify stragglar -n 5 --straggler 1
refuses 'strag verify: ring n=4: ring has no root, and 1 was given' verify ring -n 4 --root 1
refuses 'strag verify: direct n=4: direct: root 1; it is 0, or with one block 0 or 1' \
    verify direct -n 4 --root 1
equal "algorithms for a straggler" "$(waiting | wc -l)" 5
for name in $(waiting); do
    refuses "strag verify: $name n=6: $name is for a rank that arrives late, and none is named;\
 say which: --straggler R" \
        verify "$name" -n 6
done

# Several algorithms, each once; all: those that can be planned. As JSON.
succeeds verify swing,ring,swing -n 4,6
equal 'of a list' "$(cut -d ' ' -f 2,3 "$work/out" | tr '\n' ' ')" 'swing n=4 ring n=4 swing n=6 ring n=6 '
succeeds verify all --torus 2x2
equal 'of all on a torus' "$(grep -c '^verified' "$work/out")" \
    "$(grep -vcE '^(straggler-pipeline|straggler-trees|straggler-direct|stragglar|broadcast-after|flexreduce|flexreduce-pipelined|flexreduce-direct|blueconnect) ' <("$STRAG" list))"
succeeds verify ring,circulant -n 2 --format json
equal 'as JSON' "$(tail -n 2 "$work/out")" \
    '{"algorithm":"ring","n":2,"blocks":2,"rounds":2,"rounds_before":0,"sent_max":1,"sent_total":2,"reduce_max":0.5},
{"algorithm":"circulant","n":2,"blocks":2,"rounds":2,"rounds_before":0,"sent_max":1,"sent_total":2,"reduce_max":0.5}]}'
equal 'begins' "$(head -n 1 "$work/out")" '{"verified":['
gives 2 verify ring,stragglar -n 4 --format json
equal 'ends after an error, too' "$(tail -c 4 "$work/out")" '}]}'

# Plans from files: if all ranks do the same, one stands for all, whatever their number; what takes too much
# is refused. The proof is written next to the plan if that is asked for, and only then.
cat >"$work/ring.json" <<'END'
{"strag-plan":1,"claim":{"rounds":7998,"ports":1},"algorithm":"ring","n":4000,"blocks":4000,"groups":[
{"ranks":[0,4000,1],"ops":[
{"repeat":3999,"ops":[
{"kind":"send","peer":[1,1],"first":[0,1,-1],"count":1,"round":[0,0,1]},
{"kind":"recv_reduce","peer":[-1,1],"first":[-1,1,-1],"count":1,"round":[0,0,1]}]},
{"repeat":3999,"ops":[
{"kind":"send","peer":[1,1],"first":[1,1,-1],"count":1,"round":[3999,0,1]},
{"kind":"recv","peer":[-1,1],"first":[0,1,-1],"count":1,"round":[3999,0,1]}]}]}]}
END
verified='verified ring n=4000 blocks=4000 rounds=7998 sent-max=1.9995xS sent-total=7998xS reduce-max=0.99975'
succeeds verify --plan "$work/ring.json"
equal 'a large ring' "$(<"$work/out")" "$verified"
[ ! -e "$work/ring.json.proof" ] || fail "a proof that nobody asked for"
succeeds verify --plan "$work/ring.json" --proof
equal 'a large ring with --proof' "$(<"$work/out")" "$verified"
equal 'what was proved' "$(sed 's/"plan":"[0-9a-f]\{16\}"/"plan":".."/; s/"strag":"[^"]*"/"strag":".."/' "$work/ring.json.proof")" \
    '{"strag-proof":1,"plan":"..","bytes":492,"n":4000,"algorithm":"ring","blocks":4000,"rounds":7998,"operations":63984000,"strag":".."}'
cp "$work/ring.json.proof" "$work/before"
sed -i 's/"recv"/"recv_reduce"/' "$work/ring.json"
gives 1 verify --plan "$work/ring.json" --proof
equal 'why a wrong ring is refused' "$(<"$work/err")" \
    "strag verify: ring n=4000: rank 0, round 3999, block 0: rank 0's contribution comes twice"
cmp -s "$work/before" "$work/ring.json.proof" || fail "a proof of a wrong plan"
mkdir "$work/small.json.proof"
"$STRAG" plan ring -n 3 --format json >"$work/small.json"
gives 1 verify --plan "$work/small.json" --proof
grep -q '^strag verify: --proof: .*/small.json.proof: Is a directory$' "$work/err" || fail "--proof: $(<"$work/err")"
refuses 'strag verify: --proof is for a plan from a file; give --plan FILE' verify ring -n 4 --proof
gives 1 verify --plan "$here/../fuzz/corpus/plans/circle.json"
equal 'a circle' "$(<"$work/err")" 'strag verify: x n=65536: rank 0, operation 0 (send to 1, blocks 0..0, round 0):'\
' deadlock: it waits in a circle'
gives 1 verify --plan "$here/../fuzz/corpus/plans/many-turns.json"
equal 'many turns' "$(<"$work/err")" 'strag verify: x n=2: proving its 67108864 operations takes 2751 million steps and'\
' 7424 MiB; at most 4000 million and 4096 MiB are accepted'
gives 0 verify --plan /dev/stdin <"$work/small.json"
gives 0 verify --plan <(cat "$work/small.json")

# Detected: a plan that is no allreduce from n = 3 on; one that sends more than it claims.
STRAG=$STRAG_BROKEN
gives 1 verify unfinished -n 2..4
equal 'what is true of unfinished' "$(<"$work/out")" \
    'verified unfinished n=2 blocks=1 rounds=1 sent-max=1xS sent-total=2xS reduce-max=1'
equal 'failures of unfinished' "$(grep -c '^strag verify: unfinished n=[34]: ' "$work/err")" 2
equal 'lines about unfinished' "$(wc -l <"$work/err")" 2
gives 1 verify boastful -n 2
equal 'what is true of boastful' "$(<"$work/out")" ''
grep -q '^strag verify: boastful n=2: .*sen' "$work/err" || fail "boastful: $(<"$work/err")"
# Some n cannot be planned: wrong usage, at once.
gives 2 verify even-only -n 2,3,2
equal 'stderr of even-only' "$(<"$work/err")" \
    'strag verify: even-only n=3: n = 3 is odd; even-only needs an even n'
equal 'even-only up to the refusal' "$(wc -l <"$work/out")" 1
summary
