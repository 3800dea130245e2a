#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Real jobs with many ranks on this machine, strag's choice and stock: the first call on a
# communicator, later calls, communicators per second. CSV into a folder, and a page of
# doc/results from it:
#
#     bash bench/jobs.sh FOLDER [RESULTS]        in the build folder, after make bench/jobs
#
# RESULTS: ../doc/results, for example; without it there is no page. Environment: JOBS_RANKS
# ("32 64 128"), JOBS_LAUNCHES (5), JOBS_OPTIONS (of bench/jobs), STRAG_MPIRUN (./strag-mpirun).
set -eu
. "$(dirname "$0")/machine.sh"

folder=${1:?usage: jobs.sh FOLDER [RESULTS]}
: "${STRAG_MPIRUN:=./strag-mpirun}"
: "${builddir:=$PWD}"
mkdir -p "$folder"
rm -f "$folder"/jobs-*.csv
describe_machine "$folder" "$STRAG_MPIRUN"

for launch in $(seq "${JOBS_LAUNCHES:-5}"); do
    for ranks in ${JOBS_RANKS:-32 64 128}; do
        # shellcheck disable=SC2086
        python3 "$(dirname "$0")/busy.py" "$folder/jobs-$ranks-$launch.csv" \
            timeout 600 "$STRAG_MPIRUN" --allow-run-as-root --oversubscribe -np "$ranks" \
            --mca coll strag --mca pml ob1 --mca btl self,vader "$builddir/bench/jobs" \
            ${JOBS_OPTIONS:-} --output "$folder/jobs-$ranks-$launch.csv"
    done
done
[ $# -lt 2 ] || python3 "$(dirname "$0")/jobs.py" "$2" "$folder"
