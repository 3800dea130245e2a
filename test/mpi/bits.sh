#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# coll_strag_reproducible (bits.c): with `mapping` all runs on the same hosts have the same bits in every
# call, whichever rank is late, and use the topology; with `ranks` they have them on any hosts. Of each, 2 runs;
# STRAG_TEST_FULL=1: 20.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

own_folder bits
runs=2
if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
    runs=20
fi

# run VALUE RUN RANKS OPTIONS... -- HOSTS...: another rank is late in each run; the numbers go to `numbers`,
# what ran to `ran`
run()
{
    local value=$1 run=$2 ranks=$3 options=()
    shift 3
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    into_output "$ranks" --mca coll strag --mca coll_strag_verbose 2 --mca coll_strag_window 8 \
        --mca coll_strag_reproducible "$value" ${options[@]+"${options[@]}"} "$@" "$programs/bits" \
        --rounds "${rounds:-2}" --late $((run % ranks)) --delays "$run"
    sed -n 's/^bits: \([a-z ]*: [0-9a-f]*\)$/\1/p' "$output" | sort > "$files/numbers"
    [ "$(wc -l < "$files/numbers")" -eq 5 ] || { cat "$output"; fail "not five numbers"; }
    sed -n 's/.*: allreduce of \([0-9]*\) .. [0-9]* bytes: \([a-z-]*\).*/\1 \2/p' "$output" | sort -u > "$files/ran"
}

# same WHAT VALUE RANKS OPTIONS... -- HOSTS...: all runs have the same bits; the numbers of the last one go to
# `of-VALUE`
same()
{
    local what=$1 value=$2 i
    shift 2
    for ((i = 1; i <= runs; i++)); do
        run "$value" "$i" "$@"
        if [ "$value" = mapping ] && grep -q 'model: .*(measured' "$output"; then
            cat "$output"
            fail "$what: something was measured"
        fi
        if [ "$i" -gt 1 ] && ! cmp -s "$files/numbers" "$files/of-$value"; then
            cat "$output"
            diff "$files/of-$value" "$files/numbers" || true
            fail "$what, $value: run $i has other bits than those before"
        fi
        mv "$files/numbers" "$files/of-$value"
    done
    echo "ok: $what, $value: the same bits in $runs runs; $(tr '\n' ';' < "$files/ran")"
}

# mapped WHAT TOPOLOGY RANKS OPTIONS... -- HOSTS...: the same bits with `mapping`, which uses this topology, and
# others than this number of ranks has with `ranks` on any hosts (in `of-ranks`)
mapped()
{
    local what=$1 topology=$2
    shift 2
    same "$what" mapping "$@"
    grep -Eq "MPI_COMM_WORLD .*: topology: $topology" "$output" || { cat "$output"; fail "$what: not $topology"; }
    if cmp -s "$files/of-mapping" "$files/of-ranks"; then
        fail "$what: the topology changes no bit"
    fi
}

same 'one host' mapping 4 --
if ! can_make_hosts; then
    same 'one host' ranks 4 --
    echo "skipped: made-up hosts (unshare --uts is not allowed)"
    exit 0
fi
cat > "$files/topology.conf" << 'END'
SwitchName=s0 Nodes=n[0-1]
SwitchName=s1 Nodes=n[2-3]
SwitchName=top Switches=s[0-1]
END
# Whatever the mapping is.
same 'eight hosts' ranks 8 -- "$on_hosts" 1 -
run ranks 7 8 --mca coll_strag_torus 2x2 -- "$on_hosts" 2 -
cmp "$files/numbers" "$files/of-ranks" || fail "ranks: other hosts, other bits"
echo "ok: ranks: the same bits on other hosts"
mapped 'four hosts on two switches' 'tree, 2 switches, 4 hosts' 8 \
    --mca coll_strag_layout "$files/topology.conf" -- "$on_hosts" 2 -
[ "${STRAG_TEST_FULL:-0}" != 1 ] || mapped 'a torus' 'torus 4x2' 8 --mca coll_strag_torus 4x2 -- "$on_hosts" 1 -
