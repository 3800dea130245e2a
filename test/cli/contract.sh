#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Plans and choices have not changed: test/cli/contract.py. STRAG_UPDATE=1 writes the lists again.
set -eu
. "$(dirname "$0")/common.bash"
needs_python json

python3 "$here/contract.py" "$STRAG" "$here/golden" ${STRAG_UPDATE:+update}

# A wrong list is detected. A few lines of the list will do: the others were compared above.
mkdir "$work/golden"
sed -n '1p; /^ring -n 5:/s/: .*/: 0123456789abcdef/p; /^ring -n [46]:/p' "$here/golden/plans.sha256" \
    >"$work/golden/plans.sha256"
sed -n '1p; /^-n 2:/s/|.*/| 0 ring/p; /^-n [37]:/p' "$here/golden/explain.sha256" >"$work/golden/explain.sha256"
! python3 "$here/contract.py" "$STRAG" "$work/golden" >"$work/out" 2>"$work/err" ||
    fail 'wrong lists are taken for right'
equal 'what differs' "$(grep -c '^strag ' "$work/out")" 2
equal 'how many differ' "$(sed 's/ (.*//' "$work/err")" 'contract: 2 of 6 differ'
summary
