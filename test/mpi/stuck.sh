#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A call that stands still: one rank says after coll_strag_stuck seconds who has not called it, whichever
# ranks these are and whatever they do, in blocking, nonblocking and persistent calls, in the setup of
# a communicator, on one host and on several; healthy calls say nothing; a call with another vector
# ends with an error that names both. STRAG_TEST_FULL=1: more ranks and kinds.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"
own_folder stuck
options=(--mca coll strag --mca coll_strag_minimum_size 0)
seconds=1 # coll_strag_stuck
elsewhere=' in another MPI function'
mpi_limit=60

# in_background FUNCTION...: in the background, four at a time: most of the time these jobs wait
in_background()
{
    "$@" &
    running+=($!)
    if [ ${#running[@]} -ge 4 ]; then
        wait_for_all
    fi
}
running=()
wait_for_all()
{
    local one failed=
    for one in ${running[@]+"${running[@]}"}; do
        wait "$one" || failed=1
    done
    running=()
    [ -z "$failed" ] || exit 1 # which has been said
}

# missing WHO KNOWN: a pattern of the line that names the ranks WHO (3,5,..)
missing()
{
    local rank all line=
    IFS=, read -r -a all <<< "$1"
    for rank in "${all[@]:0:8}"; do
        line+="${line:+, }rank $rank \\([^)]*\\)$2"
    done
    if [ ${#all[@]} -gt 8 ]; then
        line+=", and $((${#all[@]} - 8)) more"
    fi
    echo "^  not called by: $line\$"
}

# start RANKS PROGRAM-OPTIONS...: the job `job`, which writes into `output` and goes on when there is a
# file `go`; hosts=N: N ranks on each of several hosts
start()
{
    local ranks=$1
    shift
    output=$files/$BASHPID
    go=$output.go
    rm -f "$go"
    : > "$output"
    mpi "$ranks" "${options[@]}" --mca coll_strag_stuck "$seconds" ${hosts:+"$on_hosts" "$hosts" -} "$programs/stuck" --until "$go" "$@" \
        >> "$output" 2>&1 &
    job=$!
}

# reported PATTERN...: wait until a line matches
reported()
{
    while ! grep -Eq -- "$1" "$output"; do
        kill -0 "$job" 2> /dev/null || fail "no line '$1': $(cat "$output")"
        sleep 0.1
    done
}

away()
{
    sed -n 's/^stuck: rank [0-9]* is away .* process //p' "$output"
}

# absent RANKS WHO HOW KNOWN PROGRAM-OPTIONS...: the ranks WHO stay away until the others have said so,
# which know KNOWN of them
absent()
{
    local ranks=$1 who=$2 how=$3 known=$4 status=0 commas
    shift 4
    commas=${who//[0-9]/}
    local waiting=$((ranks - 1 - ${#commas}))
    start "$ranks" --away "$how" --who "$who" "$@"
    # on a busy machine a rank may know less when it says it for the first time
    reported "$(missing "$who" "$known")"
    touch "$go"
    case $how in
        stop) away | xargs kill -CONT ;;
        barrier | bcast) away | head -n 1 | xargs kill ;; # it would not end
    esac
    wait "$job" || status=$?
    case $how in barrier | bcast) status=0 ;; esac
    [ "$status" = 0 ] || fail "status $status, $ranks ranks, $who away ($how): $(cat "$output")"
    # not before a second; not by all that wait (on a busy machine news may come too late to one)
    if grep -q 'has stood still for 0 s' "$output" ||
        [ "$(grep -c 'has stood still for [12] s' "$output")" -ge $((waiting > 2 ? waiting : 9)) ]; then
        fail "too early, or by all ranks: $(cat "$output")"
    fi
    lines 0 '^0 bytes'
    if grep '^  not called by: ' "$output" | grep -Evq "$(missing "$who" "($elsewhere)?")"; then
        fail "another rank is named than $who of $ranks ($how): $(cat "$output")"
    fi
}

for ranks in 2 ${STRAG_TEST_FULL:+3 4 5 6 7 8 9}; do
    in_background absent "$ranks" 0 compute ''
    if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
        in_background absent "$ranks" "$((ranks - 1))" recv "$elsewhere"
        in_background absent "$ranks" "$((ranks / 2))" stop ''
        in_background absent "$ranks" "$((ranks / 2))" bcast "$elsewhere"
    fi
done
most=0,1,2,3,4,5,6,7,8 # more than are named
if [ "${STRAG_TEST_FULL:-0}" = 1 ] || ! can_make_hosts; then
    in_background absent 10 $most recv "$elsewhere"
    in_background absent 3 2 recv "$elsewhere" --call nonblocking --healthy 0
fi
in_background absent 3 1 stop ''
in_background absent 4 2 barrier "$elsewhere"
in_background absent 3 0 zero "$elsewhere"
in_background absent 3 2 recv "$elsewhere" --healthy 0 # in setup
in_background absent 4 1 recv "$elsewhere" --call persistent
if can_make_hosts; then
    hosts=1 in_background absent 4 0 compute ''
    hosts=4 in_background absent 10 $most recv "$elsewhere"
    hosts=2 in_background absent 4 0 recv "$elsewhere" --call nonblocking --healthy 0
    if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
        for how in compute stop; do
            hosts=1 in_background absent 4 2 $how ''
            hosts=2 in_background absent 6 3 $how ''
        done
        for how in recv barrier bcast zero; do
            hosts=1 in_background absent 4 0 $how "$elsewhere"
            hosts=2 in_background absent 6 1 $how "$elsewhere"
        done
        for call in blocking nonblocking persistent; do
            hosts=1 in_background absent 4 3 recv "$elsewhere" --call "$call" --healthy 0
            hosts=2 in_background absent 6 2 recv "$elsewhere" --call "$call"
        done
    fi
fi

# coll_strag_stuck 0: never
silent()
{
    seconds=0
    start 2 --away compute
    reported 'is away'
    sleep 2
    touch "$go"
    wait "$job" || fail "status $?: $(cat "$output")"
    lines 0 'has stood still'
}
in_background silent
wait_for_all

# Healthy calls, with delays, say nothing.
for ranks in ${STRAG_TEST_FULL:+2} 4; do
    into_output "$ranks" "${options[@]}" --mca coll_strag_stuck 2 "$programs/stuck" --healthy 2000 --count 100 --away nothing
    lines 0 'has stood still|different arguments'
done

# Nor do calls of which one waits for setup, since another rank is not in MPI.
for hosts in '' ${STRAG_TEST_FULL:+1}; do
    if [ -n "$hosts" ] && ! can_make_hosts; then
        continue
    fi
    into_output 4 "${options[@]}" --mca coll_strag_stuck 1 ${hosts:+"$on_hosts" "$hosts" -} "$programs/stuck" --count 100 \
        --away setup --who 2 --healthy 1 --late 200000
    lines 0 'different arguments'
done

# Over a network a rank makes no more calls after an error.
if [ -n "${STRAG_TEST_TRANSPORT:-}" ]; then
    exit 0
fi

# Another vector on one rank, shorter or longer than a segment: who has called with what is said once.
# So it is where a rank has left out a call.
different='have called MPI_Allreduce with different arguments'
for how in size next; do
    for count in 100 8192 100000; do
        case ${STRAG_TEST_FULL:-0},$how,$count in 0,size,8192 | 0,next,100 | 0,next,100000) continue ;; esac
        into_output 4 "${options[@]}" "$programs/stuck" --away $how --who 3 --count "$count"
        lines 1 "^Call 41 of MPI_Allreduce on .* \(4 ranks\)"
        lines 1 "^  rank 3 \([^)]*\): $((count * 16)) bytes"
        lines 1 "^  rank [012] \([^)]*\): $((count * 8)) bytes"
    done
done
# Between hosts a part of the vector may be what is seen, and later calls may end with an error, too.
for hosts in ${STRAG_TEST_FULL:+1} 2; do
    can_make_hosts || break
    for count in ${STRAG_TEST_FULL:+100} 100000; do
        into_output 4 "${options[@]}" --mca coll_strag_algorithm ring "$on_hosts" "$hosts" - "$programs/stuck" --away size --later error \
            --who 3 --count "$count"
        grep -q "$different" "$output" || fail "not reported: $(cat "$output")"
    done
done
# A rank may be asked by one that waits while it waits itself, and fail before it would have asked in turn.
for who in ${STRAG_TEST_FULL:+0 1 2} 3; do
    can_make_hosts || break
    into_output 4 "${options[@]}" --mca coll_strag_algorithm ring "$on_hosts" 1 - "$programs/stuck" --away next --later error \
        --who "$who" --count 1000
    grep -q "$different" "$output" || fail "not reported: $(cat "$output")"
done
# Nor are messages of one call taken for those of another if they have the same length: 64 KiB here.
cat > "$files/rules.yaml" << 'END'
strag-rules: 1
rules:
  - sizes:
      - {from: 0, algorithm: recursive-doubling}
      - {from: 100K, algorithm: ring}
END
for who in ${STRAG_TEST_FULL:+0} 1; do
    can_make_hosts || break
    into_output 2 "${options[@]}" --mca coll_strag_rules "$files/rules.yaml" "$on_hosts" 1 - "$programs/stuck" --away next \
        --later error --who "$who"
    grep -q "$different" "$output" || fail "not reported: $(cat "$output")"
done
gone='^  rank 1 \([^)]*\) has not called it, and has freed the communicator$'
into_output 4 "${options[@]}" "$programs/stuck" --away free --who 1
lines 1 "$different"
lines 1 "$gone"
# Over a network every rank that waits may say so, or learns that another one has failed for it.
into_output 4 "${options[@]}" --mca coll_strag_shared_memory 0 --mca coll_strag_transport pml "$programs/stuck" \
    --away free --who 1 --later error
grep -Eq "$gone" "$output" || fail "not reported: $(cat "$output")"
if can_make_hosts; then
    into_output 4 "${options[@]}" "$on_hosts" 1 - "$programs/stuck" --away free --who 1 --later error
    grep -Eq "$gone" "$output" || fail "not reported: $(cat "$output")"
fi
