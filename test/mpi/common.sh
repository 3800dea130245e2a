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

# The components that Open MPI 4.1 and 5.0 choose here anyway. Opening the others, only to find no
# network, takes a third of a short job's time.
export OMPI_MCA_pml=${OMPI_MCA_pml-ob1}

# The programs read counters by MPI_T, which loads every component. Those for networks that no test
# uses load libraries that calibrate themselves for 0.2 s (psm's, also through libfabric): half of a
# short job's time. The jobs therefore use a folder without them.
component_options=()
stock=$("$STRAG_MPIRUN" --print-env | sed -n "s/^export OMPI_MCA_mca_base_component_path='[^:]*:\(.*\)'$/\1/p")
if [ -e "$stock/mca_mtl_psm.so" ]; then
    components=$builddir/test/mpi/components
    mkdir -p "$components"
    for component in "$stock"/*; do
        case ${component##*/} in
            *_ofi.* | *_psm.* | *_psm2.* | *_openib.* | *_usnic.*) ;;
            *) [ -e "$components/${component##*/}" ] || ln -sf "$component" "$components" ;;
        esac
    done
    component_options=(--mca mca_base_component_path "$builddir/ompi_coll_strag/.libs:$components")
fi

# mpi RANKS MPIRUN-OPTIONS-AND-PROGRAM...: run it, at most mpi_limit seconds
mpi_limit=120
mpi()
{
    local ranks=$1
    shift
    timeout --kill-after=10 "$mpi_limit" "$STRAG_MPIRUN" --allow-run-as-root --oversubscribe \
        ${component_options[@]+"${component_options[@]}"} \
        ${transport_options[@]+"${transport_options[@]}"} -np "$ranks" "$@" < /dev/null
}

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
