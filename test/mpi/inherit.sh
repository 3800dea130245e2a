#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Communicators inherit what is known of their ranks: dups, splits, reordered and with keys, with
# threads, after the parent's table has changed; through shared memory, and over the PML.
set -eu
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

for ranks in 2 3 4 7; do
    must "$ranks" --mca coll strag "$programs/inherit"
    must "$ranks" --mca coll strag --mca coll_strag_shared_memory 0 "$programs/inherit"
done
must 4 --mca coll strag --mca coll_strag_watch_size 0 --mca coll_strag_window 4 \
    --mca coll_strag_local_alpha 0.001 "$programs/inherit" --late 2
