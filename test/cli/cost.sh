#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# strag cost: estimates that can be computed by hand, the algorithms of `all`, and a large n. (That
# the estimates are those of the plans, test/unit/test_cost.c checks.)
set -eu
. "$(dirname "$0")/common.bash"

# seconds ARGUMENT...: the last column of the CSV, in one line. Unless they say otherwise, reducing takes
# no time.
seconds() {
    case $* in
    *--reduce-bandwidth*) ;;
    *) set -- "$@" --reduce-bandwidth 0 ;;
    esac
    succeeds cost "$@" --format csv
    tail -n +2 "$work/out" | cut -d , -f 4 | tr '\n' ' '
}

# priced ARGUMENT...: the same with 2 us for a message and 8 Gbit/s, which is 1 byte per ns.
priced() {
    seconds "$@" --alpha 2 --bandwidth 8
}

# ---- One switch: a host for each rank ----

# Ring: 2(n - 1) rounds of alpha and an n-th of the vector, however short that is.
equal 'ring' "$(priced ring -n 4 --bytes 4K,1G,1,0)" '1.8144e-05 1.61062474 1.20015e-05 1.2e-05 '
equal 'no alpha' "$(seconds ring -n 4 --alpha 0 --bandwidth 8 --bytes 4)" '6e-09 '
# Doubling, n = 8: 3 rounds of the whole vector; n = 9: 2 rounds more.
equal 'doubling' "$(seconds recursive-doubling -n 8 --bandwidth 8 --bytes 1000)" '6e-06 '
equal 'folded' "$(seconds recursive-doubling -n 9 --bandwidth 8 --bytes 1000)" '1e-05 '
# Halving, n = 8: twice 3 rounds, of 1/2, 1/4 and 1/8 of the vector.
equal 'halving' "$(priced recursive-halving -n 8 --bytes 8000)" '2.6e-05 '
# Circulant, n = 5: twice 3 rounds, 4/5 of the vector in all.
equal 'circulant' "$(priced circulant -n 5 --bytes 5000)" '2e-05 '
# Bucket without a torus: a ring.
equal 'bucket' "$(priced bucket -n 4 --bytes 4K)" '1.8144e-05 '
# 1 us and 100 Gbit/s by default, and reducing 160 Gbit/s; within a host 0.4 us and 160 Gbit/s; one rank
# has nothing to do.
equal 'the network by default' "$(seconds recursive-doubling -n 2 --bytes 125000)" '1.1e-05 '
succeeds cost recursive-doubling -n 2 --bytes 125000 --format csv
equal 'defaults' "$(tail -n 1 "$work/out" | cut -d , -f 4)" '1.725e-05'
succeeds cost recursive-doubling -n 2 --ranks-per-node 2 --bytes 125000 --format csv
equal 'defaults within a host' "$(tail -n 1 "$work/out" | cut -d , -f 4)" '1.29e-05'
equal 'alone' "$(seconds circulant -n 1 --bytes 32)" '0 '
# Reducing 1 byte per ns as well: in each of 3 rounds 1000 ns more.
equal 'reducing' "$(priced recursive-doubling -n 8 --bytes 1000 --reduce-bandwidth 8)" '1.2e-05 '
equal 'reducing in no time' "$(priced recursive-doubling -n 8 --bytes 1000 --reduce-bandwidth 0)" \
    '9e-06 '

# ---- Several ranks per host ----

# Two hosts of two: 0-1 and 2-3 in their hosts (1 + 2000/2 ns), then 0-2 and 1-3 together over the
# uplinks (2 + 2 * 2000 ns).
two_hosts='--ranks-per-node 2 --local-alpha 1 --local-bandwidth 16'
# shellcheck disable=SC2086
equal 'two hosts' "$(priced recursive-doubling -n 4 $two_hosts --bytes 2000)" '8e-06 '
# shellcheck disable=SC2086
equal 'two hosts as a tree' "$(priced recursive-doubling --tree 2,2 ${two_hosts#* * } --bytes 2000)" \
    '8e-06 '
# The uplink of host 1 has 4 Gbit/s: 2 + 2 * 2000 * 2 ns.
# shellcheck disable=SC2086
equal 'an uplink that the tree says' \
    "$(priced recursive-doubling --tree 2,2@4 ${two_hosts#* * } --bytes 2000)" '1.2e-05 '
# Two switches with two hosts each, joined by 4 Gbit/s: doubling sends 2 * 2000 bytes through it.
equal 'two switches' "$(priced recursive-doubling --tree '((1,1)@4,(1,1)@4)' --bytes 2000)" '1.4e-05 '

# ---- Torus and mesh ----

# Rank x + 4y, 0.4 us for a link and the host behind it. Doubling on 4x4: to the neighbour (1.4 us and
# s), then to the rank two away, half of it in each direction, where each link carries 2 halves of a
# vector (1.8 us and s); the same in y.
grid='--bandwidth 8 --bytes 1000'
# shellcheck disable=SC2086
{
    equal 'doubling on 4x4' "$(seconds recursive-doubling --torus 4x4 $grid)" '1.04e-05 '
    # All in one direction: the links between carry 2 vectors. On a mesh, too.
    equal 'ties' "$(seconds recursive-doubling --torus 4x4 --ties plus $grid)" '1.24e-05 '
    equal 'mesh' "$(seconds recursive-doubling --mesh 4x4 $grid)" '1.24e-05 '
    # All are neighbours in a row: 1.4 us and s, four times.
    equal 'HyperX' "$(seconds recursive-doubling --hyperx 4x4 $grid)" '9.6e-06 '
    # A link of 200 ns and 500 ns for a host.
    equal 'latencies' \
        "$(seconds recursive-doubling --torus 4x4 --link-latency 200 --hop-latency 500 $grid)" \
        '1.22e-05 '
}
# Ring on 4x4: from the end of a row to the next row's start over the wrap-around link and one up:
# 2 links, so 30 times 1.8 us and a 16th of the vector.
equal 'ring on 4x4' "$(seconds ring --torus 4x4 --bandwidth 8 --bytes 1600)" '5.7e-05 '
# Bucket with all 4 ports: 12 rounds to neighbours; each of the four parts of s/4 takes 15/8 of itself.
equal 'bucket on 4x4' "$(seconds bucket --torus 4x4 --bandwidth 8 --overhead 0 --bytes 6400)" '1.98e-05 '
# With one port: 15/8 of the vector over the busiest link.
equal 'bucket, 1 port' "$(seconds bucket --torus 4x4 --ports 1 --bandwidth 8 --bytes 6400)" '2.88e-05 '

# ---- Stragglers and slow links ----

# Rank 1's links take twice as long: 6 times 2 + 2 * 1024 ns. The larger factor holds for its host.
equal 'slow' "$(priced ring -n 4 --bytes 4K --slow 1:2)" '2.4288e-05 '
equal 'slow by 1' "$(priced ring -n 4 --bytes 4K --slow 1:1,3:1)" '1.8144e-05 '
equal 'two slow ranks on a host' "$(priced recursive-doubling --tree 2,2 --local-alpha 1 \
    --local-bandwidth 16 --bytes 2000 --slow 0:2,1:1.5)" '1.2e-05 '
# Late by 50 us: in a ring all wait from the start. Doubling of 3 ranks: ranks 0 and 1 are done with
# their first round (3 us) before they need rank 2.
for mode in rounds clocks; do
    equal "late, $mode" "$(priced ring -n 4 --bytes 4K --straggler 2 --delay 50 --mode $mode)" \
        '6.8144e-05 '
    equal "late in the first round, $mode" \
        "$(priced recursive-doubling -n 3 --bytes 1000 --straggler 1 --delay 50 --mode $mode)" '5.9e-05 '
    equal "late in the second round, $mode" \
        "$(priced recursive-doubling -n 3 --bytes 1000 --straggler 2 --delay 50 --mode $mode)" '5.6e-05 '
    equal "late by less than a round, $mode" \
        "$(priced recursive-doubling -n 3 --bytes 1000 --straggler 2 --delay 1 --mode $mode)" '9e-06 '
    equal "no delay, $mode" "$(priced ring -n 4 --bytes 4K --straggler 2 --mode $mode)" '1.8144e-05 '
done
# Doubling of 4 ranks, 0-1 and 2-3 first; rank 3's links are twice as slow, rank 0 is 1 us late. In
# rounds all wait for rank 0: 1 + 2 * (2 + 2) us. By the clocks 2-3 begin at once, and 0-1, which take
# 1 + 2 + 1 us, are done when they are.
late_and_slow='--slow 3:2 --straggler 0 --delay 1 --bytes 1000'
# shellcheck disable=SC2086
{
    equal 'rounds' "$(priced recursive-doubling -n 4 $late_and_slow)" '9e-06 '
    equal 'clocks' "$(priced recursive-doubling -n 4 $late_and_slow --mode clocks)" '8e-06 '
}

# The pipeline for a straggler, n = 4, in m blocks: m + 2 rounds of 2 us and 1/m of the vector after
# its arrival, m + 1 before, while the others wait anyway. The best of 2, 4, 8, ... blocks is used.
pipeline='straggler-pipeline -n 4 --straggler 3 --bytes 8000'
# shellcheck disable=SC2086
{
    equal 'pipeline' "$(priced $pipeline --delay 50 --blocks 4)" '7.4e-05 '
    equal 'pipeline, early' "$(priced $pipeline --delay 2 --blocks 4)" '4.4e-05 '
    equal 'pipeline, best' "$(priced $pipeline --delay 50)" '7.4e-05 '
    equal 'pipeline, best for each' "$(priced $pipeline,80000 --delay 5000)" '0.005024 0.00512 '
    equal 'by clocks' "$(priced $pipeline --delay 50 --mode clocks)" '7.4e-05 '
}

# ---- Lists, all algorithms, many ranks ----

# A range is the powers of two; without an algorithm and with `all` all are estimated.
succeeds cost ring -n 2 --bytes 32..1G,7,2K --format csv
equal 'sizes of 32..1G,7,2K' "$(tail -n +2 "$work/out" | cut -d , -f 3 | tr '\n' ' ')" \
    "$(for ((b = 32; b <= 1 << 30; b *= 2)); do printf '%d ' "$b"; done)7 2048 "
for all in '' all; do
    succeeds cost $all -n 5 --bytes 32 --format csv
    equal "algorithms of '$all'" "$(tail -n +2 "$work/out" | cut -d , -f 1)" "$(symmetric)"
done

# The header names the topology and the model.
succeeds cost ring --torus 8x8 --ranks-per-node 2 --bytes 32 --slow 3:2 --straggler 5 --delay 7
equal 'header' "$(head -n 4 "$work/out")" \
    'n = 128, torus 8x8, 64 hosts, 2 ranks on each
rank 5 is 7 us late
the links of rank 3'"'"'s host are 2 times slower
alpha = 1 us, overhead = 0.2 us, bandwidth = 100 Gbit/s, link = 100 ns, hop = 300 ns, within a host alpha = 0.4 us,'"\
 bandwidth = 160 Gbit/s, reducing = 160 Gbit/s, mode rounds: microseconds"

# Many ranks and sizes.
"$STRAG" cost ring -n 1000 --bytes 32..1G --reduce-bandwidth 0 --format csv >"$work/out"
equal 'last of ring' "$(tail -n 1 "$work/out")" 'ring,1000,1073741824,0.173624893,0.170152395'

succeeds cost swing,ring -n 4 --bytes 4K --format csv
equal 'of a list' "$(cut -d , -f 1 "$work/out" | tr '\n' ' ')" 'algorithm swing ring '

# A plan of very many rounds takes time as there are rounds: a block goes to and fro.
group()
{
    echo "{\"ranks\":[$1],\"ops\":[{\"kind\":\"$4\",\"peer\":$2,\"first\":0,\"count\":1,\"round\":0},
    {\"repeat\":150000,\"ops\":[{\"kind\":\"$3\",\"peer\":$2,\"first\":0,\"count\":1,\"round\":[1,0,2]},
    {\"kind\":\"$5\",\"peer\":$2,\"first\":0,\"count\":1,\"round\":[2,0,2]}]}]}"
}
echo "{\"strag-plan\":1,\"algorithm\":\"to-and-fro\",\"n\":2,\"blocks\":1,\"groups\":[
    $(group 0 1 send recv_reduce recv),$(group 1 0 recv send send)]}" > "$work/long.json"
equal 'very many rounds' "$("${builddir:-$PWD}/test/limit" 20 "$STRAG" cost --plan "$work/long.json" --bytes 0 --format csv | tail -n 1)" \
    'to-and-fro,2,0,0.300001,0.300001'

# The model files that are installed: one message of no bytes takes alpha.
models=$(dirname "$0")/../../models
alphas=$(for machine in fugaku leonardo lumi marenostrum5; do
    "$STRAG" cost recursive-doubling -n 2 --bytes 0 --format csv --model "$models/$machine-2025.model"
done | sed -n 's/^recursive-doubling,2,0,\([^,]*\),.*/\1/p' | tr '\n' ' ')
equal 'alpha by model files' "$alphas" '1.2e-06 2.41e-06 4.19e-06 4.03e-06 '
equal 'model files' "$(find "$models" -name '*.model' | wc -l)" 4

# `all` omits what cannot be planned, with a message; by name it is an error.
STRAG=$STRAG_BROKEN
gives 0 cost -n 3 --bytes 32 --format csv
equal 'left out' "$(<"$work/err")" \
    'strag cost: not possible here: even-only; strag explain says why'
equal 'the others' "$(tail -n +2 "$work/out" | cut -d , -f 1 | tr '\n' ' ')" 'unfinished boastful '
refuses 'strag cost: n = 3 is odd; even-only needs an even n' cost even-only -n 3 --bytes 32
summary
