#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The steps of "Plans of your own" in examples/README.md: plans that examples/plans.py writes are proved,
# priced, drawn, and run in a job, whose results are right.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"
command -v python3 > /dev/null || {
    echo 'skipped: no python3'
    exit 77
}

work=$(mktemp -d "$builddir/examples.XXXXXX")
trap 'rm -rf "$work"' EXIT
top=$(cd "$srcdir" && pwd)
cd "$work"
ln -s "$top/examples" examples
awk '/^# /{ inside = /^# Plans of your own/ } inside && /^    /' examples/README.md > steps.sh
[ "$(wc -l < steps.sh)" = 7 ] || fail "the steps are other ones: $(cat steps.sh)"

strag()
{
    "$STRAG" "$@"
}
# mpirun -np RANKS --oversubscribe OPTIONS PROGRAM, which is plans.c
mpirun()
{
    local ranks=$2
    shift 3
    set -- "${@:1:$#-1}" --mca coll_strag_verbose 1 "$programs/plans" --world ring
    mpi "$ranks" "$@"
}
output=$work/output
set +e
(
    set -e
    # shellcheck disable=SC1091
    . ./steps.sh
) > "$output" 2>&1
status=$?
set -e
[ "$status" = 0 ] || {
    cat "$output"
    fail "exit status $status of a step"
}
lines 1 '^verified my-ring n=1000 blocks=1000 rounds=1998 '
lines 1 '^verified my-trivance n=9 blocks=9 rounds=4 '
lines 1 '^ +1M +[0-9.]+ +[0-9.]+ +\*[0-9.]+$'
grep -q 'MPI_COMM_WORLD .* trivance.json: my-trivance is proved, 144 operations of 9 ranks$' "$output" ||
    fail "the plan is not proved: $(cat "$output")"
grep -q 'bytes: my-trivance (a plan from a file)' "$output" || fail "the plan did not run: $(cat "$output")"
grep -q '</svg>' trivance.svg || fail 'no picture'
