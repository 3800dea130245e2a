#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Wrong use of every kind: exit status 2 and one line that names what is accepted. Help and version.
set -eu
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

names='recursive-doubling circulant recursive-halving ring swing-latency swing bine bine-latency bucket torus-halving torus-doubling hamiltonian flexreduce
flexreduce-pipelined flexreduce-direct hierarchical-doubling blueconnect leaders direct straggler-pipeline straggler-trees
stragglar broadcast-after optcc weighted '
names=${names//$'\n'/ }
there_are=${names// /, }
there_are="there are: ${there_are%, }"
commands='list, plan, show, verify, cost, explain, topology, params, --help, --version'
topology='--torus, --mesh, --hyperx, --hammingmesh, --tree, --layout, --saved, --hwloc, --hosts, --ranks-per-node, --ports'
state='--straggler, --delay, --slow'
model='--model, --alpha, --local-alpha, --overhead, --bandwidth, --injection-bandwidth, --local-bandwidth,'
model+=' --link-latency, --hop-latency, --reduce-bandwidth, --ties'
plan_takes="-n, --blocks, --root, --plan, --rank, --yes, --format, --compact, $topology, $state, --help"
plan_usage='strag plan ALGORITHM -n RANKS [TOPOLOGY] [STATE] [--blocks M] [--root R] [--plan FILE]'
plan_usage+=' [--rank R] [--yes] [--format text|json|svg] [--compact]'
verify_takes="-n, --blocks, --root, --plan, --proof, --format, $topology, $state, --help"
cost_takes="-n, --bytes, --blocks, --plan, --mode, --quick, --format, $topology, $state, $model, --help"
explain_takes="-n, --bytes, --blocks, --minimum, --rules, --exhaustive, --format, $topology, $state, $model, --help"
sizes='sizes are bytes like 32, or like 2K, 512M, 1G, 1T (times 1024, 1024^2, 1024^3, 1024^4)'
integer='is not an integer from'

# Commands.
refuses "strag: no command is given; accepted: $commands"
refuses "strag: unknown command 'simulate'; accepted: $commands" simulate -n 8 --bytes 32
refuses "strag: unknown command 'verfiy' (nearest: verify); accepted: $commands" verfiy ring -n 8
refuses "strag: unknown command ''; accepted: $commands" ''
refuses "strag: unknown option '--verbose'; accepted: $commands" --verbose
refuses "strag: unexpected argument 'x'; accepted: $commands" --version x

# Operands.
refuses "strag list: unexpected 'ring'; usage: strag list [--format text|wide|json]" list ring
refuses "strag plan: no ALGORITHM is given; $there_are; or give --plan FILE" plan -n 8
refuses "strag plan: unknown algorithm 'rign' (nearest: ring); $there_are" plan rign -n 8
refuses "strag plan: unknown algorithm 'all' (nearest: ring); $there_are" plan all -n 8
refuses "strag verify: unknown algorithm 'rign' (nearest: ring); $there_are, all" verify ring,rign -n 8
refuses "strag verify: unknown algorithm '' (nearest: ring); $there_are, all" verify ring, -n 8
refuses "strag verify: no ALGORITHM is given; $there_are, all; or give --plan FILE" verify -n 8
refuses "strag cost: unknown algorithm 'rign' (nearest: ring); $there_are, all" cost rign -n 8 --bytes 32
refuses "strag plan: one ALGORITHM is accepted, not 'ring' and 'circulant'" plan ring circulant -n 8

# Plans from files.
"$STRAG" plan ring -n 3 --format json > "$work/ring.json"
refuses 'strag show: --plan is missing; usage: strag show --plan FILE [--rank R] [--yes] [--format text|json|svg] [--compact]' show
refuses "strag show: unexpected 'ring'; usage: strag show --plan FILE [--rank R] [--yes] [--format text|json|svg] [--compact]" show ring
refuses "strag plan: either ALGORITHM or --plan is accepted, not 'ring' and '$work/ring.json'" \
    plan ring --plan "$work/ring.json"
refuses 'strag verify: ring n=4: the plan is for 3 ranks, not for 4' verify --plan "$work/ring.json" -n 4
refuses 'strag show: --compact is for --format json, and for all ranks' \
    show --plan "$work/ring.json" --compact
sed -i 's/"peer":2/"peer":3/' "$work/ring.json"
refuses "strag cost: --plan: $work/ring.json: ranks[0].ops[1].peer: an integer from 0 to 2 is accepted" \
    cost --plan "$work/ring.json" --bytes 32
echo '{"strag-plan":1,"algorithm":"none","n":2,"blocks":1,"groups":[{"ranks":[0,2],"ops":[]}]}' > "$work/none.json"
refuses 'strag cost: --plan: rank 0 ends with 1 of 2 contributions in block 0' \
    cost --plan "$work/none.json" --bytes 32

# Options that a command does not take, or that stand alone.
refuses "strag list: unknown option '--forma' (nearest: --format); accepted: --format, --help" list --forma json
refuses "strag list: --format: 'csv' is not one of text|wide|json" list --format csv
refuses "strag plan: unknown option '--alpha'; accepted: $plan_takes" plan ring -n 8 --alpha 3
refuses "strag plan: unknown option '--ran' (nearest: --rank); accepted: $plan_takes" plan ring -n 8 --ran 3
refuses "strag plan: unknown option '--ranks' (nearest: --rank); accepted: $plan_takes" plan ring -n 8 --ranks 3
refuses "strag plan: unknown option '-'; accepted: $plan_takes" plan - -n 8
refuses "strag verify: unknown option '--rank'; accepted: $verify_takes" verify ring -n 8 --rank 1
refuses "strag verify: --format: 'csv' is not one of text|json" verify ring -n 8 --format csv
refuses "strag cost: unknown option '--rank'; accepted: $cost_takes" cost -n 8 --bytes 32 --rank 1
refuses "strag explain: unknown option '--rank'; accepted: $explain_takes" \
    explain -n 8 --bytes 32 --rank 1
refuses "strag topology: unknown option '--slow'; accepted: -n, --format, $topology, --help" \
    topology -n 8 --slow 1:2
explain_usage='strag explain -n RANKS [TOPOLOGY] [STATE] [MODEL] --bytes LIST [--blocks M]'
explain_usage+=' [--minimum SIZE|auto] [--rules FILE] [--exhaustive] [--format text|json]'
refuses "strag explain: unexpected 'ring'; usage: $explain_usage" explain ring -n 8 --bytes 32
refuses "strag plan: -n is missing; usage: $plan_usage" plan ring
refuses "strag plan: -n needs a value: -n RANKS" plan ring -n
refuses "strag plan: --rank needs a value: --rank R" plan ring -n 8 --rank
refuses "strag cost: --bytes is missing; usage: strag cost [ALGORITHM[,ALGORITHM...]|all] -n RANKS\
 [TOPOLOGY] [STATE] [MODEL] --bytes LIST [--blocks M] [--plan FILE] [--mode rounds|clocks] [--quick] [--format text|csv|json|svg]" cost -n 8
refuses "strag explain: -n is missing; usage: $explain_usage" explain --bytes 32

# Contradictions.
refuses "strag plan: -n is given twice, as '8' and as '9'; give it once" plan ring -n 8 -n 9
refuses "strag plan: --rank is given twice, as '1' and as '2'; give it once" \
    plan --rank 1 ring --rank=2 -n 8
refuses "strag plan: --rank: '8' $integer 0 to 7" plan ring -n 8 --rank 8
refuses "strag plan: ring cuts the vector of 8 ranks into 8 blocks, not 7" \
    plan ring -n 8 --blocks 7
refuses "strag verify: ring n=9: ring cuts the vector of 9 ranks into 9 blocks, not 8" \
    verify ring -n 9,8 --blocks 8
refuses "strag plan: --format: 'csv' is not one of text|json|svg" plan ring -n 8 --format csv
refuses "strag cost: --format: 'png' is not one of text|csv|json|svg" \
    cost -n 8 --bytes 32 --format png
refuses "strag cost: --mode: 'clock' is not one of rounds|clocks" cost -n 8 --bytes 32 --mode clock
refuses "strag cost: --ties: 'minus' is not one of split|plus" cost -n 8 --bytes 32 --ties minus
refuses "strag topology: --format: 'csv' is not one of text|json|svg" topology -n 8 --format csv
refuses "strag topology: ALGORITHM says whose traffic a picture shows: add --format svg" topology ring -n 8
refuses 'strag topology: --format svg draws at most 1024 hosts' topology -n 1025 --format svg

# Options without a value.
refuses "strag plan: --yes takes no value, not '1'" plan ring -n 8 --yes=1
refuses "strag plan: unknown option '--yesno' (nearest: --yes); accepted: $plan_takes" plan ring -n 8 --yesno
refuses "strag plan: one ALGORITHM is accepted, not 'ring' and '1'" plan ring -n 8 --yes 1
refuses "strag cost: --quick is for --mode rounds; --mode clocks looks at every message" \
    cost -n 8 --bytes 32 --quick --mode clocks

# Integers.
for value in 0 -1 +8 8.0 8x ' 8' 0x8 '' 16777217 99999999999999999999999 18446744073709551624; do
    refuses "strag plan: -n: '$value' $integer 1 to 16777216" plan ring -n "$value"
done
refuses "strag plan: -n: '2..8' $integer 1 to 16777216" plan ring -n 2..8
refuses "strag plan: --rank: '-1' $integer 0 to 7" plan ring -n 8 --rank -1
refuses "strag plan: --blocks: '0' $integer 1 to 2147483646" plan ring -n 8 --blocks 0
refuses "strag verify: -n: '' $integer 1 to 16777216" verify ring -n 2,,8
refuses "strag verify: -n: '' $integer 1 to 16777216" verify ring -n 2..8,
refuses "strag verify: -n: '' $integer 1 to 16777216" verify ring -n 2..
refuses "strag verify: -n: '.8' $integer 1 to 16777216" verify ring -n 2...8
refuses "strag verify: -n: '4..8' $integer 1 to 16777216" verify ring -n 2..4..8
refuses "strag verify: -n: '8..2' runs downwards; put the smaller number first, like 2..256" \
    verify ring -n 8..2

# Sizes.
for value in '' K 32X 32KB -1 1.5K ' 32' 32.. ..32; do
    wrong=${value#..}
    wrong=${wrong%..}
    case $value in *..*) wrong= ;; esac
    refuses "strag cost: --bytes: '$wrong' is not a size; $sizes" cost -n 8 --bytes "$value"
done
refuses "strag cost: --bytes: '' is not a size; $sizes" cost -n 8 --bytes 32,
for value in 18446744073709551616 16777216T 99999999999999999999999K; do
    refuses "strag cost: --bytes: '$value' is too large; the largest size is 18446744073709551615" \
        cost -n 8 --bytes "$value"
done
for value in 32..100 100..128 0..32; do
    refuses "strag cost: --bytes: '$value' needs a power of two at both ends, like 32..1G" \
        cost -n 8 --bytes "$value"
done
refuses "strag cost: --bytes: '1G..32' runs downwards; put the smaller size first, like 32..1G" \
    cost -n 8 --bytes 1G..32

# Real numbers.
for value in -1 +1 inf nan 0x10 1e 1e999 '' ' 1' 1x 2e9; do
    refuses "strag cost: --alpha: '$value' is not a number from 0 to 1e+09" \
        cost -n 8 --bytes 32 --alpha "$value"
done
refuses "strag cost: --local-bandwidth: '-1' is not a number from 1e-06 to 1e+09" \
    cost -n 8 --bytes 32 --local-bandwidth -1
for option in --local-alpha --overhead --injection-bandwidth --link-latency --hop-latency --reduce-bandwidth; do
    refuses "strag cost: $option: '1us' is not a number from 0 to 1e+09" \
        cost -n 8 --bytes 32 "$option" 1us
done
refuses "strag explain: --minimum: '8KB' is not a size; $sizes" explain -n 8 --bytes 32 --minimum 8KB
refuses "strag cost: --bandwidth: '0' is not a number from 1e-06 to 1e+09" \
    cost -n 8 --bytes 32 --bandwidth 0

# A message quotes little of a wrong text, so that it stays one line.
long=$(printf 'x%.0s' {1..5000})
gives 2 plan "$long" -n 8
gives 2 plan ring -n "$long"
gives 2 plan ring "--$long"
gives 2 cost -n 8 --bytes "$long"
equal 'lines for a long size' "$(wc -l <"$work/err")" 1
[ "$(wc -c <"$work/err")" -lt 300 ] || fail "a message of $(wc -c <"$work/err") characters"

# All these are right.
succeeds plan -n8 --rank=7 ring
cp "$work/out" "$work/first"
succeeds plan --format text --rank 7 --blocks 8 -n 8 -n 8 -- ring
cmp "$work/first" "$work/out"
succeeds --version
[[ $(cat "$work/out") =~ ^strag\ [0-9]+\.[0-9]+ ]] || fail "version: $(cat "$work/out")"
succeeds list
equal 'names listed' "$(cut -d ' ' -f 1 "$work/out" | tr '\n' ' ')" \
    "$names"
grep -q '^ring  *neighbours only; ' "$work/out" || fail "$(cat "$work/out")"
equal 'lines of list above 100 columns' "$(grep -cE '.{101}' "$work/out")" 0
succeeds list --format wide
grep -q '^ring  *rounds 2(n-1)  *sent 2(n-1)/n  *[a-z]' "$work/out" || fail "$(cat "$work/out")"
succeeds list --format json
grep -qF '{"name":"ring","rounds":"2(n-1)","sent":"2(n-1)/n","summary":"neighbours only; ' "$work/out" ||
    fail "$(cat "$work/out")"
succeeds --help
for command in list plan verify cost explain topology params; do
    grep -q "^  strag $command\b" "$work/out" || fail "--help does not name $command"
done
for command in list plan verify cost explain topology params; do
    succeeds "$command" --help
    equal "usage of $command" "$(grep -c "^Usage: strag $command\b" "$work/out")" 1
    succeeds "$command" -h --unknown
done
succeeds plan --help
for option in -n --blocks --root --rank --format --torus --layout --ports --straggler --slow --help; do
    grep -q "^  $option " "$work/out" || fail "plan --help does not name $option"
done
for command in cost explain; do
    succeeds "$command" --help
    for option in --bytes ${topology//,/} ${state//,/} ${model//,/}; do
        grep -q "^  $option " "$work/out" || fail "$command --help does not name $option"
    done
done

summary
