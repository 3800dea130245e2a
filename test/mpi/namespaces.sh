#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks in containers: they have namespaces of their own, with the host's name and network, so that
# all seem to be on one host. They share memory unless their IPC namespaces differ, and a verbose line
# says so. The results are right (soak.c) in any case, and nothing hangs.
#
# Messages of the PML go over btl/tcp: with pid namespaces Open MPI 4.1.4's vader crashes, also without
# strag. STRAG_TEST_FULL=1: more calls. STRAG_TEST_RESULTS=FOLDER: what was counted (common.sh).
set -eu
. "${srcdir:-.}/test/mpi/common.sh"
own_folder namespaces

cat > "$files/contained" << 'END'
#!/bin/bash
# contained WHO NAMESPACES PROGRAM...: all ranks, or the odd ones, in namespaces of their own
who=$1 kinds=$2
shift 2
if [ "$who" = odd ] && [ $((OMPI_COMM_WORLD_RANK % 2)) -eq 0 ]; then
    exec "$@"
fi
options=()
for kind in ${kinds//,/ }; do
    case $kind in
        user) options+=(--user --map-root-user) ;;
        pid) options+=(--pid --fork --kill-child --mount-proc) ;;
        *) options+=("--$kind") ;;
    esac
done
exec unshare "${options[@]}" bash -c 'echo "contained: $(readlink /proc/self/ns/$0)"
    if [ "$1" = yes ]; then
        mount -t tmpfs shm /dev/shm
    fi
    shift
    exec "$@"' "${kinds%%,*}" "$([[ $kinds == *mount* ]] && echo yes || echo no)" "$@"
END
chmod +x "$files/contained"

calls=200
if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
    calls=20000
    mpi_limit=1200
fi

# contained WHO NAMESPACES: run calls, if this user may make such namespaces
contained()
{
    local who=$1 kinds=$2 made
    if ! env OMPI_COMM_WORLD_RANK=1 "$files/contained" "$who" "$kinds" true > "$output" 2>&1; then
        echo "SKIPPED: this user may not make namespaces: $kinds"
        return
    fi
    counted namespaces "$calls calls, own namespaces of $who ranks: $kinds" 4 --mca btl tcp,self \
        --mca coll_strag_verbose 1 "$files/contained" "$who" "$kinds" "$programs/soak" --calls "$calls"
    # They were where they should be, each in its own.
    made=$(grep '^contained: ' "$output" | sort -u | wc -l)
    if [ "$made" -ne "$([ "$who" = all ] && echo 4 || echo 2)" ]; then
        cat "$output"
        fail "$made ranks were in namespaces of their own"
    fi
    grep -Eo '(within hosts|transport): .*' "$output" | sort | uniq -c
    if [ "$way" != shm ]; then
        return
    fi
    case $kinds in
        *ipc*) grep -Eq "no shared memory: rank [0-9] could not: another rank has another IPC namespace" \
            "$output" || fail 'nothing says that memory is not shared, and why' ;;
        *)
            lines 0 'no shared memory'
            grep -q 'within hosts: shared memory' "$output" || fail 'no memory is shared'
            ;;
    esac
}

find_ways
for way in "${ways[@]}"; do
    over "$way"
    contained odd pid,ipc,mount
    if [ "$way" != pml ] && [ "${STRAG_TEST_FULL:-0}" = 1 ]; then # which knows nothing of namespaces
        contained odd ipc
        contained odd pid
    fi
    if [ "$way" = shm ]; then
        contained odd user
        contained all user,pid,mount # as by rootless containers for each rank
    fi
done
no_misses
