#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Allreduces in callbacks of attributes, on communicators that are being freed or duplicated, and in
# MPI_Finalize: with and without a report, within a host and between hosts, and on rank 0 under valgrind where
# it is installed. Elsewhere glibc fills memory that is freed, so that a use of it is noticed.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

export MALLOC_PERTURB_=165
must 3 --mca coll strag --mca coll_strag_shared_memory 0 "$programs/callbacks"
must 5 --mca coll strag "$programs/callbacks"
if can_make_hosts; then
    must 4 --mca coll strag --mca coll_strag_report 1 "$on_hosts" 2 - "$programs/callbacks"
fi
# One rank has no memory for strag's attributes: the previous component runs all calls.
for failing in 0 2; do
    must 3 --mca coll strag -x "$(preloading "$programs/.libs/failing_attribute.so")" \
        -x FAILING_ATTRIBUTE="$failing" "$programs/callbacks" --least 0
done
unset MALLOC_PERTURB_
# Open MPI and its libraries send bytes of structures that they have not written.
if command -v valgrind > /dev/null; then
    must 2 --mca coll strag --mca coll_strag_report 1 bash -c '
        [ "$OMPI_COMM_WORLD_RANK" -ne 0 ] || exec valgrind -q --error-exitcode=9 --undef-value-errors=no "$0"
        exec "$0"' "$programs/callbacks"
fi
