#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Very many ranks: plan asks before it writes very much, explain and cost take a second at most where
# they may leave something out, and say so. STRAG_TEST_FULL=1: more of them.
set -eu
. "$(dirname "$0")/common.bash"

# ---- plan: all ranks of many ----

for format in text json svg; do
    refuses 'strag plan: --rank R shows the plan of one rank, --yes those of all 65536' \
        plan ring -n 65536 --format "$format"
done
# Where stdout is closed or full, too: it is asked before.
gives 2 plan ring -n 1025
status=0
"$STRAG" plan ring -n 1025 >/dev/full 2>"$work/err" || status=$?
equal 'exit status to a full device' "$status" 2

# One rank is always shown, and all with at most 1024 (the first of 400 MB will do); the compact form is short.
succeeds plan ring -n 65536 --rank 65535
equal 'operations of a rank' "$(grep -Ec ' (send|recv|recv_reduce) ' "$work/out")" $((4 * 65535))
succeeds plan ring -n 1100 --format json --compact
equal 'groups of a ring' "$(grep -c '^{"ranks":' "$work/out")" 1
succeeds plan leaders -n 1100 --ranks-per-node 1100 --yes
equal 'ranks of leaders' "$(grep -c '^rank ' "$work/out")" 1100
equal 'ring of 1024' "$("$STRAG" plan ring -n 1024 | grep -c -m 1 '^rank 0')" 1

# All ranks take the memory of one: that is far less than 4 million operations. (AddressSanitizer
# reserves more addresses than that before anything runs.)
if (ulimit -v 100000; "$STRAG" list > /dev/null 2>&1); then
    equal 'ranks in 100 MB' "$( (ulimit -v 100000; "$STRAG" plan ring -n 1025 --yes | grep -c '^rank ') )" 1025
fi

# ---- explain: the quick table with more than 256 ranks ----

quick='a quick table, as the component makes it; --exhaustive compares all candidates'
exhaustive='an exhaustive table: all candidates are compared'
kind() { grep -E '^(a quick|an exhaustive) table' "$work/out" || echo none; }
for n in 8 256; do
    for option in '' --exhaustive; do
        succeeds explain -n "$n" --bytes 1K $option
        equal "table of $n $option" "$(kind)" none
    done
done
succeeds explain -n 257 --bytes 1K
equal 'table of 257' "$(kind)" "$quick"
grep -q '^left out, because they are never faster or take too long to plan: .*torus-doubling' "$work/out" ||
    fail "what is left out: $(<"$work/out")"
succeeds explain -n 257 --bytes 1K --exhaustive
equal 'table of 257, exhaustive' "$(kind)" "$exhaustive"
! grep -q '^left out' "$work/out" || fail 'an exhaustive table leaves something out'

# No algorithm is lost: it is a candidate, refused, or left out.
for option in '' --exhaustive; do
    succeeds explain -n 300 --ranks-per-node 3 --bytes 1K $option
    for name in $(symmetric); do
        # Plans of this many ranks are made only for a named algorithm; some only if hosts have one link, or never.
        case "$name $option" in
            'direct --exhaustive' | 'torus-trees --exhaustive' | 'flexreduce-direct '*) continue ;;
        esac
        grep -Eq "^( {4}|1K: |left out.*[ ])$name\b|^left out.* $name(,|\$)" "$work/out" ||
            fail "explain $option does not name $name"
        checks=$((checks + 1))
    done
done

# Large machines: a minute of CPU time each before.
for machine in '--torus 32x32x64' ${STRAG_TEST_FULL:+'--torus 32x32x32 --ranks-per-node 4' '-n 131000 --ranks-per-node 64'} \
    '-n 131072 --ranks-per-node 64 --slow 5:2'; do
    # shellcheck disable=SC2086
    (ulimit -t 20; succeeds explain $machine --bytes 1K,1M) || fail "explain $machine"
    # shellcheck disable=SC2086
    (ulimit -t 20; gives 0 cost all $machine --bytes 1K,1M --quick) || fail "cost $machine"
    checks=$((checks + 2))
done

# ---- cost --quick: with few messages all are priced ----

for args in '-n 48' '-n 60 --ranks-per-node 7' '--torus 4x4'; do
    # shellcheck disable=SC2086
    "$STRAG" cost all $args --bytes 32,1M --format csv >"$work/all" 2>/dev/null
    # shellcheck disable=SC2086
    "$STRAG" cost all $args --bytes 32,1M --format csv --quick >"$work/quick" 2>/dev/null
    while IFS= read -r line; do
        grep -qxF -- "$line" "$work/all" || fail "cost $args --quick: $line"
        checks=$((checks + 1))
    done <"$work/quick"
done
succeeds cost ring -n 8 --bytes 32 --quick
grep -q ', mode rounds, quick: microseconds$' "$work/out" || fail "$(<"$work/out")"
succeeds cost ring -n 8 --bytes 32 --quick --format json
grep -q '"mode":"rounds","quick":true,"costs"' "$work/out" || fail "$(<"$work/out")"

if python3 -c 'import json' 2>/dev/null; then
    for option in '' --exhaustive; do
        succeeds explain -n 300 --bytes 1K --format json $option
        python3 - "$work/out" "$option" <<'PYTHON' || fail "JSON of explain $option"
import json
import sys
out = json.load(open(sys.argv[1], encoding="utf-8"))
assert out["exhaustive"] == (sys.argv[2] != "")
assert ("left_out" in out) == (sys.argv[2] == "")
assert sys.argv[2] or "torus-doubling" in out["left_out"]
PYTHON
        checks=$((checks + 1))
    done
    succeeds explain -n 8 --bytes 1K --format json
    ! grep -q 'exhaustive\|left_out' "$work/out" || fail 'JSON of few ranks'
fi

summary
