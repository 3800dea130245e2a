#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What shared memory takes of a process, whatever the number of communicators and ranks (memory.c).
# STRAG_TEST_FULL=1: more of them.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

mpi_limit=300
use() # RANKS ALGORITHM OPTIONS
{
    local ranks=$1 algorithm=$2
    shift 2
    echo "$algorithm $*"
    must "$ranks" --mca coll strag --mca coll_strag_algorithm "$algorithm" \
        --mca coll_strag_shared_memory 1 "$programs/memory" "$@"
}

if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
    use 4 direct --communicators 1000
    use 4 ring --communicators 1000 --longest 4000
    use 16 direct --communicators 100 --longest 200000
    use 16 circulant --communicators 64
    use 64 direct --communicators 8
    use 192 recursive-doubling --communicators 1 --longest 4000
    use 192 direct --communicators 1 --longest 4000
else
    use 4 direct --communicators 200 --longest 100000
    use 16 recursive-doubling --communicators 4 --longest 10000
fi
