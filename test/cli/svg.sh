#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The SVG timeline: well-formed XML, one bar per message, inside the picture, none over another.
set -eu
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"
needs_python json xml.etree.ElementTree

# One picture of many ranks for each, and many of the basic four.
sizes_of() {
    case $1 in
    recursive-doubling | circulant | recursive-halving | ring) echo 1 2 3 7 8 13 33 64 ;;
    flexreduce-pipelined | optcc | weighted) echo 1 2 7 16 ;;
    straggler-pipeline | broadcast-after) echo 2 3 8 13 ;;
    stragglar) echo 2 8 14 ;;
    *) echo 1 2 7 8 33 ;;
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
summary
