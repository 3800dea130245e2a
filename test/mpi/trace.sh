#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# coll_strag_trace: the JSON is what Chrome's format wants, all that is sent is received, the late rank
# is seen, also between clocks that differ, and a long job's trace is as long as it may be.
# STRAG_TEST_FULL=1: more of them.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

output=$builddir/trace-output.$$
folder=$builddir/trace.$$
plan=$builddir/trace-plan.$$
mkdir -p "$folder"
trap 'rm -rf "$output" "$folder" "$plan"' EXIT

# run RANKS OPTIONS-AND-PROGRAM...: into $output; of its files the last job's are there
run()
{
    rm -f "$folder"/*
    into_output "$@"
}

# check FILE RANKS CALLS LATE EXPRESSION...: the trace has the last CALLS calls at least on all ranks,
# rank LATE (-1: none) began most of them last, and the expressions are true
check()
{
    python3 - "$folder" "$@" << 'END' || fail "$*"
import collections, json, sys
folder, name, ranks, least, late = *sys.argv[1:3], *map(int, sys.argv[3:6])
with open(f"{folder}/{name}.json", encoding="utf-8") as file:
    trace = json.load(file)
events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
names = {event["pid"]: event["args"]["name"] for event in trace["traceEvents"]
         if event["ph"] == "M" and event["name"] == "process_name"}
assert sorted(names) == list(range(ranks)), names
calls = collections.defaultdict(dict)  # call: {rank: event}
ends = collections.defaultdict(float)
starts = collections.defaultdict(float)
for event in events:
    thread = event["pid"], event["tid"]
    assert event["ts"] >= starts[event["pid"]] and event["dur"] >= 0, event  # in order
    assert event["ts"] >= ends[thread] - 0.01, event  # one at a time
    starts[event["pid"]], ends[thread] = event["ts"], event["ts"] + event["dur"]
    assert (event["tid"] == 0) == (event["cat"] == "allreduce"), event
    if event["tid"] == 0:
        calls[event["args"]["call"]][event["pid"]] = event
whole = sorted(call for call, of in calls.items() if len(of) == ranks)
assert len(whole) >= least, (len(whole), len(calls))
messages = collections.Counter()
for event in events:
    if event["tid"] == 0 or event["args"]["call"] not in whole[1:]:
        continue  # of the oldest one only a part may be there
    call = calls[event["args"]["call"]][event["pid"]]
    assert call["ts"] - 0.01 <= event["ts"], (call, event)
    assert event["ts"] + event["dur"] <= call["ts"] + call["dur"] + 0.01, (call, event)
    sends = event["name"].startswith("send to ")
    assert sends == (1 <= event["tid"] < 100), event
    pair = (event["pid"], event["args"]["peer"]) if sends else (event["args"]["peer"], event["pid"])
    messages[(event["args"]["call"], event["args"]["round"], *pair)] += \
        event["args"]["bytes"] * (1 if sends else -1)
assert not any(messages.values()), "what is sent is not what is received"
if late >= 0:
    last = [max(calls[c].values(), key=lambda event: event["ts"])["pid"] for c in whole]
    assert last.count(late) >= 0.5 * len(last), last
kinds = collections.Counter(event["cat"] for event in events)
for expression in sys.argv[6:]:
    assert eval(expression), (expression, kinds, whole[-1:], names)
END
    echo "ok: $*"
}

# Long vectors, short ones, and calls that strag does not run: of these nothing but the calls is known.
for n in ${STRAG_TEST_FULL:+2} 3; do
    run "$n" --mca coll strag --mca coll_strag_trace "$folder/t.json" "$programs/report" --calls 30 --late 1
    check t "$n" 30 1 'kinds["operation"] >= 30 * 2' "names[1] == 'rank 1 ($(hostname))'"
done
run 3 --mca coll strag --mca coll_strag_minimum_size 0 --mca coll_strag_trace "$folder/t" "$programs/report" \
    --calls 50 --bytes 64 --late 2
mv "$folder/t" "$folder/t.json"
check t 3 50 2 'kinds["operation"] >= 50 * 3'
run 2 --mca coll_strag_trace "$folder/t.json" "$programs/report" --calls 30 --late 0
check t 2 30 0 'kinds["operation"] == 0'
lines 0 '^strag: '

# Nonblocking calls, too; one file for each communicator.
run 4 --mca coll strag --mca coll_strag_trace "$folder/%c.json" "$programs/report" --mode kinds
check all-kinds 4 10 -1 'whole[0] == 0'
check even 2 4 -1
check odd-of-rank-1 2 5 -1

# The ring is full: the last calls are there, and no more than there is room for.
run 2 --mca coll strag --mca coll_strag_minimum_size 0 --mca coll_strag_trace "$folder/t.json" \
    "$programs/report" --calls 20000 --bytes 8
check t 2 1000 -1 'whole[-1] == 19999' 'len(events) == 2 * 16384'

# A rank whose clock is another one.
elsewhere=(bash -c 'case $OMPI_COMM_WORLD_RANK in
    1) exec unshare --time --monotonic 5000 --fork "$@" ;;
    *) exec "$@" ;;
    esac' sh)
if unshare --time --monotonic 5000 --fork true 2> /dev/null; then
    run 3 --mca coll strag --mca coll_strag_report "$folder/r.json" --mca coll_strag_trace "$folder/t.json" \
        "${elsewhere[@]}" "$programs/report" --calls 40 --late 1
    check t 3 40 1 'max(event["ts"] for event in events) < 100e6'
    python3 -c "import json; c = json.load(open('$folder/r.json'))['communicators'][0]
assert c['last'][0]['rank'] == 1 and 0.1 < c['lost_seconds'] < c['run_seconds'], c"
else
    echo "left out: a namespace for times cannot be made here"
fi
