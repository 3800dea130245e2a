#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# test/lint/references.py finds what it looks for, in a small tree.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if ! python3 -c '' 2>/dev/null; then
    echo "skipped: python3 is needed"
    exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/src/plan" "$work/doc" "$work/test"
cat >"$work/src/plan/plan.c" <<'END'
/* As in plan.h and plan/plan.h, src/plan/plan.h, mpi.h and ompi/op/op.h; not in "gone.h".
   But late.c is wrong, // and src/plan.h is. */
static const char *text = "gone.h /* gone.h */";
// gone.h, ALGORITHMS.md
END
touch "$work/src/plan/plan.h" "$work/doc/figure.svg" "$work/test/a.sh"
cat >"$work/README.md" <<'END'
plan.c, `src/plan/plan.c`, [figure](doc/figure.svg), src/*/x.c, picture.svg, src/plan/plan.o
[other](doc/other.svg), `gone.h`
[guide](doc/guide.md#how-to-do-it), [here](#below), [no](doc/guide.md#nothing), [page](https://there/gone.md)

## Be[lo](doc/guide.md)w
END
printf '# Guide\n\n```\n# nothing\n```\n## How to `do` it?\n' >"$work/doc/guide.md"
cat >"$work/test/run.sh" <<'END'
bash a.sh b.sh  # a.sh, c.sh
bash test/d.sh "$top/test/e.sh"
END
cat >"$work/test/x.py" <<'END'
"""Like run.sh, and f.sh."""
x = "g.sh"  # h.py
END

cat >"$work/expected" <<'END'
README.md:2: no file doc/other.svg
README.md:2: no file gone.h
README.md:3: no section #nothing in doc/guide.md
src/plan/plan.c:1: no file gone.h
src/plan/plan.c:2: no file late.c
src/plan/plan.c:2: no file src/plan.h
src/plan/plan.c:4: no file ALGORITHMS.md
src/plan/plan.c:4: no file gone.h
test/run.sh:1: no file c.sh
test/run.sh:2: no file test/d.sh
test/x.py:1: no file f.sh
test/x.py:2: no file h.py
END
if python3 "$here/references.py" "$work" >"$work/found"; then
    echo "references.sh: nothing is wrong, it says" >&2
    exit 1
fi
diff <(sed '$d' "$work/found") "$work/expected"

for file in README.md src/plan/plan.c test/run.sh test/x.py; do
    echo >"$work/$file"
done
python3 "$here/references.py" "$work"
