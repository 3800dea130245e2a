#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Calls between hosts show how fast the machine is and which algorithm is the fastest; a dup begins with
# what its parent's experiments have found, and three rivals are tried in a job. The hosts are names, as in
# links.sh.
set -eu
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
        "$programs/links" --expect none --count $((bytes / 8)) --calls "$calls" --more 100 > "$output" 2>&1 ||
        { tail -n 40 "$output"; fail "learn: $*"; }
    grep '^links: np' "$output" | tail -n 1
}

# tried NAME: how many experiments of a communicator have ended
tried()
{
    grep -c "coll:strag: $1 .*$bytes bytes: .* of the time of .* runs" "$output" || true
}

# ended NAME: what ran after the last of them
ended()
{
    sed -n "s/.*coll:strag: $1 .*$bytes bytes: .* of the time of .*: \(.*\) runs.*/\1/p" "$output" | tail -n 1
}

# Nobody is looked for who is late, since on a busy machine all are.
quiet=(--mca coll_strag_slowdown none --mca coll_strag_straggler none)
# With more calls if there are none, and again if what a busy machine does to the times has some repeated.
for calls in 200 2000 20000 20000 20000 20000; do
    learn "$calls" "${quiet[@]}"
    all=$(tried '.*')
    if [[ $(tried first) -ge 1 && $all -le 3 ]]; then
        break
    fi
done
[[ $(tried first) -ge 1 && $all -le 3 ]] ||
    fail "$(tried first) experiments on the first communicator, $all in all: $(cat "$output")"
echo "ok: $all experiments, the last: $(ended '.*')"
