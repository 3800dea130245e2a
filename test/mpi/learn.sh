#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Calls between hosts teach how fast the machine is and which algorithm is the fastest; a dup begins
# with what its parent's trials have found, and short calls are watched no longer than that takes. The
# hosts are names, as in links.sh.
set -eu
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

need_hosts
own_folder learn

bytes=65536
# learn CALLS OPTIONS...: the program runs, with right results
learn()
{
    local calls=$1
    shift
    mpi 4 --mca coll strag --mca coll_strag_verbose 1 "$@" "$on_hosts" 1 - \
        "$programs/learn" --count $((bytes / 8)) --calls "$calls" > "$output" 2>&1 || { tail -n 40 "$output"; fail "learn: $*"; }
    grep '^learn: np' "$output" | tail -n 1
}

# tried NAME: how many trials of a communicator have ended
tried()
{
    grep -c "coll:strag: $1 .*tried at $bytes bytes: .* runs" "$output" || true
}

# watched NAME: how many of a communicator's calls were, by the report
watched()
{
    python3 - "$files/report.json" "$1" << 'END'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    job = json.load(file)
print(*(c["watch"]["calls"] for c in job["communicators"] if c["communicator"] == sys.argv[2]))
END
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

# Calls below coll_strag_watch_size are watched until their size's trials are over, the first 96 at most.
# A dup begins with trials that are over: what it watches is its first window, and what comes until all
# ranks know. (On a busy machine the parent's trials may take more than these 96 calls.)
for ((attempt = 1; attempt <= 10; attempt++)); do
    learn 200 --mca coll_strag_slowdown none --mca coll_strag_straggler none \
        --mca coll_strag_watch_size 1M --mca coll_strag_report "$files/report.json"
    [ "$(tried first)" -eq 0 ] || break
done
[ "$(tried first)" -eq 1 ] || fail "the trials of $bytes bytes are not over in 200 calls: $(cat "$output")"
first=$(watched first) second=$(watched second)
[[ $first -ge 2 && $first -lt 200 ]] || fail "$first of 200 short calls were watched"
[[ $second -ge 2 && $second -le 10 ]] ||
    fail "$second of 20 short calls of the dup were watched: $(cat "$output")"
echo "ok: $first of 200 short calls were watched, of the dup's 20 $second"

learn 200 --mca coll_strag_learn 0
[ "$(tried '.*')" -eq 0 ] || fail "trials without learning: $(cat "$output")"
