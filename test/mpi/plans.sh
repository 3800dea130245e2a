#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Plans from files: written by `strag plan`, in both forms, and run by the component give the bits of
# the algorithms that they are from (plans.c), over everything that messages can go over. Sizes, info
# keys, rules, dups and splits choose them; what cannot be proved is refused with the reason, and the
# job runs as without it. STRAG_TEST_FULL=1: all algorithms with all numbers of ranks.
set -eu
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

work=$(mktemp -d "$builddir/plans.XXXXXX")
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2034 # used by `lines`
output=$work/output

# write RANKS: files of the chosen algorithms, every other one in the compact form. Where the number of
# blocks depends on the size, the algorithm that the plan is compared with has another one.
write()
{
    local name even=
    files=
    choose "$1"
    for name in "${chosen[@]}"; do
        case $name in swing | direct | flexreduce | weighted | straggler-pipeline) continue ;; esac
        "$STRAG" plan "$name" -n "$1" --ranks-per-node "$1" --format json ${even:+--compact} \
            > "$work/$name.json" || fail "$name for $1 ranks is not written"
        even=$([ -n "$even" ] || echo yes)
        files+=${files:+,}$name
    done
}

find_ways
for ranks in 2 3 4 5 6 7 8 9; do
    write "$ranks"
    way=${ways[ranks % ${#ways[@]}]}
    for way in $([ "${STRAG_TEST_FULL:-0}" = 1 ] && echo "${ways[*]}" || echo "$way"); do
        over "$way"
        must "$ranks" --mca coll strag "$programs/plans" --folder "$work" --algorithms "$files"
    done
done
transport_options=()

# shows COUNT PATTERN RANKS OPTIONS...: a job of inherit.c, whose communicators are dups, splits and
# others, with verbose lines, of which so many match
shows()
{
    local count=$1 pattern=$2 ranks=$3
    shift 3
    mpi "$ranks" --mca coll strag --mca coll_strag_verbose 1 "$@" "$programs/plans" --folder "$work" \
        --algorithms "$algorithm" > "$output" 2>&1 || {
        cat "$output"
        fail "exit status $?: $*"
    }
    lines "$count" "$pattern"
}

"$STRAG" plan ring -n 4 --format json > "$work/ring.json"
"$STRAG" plan circulant -n 4 --format json --compact > "$work/circulant.json"
sed 's/"own_left":true,//' <("$STRAG" plan recursive-doubling -n 4 --format json) > "$work/false.json"
sed '0,/"peer":1/s//"peer":7/' "$work/ring.json" > "$work/broken.json"

# The parameter, at some sizes: 256K and more, of which plans.c has one.
algorithm=
shows 0 'a plan from a file' 4 --mca coll_strag_plan "$work/ring.json"
algorithm=ring
shows 1 'MPI_COMM_WORLD .*ring is proved, 24 operations of 4 ranks' 4 \
    --mca coll_strag_plan "$work/ring.json" --mca coll_strag_minimum_size 0
