# SPDX-License-Identifier: BSD-3-Clause
# Shared by the tests of the command line; each of them sources it.
# shellcheck shell=bash

# shellcheck disable=SC2034 # used where it is sourced
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
STRAG=${STRAG:-$PWD/tools/strag}
# The same program over test/cli/broken.c, whose algorithms are not what they claim.
STRAG_BROKEN=${STRAG_BROKEN:-${builddir:-$PWD}/test/cli/strag-broken}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

checks=0
refusals=0 # wrong inputs

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# equal WHAT ACTUAL EXPECTED
equal() {
    checks=$((checks + 1))
    [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"
}

# gives STATUS ARGUMENT...: run $STRAG, with its output in $work/out and $work/err.
gives() {
    local expected=$1 status=0
    shift
    "$STRAG" "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" = "$expected" ] || cat "$work/err"
    equal "exit status of strag $*" "$status" "$expected"
}

# succeeds ARGUMENT...: exit 0, and nothing on stderr.
succeeds() {
    gives 0 "$@"
    equal "stderr of strag $*" "$(<"$work/err")" ""
}

# refuses MESSAGE ARGUMENT...: exit 2, this one line on stderr, and nothing on stdout.
refuses() {
    local message=$1
    shift
    refusals=$((refusals + 1))
    gives 2 "$@"
    equal "stderr of strag $*" "$(<"$work/err")" "$message"
    equal "stdout of strag $*" "$(<"$work/out")" ""
}

# needs_python MODULE...: skip the test without them.
needs_python() {
    local modules
    modules=$(IFS=,; echo "$*")
    if ! python3 -c "import $modules" 2>/dev/null; then
        echo "skipped: python3 with $* is needed"
        exit 77
    fi
}

# The names of all algorithms, one a line.
algorithms() {
    "$STRAG" list | cut -d ' ' -f 1
}

# waiting: the algorithms that need a straggler, found once; symmetric: the others.
waiting() {
    local name
    [ -e "$work/waiting" ] || for name in $(algorithms); do
        ! "$STRAG" plan "$name" -n 4 --rank 0 2>&1 | grep -q 'and none is named; say which: --straggler R$' || echo "$name"
    done >"$work/waiting"
    cat "$work/waiting"
}
symmetric() {
    algorithms | grep -vxF -- "$(waiting)"
}

summary() {
    echo "$(basename "$0"): $checks checks passed"
}
