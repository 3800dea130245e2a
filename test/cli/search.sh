#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# strag search: what it says, the plan it writes, and its refusals (^C: terminal.py).
set -eu
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

# Five hosts, one slow: no better plan than the algorithm's is found, the same one each time.
said=$("$STRAG" search -n 5 --slow 0:2 --bytes 64K --steps 100000)
again=$("$STRAG" search -n 5 --slow 0:2 --bytes 64K --steps 100000 --seed 1)
[ "$said" = "$again" ] || fail "equal seeds find unequal plans: $said, $again"
for line in '^seed 1: [0-9]* changes tried, [0-9]* kept$' '^lower bound  *11.4858 us$' \
    '^best algorithm  *17.981[0-9]* us, flexreduce-direct' '^found .* proved .*: no better than the best algorithm$'; do
    grep -q "$line" <<< "$said" || fail "no line '$line' in: $said"
done

# Hosts of 2 and 3 ranks: less than the best algorithm's, which the CSV names.
"$STRAG" search --tree 2,3 --bytes 64K --steps 20000 --format csv > "$work/found.csv"
python3 -c 'import csv, sys; row, = csv.DictReader(open(sys.argv[1]))
assert row["best_algorithm"] == row["began_with"] == "flexreduce-pipelined" and row["best"] == row["began"]
assert float(row["found"]) < 0.97 * float(row["best"])' \
    "$work/found.csv" || fail "another best algorithm: $(cat "$work/found.csv")"

"$STRAG" search -n 5 --slow 0:2 --bytes 64K --steps 20000 --format json > "$work/plan.json"
python3 -c 'import json, sys; plan = json.load(open(sys.argv[1]))
assert plan["algorithm"] == "found" and plan["n"] == 5 and len(plan["ranks"]) == 5' "$work/plan.json"

refused()
{
    local expected=$1 status=0
    shift
    "$STRAG" search "$@" > "$work/out" 2> "$work/err" || status=$?
    if [ "$status" != 2 ] || ! grep -qF -e "$expected" "$work/err"; then
        fail "strag search $*: exits with $status: $(cat "$work/err")"
    fi
}
refused '2 to 16 ranks are searched, not 17' -n 17 --bytes 1K
refused '--bytes is missing' -n 4
refused '--straggler: no plans are searched for where a rank is late' -n 4 --straggler 0 --bytes 1K
refused 'one size is searched for, not 2' -n 4 --bytes 1K,2K
