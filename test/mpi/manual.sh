#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `strag params`, ompi_info, coll_strag(7) and the verbose lines of a job say the same of the
# component; and the page has no mistake that groff notices.
set -eu
: "${srcdir:?run me by make check}" "${builddir:?}" "${STRAG:?}" "${STRAG_MPIRUN:?}" "${OMPI_INFO:?}"

fail()
{
    echo "FAIL: $*"
    exit 1
}

work=$(mktemp -d "$builddir/mpi-manual.XXXXXX")
trap 'rm -rf "$work"' EXIT
unset "${!OMPI_MCA_coll_strag_@}"
eval "$("$STRAG_MPIRUN" --print-env)"
"$STRAG" params --format json > "$work/json"
"$STRAG" params --format man > "$work/page"
"$OMPI_INFO" --param coll strag --level 9 --parsable > "$work/info"
"$STRAG_MPIRUN" --oversubscribe -np 2 --mca coll strag --mca coll_strag_verbose 2 \
    --mca coll_strag_minimum_size 0 "$builddir/test/dist/sum" > "$work/lines" 2>&1 ||
    { cat "$work/lines"; fail 'mpirun'; }
python3 "$srcdir/test/mpi/manual.py" "$work/json" "$work/info" "$work/page" "$work/lines" \
    "$srcdir/doc/guide/parameters.md"

cmp "$work/page" "$builddir/doc/coll_strag.7" || fail 'make has installed another page'
if command -v groff > /dev/null; then
    groff -mandoc -Tascii -ww -z "$work/page" 2> "$work/complaints" || fail 'groff'
    [ ! -s "$work/complaints" ] || { cat "$work/complaints"; fail 'groff complains of coll_strag(7)'; }
fi

"$STRAG" params > "$work/text"
[ "$(awk 'length > 100' "$work/text" | wc -l)" = 0 ] || fail 'lines of more than 100 columns'
for name in $(python3 -c 'import json, sys
reference = json.load(sys.stdin)
print(*(row["name"] for row in reference["parameters"] + reference["variables"]))' < "$work/json"); do
    grep -q "^$name\( (\|$\)" "$work/text" || fail "strag params has no $name"
done
if "$STRAG" params --format xml > "$work/out" 2>&1; then
    fail '--format xml'
fi
grep -q "text|json|man" "$work/out" || fail 'what --format accepts'
echo 'ok: one text everywhere'
