#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What a user gets wrong: one warning, from rank 0 alone, which names the nearest of what is accepted;
# and what only looks wrong: none. Whatever it is, the results are right (sizes.c).
# STRAG_TEST_FULL=1: more of them.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

output=$builddir/mistakes-output.$$
file=$builddir/mistakes-file.$$
trap 'rm -f "$output" "$file"' EXIT
here=$(hostname)
warning='coll/strag (cannot use|ignores)|coll_strag_algorithm names'
strag=(--mca coll strag --mca orte_base_help_aggregate 0) # mpirun is not to gather equal messages

# run CALLS DELEGATED OPTIONS... [-- PROGRAM-OPTIONS...]: with 4 ranks; who ran, on rank 0
run()
{
    local calls=$1 delegated=$2 options=()
    shift 2
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    [ $# -eq 0 ] || shift
    mpi 4 "${strag[@]}" ${options[@]+"${options[@]}"} "$programs/sizes" "$@" > "$output" 2>&1 ||
        { cat "$output"; fail "mpirun ${options[*]-} $*"; }
    lines 1 "^sizes: calls $calls, delegated $delegated\$"
    what="${options[*]-} $*"
}

# warned PATTERN...: one warning, and one line of each of these
warned()
{
    lines 1 "$warning"
    local pattern
    for pattern in "$@"; do
        lines 1 "$pattern"
    done
    echo "ok: one warning: $what"
}

# silent: no warning
silent()
{
    lines 0 "$warning"
    lines 0 'no such|there is no'
    echo "ok: no warning: $what"
}

# ---- Parameters that do not exist ----

unknown='no such parameter \(nearest: coll_strag'
run 12 12 -x OMPI_MCA_coll_strag_priorty=1 --mca coll_strag_straglr 1 --mca coll_strag_minsize ''
warned "coll_strag_priorty = \"1\": ${unknown}_priority\)" \
    "coll_strag_straglr = \"1\": ${unknown}_straggler\)" \
    "coll_strag_minsize = \"\": ${unknown}_"
lines 3 "$unknown"

# In files, and with other errors. (mpirun of Open MPI 6.0.0rc2 reads them itself: a comment
# behind a value is a part of it, and they go before the command line.)
printf '%s\n' '# coll_strag_comment = 1' ' coll_strag_windw=7 # no' 'coll_strag_window = 5' \
    'coll_strag_algorthm = ring' 'coll_starg_ports = 1' > "$file"
run 12 12 --mca mca_base_param_files "$file" --mca coll_strag_algorthm swing --mca coll_strag_ports x
warned 'coll_strag_ports = "x"' "coll_strag_windw = \"7( # no)?\": ${unknown}_window\)" \
    "coll_strag_algorthm = \"(swing|ring)\": ${unknown}_algorithm\); accepted: what .ompi_info --param coll strag --level 9. lists; used: nothing"
lines 2 "$unknown"
dash=-
! without '[5-9].*' 'a single dash in a file of --tune' || dash=--
echo "${dash}mca coll_strag_verbose 0 --mca coll_strag_window 5 ${dash}mca coll_strag_rulez a" > "$file"
run 12 12 --tune "$file"
warned "coll_strag_rulez = \"a\": ${unknown}_rules\)"
lines 1 "$unknown"

# Open MPI's own for every component, those of others, and what is right
run 12 12 -x OMPI_MCA_coll_strag_minor_version=7 -x OMPI_MCA_coll_stragger=1 \
    -x OMPI_MCA_coll_strag_verbose=0 --mca coll_strag_straggler 3 --mca coll_strag_slowdown "$here:2,3:2" \
    -- --keys "other=1;coll_strag_straggler=3;coll_strag_slowdown=$here:2;coll_strag_report=0"
silent

# What keeps strag from being used
strag=(--mca orte_base_help_aggregate 0)
run 0 0 --mca coll_strag_priorty 100
warned "coll_strag_priorty = \"100\": ${unknown}_priority\)"
strag+=(--mca coll strag)

# ---- Values: the nearest name, the job's ranks and hosts ----

ranks="the job's are 0 to 3; accepted:"
run 12 12 --mca coll_strag_straggler 99 --mca coll_strag_slowdown 1:2,99:2
warned "coll_strag_straggler = \"99\": there is no rank 99; $ranks auto, dynamic, none, or RANK\[:MICROSECONDS\]\[,\.\.\.\]; used: auto" \
    "coll_strag_slowdown = \"1:2,99:2\": there is no rank 99; $ranks auto, none, or WHO:FACTOR.*; used: auto"
run 12 12 --mca coll_strag_slowdown "nodeX:2,1:3,$here:2,y:2" --mca coll_strag_straggler 4
lines 2 "$warning" # at the job's start, and then
lines 1 'coll_strag_straggler = "4": there is no rank 4'
lines 2 "coll_strag_slowdown = \"(nodeX|y)\": no such host \(nearest: $here\); accepted: $here; used: nothing"

# Rank 0's parameter holds where they differ, and what is wrong on other ranks is not used there either.
for value in previous ${STRAG_TEST_FULL:+rign}; do
    mpi 4 "${strag[@]}" "${own[@]}" OMPI_MCA_coll_strag_algorithm=ring "OMPI_MCA_coll_strag_algorithm=$value" \
        "${own[@]}" NOTHING= OMPI_MCA_coll_strag_slowdown=99:2 "$programs/sizes" > "$output" 2>&1 ||
        { cat "$output"; fail "ring on rank 0, $value on others"; }
    lines 1 '^sizes: calls 24, delegated 0$'
    what="ring on rank 0, $value and a wrong slowdown on the others"
    silent
done

# A rank or a host that is not in one communicator is no mistake.
pinned=(--mca coll_strag_algorithm straggler-pipeline)
run 24 0 "${pinned[@]}" --mca coll_strag_straggler 0 -- --how halves
silent
run 12 12 "${pinned[@]}" --mca coll_strag_straggler 3 --mca coll_strag_verbose 1 -- --how halves
silent
lines 1 'the duplicate .* 2 ranks\): straggler-pipeline: .*none is named'
run 12 12 --mca coll_strag_algorithm straggler-pipeline -- --keys 'coll_strag_straggler=2'
warned 'straggler-pipeline on MPI_COMM_WORLD \(4 ranks\)' 'arrives late, and none is named'

# ---- Files that are not there, whatever goes before them ----

rules='cannot use this rules file \(coll_strag_rules\)'
layout='cannot use this description of the network \(coll_strag_layout'
missing="$file.gone: cannot be opened: No such file or directory"
any='[0-9]+'
for other in ${STRAG_TEST_FULL:+algorithm=ring reproducible=ranks} torus=4; do
    set -- --mca "coll_strag_${other%=*}" "${other#*=}"
    run "$any" "$any" --mca coll_strag_rules "$file.gone" --mca coll_strag_layout "$file.gone" "$@"
    lines 2 "$warning"
    lines 1 "$rules"
    lines 1 "$layout"
    lines 2 "$missing"
done
run 48 0 --mca coll_strag_rules "$file.gone" --mca coll_strag_algorithm ring -- --how halves --times 3
warned "$rules" "$missing"

# ---- Info keys ----

keys='coll_strag_algorithm, coll_strag_plan, coll_strag_ports, coll_strag_transport, coll_strag_report, coll_strag_straggler, coll_strag_slowdown'
for how in ${STRAG_TEST_FULL:+dup} split-type; do # which calls MPI_Allreduce itself
    run "$any" 36 -- --how "$how" --times 5 --keys 'coll_strag_bogus=1;other=2'
    warned "coll_strag_bogus \(info key\) = \"1\": no such info key \(nearest: coll_strag_ports\); accepted: $keys; used: nothing"
done
for how in dup ${STRAG_TEST_FULL:+split-type}; do
    run "$any" 12 -- --how "$how" --keys 'coll_strag_stragler=2;coll_strag_algorithm=prevoius;coll_strag_ports=0;coll_strag_transport=tcp;coll_strag_report=2;coll_strag_straggler=4;coll_strag_slowdown=7:2'
    warned 'coll_strag_stragler \(info key\) = "2": no such info key \(nearest: coll_strag_straggler\)' \
        'coll_strag_algorithm \(info key\) = "prevoius": no such algorithm \(nearest: previous\); accepted: auto, previous, .*; used: auto' \
        'coll_strag_ports \(info key\) = "0": .*; accepted: auto, or 1 to 16; used: auto' \
        'coll_strag_transport \(info key\) = "tcp": .*; accepted: auto, pml.*; used: auto' \
        'coll_strag_report \(info key\) = "2": .*; used: 0' \
        'coll_strag_straggler \(info key\) = "4": there is no rank 4; the job.s are 0 to 3; .*; used: auto' \
        'coll_strag_slowdown \(info key\) = "7:2": there is no rank 7'
done
run 18 18 -- --times 2 --keys 'coll_strag_slowdown=nodeX:2'
warned "coll_strag_slowdown \\(info key\\) = \"nodeX\": no such host \\(nearest: $here\\)"

# Set before the first call that needs the setup: in time.
run 24 24 --mca coll_strag_verbose 1 -- --how set-info --times 3 \
    --keys 'other=1;coll_strag_algorithm=ring;coll_strag_ports=1'
silent
lines 6 'the duplicate .*: ring \(pinned by coll_strag_algorithm\)'

# On one rank alone: rank 0's counts. Any other would have that rank, or all but that one, wait for ever.
# Short calls go to the previous component until the ranks have heard of the key.
for value in ring previous; do
    for who in 0 3; do
        case ${STRAG_TEST_FULL:-0},$who in 0,3) continue ;; esac # between hosts it is tried below
        calls=12
        [ "$who $value" != '0 previous' ] || calls=6
        case "$who $value" in
            '0 ring' | '3 previous') memory=1 ;;
            *) memory=0 ;;
        esac
        run "$calls" $((24 - calls)) --mca coll_strag_shared_memory "$memory" --mca coll_strag_verbose 1 -- \
            --who "$who" --keys "coll_strag_algorithm=$value"
        lines 1 'the info key coll_strag_algorithm is not the same there as on rank 0'
        ring=0
        [ "$who $value" != '0 ring' ] || ring=2
        lines "$ring" 'the duplicate .*: ring \(pinned by coll_strag_algorithm\)'
    done
done
if can_make_hosts; then
    for value in ring ${STRAG_TEST_FULL:+previous}; do
        into_output 4 "${strag[@]}" "$on_hosts" 2 - "$programs/sizes" --who 3 \
            --keys "coll_strag_algorithm=$value" --times 2
        lines 1 'the info key coll_strag_algorithm is not the same there as on rank 0'
    done
fi
echo "ok: a key on one rank"

# ---- Off, and auto, on one communicator ----

run 12 12 --mca coll_strag_algorithm ring -- --keys coll_strag_algorithm=previous
silent
run 6 18 --mca coll_strag_algorithm previous --mca coll_strag_verbose 1 -- --keys coll_strag_algorithm=auto
lines 4 'MPI_COMM_WORLD .*: previous component \(coll_strag_algorithm is previous\)'
lines 2 'the duplicate .*: previous component \(below coll_strag_minimum_size\)'
echo "ok: previous and auto"
eval "$("$STRAG_MPIRUN" --print-env)"
if "$OMPI_INFO" --param coll strag --level 9 | grep -q 'ucp (UCX'; then
    export UCX_TLS=posix,cma,self
    run 12 12 --mca coll_strag_transport ucp --mca coll_strag_verbose 1 -- --keys coll_strag_transport=auto
    lines 1 'MPI_COMM_WORLD .*: transport: ucp'
    lines 1 'the duplicate .*: transport: pml'
    silent
fi
