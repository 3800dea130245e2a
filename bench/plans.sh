#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Plans from files against the algorithms that they were written from: the same bits, and the same
# time (test/mpi/plans.c, bench/allreduce.c):
#
#     bash bench/plans.sh FOLDER      in the build folder, after make and make check-programs
#
# Launches go to FOLDER/1, FOLDER/2, ...; one next to other load is made again (busy.py).
#
#   shm-npN.csv    2 to 9 ranks on this machine's shared memory, two algorithms each; 64 KiB, 1 MiB
#   lab-npN.csv    stars of 4 and 5 hosts of the lab (bench/lab) at 100 Mbit/s; 256 KiB, 1 MiB
#
# Each algorithm takes part three times, in turn from call to call: built in, built in again, and
# from its file. bench/plans.py makes a page of doc/results of FOLDER/*.
# Environment: PLANS_PLACES ("shm lab"); PLANS_SECONDS for one size (2); PLANS_LAUNCHES (5).
set -eu

top=${1:?usage: plans.sh FOLDER}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/machine.sh"
seconds=${PLANS_SECONDS:-2}

# Those whose number of blocks does not depend on the size: a file has one.
algorithms=(ring recursive-doubling circulant recursive-halving swing-latency bine)

# write RANKS RANKS_PER_HOST: files, one plain and one compact, and the contenders that run them
write()
{
    local i name
    contenders=()
    names=
    for i in 0 1; do
        name=${algorithms[($1 * 2 + i) % ${#algorithms[@]}]}
        tools/strag plan "$name" -n "$1" --ranks-per-node "$2" --format json \
            "${compact[@]:0:i}" > "$folder/$name.json"
        names+=${names:+,}$name
        contenders+=(--contender "strag-$name,coll_strag_algorithm=$name"
            --contender "strag-$name-again,coll_strag_algorithm=$name"
            --contender "strag-$name-file,coll_strag_plan=$folder/$name.json")
    done
}
compact=(--compact)

launch()
{
    mkdir -p "$1"
    folder=$(cd "$1" && pwd)
    describe_machine "$folder"
    for place in ${PLANS_PLACES:-shm lab}; do
        rm -f "$folder/$place"-np*.csv
        case $place in
            shm)
                for ranks in 2 3 4 5 6 7 8 9; do
                    write "$ranks" "$ranks"
                    run=(./strag-mpirun --allow-run-as-root --oversubscribe -np "$ranks"
                        --mca coll strag --mca pml ob1)
                    "${run[@]}" test/mpi/plans --folder "$folder" --algorithms "$names"
                    python3 "$here/busy.py" "$folder/shm-np$ranks.csv" \
                        "${run[@]}" bench/allreduce --sizes 64K,1M --check --seconds "$seconds" \
                        "${contenders[@]}" --output "$folder/shm-np$ranks.csv"
                done
                ;;
            lab)
                for ranks in 4 5; do
                    write "$ranks" 1
                    run=("$here/lab/lab" --build . mpirun "star:$ranks")
                    "${run[@]}" "$PWD/test/mpi/plans" --folder "$folder" --algorithms "$names"
                    python3 "$here/busy.py" "$folder/lab-np$ranks.csv" \
                        "${run[@]}" "$PWD/bench/allreduce" --sizes 256K,1M --check --warmup 2 \
                        --seconds "$seconds" "${contenders[@]}" --output "$folder/lab-np$ranks.csv"
                done
                ;;
            *)
                echo "plans.sh: PLANS_PLACES: $place is neither shm nor lab" >&2
                exit 2
                ;;
        esac
    done
}

for number in $(seq "${PLANS_LAUNCHES:-5}"); do
    launch "$top/$number"
done
