#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# After `make install` into Open MPI's own folders, with nothing set: users' jobs find the component,
# what it warns of arrives whole, and stock jobs are as they were. Run by inside.sh.
set -eu
: "${builddir:?}"
limit=("$builddir/test/limit" 60) # seconds a job

fail()
{
    [ ! -s "$output" ] || cat "$output"
    echo "FAIL: $*"
    exit 1
}

output=$(mktemp)
trap 'rm -f "$output"' EXIT
chmod a+rx "$builddir" "$builddir/test" "$builddir/test/dist"
while IFS='=' read -r name _; do
    unset "$name"
done < <(env | grep -E '^(OMPI|PMIX|PRTE)_MCA_')

# job RESULT MPIRUN-OPTIONS...: two ranks, one of whom prints their sum; no network, for which Open MPI
# 5.0 warns where there is none, and in libfabric's a rank sleeps for a second
job()
{
    local result=$1
    shift
    "${limit[@]}" mpirun --oversubscribe --mca btl ^ofi,tcp -np 2 "$@" "$builddir/test/dist/sum" \
        < /dev/null > "$output" 2>&1 || fail "mpirun $*"
    [ "$(grep -c "^sum $result\$" "$output")" = 1 ] || fail "no sum: mpirun $*"
    what="mpirun $*"
}

# it PATTERN: a line says so
it()
{
    grep -Eq -- "$1" "$output" || fail "no '$1': $what"
    echo "ok: $what: $1"
}

job 3
[ "$(cat "$output")" = 'sum 3' ] || fail 'a stock job says more than its own'
echo 'ok: a stock job'
ran='coll:strag: MPI_COMM_WORLD .*: allreduce of 4 \.\. 7 bytes: recursive-doubling'
log=(--mca coll_strag_verbose 1 --mca coll_strag_minimum_size 0)
job 3 --mca coll strag "${log[@]}"
it "$ran"
job 3 --mca coll_strag_priority 100 "${log[@]}"
it "$ran"
export OMPI_MCA_coll_strag_priority=100
job 3 "${log[@]}"
it "$ran"
unset OMPI_MCA_coll_strag_priority

OMPI_MCA_coll=strag OMPI_MCA_coll_strag_verbose=1 "$builddir/test/dist/sum" < /dev/null > "$output" 2>&1 ||
    fail 'without mpirun'
what='without mpirun'
it 'coll:strag: MPI_COMM_WORLD .*: not used: one rank'

job 3 --mca coll strag --mca coll_strag_algorithm nonsense
sed -n '/^-----*$/,/^-----*$/p' "$output" |
    sed 's/^-----*$/-----/; s/(nearest: .*); accepted: auto, previous, .*; used/...; used/' > "$output.text"
diff - "$output.text" << 'TEXT' || { rm -f "$output.text"; fail 'the warning is another one'; }
-----
coll/strag ignores the values of these MCA parameters. The value that it uses instead is
shown last on each line. Correct the parameters, or remove them:

  coll_strag_algorithm = "nonsense": no such algorithm ...; used: auto
-----
TEXT
rm -f "$output.text"
echo 'ok: the whole warning'

# Another user, with an empty home folder
home=$(mktemp -d)
trap 'rm -rf "$output" "$home"' EXIT
chown 65534:65534 "$home"
(
    cd "$home"
    "${limit[@]}" setpriv --reuid 65534 --regid 65534 --clear-groups env -u TMPDIR HOME="$home" \
        mpirun --oversubscribe --mca btl ^ofi,tcp -np 2 --mca coll strag "${log[@]}" "$builddir/test/dist/sum" \
        < /dev/null > "$output" 2>&1
) || fail 'as another user'
what='as another user'
it "$ran"

"${limit[@]}" mpirun --oversubscribe -np 2 --mca coll strag strag-tune --help < /dev/null > "$output" 2>&1 ||
    fail 'strag-tune'
ompi_info > "$output" 2>&1
what=ompi_info
it 'MCA coll: strag '
