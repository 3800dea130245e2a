#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Calls between hosts teach how fast the machine is and which algorithm is the fastest; a dup begins
# with what its parent's trials have found. The hosts are names, as in links.sh.
set -eu
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

need_hosts
own_folder learn

# learn CALLS OPTIONS...: the program runs, with right results
learn()
{
    local calls=$1
    shift
    mpi 4 --mca coll strag --mca coll_strag_verbose 1 "$@" "$on_hosts" 1 - \
        "$programs/learn" --calls "$calls" > "$output" 2>&1 || { tail -n 40 "$output"; fail "learn: $*"; }
    grep '^learn: np' "$output" | tail -n 1
}

# tried NAME: how many trials of a communicator have ended
tried()
{
    grep -c "coll:strag: $1 .*tried at 65536 bytes: .* runs" "$output" || true
}

# Nobody is looked for who is late, since on a busy machine all are. How many calls trials take depends on
# how much their times scatter.
for calls in 200 2000 20000; do
    learn "$calls" --mca coll_strag_slowdown none --mca coll_strag_straggler none
    [ "$(tried first)" -eq 0 ] || break
done
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

learn 200 --mca coll_strag_learn 0
[ "$(tried '.*')" -eq 0 ] || fail "trials without learning: $(cat "$output")"
