#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Through shared memory, short calls run one operation after another, not in the pipeline,
# which would take twice as long; and where few ranks share a processor they take turns with the
# root.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

output=$builddir/in_order-output.$$
trap 'rm -f "$output"' EXIT
calls=200

# run RANKS OPTIONS...
run()
{
    local ranks=$1
    shift
    mpi "$ranks" --mca coll strag --mca coll_strag_verbose 2 --mca coll_strag_shared_memory 1 \
        --mca coll_strag_minimum_size 0 "$@" "$programs/sizes" --short "$calls" > "$output" 2>&1 || {
        cat "$output"
        fail "$ranks ranks, $*"
    }
}

for algorithm in recursive-doubling circulant; do
    run 4 --mca coll_strag_algorithm "$algorithm"
    lines 1 "$algorithm, root 0: $calls calls, $calls of them in order\$"
done
run 4 --mca coll_strag_algorithm recursive-doubling --mca coll_strag_segment_size 512
lines 1 "recursive-doubling, root 0: $calls calls, 0 of them in order\$"

if [ "$(nproc)" -lt 2 ]; then
    exit 0 # more than two ranks for a processor do not take turns
fi
half=$((calls / 2))
run 3 --mca mpi_yield_when_idle 1
for root in 0 1; do
    lines 1 "direct, root $root: $half calls, $half of them in order\$"
done
