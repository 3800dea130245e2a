#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Output that cannot be written: exit status 1 and a message, never half of it in silence.
set -eu
. "$(dirname "$0")/common.bash"

[ -w /dev/full ] || { echo "skipped: no /dev/full"; exit 77; }

lost() {
    local status=0
    "$STRAG" "$@" >/dev/full 2>"$work/err" || status=$?
    equal "exit status of strag $* to a full device" "$status" 1
    grep -q '^strag: the output could not be written' "$work/err" ||
        fail "strag $* to a full device says: $(<"$work/err")"
    equal "lines on stderr" "$(wc -l <"$work/err")" 1
}

lost list
lost --version
lost --help
lost cost --help
lost verify ring -n 1..20
lost cost -n 8 --bytes 32
lost cost -n 8 --bytes 32..1G --format csv
lost cost -n 8 --bytes 32..1G --format json
for format in text json; do
    lost explain -n 8 --bytes 32..1G --format "$format"
    lost topology --torus 8x8 --format "$format"
done
# Less than a buffer, so that only closing fails, and more than one.
for n in 1 64; do
    for format in text json svg; do
        lost plan ring -n "$n" --format "$format"
    done
done

status=0
"$STRAG" list >&- 2>"$work/err" || status=$?
equal 'exit status with stdout closed' "$status" 1

summary
