#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What a communicator costs that is made, used once and freed: launches with strag, without it, and
# without it again take turns. CSV into a folder, and a page of doc/results from it:
#
#     bash bench/communicators.sh FOLDER [RESULTS]
#
# in the build folder, after make bench/communicators. RESULTS: ../doc/results, for example;
# without it there is no page. Environment: COMMUNICATORS_RANKS ("4 16 64"),
# COMMUNICATORS_LAUNCHES (5, of each), COMMUNICATORS_OPTIONS (of bench/communicators), STRAG_MPIRUN
# (./strag-mpirun).
set -eu
. "$(dirname "$0")/machine.sh"

folder=${1:?usage: communicators.sh FOLDER [RESULTS]}
: "${STRAG_MPIRUN:=./strag-mpirun}"
: "${builddir:=$PWD}"
mkdir -p "$folder"
rm -f "$folder"/communicators-*.csv
describe_machine "$folder" "$STRAG_MPIRUN"

# launch RANKS CONTENDER MPIRUN-OPTION...; a CSV has a line for each launch and kind
launch() {
    ranks=$1 contender=$2
    shift 2
    # shellcheck disable=SC2086
    python3 "$(dirname "$0")/busy.py" "$folder/communicators-$ranks-$contender.csv" \
        timeout 600 "$STRAG_MPIRUN" --allow-run-as-root --oversubscribe -np "$ranks" "$@" \
        --mca pml ob1 --mca btl self,vader "$builddir/bench/communicators" \
        ${COMMUNICATORS_OPTIONS:-} --output "$folder/communicators-$ranks-$contender.csv"
}

for ranks in ${COMMUNICATORS_RANKS:-4 16 64}; do
    for turn in $(seq "${COMMUNICATORS_LAUNCHES:-5}"); do
        echo "$ranks ranks, turn $turn"
        launch "$ranks" stock --mca coll ^strag
        launch "$ranks" strag --mca coll_strag_priority 100
        launch "$ranks" stock-again --mca coll ^strag
    done
done
[ $# -lt 2 ] || python3 "$(dirname "$0")/communicators.py" "$2" "$folder"
