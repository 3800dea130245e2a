#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# strag against stock Open MPI on this machine's shared memory; CSV and tables into a folder for each launch,
# FOLDER/1, FOLDER/2, ...; a launch next to other load is made again (busy.py):
#
#     bash bench/shm.sh FOLDER        in the build folder, after make bench/allreduce
#
#   ring-npN.csv         strag's ring against Open MPI's own (tuned algorithm 4), 64 KiB to 16 MiB
#   auto-short-npN.csv   strag's choice against all that Open MPI has, 4 B to 8 KiB, 20 calls timed
#                        together
#   auto-npN.csv         the same, 16 KiB to 16 MiB
#   ucp-npN.csv          strag's choice over UCX against the same over the PML, 64 KiB to 16 MiB, both
#                        without the memory that strag shares within a host
#   oversubscribed-npN.csv
#                        strag's choice against all that Open MPI has, many more ranks than processors,
#                        8 B to 4 MiB
#
# Environment: SHM_RANKS ("2 4 8"), SHM_OVERSUBSCRIBED ("16 32 48 64 96 128"), either may be "none";
# SHM_SECONDS per size (4), SHM_LAUNCHES (5), STRAG_MPIRUN (./strag-mpirun).
set -eu
. "$(dirname "$0")/machine.sh"

here=$(dirname "$0")
top=${1:?usage: shm.sh FOLDER}
: "${STRAG_MPIRUN:=./strag-mpirun}"
: "${builddir:=$PWD}"
seconds=${SHM_SECONDS:-4}

# bench NAME RANKS OPTIONS...
bench()
{
    local name=$1-np$2 ranks=$2
    shift 2
    rm -f "$folder/$name.csv"
    python3 "$here/busy.py" "$folder/$name.csv" \
        timeout 1200 "$STRAG_MPIRUN" --allow-run-as-root --oversubscribe -np "$ranks" \
        --mca coll strag --mca pml ob1 --mca btl self,vader "$@" --check --seconds "$seconds" \
        --label "$name" --output "$folder/$name.csv" | tee "$folder/$name.txt"
}

# All that Open MPI has for one host: tuned as it chooses and its algorithms by number, sm, basic. (5, the segmented
# ring, is the ring as long as no segment size is set.)
stock=ompi_comm_coll_preference=^strag
rivals=(--contender strag --contender "tuned,$stock" --contender "tuned-again,$stock")
for algorithm in 3 4 6; do
    rivals+=(--contender "tuned-$algorithm,$stock,cvar:coll_tuned_allreduce_algorithm=$algorithm")
done
for component in sm basic; do
    rivals+=(--contender "$component,ompi_comm_coll_preference=$component")
done

# numbers LIST: none of them if it is "none"
numbers()
{
    if [ "$1" != none ]; then
        echo "$1"
    fi
}

# launch FOLDER: all of it once
launch()
{
    folder=$1
    mkdir -p "$folder"
    describe_machine "$folder" "$STRAG_MPIRUN"
    for ranks in $(numbers "${SHM_RANKS:-2 4 8}"); do
        bench ring "$ranks" --mca coll_strag_algorithm ring \
            --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm 4 \
            "$builddir/bench/allreduce" --sizes 64K..16M
        bench auto-short "$ranks" --mca coll_tuned_use_dynamic_rules 1 "$builddir/bench/allreduce" \
            --sizes 4..8K --batch 20 "${rivals[@]}"
        bench auto "$ranks" --mca coll_tuned_use_dynamic_rules 1 "$builddir/bench/allreduce" \
            --sizes 16K..16M "${rivals[@]}"
        bench ucp "$ranks" --mca coll_strag_shared_memory 0 "$builddir/bench/allreduce" --sizes 64K..16M \
            --contender strag-ucp,coll_strag_transport=ucp \
            --contender strag-pml,coll_strag_transport=pml \
            --contender strag-pml-again,coll_strag_transport=pml
    done

    for ranks in $(numbers "${SHM_OVERSUBSCRIBED:-16 32 48 64 96 128}"); do
        bench oversubscribed "$ranks" --mca coll_tuned_use_dynamic_rules 1 "$builddir/bench/allreduce" \
            --sizes 8,64,512,4K,16K..4M --warmup 4 "${rivals[@]}"
    done
}

for number in $(seq "${SHM_LAUNCHES:-5}"); do
    launch "$top/$number"
done
