#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The JSON plans of all algorithms, run by an independent program (execute.py) for n = 1 to 17.
# SEED: the random numbers' start, printed for the next time.
set -eu
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"
needs_python fractions json random subprocess

seed=${SEED:-$RANDOM}
echo "SEED=$seed"
equal 'number of algorithms' "$(algorithms | wc -l)" 7
for name in $(algorithms); do
    python3 "$here/execute.py" "$STRAG" "$name" 1 17 "$seed" || fail "$name"
    checks=$((checks + 17))
done

# execute.py finds out what is wrong, too. finds PATTERN PROGRAM ALGORITHM N
finds() {
    local pattern=$1
    shift
    if python3 "$here/execute.py" "$1" "$2" "$3" "$3" "$seed" >"$work/out"; then
        fail "$1 $2 $3 passes"
    fi
    checks=$((checks + 1))
    grep -q "$pattern" "$work/out" || fail "$1 $2 $3: $(cat "$work/out")"
}

# altered NAME SED: a program like strag, whose output sed changes.
altered() {
    printf '#!/bin/bash\n"%s" "$@" | sed '\''%s'\''\n' "$STRAG" "$2" >"$work/$1"
    chmod +x "$work/$1"
}

python3 "$here/execute.py" "$STRAG_BROKEN" unfinished 2 2 "$seed" || fail 'unfinished n = 2'
finds '^unfinished n=3: count=1 .* has a wrong sum$' "$STRAG_BROKEN" unfinished 3
altered no-waits 's/"after":\[[0-9,]*\]/"after":[]/'
finds 'ready_any: rank .* has a wrong sum' "$work/no-waits" ring 8
altered no-order 's/"own_left":true,//'
finds 'combines in another order' "$work/no-order" recursive-doubling 4
altered low-bound 's/0.33333333333333337/0.33333333333333331/'
finds 'bound 1 is below' "$work/low-bound" circulant 3
altered dear 's/"seconds":1/"seconds":2/'
finds 'cost of' "$work/dear" ring 6

summary
