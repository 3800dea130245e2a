#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Plans from files: written by `strag plan`, in both forms, and run by the component give the bits of
# the algorithms that they are from (plans.c), over everything that messages can go over. Sizes, info
# keys, rules, dups and splits choose them; what cannot be proved is refused with the reason, and the
# job runs as without it. STRAG_TEST_FULL=1: all algorithms with all numbers of ranks.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

work=$(mktemp -d "$builddir/plans.XXXXXX")
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2034 # used by `lines`
output=$work/output

# write RANKS: files of the chosen algorithms, every other one in the compact form. If the number of
# blocks depends on the size, the algorithm that the plan is compared with has another one.
write()
{
    local name even=
    files=
    choose "$1"
    for name in "${chosen[@]}"; do
        case $name in swing | direct | flexreduce | weighted | straggler-*) continue ;; esac
        "$STRAG" plan "$name" -n "$1" --ranks-per-node "$1" --format json ${even:+--compact} \
            > "$work/$name.json" || fail "$name for $1 ranks is not written"
        even=$([ -n "$even" ] || echo yes)
        files+=${files:+,}$name
    done
}

find_ways
for ranks in 2 3 5 ${STRAG_TEST_FULL:+4 7 8}; do
    write "$ranks"
    way=${ways[ranks % ${#ways[@]}]}
    for way in $([ "${STRAG_TEST_FULL:-0}" = 1 ] && echo "${ways[*]}" || echo "$way"); do
        over "$way"
        must "$ranks" --mca coll strag "$programs/plans" --folder "$work" --algorithms "$files"
    done
done
transport_options=()

"$STRAG" plan ring -n 4 --format json > "$work/ring.json"
"$STRAG" plan circulant -n 4 --format json --compact > "$work/circulant.json"

# world ALGORITHM OPTIONS...: a job of 4 ranks, whose calls give this algorithm's bits
world()
{
    local algorithm=$1
    shift
    mpi 4 --mca coll strag --mca coll_strag_verbose 1 "$@" "$programs/plans" --world "$algorithm" \
        > "$output" 2>&1 || {
        cat "$output"
        fail "exit status $?: --world $algorithm $*"
    }
}

# The parameter; a dup has it from its parent, another communicator has its own. The calls of a pinned
# algorithm that theirs are compared with run the plan as well: three more, and each of the three communicators
# that are made has passed its first, short calls.
world ring --mca coll_strag_plan "$work/ring.json" --mca coll_strag_shared_memory 0
lines 15 'ring \(a plan from a file\)'
lines 1 'MPI_COMM_WORLD .*/ring.json: ring is proved, 48 operations of 4 ranks$'
lines 1 'SPLIT FROM 0 .*/ring.json: ring is proved'

# Several files. The first is for other ranks, the second for longer vectors, the last for some sizes: the short call
# is another one's.
"$STRAG" plan ring -n 5 --format json > "$work/five.json"
world ring --mca coll_strag_plan "$work/five.json,$work/circulant.json:1T-,$work/ring.json:64K-1M" \
    --mca coll_strag_algorithm ring
lines 6 'bytes: ring \(a plan from a file\)' # the sizes of the plan; the first calls are shorter
lines 9 'bytes: ring \(pinned'
lines 1 'MPI_COMM_WORLD .*five.json is not used: it is for 5 ranks'
lines 1 'MPI_COMM_WORLD .*circulant.json: circulant is proved'

# A rule's, whose folder is the file's; a file that is not there lets the algorithm next to it run.
cat > "$work/rules.yaml" << 'END'
strag-rules: 1
rules:
  - sizes:
      - {from: 0, algorithm: ring, plan: missing.json}
      - {from: 64K, plan: circulant.json}
      - {from: 1G, algorithm: auto}
END
mpi 4 --mca coll strag --mca coll_strag_verbose 1 --mca coll_strag_rules "$work/rules.yaml" \
    "$programs/plans" --wrong "$work/none.json" > "$output" 2>&1 || fail "with rules: $(cat "$output")"
grep -q 'bytes: circulant (a plan from a file)' "$output" || fail "no plan of a rule: $(cat "$output")"
grep -q 'bytes: ring (rule in .*, line 3)' "$output" || fail "no algorithm of a rule: $(cat "$output")"
lines 2 'coll/strag cannot use this plan' # missing.json, and the key's none.json

# refused PATTERN FILE: the job says so once, and runs as without it
refused()
{
    mpi 4 --mca coll strag --mca coll_strag_verbose 1 --mca coll_strag_plan "$2" \
        --mca coll_strag_algorithm ring "$programs/plans" --world ring > "$output" 2>&1 || fail "refused: $(cat "$output")"
    lines 1 "^  .*$1"
    lines 1 'coll/strag cannot use this plan'
    lines 0 'a plan from a file'
}

# Every rank would put its own value left: other bits.
"$STRAG" plan recursive-doubling -n 4 --format json |
    sed 's/"kind":"recv_reduce"\(.*\)"after"/"kind":"recv_reduce"\1"own_left":true,"after"/
         s/"own_left":true,"own_left":true,/"own_left":true,/' > "$work/false.json"
refused 'rank 1 sums up block 0 in another order than rank 0, so its bits may differ' "$work/false.json"
refused 'No such file' "$work/none.json"

# What is no list of files with sizes is a parameter's mistake.
for wrong in ring.json:1M-64K ${STRAG_TEST_FULL:+'ring.json,' ring.json,:1K-}; do
    world ring --mca coll_strag_plan "$work/$wrong" --mca coll_strag_algorithm ring
    lines 0 'a plan from a file'
    grep -q 'not files, or sizes that are not FROM-TO; accepted: FILE, .* between commas; used: none' "$output" ||
        fail "no word of a wrong parameter: $(cat "$output")"
done

# What is too much for a job, whose ranks wait, is refused with what to do: reading, and proving.
# in_two PLAN LINES: a job of two ranks with this plan; this number of sizes runs by it
in_two()
{
    into_output 2 --mca coll strag --mca coll_strag_minimum_size 0 --mca coll_strag_verbose 1 \
        --mca coll_strag_plan "$1" "$programs/report" --calls 3
    lines "$2" 'bytes: .* \(a plan from a file\)'
    lines 1 '^report: np 2: '
}
advice='\. In a job all ranks would wait; `strag verify --plan FILE --proof` proves it once and writes FILE.proof'
in_two "$srcdir/test/fuzz/corpus/plans/many-turns.json" 0
lines 1 "^  .*many-turns.json: proving its 67108864 operations takes .* MiB are accepted$advice"
{
    echo '{"comment":"'"$(head -c 1400000 /dev/zero | tr '\0' '{')"'",' # might be as many objects
    "$STRAG" plan ring -n 2 --format json | sed '1s/^{//'
} > "$work/long.json"
in_two "$work/long.json" 0
lines 1 "^  .*long.json: reading it takes [0-9]+ MiB, .*$advice"

# What is in FILE.proof is taken for a proof, of just these bytes.
"$STRAG" verify --plan "$work/long.json" --proof > "$output" || fail "the long plan is not proved"
in_two "$work/long.json" 1
lines 1 'long.json: ring is proved by what is in FILE.proof, 8 operations of 2 ranks$'
echo >> "$work/long.json"
in_two "$work/long.json" 0
lines 1 'coll/strag cannot use this plan'
rm "$work/long.json.proof"
mkfifo "$work/long.json.proof"
in_two "$work/long.json" 0
lines 1 'coll/strag cannot use this plan'
