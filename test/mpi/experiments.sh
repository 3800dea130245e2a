#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Which algorithm is the fastest is tried out in a job's own calls, but never against what the user
# said: a rule, a minimum, an algorithm; nor in calls below 64 KiB, nor where results are to be the same in
# every run.
#
# Five made-up hosts. The calls are long: what watching costs has to be small relative to them.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

need_hosts
own_folder experiments

also=() calls=200

# run BYTES OPTIONS...: calls of this many bytes; what was planned, and what was tried, goes to files
run()
{
    local bytes=$1
    shift
    if ! mpi 5 --mca coll strag --mca coll_strag_verbose 2 --mca coll_strag_slowdown none \
        --mca coll_strag_alpha 0.1 --mca coll_strag_bandwidth 1000 \
        --mca coll_strag_reduce_bandwidth 1000 "$@" "$on_hosts" 1 - \
        "$programs/links" --expect none --count $((bytes / 8)) ${also[@]+"${also[@]}"} --calls "$calls" \
        > "$output" 2>&1; then
        cat "$output"
        fail "mpirun $*"
    fi
    sed -n 's/.*: \([a-z-]*\), root 0: planned$/\1/p' "$output" | sort -u > "$files/planned"
    grep -o '[0-9]* bytes: [a-z -]* takes [0-9.]* of the time of .*' "$output" > "$files/tried" || true
}

# tries BYTES OPTIONS...: an experiment ends, and the log says so. If ranks wait for processors,
# watching costs more, and one slow call of a rival can take all the time that may be lost: then its
# experiment waits for more calls.
tries()
{
    for calls in 200 2000 2000 2000; do
        run "$@"
        ! grep -q "^$1 bytes: " "$files/tried" || break
    done
    calls=200
    if ! grep -q "^$1 bytes: " "$files/tried"; then
        cat "$output"
        fail "nothing was tried at $1 bytes: ${*:2}"
    fi
    echo "ok: tried: $(tr '\n' ' ' < "$files/tried")"
}

# runs ALGORITHM BYTES OPTIONS...: it alone
runs()
{
    local what=$1
    shift
    run "$@"
    if [ "$(cat "$files/planned")" != "$what" ] || [ -s "$files/tried" ]; then
        cat "$output"
        fail "not '$what' alone at $1 bytes, but '$(tr '\n' ' ' < "$files/planned")': ${*:2}"
    fi
    grep -q '^links: np 5: 0 probes in 200 calls$' "$output" || fail "not 200 calls"
    echo "ok: $what alone at $1 bytes: ${*:2}"
}

cat > "$files/rules.yaml" << 'END'
strag-rules: 1
rules:
  - hosts: 5
    sizes:
      - {from: 0, algorithm: previous}
      - {from: 32K, algorithm: bine}
      - {from: 256K, algorithm: auto}
END

tries 1048576
runs swing 65536 --mca coll_strag_algorithm swing
# Every other call has 8 KiB, which the rule leaves to the previous component; and then is below the minimum.
also=(--also 1024)
runs bine 65536 --mca coll_strag_rules "$files/rules.yaml"
also=(--also 8192)
tries 1048576 --mca coll_strag_minimum_size 128K
also=()
! grep -q '^65536' "$files/tried" || fail "tried below a minimum of 128K"
# Short calls between hosts are not experimented with: one algorithm runs, and none is tried.
run 32768
if [ "$(wc -l < "$files/planned")" -gt 1 ] || [ -s "$files/tried" ]; then
    cat "$output"
    fail "tried at 32768 bytes: $(tr '\n' ' ' < "$files/planned")"
fi
echo "ok: nothing is tried at 32768 bytes: $(cat "$files/planned")"
for option in 'learn 0' 'reproducible mapping'; do
    run 1048576 --mca "coll_strag_${option% *}" "${option#* }"
    if [ "$(wc -l < "$files/planned")" -gt 1 ] || [ -s "$files/tried" ]; then
        cat "$output"
        fail "tried with coll_strag_$option"
    fi
    echo "ok: nothing is tried with coll_strag_$option"
done
