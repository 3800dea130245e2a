#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that do not all have the same strag: on some it is missing, switched off, another version, or
# has other parameters. Every job ends with right results and one warning that names the rank, its
# host and what differs. STRAG_TEST_FULL=1: every number of ranks with every mix.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

mpi_limit=60
output=$builddir/strangers-output.$$
work=$builddir/strangers.$$
trap 'rm -rf "$output" "$work"' EXIT
mkdir -p "$work/other"

# Another version: the same component, with another number in it.
version=$(sed -n 's/^PACKAGE_VERSION = //p' "$builddir/Makefile")
other=$(tr 0-8 1-9 <<< "$version")
LC_ALL=C sed "s/${version//./\\.}/$other/g" "$builddir/ompi_coll_strag/.libs/mca_coll_strag.so" \
    > "$work/other/mca_coll_strag.so"
if cmp -s "$work/other/mca_coll_strag.so" "$builddir/ompi_coll_strag/.libs/mca_coll_strag.so"; then
    fail "the component does not have its version as a text"
fi

# The program on one rank: what the ranks in $STRANGERS differ by is in $DIFFERENCE.
cat > "$work/rank" << 'END'
case " $STRANGERS " in
    *" $OMPI_COMM_WORLD_RANK "*) eval "$DIFFERENCE" ;;
esac
exec "$@"
END

declare -A difference=(
    [missing]='export OMPI_MCA_coll=^strag'
    [disabled]='export OMPI_MCA_coll_strag_enable=0'
    [version]="export OMPI_MCA_mca_base_component_path=$work/other:\${OMPI_MCA_mca_base_component_path#*:}"
    [minimum]='export OMPI_MCA_coll_strag_minimum_size=0'
    [pinned]='export OMPI_MCA_coll_strag_algorithm=ring'
    [watch]='export OMPI_MCA_coll_strag_watch_size=0'
    [reproducible]='export OMPI_MCA_coll_strag_reproducible=mapping'
    [priority]='export OMPI_MCA_coll_strag_priority=95'
)
declare -A text=(
    [missing]='it has no strag, or has it switched off'
    [disabled]='it has no strag, or has it switched off'
    [version]='it has version [0-9.]+, others have [0-9.]+'
    [minimum]='coll_strag_minimum_size is (0 there, and 8192|8192 there, and 0) on rank 0'
    [pinned]='coll_strag_algorithm is (ring there, and auto|auto there, and ring) on rank 0'
    [watch]='coll_strag_watch_size is (0 there, and 65536|65536 there, and 0) on rank 0'
    [reproducible]='coll_strag_reproducible is (mapping there, and no|no there, and mapping) on rank 0'
    [priority]='coll_strag_priority is (95 there, and 90|90 there, and 95) on rank 0'
)

# mix RANKS KIND WHO OPTIONS...: the ranks WHO differ from the others
mix()
{
    local ranks=$1 kind=$2 who=$3
    shift 3
    if ! STRANGERS=$who DIFFERENCE=${difference[$kind]} mpi "$ranks" --mca coll_strag_priority 90 \
        "$@" bash "$work/rank" "$programs/strangers" --expect-strag 0 > "$output" 2>&1; then
        cat "$output"
        fail "np $ranks, $kind on $who: $*"
    fi
    # The first rank that differs is reported: a stranger, or one that is not as rank 0 is.
    lines 1 "^  rank [0-9]+ of MPI_COMM_WORLD, on .+:\$"
    lines 1 "^  ${text[$kind]}\$"
    echo "ok: np $ranks, $kind on $who: $*"
}

# several RANKS: all but rank 1 and, from 4 on, the last but one
several()
{
    local who=0 rank
    for ((rank = 2; rank < $1; rank++)); do
        if [ "$1" -lt 4 ] || [ "$rank" -ne $(($1 - 2)) ]; then
            who="$who $rank"
        fi
    done
    echo "$who"
}

kinds=(missing disabled version minimum pinned watch reproducible priority)
turn=0
for ranks in 2 ${STRAG_TEST_FULL:+3} 4 ${STRAG_TEST_FULL:+5}; do
    for kind in "${kinds[@]}"; do
        turn=$((turn + 1))
        case ${STRAG_TEST_FULL:-0},$ranks,$kind in
            0,2,missing | 0,2,version | 0,2,minimum | 0,2,watch | 0,4,disabled | 0,4,pinned | 0,4,reproducible) continue ;;
        esac
        case $((turn % 3)) in
            0) some=(0) ;;
            1) some=($((ranks - 1))) ;;
            *) some=("$(several "$ranks")") ;;
        esac
        memory=("$(((turn + ranks / 4) % 2))")
        if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
            some=(0 $((ranks - 1)) "$(several "$ranks")")
            memory=(0 auto)
        fi
        for who in "${some[@]}"; do
            for shared in "${memory[@]}"; do
                mix "$ranks" "$kind" "$who" --mca coll_strag_shared_memory "$shared"
            done
        done
    done
done
