#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The SVG timeline: well-formed XML, one bar per message, inside the picture, none over another.
set -eu
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"
needs_python json xml.etree.ElementTree

for n in 1 2 3 7 8 13 33 64; do
    for name in $(symmetric); do
        "$STRAG" plan "$name" -n "$n" --format svg >"$work/plan.svg"
        "$STRAG" plan "$name" -n "$n" --format json >"$work/plan.json"
        python3 "$here/check_svg.py" "$work/plan.svg" "$work/plan.json" || fail "$name n=$n"
        checks=$((checks + 1))
    done
done
for name in $(symmetric); do
    "$STRAG" plan "$name" -n 11 --rank 4 --format svg >"$work/plan.svg"
    "$STRAG" plan "$name" -n 11 --rank 4 --format json >"$work/plan.json"
    python3 "$here/check_svg.py" "$work/plan.svg" "$work/plan.json" || fail "$name rank 4 of 11"
    checks=$((checks + 1))
done

# The check finds a missing bar.
grep -v 'round 1, .*: rank 4 to' "$work/plan.svg" >"$work/less.svg"
if python3 "$here/check_svg.py" "$work/less.svg" "$work/plan.json" >"$work/out"; then
    fail 'a missing bar passes'
fi
summary
