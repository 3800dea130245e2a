# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Shared by the MPI tests: starting a program with strag from the build folder, under a time limit.
# Needs bash with set -eu. By hand, in the build folder: bash .../test/mpi/types.sh

: "${srcdir:=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}"
: "${builddir:=$PWD}"
: "${STRAG_MPIRUN:=$builddir/strag-mpirun}"
: "${OMPI_INFO:=ompi_info}"
# shellcheck disable=SC2034 # used by the tests
programs=$builddir/test/mpi
: "${STRAG:=$builddir/tools/strag}"
# shellcheck disable=SC2034
mapfile -t algorithms < <("$STRAG" list | cut -d ' ' -f 1)

# STRAG_TEST_TRANSPORT=ucp: all messages over UCX, with the UCX_TLS of the environment, too.
transport_options=()
if [ -n "${STRAG_TEST_TRANSPORT:-}" ]; then
    transport_options=(--mca coll_strag_transport "$STRAG_TEST_TRANSPORT")
fi

# choose RANKS: in `chosen`, about five of the algorithms that this number of ranks on one host can
# have, others for other numbers. STRAG_TEST_FULL=1: all of them.
choose()
{
    local i every=$(((${#algorithms[@]} + 4) / 5))
    chosen=()
    if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
        every=1
    fi
    for i in "${!algorithms[@]}"; do
        # Its number of blocks depends on the size, and so does the order of its sums, which the tests
        # compare: layout.sh runs it.
        if [ "${algorithms[i]}" = flexreduce-pipelined ]; then
            continue
        fi
        if [ $((i % every)) -eq $(($1 % every)) ] &&
            "$STRAG" plan "${algorithms[i]}" -n "$1" --ranks-per-node "$1" --rank 0 \
                > "$builddir/plan.$$" 2>&1; then
            chosen+=("${algorithms[i]}")
        fi
    done
    rm -f "$builddir/plan.$$"
}

# listed: the chosen ones, between commas
listed()
{
    local IFS=,
    echo "${chosen[*]}"
}

fail()
{
    echo "FAIL: $*"
    exit 1
}

# own_folder NAME: in `files`, a folder of the test's own, which is removed in the end; in `output`, a file
# in it
own_folder()
{
    files=$builddir/$1-test.$$
    output=$files/output
    mkdir "$files"
    trap 'rm -rf "$files"' EXIT
}

# Several hosts on one machine: "$on_hosts" PER HOSTS PROGRAM... (see there), where can_make_hosts.
# shellcheck disable=SC2034 # used by the tests
on_hosts=$(cd "$srcdir" && pwd)/test/mpi/on_hosts.sh
can_make_hosts()
{
    unshare --uts true 2> /dev/null
}

# need_hosts: without them there is nothing to test
need_hosts()
{
    if ! can_make_hosts; then
        echo "skipped: this user may not give processes host names of their own (unshare --uts)"
        exit 77
    fi
}

ompi_version=$("$OMPI_INFO" --version | sed -n 's/^Open MPI v//p')

# without PATTERN REASON: is this a version of Open MPI that makes a part of a test impossible? Says so.
without()
{
    # shellcheck disable=SC2254 # a pattern
    case $ompi_version in
        $1)
            echo "left out with Open MPI $ompi_version: $2"
            return 0
            ;;
    esac
    return 1
}

# Where an interface has IPv6, too, btl/tcp of 5.0.7 finds no way over it, not to the same host either.
case $ompi_version in
    5.0.*) export OMPI_MCA_btl_tcp_disable_family=${OMPI_MCA_btl_tcp_disable_family-6} ;;
esac

# The components that Open MPI 4.1 and 5.0 choose here anyway. Opening the others, only to find no
# network, takes a third of a short job's time.
export OMPI_MCA_pml=${OMPI_MCA_pml-ob1}
# As Debian's configuration says, too, but not with 6.0: there a rank sleeps for a second to close
# libfabric's.
export OMPI_MCA_btl=${OMPI_MCA_btl-^ofi,openib,uct}

# hwloc's plugins, for PCI, GPUs and XML, load the libraries of X11, OpenCL and Unicode into each process; and to ask
# a virtual machine for its PCI devices takes a tenth of a short job's time.
export HWLOC_PLUGINS_PATH=${HWLOC_PLUGINS_PATH-/nowhere} HWLOC_COMPONENTS=${HWLOC_COMPONENTS--linuxio}
# Ranks of one machine keep what PMIx says in their own memory: files that they share take longer to make.
export PMIX_MCA_gds=${PMIX_MCA_gds-hash}

# The programs read counters by MPI_T, which loads every component. Those for networks that no test
# uses load libraries that calibrate themselves for 0.2 s (psm's, also through libfabric): half of a
# short job's time. The jobs therefore use a folder without them, and without those for files, OSHMEM,
# other launchers and mappings, each of which takes a millisecond of every process.
component_options=()
stock=$("$STRAG_MPIRUN" --print-env | sed -n "s/^export OMPI_MCA_mca_base_component_path='[^:]*:\(.*\)'$/\1/p")
if [ -e "$stock/mca_mtl_psm.so" ]; then
    components=$builddir/test/mpi/components
    if [ ! -d "$components" ]; then # made whole elsewhere: other tests may be making it, too
        own_components=$(mktemp -d "$builddir/components.XXXXXX")
        for component in "$stock"/*; do
            case ${component##*/} in
                *_ofi.* | *_psm.* | *_psm2.* | *_openib.* | *_usnic.* | *_ucx.*) ;;
                mca_io_* | mca_fcoll_* | mca_fbtl_* | mca_fs_* | mca_sharedfp_* | mca_sshmem_* | mca_memheap_* | \
                    mca_scoll_* | mca_spml_* | mca_atomic_*) ;;
                *_slurm.* | *_flux.* | *_jsm.* | *_gridengine.* | *_simulator.* | *_tool.* | *_novm.* | mca_compress_* | \
                    mca_crs_* | mca_filem_* | mca_vprotocol_*) ;;
                mca_rmaps_[!r]* | mca_rmaps_r[!o]* | mca_coll_adapt.* | mca_coll_sync.* | mca_osc_monitoring.* | \
                    mca_topo_treematch.* | mca_pml_cm.* | mca_odls_pspawn.* | mca_shmem_sysv.* | libompi_dbg_*) ;;
                mca_reachable_netlink.* | mca_routed_[!r]* | mca_regx_reverse.* | mca_plm_isolated.* | \
                    mca_pmix_isolated.* | mca_mpool_*) ;;
                *) ln -s "$component" "$own_components" ;;
            esac
        done
        mv -T "$own_components" "$components" 2> /dev/null || rm -rf "$own_components"
    fi
    component_options=(--mca mca_base_component_path "$builddir/ompi_coll_strag/.libs:$components")
fi

# Next to other tests, ranks that wait sleep (nap.c); where times are judged, and in long runs, they do as they
# always do. preloading FILE: a setting that lets ranks have this file, too.
naps=() nap=
if [ -e "$programs/.libs/nap.so" ] && [ -z "${STRAG_TEST_ALONE:-}" ] && [ "${STRAG_TEST_FULL:-0}" != 1 ]; then
    nap=$programs/.libs/nap.so
    naps=(env "LD_PRELOAD=$nap")
fi
preloading()
{
    echo "LD_PRELOAD=$1${nap:+:$nap}"
}

# mpi RANKS MPIRUN-OPTIONS-AND-PROGRAM...: run it, at most mpi_limit seconds, not counting what other
# programs take (limit.c)
mpi_limit=120
mpi()
{
    local ranks=$1
    shift
    ${naps[@]+"${naps[@]}"} "$builddir/test/limit" "$mpi_limit" "$STRAG_MPIRUN" --allow-run-as-root --oversubscribe \
        ${component_options[@]+"${component_options[@]}"} \
        ${transport_options[@]+"${transport_options[@]}"} -np "$ranks" "$@" < /dev/null
}

# mpirun OPTIONS "${own[@]}" NAME=VALUE NAME=VALUE PROGRAM...: of rank 0's environment, and of the other
# ranks'. (Several programs between colons would do as well, but crash mpirun of Open MPI 5.0.7.)
# shellcheck disable=SC2034 # expanded by the inner shell; used by the tests
own=(bash -c 'if [ "$OMPI_COMM_WORLD_RANK" -eq 0 ]; then export "$0"; else export "$1"; fi
    shift
    exec "$@"')

# must RANKS MPIRUN-OPTIONS-AND-PROGRAM...: it must succeed, over the selected transport; the ends of
# its output are shown
must()
{
    local status=0 ranks=$1 wanted=${STRAG_TEST_TRANSPORT:-}
    shift
    set -- ${wanted:+--mca coll_strag_verbose 1} "$@"
    mpi "$ranks" "$@" > "$builddir/mpi-output.$$" 2>&1 || status=$?
    if [ -n "$wanted" ] && grep 'transport: ' "$builddir/mpi-output.$$" | grep -qv " $wanted\$"; then
        status=transport
    fi
    if [ "$status" != 0 ]; then
        tail -n 60 "$builddir/mpi-output.$$"
        rm -f "$builddir/mpi-output.$$"
        fail "exit status $status (124: more than $mpi_limit seconds): mpirun -np $ranks $*"
    fi
    grep -E '^[a-z]+: np ' "$builddir/mpi-output.$$" || true
    rm -f "$builddir/mpi-output.$$"
}

# into_output RANKS MPIRUN-OPTIONS-AND-PROGRAM...: it must succeed; what it prints goes to the file $output
into_output()
{
    mpi "$@" > "${output:?}" 2>&1 || {
        cat "$output"
        fail "mpirun -np $*"
    }
}

# report_is FILE EXPRESSION...: true of `job`, a report's JSON, and `c`, its communicators by their names
report_is()
{
    python3 - "$@" << 'END' || fail "not so: $(cat "$1")"
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    job = json.load(file)
c = {communicator["communicator"]: communicator for communicator in job["communicators"]}
for expression in sys.argv[2:]:
    if not eval(expression):
        sys.exit("not so: " + expression)
END
}

# ---- Soak tests: the same over everything that strag's messages can go over, and counted ----

# find_ways: in `ways`, what messages can go over: shm (the memory that a host's ranks share), pml, and ucp
# where strag was built with it. STRAG_TEST_TRANSPORT: that one alone.
find_ways()
{
    ways=(shm pml)
    if [ -n "${STRAG_TEST_TRANSPORT:-}" ]; then
        ways=("$STRAG_TEST_TRANSPORT")
    elif (
        eval "$("$STRAG_MPIRUN" --print-env)"
        "$OMPI_INFO" --param coll strag --level 9
    ) | grep -q 'ucp (UCX'; then
        ways+=(ucp)
    fi
}

# over WAY: the next jobs' messages
over()
{
    way=$1
    transport_options=(--mca coll_strag_minimum_size 0)
    case $way in
        shm) transport_options+=(--mca coll_strag_shared_memory 1) ;;
        pml) transport_options+=(--mca coll_strag_shared_memory 0 --mca coll_strag_transport pml) ;;
        *) transport_options+=(--mca coll_strag_transport "$way") ;;
    esac
}

# record TEST WHAT RANKS CASES FAILED SECONDS: a row of FOLDER/soak.csv, where STRAG_TEST_RESULTS
# names a folder; bench/soak.py puts it into doc/results. What FAILED counts makes the test fail
# in its end (no_misses), so that a long run is a whole one.
missed=0
record()
{
    echo "$1: $2: over $way, $3 ranks: $4 cases, $5 failed, $6 s"
    missed=$((missed + $5))
    if [ -n "${STRAG_TEST_RESULTS:-}" ]; then
        mkdir -p "$STRAG_TEST_RESULTS"
        {
            uname -srm
            echo "cores: $(nproc)"
            "$STRAG_MPIRUN" --version | head -n 1
        } > "$STRAG_TEST_RESULTS/machine.txt"
        echo "$1;$2;$way;$3;$4;$5;$6" >> "$STRAG_TEST_RESULTS/soak.csv"
    fi
}

no_misses()
{
    [ "$missed" -eq 0 ] || fail "$missed in all"
}

# counted TEST WHAT RANKS MPIRUN-OPTIONS-AND-PROGRAM...: run it; the cases are the program's checks
counted()
{
    local test=$1 what=$2 ranks=$3 status=0 start=$SECONDS checks failed
    shift 3
    mpi "$ranks" --mca coll strag "$@" > "${output:?}" 2>&1 || status=$?
    read -r checks failed < <(sed -n "s/^[a-z]*: np $ranks: \\([0-9]*\\) checks, \\([0-9]*\\) failed\$/\\1 \\2/p" \
        "$output" | tail -n 1) || { checks=0 failed=0; }
    if [ "$status" -eq 77 ]; then
        echo "skipped: $(grep skipped "$output")"
        return
    fi
    if [ "$status" -ne 0 ]; then
        tail -n 60 "$output"
        echo "exit status $status (124: more than $mpi_limit seconds): mpirun -np $ranks $*"
        failed=$((failed > 0 ? failed : 1))
    fi
    record "$test" "$what" "$ranks" "$checks" "$failed" "$((SECONDS - start))"
}

# noticed PATTERN RANKS MPIRUN-OPTIONS-AND-PROGRAM...: it must fail, with such a line
noticed()
{
    local pattern=$1 ranks=$2
    shift 2
    if mpi "$ranks" --mca coll strag "$@" > "${output:?}" 2>&1 || ! grep -Eq -- "$pattern" "$output"; then
        cat "$output"
        fail "a fault on purpose was not noticed: mpirun -np $ranks $*"
    fi
    echo "ok: noticed: $pattern"
}

# lines COUNT PATTERN: this number of lines of the file $output match
lines()
{
    local count file=${output:?}
    count=$(grep -Ec -- "$2" "$file" || true)
    if [ "$count" -ne "$1" ]; then
        cat "$file"
        fail "$count lines match '$2', not $1"
    fi
}
