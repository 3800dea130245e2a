#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# test/lint/words.py counts what it looks for, in a small tree.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if ! python3 -c '' 2>/dev/null; then
    echo "skipped: python3 is needed"
    exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/src/plan" "$work/doc/results"
cat >"$work/src/plan/plan.c" <<'END'
/* A call of so
 * many bytes is over; as many of them as there are, and so many that none is left.
 * Where it ends, nothing is looked
 * at. */
static const char *text = "so "
                          "many";
END
echo 'so many' >"$work/doc/results/lab.md"
cat >"$work/expected" <<'END'
src/plan/plan.c:2: Where it ends,: if, when
src/plan/plan.c:1: so many: this many, N
src/plan/plan.c:5: so many: this many, N
src/plan/plan.c:2: is over: is done, has ended
src/plan/plan.c:3: looked at: examined, sampled
END
python3 "$here/words.py" --list "$work" >"$work/found" || [ $? = 1 ] # above the limits
diff <(grep -v '^words.py:' "$work/found") "$work/expected"

for _ in {1..12}; do
    echo '/* so many */'
done >"$work/src/plan/plan.h"
if python3 "$here/words.py" "$work" >"$work/found"; then
    echo "words.sh: more than the limit is accepted" >&2
    exit 1
fi
grep -qx 'src/plan/plan.h:12: so many: this many, N' "$work/found"
