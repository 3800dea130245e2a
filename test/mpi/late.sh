#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Late ranks: found, followed, forgotten (late.c). Sleeping is what takes the time.
set -eu
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# Messages within a host cost next to nothing in this model, so that going ahead is worth it.
strag=(--mca coll strag --mca coll_strag_local_alpha 0.1 --mca coll_strag_window 20)

for ranks in 2 3 4; do
    must "$ranks" "${strag[@]}" "$programs/late"
done
must 4 "${strag[@]}" --mca coll_strag_straggler none "$programs/late" --expect none

# ---- Bits: a late rank changes them, unless they are to be the same in every run ----

output=$builddir/late-output.$$
trap 'rm -f "$output"' EXIT

# bits RESULTS MPIRUN-OPTIONS-AND-PROGRAM-OPTIONS...: so many different results; the first one's
# hash goes into `first`
bits()
{
    local results=$1 got
    shift
    if ! mpi 4 "${strag[@]}" "$@" > "$output" 2>&1; then
        cat "$output"
        fail "mpirun $*"
    fi
    got=$(sed -n 's/^late: \([0-9]*\) different results, the first .*/\1/p' "$output")
    first=$(sed -n 's/^late: .* different results, the first //p' "$output")
    if [ "$got" != "$results" ]; then
        cat "$output"
        fail "$got different results, not $results: $*"
    fi
    echo "ok: $got different results, the first $first: $*"
}

program=("$programs/late" --bits 1)
bits 2 "${program[@]}" --late 3
bits 1 --mca coll_strag_straggler none "${program[@]}" --late 3
bits 1 --mca coll_strag_reproducible 1 "${program[@]}" --late 3
usual=$first
for late in 0 2; do
    bits 1 --mca coll_strag_reproducible 1 --mca coll_strag_report 1 "${program[@]}" --late "$late"
    [ "$first" = "$usual" ] || fail "other bits with another late rank"
done
bits 1 --mca coll_strag_reproducible 1 "${program[@]}" --delay 0
[ "$first" = "$usual" ] || fail "other bits without a late rank"

# ---- Which rank slows the job down? ----

# says PATTERN: one line of the last run
says()
{
    if [ "$(grep -Ec -- "$1" "$output")" -ne 1 ]; then
        cat "$output"
        fail "not one line that matches '$1'"
    fi
    grep -E -- "$1" "$output"
}

host=$(hostname)
bits 2 --mca coll_strag_report 1 "${program[@]}" --late 3
says "^strag: MPI_COMM_WORLD: rank 3 \\(host $host\\) was last in (9[0-9]|100) % of 1[68]0 calls, median [12][0-9.]+ ms, 95 % below [0-9.]+ ms; going ahead without it from call [0-9]+ on (saved|lost) [0-9.]+ [mu]?s of [0-9.]+ s \\(modelled\\)\$"
bits 1 --mca coll_strag_report 1 --mca coll_strag_straggler none "${program[@]}" --late 2
says '^strag: MPI_COMM_WORLD: rank 2 .* was last in .*; it was waited for$'
# Nothing is said of a communicator with fewer calls than a window.
bits 1 --mca coll_strag_report 1 "${program[@]}" --window 2
if grep -E '^strag: ' "$output"; then
    fail "a report without a window of calls"
fi
