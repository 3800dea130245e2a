#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What a site may forbid: then no memory is shared, on all ranks; calls are right all the same,
# and a verbose line says on which rank it was, and why.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

mpi_limit=60
output=$builddir/limits-output.$$
trap 'rm -f "$output"' EXIT
options=(--mca coll strag --mca coll_strag_algorithm circulant --mca coll_strag_verbose 1)
program=("$programs/memory" --communicators 2 --longest 50000)
unlimited=("${program[@]}" --limit none) # by the program

# run RANKS OPTIONS-AND-PROGRAM...
run()
{
    local status=0 ranks=$1
    shift
    mpi "$ranks" "${options[@]}" "$@" > "$output" 2>&1 || status=$?
    if [ "$status" != 0 ]; then
        tail -n 40 "$output"
        fail "exit status $status: mpirun -np $ranks $*"
    fi
}

# says PATTERN: every communicator's line does
says()
{
    lines 0 'within hosts: shared memory'
    if ! grep -Eq "no shared memory: rank $1" "$output"; then
        tail -n 40 "$output"
        fail "no line 'no shared memory: rank $1'"
    fi
    echo "ok: rank ${1//\\/}"
}

shared()
{
    lines 0 'no shared memory'
    grep -q 'within hosts: shared memory' "$output" || fail "$*: memory is not shared"
    echo "ok: shared: $*"
}

# Limits of files are none of shared memory.
for limit in fsize nofile; do
    run 4 "${program[@]}" --limit $limit
    shared $limit
done

# Too low, for all and for one rank.
for rank in -1 1; do
    low=$((rank < 0 ? 0 : rank))
    run 4 "${program[@]}" --limit as --limited "$rank"
    says "$low could not: its limit of addresses \(ulimit -v\)"
done
run 16 --mca coll_strag_shared_memory_size 1M "${unlimited[@]}"
says "0 could not: coll_strag_shared_memory_size is too small"

# A seccomp filter refuses shmget.
if env OMPI_COMM_WORLD_RANK=0 "$programs/refuse" all EPERM true; then
    run 3 "$programs/refuse" all EPERM "${unlimited[@]}"
    says "0 could not: the system refuses it System V shared memory"
    run 3 "$programs/refuse" 1 ENOMEM "${unlimited[@]}"
    says "1 could not: the system cannot reserve the memory"
else
    echo "SKIPPED: no seccomp filters here"
fi

# The system's limits are an IPC namespace's own.
if unshare --ipc true 2> "$output"; then
    # The script, which one rank runs, is not to be expanded here.
    run 3 bash -c '
        if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then
            exec unshare --ipc bash -c "echo 100000 > /proc/sys/kernel/shmmax && exec \"\$@\"" bash "$@"
        fi
        exec "$@"' bash "${unlimited[@]}"
    says "1 could not: kernel.shmmax, shmall and shmmni"
else
    echo "SKIPPED: no namespaces of IPC here"
fi
