#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The cost model against SimGrid (compare.py, README.md), then real data (data.py). Skipped where
# SimGrid's SMPI is not installed (Debian: libsimgrid-dev). libstrag is compiled again, for SMPI, which
# must not be mixed with another MPI.
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

# An archive, so that replay links what it needs: without strag.h's functions, and without the readers of files, which need
# further libraries.
find "$src" -name '*.c' ! -name 'layout*.c' ! -name rules.c ! -name yaml.c ! -name plan_file.c \
    ! -path '*/api/*' -print0 |
    (cd "$work" && xargs -0 -n 8 -P 2 "$CC" -std=gnu11 -O1 -fPIC -I"$src" -c)
ar rc "$work/libstrag.a" "$work"/*.o
for program in replay data; do
    smpicc -std=gnu11 -O1 -I"$src" "$here/$program.c" "$here/sim.c" "$work/libstrag.a" \
        -o "$work/$program"
done

cd "$work"
python3 -B "$here/compare.py" "$STRAG" "$work/replay"
# shellcheck disable=SC2086 # a list of words
python3 -B "$here/data.py" "$work/data" 16x16 2000 ${STRAG_DATA:-swing swing-latency}
