#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Pictures: well-formed XML. Of a plan: one bar per message, inside the picture, none over another. Of
# machines: every link, and the busiest. Of costs: the figures of the CSV. What draws knows plans as JSON, and no
# algorithm: one plan of each shape is enough. STRAG_TEST_FULL=1: those of all algorithms.
set -eu
. "$(dirname "$0")/common.bash"
needs_python json xml.etree.ElementTree

# draw NAME N ARGUMENT...: the same plan as a picture and as JSON.
files=()
draw() {
    local to="$work/$1-${#files[@]}"
    "$STRAG" plan "$1" -n "${@:2}" --format svg >"$to.svg"
    "$STRAG" plan "$1" -n "${@:2}" --format json >"$to.json"
    files+=("$to.svg" "$to.json")
    checks=$((checks + 1))
}
draw ring 1
draw ring 3
draw circulant 8
draw recursive-halving 13         # rounds with few messages
draw weighted 7                   # many blocks: rounds are left out
draw straggler-trees 13 --straggler 1
draw flexreduce-direct 12 --rank 4
if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
    for name in $(algorithms); do
        late=()
        if grep -qxF -- "$name" <(waiting); then
            late=(--straggler 1)
        fi
        draw "$name" 12 "${late[@]}"
        draw "$name" 12 --rank 4 "${late[@]}"
    done
fi
python3 "$here/check_svg.py" "${files[@]}" || fail 'a plan'

# The check finds a missing bar.
files=()
draw ring 11 --rank 4
grep -v 'round 1, .*: rank 4 to' "${files[0]}" >"$work/less.svg"
if python3 "$here/check_svg.py" "$work/less.svg" "${files[1]}" >"$work/out"; then
    fail 'a missing bar passes'
fi

# Machines: a line for each direction of a link, and the busiest one, worked out by hand.
# machine LINES BUSIEST ARGUMENT...
machine() {
    local lines=$1 busiest=$2
    shift 2
    succeeds topology "$@" --format svg
    python3 -c 'import sys, xml.etree.ElementTree as tree; tree.parse(sys.argv[1])' "$work/out" ||
        fail "topology $*: not XML"
    equal "lines of $*" "$(grep -c '^<path class="link"' "$work/out")" "$lines"
    equal "busiest of $*" "$(sed -n 's/.*Busiest (red): \(.*\)<.text>/\1/p' "$work/out")" "$busiest"
    # a scale from the palest to the busiest link's colour
    equal "end of the scale of $*" "$(sed -n 's/.*class="scale".*fill="\(.*\)".*/\1/p' "$work/out" | tail -n 1)" \
        "$(sed -n 's/^<path class="link".* stroke="\(hsl(0,[^"]*\)".*/\1/p' "$work/out" | head -n 1)"
}
machine 16 'host of rank 0 to network: 1.75 of the vector, 100 Gbit/s' ring -n 8
# 2 (1 - 1/16) vectors over 4 links.
machine 64 '(0,0) to (1,0): 0.4688 of the vector, 100 Gbit/s' swing --torus 4x4
machine 48 '(0,0) to (1,0): 2 of the vector, 100 Gbit/s' recursive-doubling --mesh 4x4 --ports 1
machine 96 '(0,0) to (1,0): 1.875 of the vector, 100 Gbit/s' ring --hammingmesh 2x2:2x2
machine 36 'switch old to network top: 8 of the vector, 100 Gbit/s' recursive-doubling \
    --layout "$here/../../examples/oversubscribed.conf"

# Costs: the same figures as in CSV, and names in order.
costs() {
    "$STRAG" cost all "$@" --format svg >"$work/cost.svg" 2>"$work/err"
    "$STRAG" cost all "$@" --format csv >"$work/cost.csv" 2>"$work/err"
    python3 "$here/check_cost_svg.py" "$work/cost.svg" "$work/cost.csv" || fail "cost $*"
    checks=$((checks + 1))
}
costs --torus 8x8 --bytes 32..1G
costs --torus 4x4 --mode clocks --bytes 1K,1M,16M
sed -i 's/ points="[^ ]*/ points="60.0,90.0/' "$work/cost.svg"
if python3 "$here/check_cost_svg.py" "$work/cost.svg" "$work/cost.csv" 2>"$work/out"; then
    fail 'a curve in another place passes'
fi
refuses 'strag cost: --format svg needs sizes above 0, in ascending order' cost ring -n 4 --bytes 1M,4K --format svg
refuses 'strag cost: --format svg needs two sizes or more' cost ring -n 4 --bytes 1M --format svg
refuses 'strag cost: one rank takes no time: --format svg needs two or more' cost ring -n 1 --bytes 1K,1M --format svg
summary
