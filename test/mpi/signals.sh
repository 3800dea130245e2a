#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank is stopped amid a call and goes on (stopped.c); a rank is killed at random moments (killed.c).
# Over shared memory, the PML and UCX; mpirun with and without --enable-recovery.
#
# After a death the job must end, and leave nothing behind: no process, and no file in /dev/shm but
# those of Open MPI's vader, which are left without strag, too, and of UCX, whose file has a name for a
# moment (3 of 100 deaths leave one). With --enable-recovery
# the calls of the others must return an error. Over UCX they do; over shared memory and the PML they
# wait for ever, as those of Open MPI do: that is counted (`waited`), and mpirun ended.
#
# STRAG_TEST_FULL=1: stops of 20 s, 100 moments. STRAG_TEST_SEED=N: other moments.
# STRAG_TEST_RESULTS=FOLDER: what was counted goes there (common.sh).
set -eu

# A /dev/shm of its own, where that is allowed: other programs of this machine come and go in it, so
# that elsewhere nothing can be said of its files.
if [ -z "${STRAG_TEST_OWN_SHM:-}" ] && unshare --mount mount -t tmpfs shm /dev/shm 2> /dev/null; then
    exec unshare --mount bash -c \
        'mount -t tmpfs shm /dev/shm && export STRAG_TEST_OWN_SHM=1 && exec bash "$0"' "$0"
fi

. "${srcdir:-.}/test/mpi/common.sh"

output=$builddir/signals-output.$$
trap 'rm -f "$output"' EXIT
seed=${STRAG_TEST_SEED:-20240229}
RANDOM=$seed
echo "signals: STRAG_TEST_SEED=$seed"
ranks=3 moments=1 more=1 waits=1 stop=1 stops=2 # more: over the PML and UCX
if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
    moments=100 more=100 waits=20 stop=20 stops=4
fi

# ---- Killed ----

# files: of an own /dev/shm, but for vader's and UCX's
files()
{
    [ -z "${STRAG_TEST_OWN_SHM:-}" ] || find /dev/shm -mindepth 1 ! -name 'vader_segment.*' ! -name 'ucx_shm_posix_*' | sort
}

# nothing_left MARK FILES [TENTHS]: within this many tenths of a second (100) no process has
# STRAG_TEST_JOB=MARK in its environment, and /dev/shm is as it was
nothing_left()
{
    local try processes new
    for ((try = 0; try < ${3:-100}; try++)); do
        processes=$(grep -lzx "STRAG_TEST_JOB=$1" /proc/[0-9]*/environ 2> /dev/null || true)
        new=$(comm -13 <(echo "$2") <(files))
        [ -n "$processes$new" ] || return 0
        sleep 0.1
    done
    echo "left behind: $processes $new"
    return 1
}

# kill_one LIMIT MPIRUN-OPTIONS-AND-PROGRAM...: a job, which must leave nothing behind; its exit status
# in `status`, also if LIMIT seconds ended it (124)
kill_one()
{
    local mark=$seed.$$.$RANDOM before
    before=$(files)
    mpi_limit=$1
    shift
    status=0
    STRAG_TEST_JOB=$mark mpi "$ranks" --mca coll strag "$@" > "$output" 2>&1 || status=$?
    nothing_left "$mark" "$before" || status="$status, left behind"
}

# choose_moment: in `moment`, some microseconds, as often below 1 ms as above 100 ms; in `rank`, a rank
choose_moment()
{
    moment=$((RANDOM % (10 ** (2 + RANDOM % 4)) * (1 + RANDOM % 9)))
    rank=$((RANDOM % ranks))
}

# died: the last job ended with a rank's death: mpirun saw it, or over UCX another rank did before
died()
{
    [ "$status" = 137 ] ||
        { [[ "$status" != *[!0-9]* && "$status" != 124 ]] && grep -q 'coll/strag has lost rank' "$output"; }
}

# killed COUNT: the job ends
killed()
{
    local count=$1 i failed=0 start=$SECONDS
    for ((i = 0; i < count; i++)); do
        choose_moment
        kill_one 90 "$programs/killed" --rank "$rank" --after "$moment"
        if ! died; then
            tail -n 40 "$output"
            echo "rank $rank killed $moment us after MPI_Init, over $way: exit status $status"
            failed=$((failed + 1))
        fi
    done
    record killed "the job ends" "$ranks" "$count" "$failed" "$((SECONDS - start))"
}

# recovered COUNT: the calls of the others return an error
recovered()
{
    local count=$1 i failed=0 start=$SECONDS
    for ((i = 0; i < count; i++)); do
        choose_moment
        kill_one 90 --enable-recovery "$programs/killed" --return --rank "$rank" --after "$moment"
        if [[ "$status" = *[!0-9]* || "$status" = 124 ]] ||
            [ "$(grep -c 'killed: rank [0-9]*: an error' "$output")" -ne $((ranks - 1)) ]; then
            tail -n 40 "$output"
            echo "rank $rank killed $moment us after all was set up, over $way: exit status $status"
            failed=$((failed + 1))
        fi
    done
    record killed "--enable-recovery: errors" "$ranks" "$count" "$failed" "$((SECONDS - start))"
}

# waited COUNT: they may wait, for so long; then mpirun ends them
waited()
{
    local count=$1 i failed=0 waiting=0 start=$SECONDS
    for ((i = 0; i < count; i++)); do
        choose_moment
        kill_one 3 --enable-recovery "$programs/killed" --return --rank "$rank" --after "$moment"
        if [ "$status" = 124 ]; then
            waiting=$((waiting + 1))
        elif [[ "$status" = *[!0-9]* ]]; then
            echo "rank $rank killed $moment us after all was set up, over $way: exit status $status"
            failed=$((failed + 1))
        fi
    done
    record killed "--enable-recovery: ended from outside, $waiting waited" "$ranks" "$count" "$failed" \
        "$((SECONDS - start))"
}

# ---- All of it ----

find_ways
for way in "${ways[@]}"; do
    over "$way"
    mpi_limit=$((120 + 10 * stop))
    counted stopped "$stops stops of $stop s" "$ranks" "$programs/stopped" --seconds "$stop" \
        --stops "$stops"
    case $way in
        shm)
            killed "$moments"
            waited "$waits"
            ;;
        pml)
            killed "$more"
            [ "${STRAG_TEST_FULL:-0}" != 1 ] || waited "$waits"
            ;;
        ucp)
            killed "$more"
            recovered "$moments"
            ;;
    esac
done

# ---- Errors are noticed ----

over shm
mpi_limit=60
noticed 'was not stopped' "$ranks" "$programs/stopped" --seconds 60 --stops 2 --fault 1
kill_one 90 "$programs/killed" --rank -1 # nobody dies
! died || fail "a job without a death has the exit status of one with it"
before=$(files)
STRAG_TEST_JOB=$seed.left sleep infinity &
stays=$!
until grep -qzx "STRAG_TEST_JOB=$seed.left" "/proc/$stays/environ"; do
    sleep 0.1
done
if nothing_left "$seed.left" "$before" 5 > "$output"; then
    fail "a process that was left behind was not noticed"
fi
kill "$stays"
if [ -n "${STRAG_TEST_OWN_SHM:-}" ]; then
    left=$(mktemp /dev/shm/coll_strag.XXXXXX)
    if nothing_left "$seed.none" "$before" 5 > "$output"; then
        fail "a file that was left behind was not noticed"
    fi
    rm "$left"
else
    echo "left out: files that are left behind, as this user may not mount a /dev/shm of the test's own"
fi
echo "ok: noticed: no stop, no death, a process and a file left behind"
no_misses
