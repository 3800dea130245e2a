#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The cost model against SimGrid (compare.py, README.md). Skipped where SimGrid's SMPI is not installed
# (Debian: libsimgrid-dev). The build's libstrag, which knows nothing of MPI, serves here, too.
set -eu

for program in smpicc smpirun python3; do
    if ! command -v "$program" >/dev/null; then
        echo "skipped: $program is needed (SimGrid's SMPI)"
        exit 77
    fi
done

here=$(cd "$(dirname "$0")" && pwd)
src=$here/../../src
STRAG=${STRAG:-$PWD/tools/strag}
CC=${CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# link ARCHIVE: replay links what it needs of it, and not the readers of files, which need further
# libraries
link()
{
    smpicc -std=gnu11 -O1 -I"$src" "$here/replay.c" "$here/sim.c" "$1" -o "$work/replay"
}

# compile: one of our own, if there is no build, or its objects need what sanitizers add
compile()
{
    find "$src" -name '*.c' ! -name 'layout*.c' ! -name rules.c ! -name yaml.c ! -name plan_file.c \
        ! -path '*/api/*' -print0 |
        (cd "$work" && xargs -0 -n 8 -P 2 "$CC" -std=gnu11 -O1 -fPIC -I"$src" -c)
    ar rc "$work/libstrag.a" "$work"/*.o
}

if ! link "$PWD/src/.libs/libstrag.a" 2>/dev/null; then
    compile
    link "$work/libstrag.a"
fi

cd "$work"
python3 -B "$here/compare.py" "$STRAG" "$work/replay"
