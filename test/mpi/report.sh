#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The report: the rank that is late, how often and what that cost, against what the program itself has
# measured; that it speaks wherever there is something to say, and only there; and that nobody hangs.
# STRAG_TEST_FULL=1: more of them.
set -eu
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

output=$builddir/report-output.$$
folder=$builddir/report.$$
mkdir -p "$folder"
trap 'rm -rf "$output" "$folder"' EXIT

# check EXPRESSION...: true of `job`, the JSON file, and `c`, its communicators by their names
check()
{
    python3 - "$folder/r.json" "$@" << 'END' || fail "not so: $(cat "$folder/r.json")"
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    job = json.load(file)
c = {communicator["communicator"]: communicator for communicator in job["communicators"]}
for expression in sys.argv[2:]:
    if not eval(expression):
        sys.exit("not so: " + expression)
END
}

# run RANKS OPTIONS-AND-PROGRAM...: into $output; of its files the last job's are there
run()
{
    rm -f "$folder"/*
    into_output "$@"
}

# late RANKS BYTES RUN-BY MPIRUN-OPTIONS...: a rank that is late in all calls is named, and its cost is
# what the program has seen, to 10 %. On a busy machine the others come late, too: less is lost than
# its delays, 0.5 s, and now and then another rank comes last, or even costs more. A rank may also lose
# its processor between the program's look at the clock and strag's: then it is run again.
late()
{
    local attempt
    for attempt in 1 2 3; do
        if (run_late "$@"); then
            return
        fi
        echo "attempt $attempt of 3: np $1, $2 bytes: not so"
    done
    fail "np $1, $2 bytes: ${*:4}"
}

run_late()
{
    local ranks=$1 bytes=$2 by=$3 lost of rank cost calls named
    shift 3
    run "$ranks" "$@" --mca coll_strag_report "$folder/r.json" "$programs/report" \
        --bytes "$bytes" --late $((ranks - 1)) --calls 50
    read -r lost of rank cost calls < <(sed -n \
        's/^truth: lost \([0-9.]*\) of \([0-9.]*\), by rank \([0-9]*\) \([0-9.]*\) in \([0-9]*\) calls$/\1 \2 \3 \4 \5/p' "$output")
    named="next(last for last in c['late']['last'] if last['rank'] == $rank)"
    # `seconds`: per call the longer half's first rank: if ranks leave late, two calls in a row overlap
    check "$cost >= 0.1" \
        "c['late']['last'][0]['rank'] == $rank or $cost < 0.6 * $lost" \
        "c['late']['cause'] == $rank or $cost < 0.6 * $lost" \
        "$lost >= 0.15 and abs(c['late']['lost_seconds'] - $lost) <= 0.1 * $lost" \
        "abs(${named}['cost_seconds'] - $cost) <= 0.1 * $cost" \
        "0.8 * $calls <= ${named}['calls'] <= $calls + 2" \
        "50 == c['late']['blocking'] == c['late']['looked_at']" \
        "0.2 * $cost / $calls <= ${named}['median_seconds'] <= 2.1 * $cost / $calls" \
        "c['late']['lost_seconds'] <= c['late']['seconds'] <= $of * 2" \
        "$of <= c['late']['run_seconds'] and c['late']['ranks_known'] == $ranks" \
        "c['late']['bytes'] == 50 * $bytes and ${named}['host'] == '$(hostname)'" \
        "sum(ran['calls'] for ran in c['late']['ran']) == 50 and $by"
    echo "ok: np $ranks, $bytes bytes: lost $lost of $of s, by rank $rank $cost in $calls calls: $*"
}

ran="[ran for ran in c['late']['ran'] if ran['algorithm']]"
ours="$ran and c['late']['strag'].startswith(('strag waited', 'strag went ahead'))"
short="not $ran and 'delegated all calls to the previous component' in c['late']['strag']"
none="not $ran and c['late']['previous_component'] == 'tuned'"
low="$none and 'coll/tuned has the priority 30, coll_strag_priority is 20' in c['late']['strag']"
for n in ${STRAG_TEST_FULL:+2 4 8} 5; do
    late "$n" 262144 "$ours" --mca coll strag
done
# Open MPI 6.0.0rc2 makes MPI_COMM_WORLD only after pml/monitoring has asked for its ranks.
monitoring=(--mca pml "ob1,monitoring" --mca pml_monitoring_enable 1 --mca coll_strag_priority 60)
if without '6.0.*' 'pml/monitoring crashes in MPI_Init, also without strag'; then
    monitoring=()
else
    late 2 262144 "$ours" "${monitoring[@]}"
fi
late 3 64 "$short" --mca coll strag --mca coll_strag_minimum_size 1K
late 2 262144 "$low" --mca coll_strag_priority 20

# ---- Text ----

run 3 --mca coll strag --mca coll_strag_report 1 "$programs/report" --late 1 --calls 30
lines 1 '^strag: late: 3 ranks on 1 host: 30 blocking allreduces of 256 KiB; they took [0-9.]+ m?s of [0-9.]+ m?s \([0-9]+ %\)$'
lines 1 '^strag: late: run by [a-z-]+: '
lines 1 "^strag: late: rank 1 \\(host $(hostname)\\) was last in [0-9]+ of 30 calls, by [0-9.]+ ms in the median: that cost about [0-9.]+ m?s of [0-9.]+ m?s\$"
lines 1 '^strag: late: strag (waited|went ahead)'
lines 1 '^strag: late: try: look at what rank 1 does before these calls; '
lines 0 '^strag: MPI_COMM_(WORLD|SELF)'

# All kinds of calls, one line each and nothing of those that made none; what was freed, and what was
# not. Rank 1 is the first of the odd ones: what it reports is in a file of its own.
run 4 --mca coll strag --mca coll_strag_report 1 "$programs/report" --mode kinds
lines 1 '^strag: all kinds: 4 ranks on 1 host: 5 blocking, 7 nonblocking, [13] persistent allreduces of 256 KiB; blocking ones took '
lines 1 '^strag: even: 2 ranks on 1 host: 4 blocking'
lines 1 '^strag: odd: 2 ranks on 1 host: 5 blocking'
lines 0 '^strag: (quiet|MPI_COMM_)'
run 4 --mca coll_strag_report "$folder/r.json" "$programs/report" --mode kinds
check "sorted(c) == ['all kinds', 'even'] and c['all kinds']['nonblocking'] == 7 and c['even']['blocking'] == 4"
mv "$folder/r-of-rank-1.json" "$folder/r.json"
check "sorted(c) == ['odd'] and c['odd']['blocking'] == 5 and job['job_ranks'] == 4"
lines 0 '^strag: '

# Persistent requests for which there was no room after all are counted, too: once each, since strag does
# not see their starts.
run 2 --mca coll strag --mca coll_strag_report 1 --mca coll_strag_shared_memory_size 1M \
    "$programs/report" --mode room
lines 1 '^strag: full: 2 ranks on 1 host: 80 persistent allreduces of 256 KiB'
lines 1 '^strag: full: run by .*: [0-9]+; the previous component.*: [0-9]+ \(a rank has no room, or no tag, for one more persistent request\)'

run 3 --mca coll strag --mca coll_strag_report 1 "$programs/report" --mode circle
lines 3 '^strag: .*: 2 ranks on 1 host: 1 nonblocking allreduce of 1 B; how long they took is not known$'

run 3 --mca coll strag --mca coll_strag_minimum_size 0 "$programs/report" --mode keys
lines 1 '^strag: on: 3 ranks on 1 host: 8 blocking allreduces of 256 KiB'
lines 1 '^strag: on later: 3 ranks on 1 host: 8 blocking allreduces of 256 KiB'
lines 0 '^strag: off'
run 2 --mca coll strag --mca coll_strag_report 1 "$programs/report" --mode keys
lines 1 '^strag: on: 2 ranks on 1 host: 11 blocking'
lines 0 '^strag: off'

run 3 --mca coll strag --mca coll_strag_report 1 "$programs/report" --mode crossed --bytes 64
lines 2 '^strag: .*: 3 ranks on 1 host: 4000 blocking'
lines 0 'is not known: the times of'

# coll/monitoring wraps what strag installed: a key comes too late, and the calls go on.
if [ ${#monitoring[@]} -gt 0 ]; then
    run 2 "${monitoring[@]}" "$programs/report" --mode keys
fi

# ---- Ranks that differ: rank 0's parameter counts, and a rank without strag is not waited for ----

mpi_limit=50 # it would be waited for 60 s
run 3 "${own[@]}" OMPI_MCA_coll=strag OMPI_MCA_coll_strag_enable=0 env OMPI_MCA_coll_strag_report=1 \
    "$programs/report" --expect-strag 0 --calls 20
lines 1 '^strag: late: 3 ranks on 1 host: 20 blocking'
lines 1 '^strag: late: who was last is not known: the times of 1 of 3 ranks are$'
run 2 "${own[@]}" OMPI_MCA_coll_strag_report=1 OMPI_MCA_coll_strag_report=0 \
    "$programs/report" --expect-strag 0 --calls 20
lines 1 '^strag: late: who was last is not known: the times of 1 of 2 ranks are$'
run 2 "${own[@]}" OMPI_MCA_coll_strag_report=0 OMPI_MCA_coll_strag_report=1 \
    "$programs/report" --expect-strag 0 --calls 20
lines 0 '^strag: '

# ---- Ranks that do not free a communicator are named after 5 s ----

run 4 --mca coll strag --mca coll_strag_report 1 "$programs/report" --mode missing --until "$output"
lines 1 '^MPI_Comm_free of missing \(4 ranks\) has waited for 5 s, and waits for 60 s at most\.$'
lines 1 "^  not called by: rank 1 \\($(hostname)\\), rank 2 \\(.*\\), rank 3 \\(.*\\)\$"
lines 1 '^strag: missing: 4 ranks on 1 host: 1 blocking allreduce of 256 KiB;'
lines 0 'is not known: the times of'

# ---- A file that cannot be written ----

run 2 --mca coll strag --mca coll_strag_report "$folder/none/r.json" "$programs/report" --calls 20
lines 1 "^  $folder/none/r.json\$"
lines 1 'coll/strag cannot write this file \(coll_strag_report or coll_strag_trace\)'
