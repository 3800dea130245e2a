#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Real jobs with many ranks on this machine, strag's choice and stock: a job's first calls, the first
# call on a communicator, later calls, communicators per second. CSV into a folder, and a page of
# doc/results from it:
#
#     bash bench/jobs.sh FOLDER [RESULTS]        in the build folder, after make bench/jobs
#
# RESULTS: ../doc/results, for example; without it there is no page. Environment: JOBS_RANKS
# ("4 16 64"), JOBS_LAUNCHES (5), JOBS_OPTIONS (of bench/jobs), STRAG_MPIRUN (./strag-mpirun).
set -eu
. "$(dirname "$0")/machine.sh"

folder=${1:?usage: jobs.sh FOLDER [RESULTS]}
: "${STRAG_MPIRUN:=./strag-mpirun}"
: "${builddir:=$PWD}"
stock=ompi_comm_coll_preference=^strag
mkdir -p "$folder"
rm -f "$folder"/jobs-*.csv
describe_machine "$folder" "$STRAG_MPIRUN"

# job LAUNCH RANKS OPTION...
job()
{
    local file=$folder/jobs-$2-$1.csv ranks=$2
    shift 2
    # shellcheck disable=SC2086
    python3 "$(dirname "$0")/busy.py" "$file" timeout 600 "$STRAG_MPIRUN" --allow-run-as-root \
        --oversubscribe -np "$ranks" --mca coll strag --mca pml ob1 --mca btl self,vader \
        "$builddir/bench/jobs" ${JOBS_OPTIONS:-} "$@" --output "$file"
}

# A size's first call is that of a job which has one contender.
for launch in $(seq "${JOBS_LAUNCHES:-5}"); do
    for ranks in ${JOBS_RANKS:-4 16 64}; do
        for contender in strag stock,$stock stock-again,$stock; do
            job "$launch" "$ranks" --first --later 0 --contender "$contender"
        done
        job "$launch" "$ranks"
    done
done
[ $# -lt 2 ] || python3 "$(dirname "$0")/jobs.py" "$2" "$folder"
