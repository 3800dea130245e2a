# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Shared by the tests with real programs: the same job over stock Open MPI and over strag, and the
# proof that strag ran. Needs bash with set -eu.

. "${srcdir:?}/test/mpi/common.sh"
mpi_limit=600

# Numbers of ranks: each algorithm that is pinned has one. STRAG_TEST_FULL=1: more, all with all.
# shellcheck disable=SC2034 # used by the tests
case ${STRAG_TEST_FULL:-0} in
    1) app_ranks='2 3 4 8' ;;
    *) app_ranks='3 4' ;;
esac

# algorithms_for RANKS: auto, and pinned ones
algorithms_for()
{
    case ${STRAG_TEST_FULL:-0}-$1 in
        0-2) echo auto ;;
        0-3) echo circulant ;;
        0-4) echo auto ;;
        *) echo ring recursive-doubling recursive-halving circulant auto ;;
    esac
}

# need PROGRAM PACKAGE: skips the test where the program is missing
need()
{
    if ! command -v "$1" > /dev/null; then
        echo "SKIP: $1 is not installed (Debian: apt-get install $2)"
        exit 77
    fi
}

# job FOLDER RANKS MPIRUN-OPTIONS-AND-PROGRAM...: output in FOLDER/output
job()
{
    local folder=$1 ranks=$2
    shift 2
    if ! (cd "$folder" && mpi "$ranks" "$@" > output 2>&1); then
        tail -n 30 "$folder/output"
        fail "job failed, np $ranks: $*"
    fi
}

# The options that run an algorithm at every size, and log it.
strag_options()
{
    echo "--mca coll strag --mca coll_strag_verbose 1" \
        "--mca coll_strag_algorithm $1 --mca coll_strag_minimum_size 0"
}

# must_be_stock FILE, must_be_strag FILE ALGORITHM: which component ran, by strag's log line
must_be_stock()
{
    if grep -q 'coll:strag:' "$1"; then
        fail "strag spoke in a stock run: $(grep -m 1 'coll:strag:' "$1")"
    fi
}

must_be_strag()
{
    local name=$2
    if [ "$name" = auto ]; then
        name='[a-z-]+'
    fi
    grep -Eq "coll:strag: .*allreduce of .* bytes: $name( in [0-9]+ blocks?)? \\(" "$1" ||
        fail "no line of strag says that $2 ran: $(grep -m 3 'coll:strag:' "$1")"
    if [ "$2" = auto ]; then
        return
    fi
    if grep 'coll:strag: .*allreduce of' "$1" | grep -Eqv "bytes: $name( in [0-9]+ blocks?)? \\("; then
        fail "not only $2 ran: $(grep 'coll:strag: .*allreduce of' "$1" | grep -Ev "bytes: $name( in [0-9]+ blocks?)? \\(")"
    fi
}
