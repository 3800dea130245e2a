#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What a computation hides of MPI_Iallreduce, strag's against stock Open MPI's (bench/overlap.c):
#
#     bash bench/overlap.sh FOLDER    in the build folder, after make and make check-programs
#
# Launches go to FOLDER/1, FOLDER/2, ...; one next to other load is made again (busy.py).
#
#   shm-np2.csv, shm-np4.csv    this machine's shared memory; MPI_Test every 10 us
#   lab-np4.csv                 four hosts of the lab (bench/lab) at 100 Mbit/s; MPI_Test every 0.2,
#                               1 and 5 ms. The computation sleeps, as on a host of its own, and a
#                               poll for messages returns at once.
#
# bench/overlap.py makes a page of doc/results of FOLDER/*.
# Environment: OVERLAP_PLACES ("shm lab"); OVERLAP_SECONDS for one size (6); OVERLAP_LAUNCHES (5).
set -eu

top=${1:?usage: overlap.sh FOLDER}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/machine.sh"
seconds=${OVERLAP_SECONDS:-6}

launch()
{
    mkdir -p "$1"
    folder=$(cd "$1" && pwd)
    describe_machine "$folder"
    for place in ${OVERLAP_PLACES:-shm lab}; do
        rm -f "$folder/$place"-np*.csv
        case $place in
            shm)
                for ranks in 2 4; do
                    processors=(--oversubscribe)
                    if [ "$ranks" -le "$(nproc)" ]; then
                        processors=(--bind-to core) # or both may share one, if others are busy
                    fi
                    python3 "$here/busy.py" "$folder/shm-np$ranks.csv" \
                        ./strag-mpirun --allow-run-as-root "${processors[@]}" -np "$ranks" --mca coll strag \
                        --mca pml ob1 --mca btl self,vader bench/overlap --sizes 64K..16M \
                        --seconds "$seconds" --output "$folder/shm-np$ranks.csv"
                done
                ;;
            lab)
                for slice in 200 1000 5000; do
                    LAB_POLL_US=0 python3 "$here/busy.py" "$folder/lab-np4.csv" \
                        "$here/lab/lab" --build . mpirun star:4 "$PWD/bench/overlap" \
                        --sizes 256K,1M,4M --seconds "$seconds" --warmup 2 --sleep --slice "$slice" \
                        --output "$folder/lab-np4.csv"
                done
                ;;
            *)
                echo "overlap.sh: OVERLAP_PLACES: $place is neither shm nor lab" >&2
                exit 2
                ;;
        esac
    done
}

for number in $(seq "${OVERLAP_LAUNCHES:-5}"); do
    launch "$top/$number"
done
