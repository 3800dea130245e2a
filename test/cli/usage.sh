#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Wrong use of every kind: exit status 2 and one line that names what is accepted. Help and version.
set -eu
. "$(dirname "$0")/common.bash"

names='recursive-doubling circulant recursive-halving ring swing-latency swing bine bine-latency bucket torus-halving torus-doubling hamiltonian flexreduce
flexreduce-pipelined flexreduce-direct hierarchical-doubling blueconnect leaders direct straggler-pipeline straggler-trees straggler-direct
stragglar broadcast-after optcc weighted torus-trees '
names=${names//$'\n'/ }
there_are=${names// /, }
there_are="there are: ${there_are%, }"
commands='list, plan, verify, cost, explain, topology, params, help, --help, --version'
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
sizes='sizes are bytes like 32, or like 2K, 512M, 1G, 1T (times 1024, 1024^2, 1024^3, 1024^4) or 1MiB'
integer='is not an integer from'

# Commands.
refuses "strag: no command is given; accepted: $commands"
refuses "strag: unknown command 'simulate'; accepted: $commands" simulate -n 8 --bytes 32
refuses "strag: unknown command 'verfiy' (nearest: verify); accepted: $commands" verfiy ring -n 8
refuses "strag: unknown command ''; accepted: $commands" ''
refuses "strag: unknown command 'ring'; accepted: $commands" ring -n 8
refuses "strag: unknown command 'hlep' (nearest: help); accepted: $commands" hlep
refuses "strag: unknown option '--verbose'; accepted: $commands" --verbose
refuses "strag: unknown option '--verson' (nearest: --version); accepted: $commands" --verson
refuses "strag: unknown option '-V'; accepted: $commands" -V
refuses "strag: unexpected argument 'x'; accepted: $commands" --version x
refuses "strag: unknown command 'verfiy' (nearest: verify); accepted: $commands" help verfiy
refuses "strag: unknown command 'ring'; accepted: $commands" -h ring
refuses "strag: unexpected argument 'ring'; accepted: $commands" help plan ring
refuses "strag: unexpected argument 'verify'; accepted: $commands" help plan verify

# Operands.
refuses "strag list: unexpected 'ring'; usage: strag list [--format text|wide|json]" list ring
refuses "strag plan: no ALGORITHM is given; $there_are; or give --plan FILE" plan -n 8
refuses "strag plan: unknown algorithm 'rign' (nearest: ring); $there_are" plan rign -n 8
refuses "strag plan: unknown algorithm 'all'; $there_are" plan all -n 8
refuses "strag plan: unknown algorithm 'previous'; $there_are" plan previous -n 8
refuses "strag plan: unknown algorithm ''; $there_are" plan '' -n 8
refuses "strag plan: unknown algorithm 'auto'; $there_are; strag explain shows what auto runs" plan auto -n 8
refuses "strag cost: unknown algorithm 'auto'; $there_are, all; strag explain shows what auto runs" \
    cost ring,auto -n 8 --bytes 32
refuses "strag verify: unknown algorithm 'rign' (nearest: ring); $there_are, all" verify ring,rign -n 8
for value in 'ring,' 'ring,,swing' ',ring'; do
    refuses "strag verify: '$value' has an empty name between commas; $there_are, all" verify "$value" -n 8
done
refuses "strag verify: no ALGORITHM is given; $there_are, all; or give --plan FILE" verify -n 8
refuses "strag cost: unknown algorithm 'rign' (nearest: ring); $there_are, all" cost rign -n 8 --bytes 32
refuses "strag plan: one ALGORITHM is accepted, not 'ring' and 'circulant'; usage: $plan_usage" plan ring circulant -n 8
refuses "strag plan: one ALGORITHM is accepted, not 'ring' and '8'; usage: $plan_usage" plan ring 8
refuses "strag plan: one ALGORITHM is accepted, not 'ring' and '--rank'; usage: $plan_usage" plan ring -n 8 -- --rank 1
refuses "strag plan: unknown algorithm 'Ring' (nearest: ring); $there_are" plan Ring -n 8
refuses "strag cost: unknown algorithm '32'; $there_are, all" cost -n 8 32

# Plans from files.
"$STRAG" plan ring -n 3 --format json > "$work/ring.json"
refuses "strag plan: either ALGORITHM or --plan is accepted, not 'ring' and '$work/ring.json'" \
    plan ring --plan "$work/ring.json"
refuses 'strag verify: ring n=4: the plan is for 3 ranks, not for 4' verify --plan "$work/ring.json" -n 4
refuses 'strag plan: --compact is for --format json, and for all ranks' \
    plan --plan "$work/ring.json" --compact
sed -i 's/"peer":2/"peer":3/' "$work/ring.json"
refuses "strag cost: --plan: $work/ring.json: ranks[0].ops[1].peer: an integer from 0 to 2 is accepted" \
    cost --plan "$work/ring.json" --bytes 32
echo '{"strag-plan":1,"algorithm":"none","n":2,"blocks":1,"groups":[{"ranks":[0,2],"ops":[]}]}' > "$work/none.json"
gives 1 cost --plan "$work/none.json" --bytes 32
equal 'a false plan' "$(<"$work/err")" 'strag cost: --plan: rank 0 ends with 1 of 2 contributions in block 0'

refuses 'strag topology: the layout has 1048576000 ranks; must be at most 16777216' \
    topology --torus 1024x1024 --ranks-per-node 1000

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

refuses "strag list: --format needs a value: --format text|wide|json" list --format
refuses "strag plan: --plan needs a value: --plan FILE" plan --plan
refuses "strag params: unexpected 'ring'; usage: strag params [--format text|json|man]" params ring
refuses "strag params: --format: 'html' is not one of text|json|man" params --format html
refuses "strag list: unknown option '-n'; accepted: --format, --help" list -n 8
refuses "strag plan: unknown option '-r'; accepted: $plan_takes" plan ring -n 8 -r 1
refuses "strag plan: unknown option '--npx'; accepted: $plan_takes" plan ring --npx
refuses "strag plan: -n: 'x' $integer 1 to 16777216" plan ring -npx

# Contradictions.
refuses "strag plan: -n is given twice, as '8' and as '9'; give it once" plan ring -n 8 -np 9
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
refuses "strag topology: ALGORITHM selects whose traffic a picture shows: add --format svg" topology ring -n 8
refuses 'strag topology: --format svg draws at most 1024 hosts' topology -n 1025 --format svg

# Options without a value.
refuses "strag plan: --yes takes no value, not '1'" plan ring -n 8 --yes=1
refuses "strag plan: unknown option '--yesno' (nearest: --yes); accepted: $plan_takes" plan ring -n 8 --yesno
refuses "strag plan: one ALGORITHM is accepted, not 'ring' and '1'; usage: $plan_usage" plan ring -n 8 --yes 1
refuses "strag cost: --quick works with --mode rounds only; --mode clocks looks at every message" \
    cost -n 8 --bytes 32 --quick --mode clocks

# Integers.
for value in 0 -1 +8 8.0 8x ' 8' 0x8 '' 16777217 99999999999999999999999 18446744073709551624; do
    refuses "strag plan: -n: '$value' $integer 1 to 16777216" plan ring -n "$value"
done
refuses "strag plan: -n: '2..8' $integer 1 to 16777216" plan ring -n 2..8
refuses "strag plan: --rank: '-1' $integer 0 to 7" plan ring -n 8 --rank -1
refuses "strag plan: --rank: 'all' $integer 0 to 7" plan ring -n 8 --rank all
refuses "strag plan: --rank: '' $integer 0 to 7" plan ring -n 8 --rank=
refuses "strag plan: --root: 'x' $integer 0 to 16777215" plan direct -n 8 --root x
refuses 'strag plan: direct: root 5; it is 0, or with one block 0 or 1' plan direct -n 8 --root 5
refuses 'strag plan: root 1; with 1 rank it is 0 to 0' plan direct -n 1 --root 1
refuses 'strag plan: circulant cuts the vector of 1 rank into 1 block, not 2' plan circulant -n 1 --blocks 2
refuses "strag plan: --ports: 'two' $integer 1 to 65536" plan ring -n 8 --ports two
refuses "strag plan: --straggler: 'x' $integer 0 to 16777215" plan ring -n 8 --straggler x
refuses 'strag plan: --straggler: rank 1 does not exist; with 1 rank it must be 0 to 0' plan ring -n 1 --straggler 1
refuses "strag plan: --delay: '5ms' is not a number of microseconds from 0 to 1e+12" \
    plan ring -n 8 --straggler 1 --delay 5ms
refuses "strag cost: --straggler: rank 999999 does not exist; with 262144 ranks it must be 0 to 262143" \
    cost ring --torus 512x512 --bytes 32 --straggler 999999
refuses "strag plan: --slow: '3x2' is not R:FACTOR, like 3:2 or 3:1.5,5:4" plan ring -n 8 --slow 3x2
refuses "strag plan: --blocks: '0' $integer 1 to 2147483646" plan ring -n 8 --blocks 0
for value in '1,,2' '7,' ',7'; do
    refuses "strag verify: -n: '$value' has an empty entry; accepted: numbers between commas, like 2..8,16" \
        verify ring -n "$value"
    refuses "strag cost: --bytes: '$value' has an empty entry; accepted: sizes between commas, like 1K,32..1G" \
        cost ring -n 8 --bytes "$value"
done
for value in 2.. 2...8 2..4..8 2-8 0..8 x; do
    refuses "strag verify: -n: '$value' is neither an integer from 1 to 16777216 nor a range like 2..8" \
        verify ring -n "7,$value"
done
refuses "strag verify: -n: '8..2' runs downwards; put the smaller number first, like 2..8" \
    verify ring -n 8..2

# Machines.
for value in '4*4' 0x4 4,4 ''; do
    refuses "strag plan: --torus: '$value' is not a grid; 1 to 8 sizes with x between them are, like 8x8x4" \
        plan ring --torus "$value"
done
refuses "strag plan: --hammingmesh: '2x2:3' is not a HammingMesh; the sizes of a board and as many numbers of boards\
 are, like 2x2:16x16" plan ring --hammingmesh 2x2:3
for value in '2;3/;3' '2,/the end'; do
    refuses "strag plan: --tree: '${value%/*}', at '${value#*/}': ranks per host between commas are needed, brackets\
 around those on one switch, like 2,3 or ((2,3),4@50)@100" plan ring --tree "${value%/*}"
done
for value in 0 99999999999; do
    refuses "strag plan: --tree: '$value' is not a number of ranks on a host; must be 1 to 1048576" \
        plan ring --tree "2,$value"
done
for dims in 99999x99999x99999 2048x2048; do
    refuses "strag plan: --torus: the grid $dims has more than 1048576 positions" plan ring --torus "$dims"
done
refuses "strag cost: --ports: '9' $integer 1 to 4, two for each dimension" cost all --torus 8x8 --ports 9 --bytes 1K
refuses "strag cost: --ports: '9' $integer 1 to 4, two for each dimension" cost all --hammingmesh 2x2:2x2 --ports 9 --bytes 1K
# The list of hosts, whatever names the others.
printf 'torus 2x2\na: 0 0\nb: 1 0\n' > "$work/grid"
for kind in 'names:n{}' "$work/grid"; do
    refuses "strag cost: --hosts: 'n[1-4' has a [ without ]; write n[01-16,20]" \
        cost --layout "$kind" --hosts 'n[1-4' --bytes 1K
    refuses "strag cost: --hosts: '[4-1]' is not a range; write [1-4,7], the smaller first" \
        cost --layout "$kind" --hosts 'n[4-1]' --bytes 1K
    refuses "strag cost: --hosts: '' has an empty name; write n[01-16,20],login" \
        cost --layout "$kind" --hosts '' --bytes 1K
done
refuses "strag plan: --tree: 'x' is not a bandwidth; Gbit/s from 1e-6 to 1e9" plan ring --tree 2@x,3
refuses "strag topology: --torus 1 has 1 host, -n 2 does not fit; give -n 1 or omit it, or give --ranks-per-node or\
 --hosts" topology --torus 1 -n 2
echo hello > "$work/hello"
for kind in saved:saved model:models rules:rules; do
    what=${kind%:*}
    refuses "strag explain: --$what: $work/hello:1: a $what file is needed here: a mapping with the key strag-${kind#*:}" \
        explain -n 4 --bytes 1K "--$what" "$work/hello"
done

# Sizes.
for value in '' K 32X 32KB 1MB -1 1.5K 1.5MiB ' 32' '32 ' '1  K' iB 1iB B 1e6; do
    refuses "strag cost: --bytes: '$value' is not a size; $sizes" cost -n 8 --bytes "$value"
done
for value in 18446744073709551616 16777216T 99999999999999999999999K; do
    refuses "strag cost: --bytes: '$value' is too large; the largest size is 18446744073709551615" \
        cost -n 8 --bytes "$value"
done
for value in 32..100 100..128 0..32 32.. ..32 ..; do
    refuses "strag cost: --bytes: '$value' needs a power of two at both ends, like 32..1G" \
        cost -n 8 --bytes "$value"
done
refuses "strag cost: --bytes: '1G..32' runs downwards; put the smaller size first, like 32..1G" \
    cost -n 8 --bytes 1G..32

# Real numbers.
for value in -1 +1 inf nan 0x10 1e 1e999 '' ' 1' 1x 2e9; do
    refuses "strag cost: --alpha: '$value' is not a number of us from 0 to 1e+09" \
        cost -n 8 --bytes 32 --alpha "$value"
done
for option in --bandwidth --local-bandwidth; do
    for value in 100G 0 -1; do
        refuses "strag cost: $option: '$value' is not a number of Gbit/s from 1e-06 to 1e+09" \
            cost -n 8 --bytes 32 "$option" "$value"
    done
done
for option in --local-alpha/us --overhead/us --injection-bandwidth/Gbit/s --link-latency/ns --hop-latency/ns \
    --reduce-bandwidth/Gbit/s; do
    refuses "strag cost: ${option%%/*}: '1us' is not a number of ${option#*/} from 0 to 1e+09" \
        cost -n 8 --bytes 32 "${option%%/*}" 1us
done
refuses "strag explain: --minimum: '8KB' is not a size; $sizes; or auto" explain -n 8 --bytes 32 --minimum 8KB

# Other mistakes are found before a topology is made, which may be large: this one cannot be made at all.
large='--torus 2048x2048'
for option in '--bytes 1x' '--bytes 1K --format png' '--bytes 1K --mode clock' '--bytes 1K --alpha x' '--bytes 1K --ties x' \
    '--bytes 1K --straggler x' '--bytes 1K --slow x' '--bytes 1K --hosts x[' '--bytes 1K --model /nonexistent' \
    '--bytes 1K -n x' '--bytes 1K --quick --mode clocks'; do
    # shellcheck disable=SC2086 # words
    gives 2 cost ring $large $option
    ! grep -q torus "$work/err" || fail "the topology before $option: $(<"$work/err")"
done
for option in '--bytes 1x' '--bytes 1K --format png' '--bytes 1K --minimum x' '--bytes 1K --rules /nonexistent'; do
    # shellcheck disable=SC2086 # words
    gives 2 explain $large $option
    ! grep -q torus "$work/err" || fail "the topology before $option: $(<"$work/err")"
done
for command in 'plan ring --format png' 'plan ring --compact' 'verify ring --format png' 'verify ring -n x' \
    'topology --format png' 'topology ring'; do
    # shellcheck disable=SC2086 # words
    gives 2 $command $large
    ! grep -q torus "$work/err" || fail "the topology before $command: $(<"$work/err")"
done
refuses 'strag topology: --format svg draws at most 1024 hosts' topology --torus 1024x1024 --format svg
refuses 'strag topology: --torus 512x512 has 262144 hosts, -n 3 does not fit; give -n 262144 or omit it, or give'\
' --ranks-per-node or --hosts' topology --torus 512x512 -n 3

# Files.
refuses 'strag plan: --plan: the name of the file is empty' plan --plan ''
refuses 'strag plan: --layout: the name of the file is empty' plan ring --layout ''
for option in 'cost --plan' 'cost ring --layout' 'explain --rules' 'explain -n 4 --model'; do
    # shellcheck disable=SC2086 # words
    refuses "strag ${option%% *}: ${option##* }: /dev/zero: a device; a regular file or a pipe is read here" \
        $option /dev/zero --bytes 1K
done
"$STRAG" plan ring -n 3 --format json > "$work/ring.json"
mkfifo "$work/fifo"
cat "$work/ring.json" > "$work/fifo" &
succeeds verify --plan "$work/fifo"
wait
for name in /dev/stdin /dev/fd/0; do
    succeeds verify --plan "$name" < "$work/ring.json"
    succeeds verify --plan "$name" < <(cat "$work/ring.json")
done

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
[[ $(<"$work/out") =~ ^strag\ [0-9]+\.[0-9]+ ]] || fail "version: $(<"$work/out")"
succeeds list
equal 'names listed' "$(cut -d ' ' -f 1 "$work/out" | tr '\n' ' ')" \
    "$names"
grep -q '^ring  *neighbours only; ' "$work/out" || fail "$(<"$work/out")"
equal 'lines of list above 100 columns' "$(grep -cE '.{101}' "$work/out")" 0
succeeds list --format wide
grep -q '^ring  *rounds 2(n-1)  *sent 2(n-1)/n  *[a-z]' "$work/out" || fail "$(<"$work/out")"
succeeds list --format json
grep -qF '{"name":"ring","rounds":"2(n-1)","sent":"2(n-1)/n","summary":"neighbours only; ' "$work/out" ||
    fail "$(<"$work/out")"
# The pages have all algorithms and all operations, and no others.
doc=$here/../../doc
equal 'algorithms of choosing.md' \
    "$(sed -n 's/^| \(`[^|]*`\) |.*/\1/p' "$doc/guide/choosing.md" | tr -d ' `' | tr ',' '\n' | sort)" \
    "$(tr ' ' '\n' <<< "${names% }" | sort)"
for name in ring broadcast-after; do
    "$STRAG" plan "$name" -n 4 --straggler 0 --format json
done | grep -o '"kind":"[a-z_]*' | sed 's/.*"//' | sort -u > "$work/kinds"
equal 'operations' "$(wc -l < "$work/kinds")" 3
equal 'operations of strag.1' "$(sed -n 's/^\.It Sy \([a-z_]*\)$/\1/p' "$doc/strag.1" | sort)" "$(<"$work/kinds")"
succeeds plan ring -np 8 --rank 7
cmp "$work/first" "$work/out"
for option in '--np 8' -np8 --np=8 -n8; do
    # shellcheck disable=SC2086 # words
    succeeds plan ring $option --rank 7
    cmp "$work/first" "$work/out"
done
succeeds cost ring -n 8 --bytes 8,1K,1M
cp "$work/out" "$work/first"
succeeds cost ring -n 8 --bytes '8 B,1KiB,1 MiB' # as reports have them
cmp "$work/first" "$work/out"
succeeds --help
cp "$work/out" "$work/help"
for words in help -h 'help help' '-h --help'; do
    # shellcheck disable=SC2086 # words
    succeeds $words
    cmp "$work/help" "$work/out"
done
equal 'lines of --help above 100 columns' "$(grep -cE '.{101}' "$work/help")" 0
for command in list plan verify cost explain topology params; do
    equal "lines of --help for $command" "$(grep -c "^  $command  *[A-Z].*\.$" "$work/help")" 1
    succeeds "$command" --help
    equal "usage of $command" "$(grep -c "^Usage: strag $command\b" "$work/out")" 1
    cp "$work/out" "$work/first"
    succeeds help "$command"
    cmp "$work/first" "$work/out"
    succeeds -h "$command"
    cmp "$work/first" "$work/out"
    succeeds "$command" -h --unknown
    cmp "$work/first" "$work/out"
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

[ "$refusals" -ge 60 ] || fail "only $refusals wrong inputs"
summary
