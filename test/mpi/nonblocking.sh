#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Nonblocking and persistent calls: what MPI promises of them, one thing after another (requests.c),
# and storms of them, mixed with blocking calls, other collectives, and communicators that come and go
# (nonblocking.c); over shared memory, the PML and UCX.
#
# STRAG_TEST_FULL=1: 100,000 calls on 50 communicators over each; and memory that does not grow.
# STRAG_TEST_RESULTS=FOLDER: what was counted goes there (common.sh).
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

output=$builddir/nonblocking-output.$$
trap 'rm -f "$output"' EXIT

steps=250
if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
    mpi_limit=7200
    steps=100000
fi
find_ways
for way in "${ways[@]}"; do
    over "$way"
    [ "$way" != shm ] || must 2 --mca coll strag "$programs/requests"
    must 3 --mca coll strag "$programs/requests" --threads 1
    counted nonblocking "$steps steps on 50 communicators" 4 "$programs/nonblocking" \
        --steps "$steps" --communicators 50
    counted nonblocking "$steps steps, any call first" 3 "$programs/nonblocking" \
        --steps "$steps" --first any
done
# Where setup also begins to watch; and where MPI_Comm_idup takes its steps among the calls.
over pml
must 2 --mca coll strag --mca coll_strag_report 1 "$programs/requests" --threads 1
for ranks in ${STRAG_TEST_FULL:+2} 3; do
    must "$ranks" --mca coll strag --mca coll_strag_window 4 --mca coll_strag_watch_size 0 \
        --mca coll_strag_report 1 "$programs/idup"
done
over shm
must 1 --mca coll strag "$programs/nonblocking" --steps 50 --expect-strag 0
# As a user has it, and over stock Open MPI: the tests themselves.
transport_options=()
must 4 --mca coll strag "$programs/nonblocking" --steps $((steps / 2))
must 2 --mca coll ^strag "$programs/requests" --expect-strag 0
no_misses

# Where coll/hcoll has the tags of persistent requests the previous component runs these.
# Open MPI finds components by the names of files. (6.0 has no coll/hcoll, and no tags of it.)
if ! without '[6-9]*' 'coll/hcoll'; then
    folder=$builddir/stand-in-hcoll.$$
    trap 'rm -rf "$output" "$folder"' EXIT
    mkdir "$folder"
    ln -s "$programs/.libs/stand_in_hcoll.so" "$folder/mca_coll_hcoll.so"
    path=${component_options[2]:-$builddir/ompi_coll_strag/.libs${stock:+:$stock}}
    component_options=(--mca mca_base_component_path "$folder:$path")
    into_output 2 --mca coll strag --mca coll_strag_report 1 "$programs/report" --mode room
    lines 1 '^strag: full: run by the previous component, .*: 80 \(a rank has no room, or no tag, '
fi
