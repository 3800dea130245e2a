#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Calls between hosts teach how fast the machine is and which algorithm is the fastest; a dup begins
# with what its parent's trials have found. The hosts are names, as in links.sh.
set -eu
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

need_hosts
own_folder learn

# learn RANKS OPTIONS...: the program runs, with right results
learn()
{
    local ranks=$1
    shift
    mpi "$ranks" --mca coll strag --mca coll_strag_verbose 1 "$@" "$on_hosts" 1 - \
        "$programs/learn" > "$output" 2>&1 || { tail -n 40 "$output"; fail "learn: $*"; }
    grep '^learn: np' "$output" | tail -n 1
}

# tried NAME: how many trials of a communicator have ended
tried()
{
    grep -c "coll:strag: $1 .*tried at 65536 bytes: .* runs" "$output" || true
}

learn 4 --mca coll_strag_slowdown none
[ "$(tried first)" -eq 1 ] || fail "$(tried first) trials on the first communicator: $(cat "$output")"
[ "$(tried second)" -eq 0 ] || fail "the dup tries again: $(cat "$output")"
winner=$(sed -n 's/.*coll:strag: first .*tried at 65536 bytes: .*: \(.*\) runs.*/\1/p' "$output")
# An algorithm has more than one line where the model's numbers, and with them its limits, have changed.
ran=$(sed -n 's/.*coll:strag: second .*allreduce of 65536[^:]*: \(.*\) (.*/\1/p' "$output" | sort -u | wc -l)
[ "$ran" -le 2 ] || fail "the dup ran $ran algorithms, not its parent's first and its winner: $(cat "$output")"
last=$(sed -n '/coll:strag: second .*allreduce of 65536/p' "$output" | tail -n 1)
case $winner in
    previous) [[ $last == *': previous component'* ]] ;;
    *) [[ $last == *": $winner "* ]] ;;
esac || fail "the winner is $winner, but the dup runs: $last"
echo "ok: $winner"

learn 4 --mca coll_strag_learn 0
[ "$(tried '.*')" -eq 0 ] || fail "trials without learning: $(cat "$output")"
