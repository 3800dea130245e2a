#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The completion for bash offers what the command takes.
set -eu
: "${srcdir:?run me by make check}" "${STRAG:?}"

fail()
{
    echo "FAIL: $*"
    exit 1
}

checks=0
# shellcheck source=tools/completion/strag
. "$srcdir/tools/completion/strag"
complete -p strag | grep -q -- '-F _strag strag' || fail 'strag is not completed'

# offers EXPECTED WORD...: the words of a line, the last one to be completed; strag itself is left out
offers()
{
    local expected=$1
    shift
    COMP_WORDS=("$STRAG" "$@")
    COMP_CWORD=$#
    _strag "$STRAG" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    [ "${COMPREPLY[*]-}" = "$expected" ] || fail "strag $*: offered '${COMPREPLY[*]-}', not '$expected'"
    checks=$((checks + 1))
}

names=$("$STRAG" list | cut -d ' ' -f 1 | tr '\n' ' ')
commands=$("$STRAG" nonsense 2>&1 | sed 's/.*accepted: //; s/,//g')
offers "$commands" ''
offers 'verify' v
offers "--help --version" --
offers "${names% }" plan ''
offers "$names"all verify ''
offers 'ring' plan ri
offers 'ring,swing-latency ring,swing' cost ring,sw
offers 'text json svg' plan ring --format ''
offers 'csv' cost all --format c
offers 'rounds clocks' cost all --mode ''
offers 'split plus' explain --ties ''
offers '--torus --tree --ties' cost --t
offers '--hosts --hop-latency' explain --ho
offers '' plan ring -n ''
offers '' explain --bytes 1K ''
cd "$srcdir/examples"
offers 'fat-tree.conf' topology --layout fat
offers 'plans.py' verify --plan pla
# Every option that the help shows is offered.
for command in list plan verify cost explain topology params; do
    COMP_WORDS=("$STRAG" "$command" -)
    COMP_CWORD=2
    _strag "$STRAG" - "$command"
    [ "${COMPREPLY[*]}" = "$("$STRAG" "$command" --help | grep -oE '^  -[-a-z]+' | tr -d ' ' | tr '\n' ' ' |
        sed 's/ $//')" ] || fail "strag $command -: offered ${COMPREPLY[*]}"
    checks=$((checks + 1))
done
echo "completion.sh: $checks checks passed"
