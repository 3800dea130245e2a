#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Pictures: well-formed XML. Of a plan: one bar per message, inside the picture, none over another. Of
# machines: every link, and the busiest. Of costs: the figures of the CSV. STRAG_TEST_FULL=1: more of them.
set -eu
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"
needs_python json xml.etree.ElementTree

# One picture for each, and more of the basic four.
sizes_of() {
    case $1 in
    recursive-doubling | circulant | recursive-halving | ring) echo 1 3 8 ${STRAG_TEST_FULL:+2 13 64} ;;
    flexreduce-pipelined | optcc | weighted) echo 7 ;;
    stragglar) echo 14 ;;
    *) echo 13 ;;
    esac
}

late_forms=$(waiting)
for name in $(algorithms); do
    files=()
    # draw N ARGUMENT...: the same plan as a picture and as JSON.
    draw() {
        local to="$work/$name-${#files[@]}"
        if grep -qxF -- "$name" <<<"$late_forms"; then
            set -- "$@" --straggler 1
        fi
        "$STRAG" plan "$name" -n "$@" --format svg >"$to.svg"
        "$STRAG" plan "$name" -n "$@" --format json >"$to.json"
        files+=("$to.svg" "$to.json")
        checks=$((checks + 1))
    }
    for n in $(sizes_of "$name"); do
        draw "$n"
    done
    draw 12 --rank 4
    python3 "$here/check_svg.py" "${files[@]}" || fail "$name"
done

# The check finds a missing bar.
name=ring
files=()
draw 11 --rank 4
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
machine 16 '' -n 8
machine 16 'host of rank 0 to network: 1.75 of the vector, 100 Gbit/s' ring -n 8
# 2 (1 - 1/16) vectors over 4 links.
machine 64 '(0,0) to (1,0): 0.4688 of the vector, 100 Gbit/s' swing --torus 4x4
machine 48 '(0,0) to (1,0): 2 of the vector, 100 Gbit/s' recursive-doubling --mesh 4x4 --ports 1
machine 96 '(0,0) to (1,0): 0.4688 of the vector, 100 Gbit/s' swing --hyperx 4x4
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
costs -n 8 --slow 3:2 --bytes 1K..64M
costs -n 2 --bytes 4,1M
costs --torus 4x4 --mode clocks --bytes 1K,1M,16M
sed -i 's/ points="[^ ]*/ points="60.0,90.0/' "$work/cost.svg"
if python3 "$here/check_cost_svg.py" "$work/cost.svg" "$work/cost.csv" 2>"$work/out"; then
    fail 'a curve in another place passes'
fi
refuses 'strag cost: --format svg needs sizes above 0, in ascending order' cost ring -n 4 --bytes 1M,4K --format svg
refuses 'strag cost: --format svg needs two sizes or more' cost ring -n 4 --bytes 1M --format svg
refuses 'strag cost: one rank takes no time: --format svg needs two or more' cost ring -n 1 --bytes 1K,1M --format svg
summary
