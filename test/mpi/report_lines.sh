#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The report speaks wherever there is something to say, and only there; and nobody hangs. (report.sh has late ranks.)
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

own_folder report
folder=$files/of-a-job
mkdir "$folder"

# run RANKS OPTIONS-AND-PROGRAM...: into $output; of its files the last job's are there
run()
{
    rm -f "$folder"/*
    into_output "$@"
}

# All kinds of calls, one line each and nothing of those that made none; what was freed, and what was
# not. Rank 1 is the first of the odd ones: what it reports is in a file of its own.
run 4 --mca coll strag --mca coll_strag_report 1 "$programs/report" --mode kinds
lines 1 '^strag: all kinds: 4 ranks on 1 host: 5 blocking, 7 nonblocking, [13] persistent allreduces of 256 KiB; blocking ones took '
lines 1 '^strag: even: 2 ranks on 1 host: 4 blocking'
lines 1 '^strag: odd: 2 ranks on 1 host: 5 blocking'
lines 0 '^strag: (quiet|MPI_COMM_)'
run 4 --mca coll_strag_report "$folder/r.json" "$programs/report" --mode kinds
report_is "$folder/r.json" "sorted(c) == ['all kinds', 'even'] and c['all kinds']['nonblocking'] == 7 and c['even']['blocking'] == 4"
mv "$folder/r-of-rank-1.json" "$folder/r.json"
report_is "$folder/r.json" "sorted(c) == ['odd'] and c['odd']['blocking'] == 5 and job['job_ranks'] == 4"
lines 0 '^strag: '

# Persistent requests for which there was no room after all are counted, too: once each, since strag does
# not see their starts.
run 2 --mca coll strag --mca coll_strag_report 1 --mca coll_strag_shared_memory_size 1M \
    "$programs/report" --mode room
lines 1 '^strag: full: 2 ranks on 1 host: 80 persistent allreduces of 256 KiB'
lines 1 '^strag: full: run by .*: [0-9]+; the previous component.*: [0-9]+ \(a rank has no room, or no tag, for one more persistent request\)'

run 3 --mca coll strag --mca coll_strag_report 1 "$programs/report" --mode circle
lines 3 '^strag: .*: 2 ranks on 1 host: 1 nonblocking allreduce of 1 B; how long they took is not known$'

run 3 --mca coll strag --mca coll_strag_minimum_size 0 "$programs/report" --mode keys
lines 1 '^strag: on: 3 ranks on 1 host: 8 blocking allreduces of 256 KiB'
lines 1 '^strag: on later: 3 ranks on 1 host: 8 blocking allreduces of 256 KiB'
lines 0 '^strag: off'
run 2 --mca coll strag --mca coll_strag_report 1 "$programs/report" --mode keys
lines 1 '^strag: on: 2 ranks on 1 host: 11 blocking'
lines 0 '^strag: off'

run 3 --mca coll strag --mca coll_strag_report 1 "$programs/report" --mode crossed --bytes 64
lines 2 '^strag: .*: 3 ranks on 1 host: 4000 blocking'
lines 0 'is not known: the times of'

# coll/monitoring wraps what strag installed: a key comes too late, and the calls go on.
without '6.0.*' 'pml/monitoring crashes in MPI_Init, also without strag' ||
    run 2 --mca pml "ob1,monitoring" --mca pml_monitoring_enable 1 --mca coll_strag_priority 60 "$programs/report" --mode keys

# ---- Ranks that differ: rank 0's parameter counts, and a rank without strag is not waited for ----

run 3 "${own[@]}" OMPI_MCA_coll=strag OMPI_MCA_coll_strag_enable=0 env OMPI_MCA_coll_strag_report=1 \
    "$programs/report" --expect-strag 0 --calls 20
lines 1 '^strag: late: 3 ranks on 1 host: 20 blocking'
lines 1 '^strag: late: who was last is not known: the times of 1 of 3 ranks are$'
lines 0 'has waited for'
run 2 "${own[@]}" OMPI_MCA_coll_strag_report=1 OMPI_MCA_coll_strag_report=0 \
    "$programs/report" --expect-strag 0 --calls 20
lines 1 '^strag: late: who was last is not known: the times of 1 of 2 ranks are$'
lines 0 'has waited for'
run 2 "${own[@]}" OMPI_MCA_coll_strag_report=0 OMPI_MCA_coll_strag_report=1 \
    "$programs/report" --expect-strag 0 --calls 20
lines 0 '^strag: '

# ---- Ranks that do not free a communicator are named after 5 s ----

run 4 --mca coll strag --mca coll_strag_report 1 "$programs/report" --mode missing --until "$output"
lines 1 '^MPI_Comm_free of missing \(4 ranks\) has waited for 5 s, and waits for 9 s at most\.$'
lines 1 "^  not called by: rank 1 \\($(hostname)\\), rank 2 \\(.*\\), rank 3 \\(.*\\)\$"
lines 1 '^strag: missing: 4 ranks on 1 host: 1 blocking allreduce of 256 KiB;'
lines 0 'is not known: the times of'

# ---- Ranks that wait for rank 0 before they free a communicator are not waited for for long ----

run 3 --mca coll strag --mca coll_strag_report 1 "$programs/report" --mode after
lines 1 '^strag: after: who was last is not known: the times of 1 of 3 ranks are$'

# ---- A file that cannot be written ----

run 2 --mca coll strag --mca coll_strag_report "$folder/none/r.json" "$programs/report" --calls 20
lines 1 "^  $folder/none/r.json\$"
lines 1 'coll/strag cannot write this file \(coll_strag_report or coll_strag_trace\)'
