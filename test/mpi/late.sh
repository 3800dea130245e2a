#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Late ranks: found, followed, forgotten (late.c). Sleeping is what takes the time.
set -eu
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# Messages within a host cost next to nothing in this model, so that going ahead is worth it.
strag=(--mca coll strag --mca coll_strag_local_alpha 0.1 --mca coll_strag_window 20)

for ranks in 2 3 4; do
    must "$ranks" "${strag[@]}" "$programs/late"
done
must 4 "${strag[@]}" --mca coll_strag_straggler none "$programs/late" --expect none
