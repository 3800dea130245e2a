#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The report: the rank that is late, how often and what that cost, against what the program itself has
# measured. (report_lines.sh has what it says of other calls.) STRAG_TEST_FULL=1: more of them.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

own_folder report
file=$files/r.json

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
    into_output "$ranks" "$@" --mca coll_strag_report "$file" "$programs/report" \
        --bytes "$bytes" --late $((ranks - 1)) --calls 50
    read -r lost of rank cost calls < <(sed -n \
        's/^truth: lost \([0-9.]*\) of \([0-9.]*\), by rank \([0-9]*\) \([0-9.]*\) in \([0-9]*\) calls$/\1 \2 \3 \4 \5/p' "$output")
    named="next(last for last in c['late']['last'] if last['rank'] == $rank)"
    # `seconds`: per call the longer half's first rank: if ranks leave late, two calls in a row overlap
    report_is "$file" "$cost >= 0.1" \
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
without '6.0.*' 'pml/monitoring crashes in MPI_Init, also without strag' ||
    late 2 262144 "$ours" --mca pml "ob1,monitoring" --mca pml_monitoring_enable 1 --mca coll_strag_priority 60
late 3 64 "$short" --mca coll strag --mca coll_strag_minimum_size 1K
late 2 262144 "$low" --mca coll_strag_priority 20

# ---- Text ----

into_output 3 --mca coll strag --mca coll_strag_report 1 "$programs/report" --late 1 --calls 30
lines 1 '^strag: late: 3 ranks on 1 host: 30 blocking allreduces of 256 KiB; they took [0-9.]+ m?s of [0-9.]+ m?s \([0-9]+ %\)$'
lines 1 '^strag: late: run by [a-z-]+: '
lines 1 "^strag: late: rank 1 \\(host $(hostname)\\) was last in [0-9]+ of 30 calls, by [0-9.]+ ms in the median: that cost about [0-9.]+ m?s of [0-9.]+ m?s\$"
lines 1 '^strag: late: strag (waited|went ahead)'
lines 1 '^strag: late: try: look at what rank 1 does before these calls(; .*)?$'
lines 0 '^strag: MPI_COMM_(WORLD|SELF)'
