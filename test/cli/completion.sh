#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The completion for bash completes what the command takes.
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

# completes EXPECTED WORD...: the words of a line, the last one to be completed; strag itself is left out
completes()
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
completes "$commands" ''
completes 'verify' v
completes "--help --version" --
completes "${names% }" plan ''
completes "$names"all verify ''
completes 'ring' plan ri
completes 'ring,swing-latency ring,swing' cost ring,sw
completes 'text json svg' plan ring --format ''
completes 'csv' cost all --format c
completes 'rounds clocks' cost all --mode ''
completes 'split plus' explain --ties ''
completes '--torus --tree --ties' cost --t
completes '--hosts --hop-latency' explain --ho
completes '' plan ring -n ''
completes '' explain --bytes 1K ''
cd "$srcdir/examples"
completes 'fat-tree.conf' topology --layout fat
completes 'plans.py' verify --plan pla
# Every option that the help shows is completed.
for command in list plan verify cost explain topology params; do
    COMP_WORDS=("$STRAG" "$command" -)
    COMP_CWORD=2
    _strag "$STRAG" - "$command"
    [ "${COMPREPLY[*]}" = "$("$STRAG" "$command" --help | grep -oE '^  -[-a-z]+' | tr -d ' ' | tr '\n' ' ' |
        sed 's/ $//')" ] || fail "strag $command -: offered ${COMPREPLY[*]}"
    checks=$((checks + 1))
done
echo "completion.sh: $checks checks passed"
