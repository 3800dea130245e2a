#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks in containers: some have pid, ipc and mount namespaces of their own, with the host's name and
# network, so that all seem to be on one host. What they share is for strag to find out; the results
# are right (soak.c) in any case, and nothing hangs.
#
# Messages of the PML go over btl/tcp: with pid namespaces Open MPI 4.1.4's vader crashes, also without
# strag. STRAG_TEST_FULL=1: more calls. STRAG_TEST_RESULTS=FOLDER: what was counted (common.sh).
set -eu
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

if ! unshare --pid --ipc --mount --fork --mount-proc true 2> /dev/null; then
    echo "skipped: this user may not make pid, ipc and mount namespaces (unshare)"
    exit 77
fi

files=$builddir/namespaces-test.$$
output=$files/output
mkdir "$files"
trap 'rm -rf "$files"' EXIT

cat > "$files/contained" << 'END'
#!/bin/bash
# contained KIND PROGRAM...: the odd ranks in namespaces of their own
kind=$1
shift
if [ $((OMPI_COMM_WORLD_RANK % 2)) -eq 0 ]; then
    exec "$@"
fi
inside='echo "contained: $(readlink /proc/self/ns/pid /proc/self/ns/ipc /proc/self/ns/mnt | tr "\n" " ")"
    exec "$@"'
case $kind in
    ipc) exec unshare --ipc bash -c "$inside" bash "$@" ;;
    pid) exec unshare --pid --mount --fork --kill-child --mount-proc bash -c "$inside" bash "$@" ;;
    all) exec unshare --pid --ipc --mount --fork --kill-child --mount-proc \
        bash -c "mount -t tmpfs shm /dev/shm && $inside" bash "$@" ;;
esac
END
chmod +x "$files/contained"

calls=300
if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
    calls=20000
    mpi_limit=1200
fi
find_ways
for way in "${ways[@]}"; do
    over "$way"
    for kind in ipc pid all; do
        counted namespaces "$calls calls, own namespaces: $kind" 4 --mca btl tcp,self \
            --mca coll_strag_verbose 1 "$files/contained" "$kind" "$programs/soak" --calls "$calls"
        # The odd ranks were where they should be, each in its own.
        if [ "$(grep '^contained: ' "$output" | sort -u | wc -l)" -ne 2 ]; then
            cat "$output"
            fail "two ranks were to be in namespaces of their own"
        fi
        grep -Eo '(within hosts|transport): .*' "$output" | sort | uniq -c
    done
done
no_misses
