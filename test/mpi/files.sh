#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Files of a job: a FIFO in the place of one that is read or written holds up no rank; what is written is
# a whole file with the umask's permissions, under no other name than was asked for, whatever the
# communicator is called; nothing else is replaced, and no link is followed.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

own_folder files
work=$files/work
mkdir "$work"
job=("$programs/report" --calls 5)

# job_of_two OPTIONS...: it must end, within seconds on a machine with nothing else to do
mpi_limit=60
job_of_two()
{
    into_output 2 --mca coll strag --mca coll_strag_verbose 1 "$@" "${job[@]}"
    lines 1 '^report: np 2: '
}

# only NAME...: these files are in $work, and no others
only()
{
    local there
    there=$(find "$work" -mindepth 1 -printf '%P\n' | sort)
    [ "$there" = "$(printf '%s\n' "$@" | sort)" ] || fail "in the folder are: $there"
}

# ---- What is no file ----

mkfifo "$files/fifo"
why='a FIFO, socket or device; only a regular file is read here'
job_of_two --mca coll_strag_layout "$files/fifo" --mca coll_strag_rules "$files/fifo" \
    --mca coll_strag_model "$files/fifo" --mca coll_strag_plan "$files/fifo"
for file in 'layout|description of the network' 'rules|rules file' 'model|model file' 'plan|plan'; do
    lines 1 "^coll/strag cannot use this (${file#*|})"
done
lines 4 "^  .*fifo: $why"
job_of_two --mca coll_strag_report "$files/fifo" --mca coll_strag_save "$files/fifo"
lines 2 '^  a FIFO, socket or device has this name'
job_of_two --mca coll_strag_trace "$files/fifo"
lines 1 '^  a FIFO, socket or device has this name'
job_of_two --mca coll_strag_trace "$files"
lines 1 '^  Is a directory'
echo "ok: FIFOs"

# Devices are what they always were; as root, too, nothing takes their place.
job_of_two --mca coll_strag_report /dev/null --mca coll_strag_save /dev/stdout --mca coll_strag_trace /dev/stderr
lines 1 '^strag-saved: 2'
if ! [ -c /dev/null ] || ! [ -L /dev/stdout ]; then
    fail "a device was replaced"
fi
lines 0 'cannot write'
echo "ok: devices"

# ---- Names ----

# unchanged: what was there is as it was
unchanged()
{
    [ "$(cat x.svg victim .hidden)" = $'mine\nmine\nmine' ] || fail "a file was replaced"
}

# A trace takes no other file's place.
cd "$work"
echo mine | tee x.svg .hidden > victim
ln -s victim x.json
(
    umask 027
    job_of_two --mca coll_strag_trace x.json --mca coll_strag_save saved --mca coll_strag_report report.json
)
only .hidden report.json saved victim x.json x.svg
unchanged
[ ! -L x.json ] || fail "it is a link yet"
for file in report.json saved x.json; do
    [ "$(stat -c %a "$file")" = 640 ] || fail "$file has the permissions $(stat -c %a "$file")"
done
python3 -c 'import json; json.load(open("x.json")); json.load(open("report.json"))'
rm x.json* saved report.json

# named NAME FILE: a communicator with this name, its trace's name
named()
{
    job=("$programs/report" --calls 5 --name "$1")
    job_of_two --mca coll_strag_trace "$work/%c"
    only .hidden victim x.svg "$2"
    rm "$2"
}
named .. _.
named .hidden _hidden
named ../victim _.-victim
named $'-\n/\e\377b' _----b
long=$(printf '%063d' 0)
named "$long" "$long"
unchanged
echo "ok: names"

# The model that is written without a name takes no other one's place.
echo mine > model.yaml
if mpi 2 --mca coll strag "$builddir/tools/strag-tune" --seconds 0.05 --model > "$output" 2>&1; then
    fail "strag-tune replaced model.yaml"
fi
lines 1 '^strag-tune: model.yaml is there already; --model model.yaml replaces it$'
[ "$(cat model.yaml)" = mine ] || fail "model.yaml was replaced"
echo "ok: strag-tune"
