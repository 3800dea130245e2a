#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Messages over UCX: a part of the other tests, over each of UCX's transports for host memory; what
# happens where UCX cannot be used, on all ranks or on one; where a rank is killed, and
# where one only seems to be.
#
# All of a test over UCX: STRAG_TEST_TRANSPORT=ucp UCX_TLS=tcp,self bash .../test/mpi/matrix.sh
# STRAG_TEST_FULL=1: more of them.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

output=$builddir/ucp-output.$$
trap 'rm -f "$output"' EXIT
over=(--mca coll strag --mca coll_strag_verbose 1)

# run RANKS OPTIONS...: the program that prints counters, to a file; it must succeed
run()
{
    if ! mpi "$@" "$programs/sizes" > "$output" 2>&1 ||
        ! grep -q '^sizes: calls 12, delegated 12$' "$output"; then
        cat "$output"
        fail "mpirun -np $*"
    fi
}

# ---- Which value is used ----

run 3 "${over[@]}" --mca coll_strag_transport ucp
lines 2 'coll:strag: .*: transport: ucp$'
lines 2 'coll:strag: .*: within hosts: UCX$'
lines 0 'UCX +(WARN|ERROR)|cannot be used'
run 3 "${over[@]}" --mca coll_strag_transport auto
lines 2 'coll:strag: .*: transport: pml$'
# All ranks use rank 0's value.
run 3 "${over[@]}" "${own[@]}" OMPI_MCA_coll_strag_transport=ucp NOTHING=
lines 2 'coll:strag: .*: transport: ucp$'
echo "ok: which value is used"

# ---- Where it is not possible: all ranks do as without the wish, and one warns with the reason ----

# falls_back REASON RANKS OPTIONS...
falls_back()
{
    local reason=$1
    shift
    run "$@"
    lines 2 'coll:strag: .*: transport: pml$'
    lines 2 'coll:strag: .*: within hosts: shared memory$'
    lines 0 'coll:strag: .*: transport: ucp$'
    lines 1 'coll_strag_transport selects UCX, but UCX cannot be used'
    lines 1 "$reason"
    echo "ok: falls back: $*"
}

ucp=(--mca coll_strag_transport ucp)
falls_back 'UCX cannot be started' 3 "${over[@]}" "${ucp[@]}" -x UCX_TLS=nothing
falls_back "out of UCX's reach" 3 "${over[@]}" "${ucp[@]}" "${own[@]}" UCX_TLS=posix,self UCX_TLS=tcp,self

# ---- Right results ----

STRAG_TEST_TRANSPORT=ucp
transport_options=("${ucp[@]}")
ranks=1
for tls in tcp ${STRAG_TEST_FULL:+posix sysv} posix,cma; do
    ranks=$((ranks + 1)) # from 2 on
    choose "$ranks"
    export UCX_TLS=$tls,self
    must "$ranks" --mca coll strag --mca coll_strag_minimum_size 0 "$programs/matrix" \
        --algorithms "${chosen[0]}" --most 40009 --large "$((ranks - 2))/3" --repeat 5
    must "$ranks" --mca coll strag --mca coll_strag_minimum_size 0 --mca coll_strag_segment_size 4K \
        "$programs/types" --algorithms "${chosen[1]}"
done
unset UCX_TLS
must 3 --mca coll strag --mca coll_strag_minimum_size 0 --mca coll_strag_algorithm circulant \
    "$programs/soak" --threads 5 --communicators 20 --calls 500 --makers 1

# ---- A rank is killed ----

# Where mpirun lets the others survive, their calls end with an error. (signals.sh has other moments, UCX's own
# choice of transports, and mpirun without --enable-recovery.)
mpi_limit=60
mpi 3 --enable-recovery --mca coll strag -x UCX_TLS=tcp,self "$programs/killed" --return > "$output" 2>&1 || true
lines 2 'killed: rank [01]: an error'
echo "ok: a rank is killed"

# ---- It lives ----

for what in files thread; do
    must 2 --mca coll strag --mca coll_strag_minimum_size 0 --mca coll_strag_shared_memory 0 -x UCX_TLS=posix,self \
        "$programs/alive" --what "$what"
done
