#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The tests' time limits (limit.c): what sleeps or polls for ever is ended, with all that it has started;
# time for which other programs have the processors does not count.
set -eu
: "${builddir:=$PWD}"
limit=$builddir/test/limit
busy=()
trap '[ ${#busy[@]} -eq 0 ] || kill "${busy[@]}"' EXIT

# ends STATUS SECONDS COMMAND...
ends()
{
    local wanted=$1 status=0
    shift
    "$limit" "$@" || status=$?
    if [ "$status" -ne "$wanted" ]; then
        echo "FAIL: exit status $status, not $wanted: limit $*"
        exit 1
    fi
    echo "ok: exit status $status: limit $*"
}

# none_left MARK: soon no process has STRAG_TEST_LIMIT=MARK in its environment
none_left()
{
    local try
    for ((try = 0; try < 100; try++)); do
        grep -qlzx "STRAG_TEST_LIMIT=$1" /proc/[0-9]*/environ 2> /dev/null || return 0
        sleep 0.1
    done
    echo "FAIL: left behind: $(grep -lzx "STRAG_TEST_LIMIT=$1" /proc/[0-9]*/environ)"
    exit 1
}

# ---- The command's own end ----

ends 0 1000 true
ends 7 1000 sh -c 'exit 7'
ends 137 1000 sh -c 'kill -KILL $$'
ends 125 1000 "$builddir/no-such-command"
ends 125 0 true
ends 125 x true

# ---- The limit's ----

ends 124 0.1 sleep infinity
ends 124 1 sh -c 'while :; do :; done'
# A job under a limit of its own ends with the test that runs it; what ignores SIGTERM does so, too.
STRAG_TEST_LIMIT=job.$$ ends 124 0.1 bash -c '"$0" 1000 sleep infinity; exit 3' "$limit"
none_left job.$$
STRAG_TEST_LIMIT=deaf.$$ ends 124 0.1 bash -c 'trap "" TERM; (setsid sleep infinity); sleep infinity'
none_left deaf.$$

# ---- A busy machine ----

# A second of one processor, which five others want, too, takes 6 s. Of the 3 s may be lost what the shell waits
# for its files.
first=$(taskset --cpu-list --pid $$ | sed 's/.*: //; s/[-,].*//')
for _ in 1 2 3 4 5; do
    taskset --cpu-list "$first" sh -c 'while :; do :; done' &
    busy+=($!)
done
start=$EPOCHREALTIME
ends 152 3 taskset --cpu-list "$first" sh -c 'ulimit -S -t 1; while :; do :; done' # 128 + SIGXCPU
if [ "$(((${EPOCHREALTIME//[!0-9]/} - ${start//[!0-9]/}) / 1000))" -lt 3000 ]; then
    echo "left out: five busy processes do not keep the sixth from its processor"
fi
