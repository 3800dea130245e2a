#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The JSON plans of all algorithms, run by an independent program (execute.py).
# SEED: of the random numbers, printed so that a run can be repeated. STRAG_TEST_FULL=1: more numbers of ranks.
set -eu
. "$(dirname "$0")/common.bash"
needs_python fractions json random subprocess

seed=${SEED:-$RANDOM}
full=${STRAG_TEST_FULL:+1}
echo "SEED=$seed"
# Numbers of ranks. The basic four have no other proof than this and strag verify; test/unit has the
# others at each shape, and those with many blocks take long here.
sizes_of() {
    case $1 in
    recursive-doubling | circulant | recursive-halving | ring) echo 1 3 8 ${full:+2 4 5 6 7 9 16} ;;
    flexreduce-pipelined | optcc | weighted) echo 3 ${full:+1 2 6} ;;
    stragglar) echo 4 ${full:+2 6 10} ;;
    straggler-pipeline | straggler-trees | straggler-direct | broadcast-after) echo 6 ${full:+2 3 9} ;;
    *) echo 6 ${full:+1 2 4 9} ;;
    esac
}

for name in $(algorithms); do
    read -ra sizes <<<"$(sizes_of "$name")"
    python3 "$here/execute.py" "$STRAG" "$name" "$seed" "${sizes[@]}" || fail "$name"
    checks=$((checks + ${#sizes[@]}))
done

# execute.py detects wrong plans. finds PATTERN PROGRAM ALGORITHM N
finds() {
    local pattern=$1
    shift
    if python3 "$here/execute.py" "$1" "$2" "$seed" "$3" >"$work/out"; then
        fail "$1 $2 $3 passes"
    fi
    checks=$((checks + 1))
    grep -q "$pattern" "$work/out" || fail "$1 $2 $3: $(<"$work/out")"
}

# altered NAME SED: a program like strag, whose output sed changes.
altered() {
    printf '#!/bin/bash\n"%s" "$@" | sed '\''%s'\''\n' "$STRAG" "$2" >"$work/$1"
    chmod +x "$work/$1"
}

python3 "$here/execute.py" "$STRAG_BROKEN" unfinished "$seed" 2 || fail 'unfinished n = 2'
finds '^unfinished n=3: count=1 .* has a wrong sum$' "$STRAG_BROKEN" unfinished 3
altered no-waits 's/"after":\[[0-9,]*\]/"after":[]/'
finds 'ready_any: rank .* has a wrong sum' "$work/no-waits" ring 8
altered no-order 's/"own_left":true,//'
finds 'reduces in another order' "$work/no-order" recursive-doubling 4
altered low-bound 's/0.33333333333333337/0.33333333333333331/'
finds 'bound 1 is below' "$work/low-bound" circulant 3

summary
