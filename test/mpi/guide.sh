#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The program that doc/guide/reading.md shows reads the counter: both ranks' one call was strag's, and
# none is counted where strag is not selected.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

work=$(mktemp -d "$builddir/guide.XXXXXX")
trap 'rm -rf "$work"' EXIT
awk '/^```$/ { inside = 0 } inside; /^```c$/ { inside = 1 }' "$srcdir/doc/guide/reading.md" \
    > "$work/counter.c"
"${MPICC:?run me by make check}" -Wall -Wextra -Werror -Wno-unused-parameter -o "$work/counter" \
    "$work/counter.c" || fail 'the program does not compile'

# counted OPTIONS...: what the ranks print
counted()
{
    mpi 2 "$@" "$work/counter" 2>&1 | sort
}
[ "$(counted --mca coll strag)" = $'calls that strag ran: 1\ncalls that strag ran: 1' ] ||
    fail "with strag: $(counted --mca coll strag)"
[ "$(counted)" = $'calls that strag ran: 0\ncalls that strag ran: 0' ] || fail "without: $(counted)"
