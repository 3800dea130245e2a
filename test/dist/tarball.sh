#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What `make dist` packs has every file of the repository, by make's list. With STRAG_TEST_FULL=1, minutes: it is
# packed, README's steps build and install from it, and `make distcheck` passes with a few of the tests.
set -eu
. "${srcdir:?run me by make check}/test/dist/common.sh"

own_folder tarball

# logged COMMAND...: what it prints is shown if it fails
logged()
{
    "$@" > "$work/log" 2>&1 < /dev/null || { tail -n 30 "$work/log"; fail "$*"; }
}

git -C "$srcdir" ls-files > "$work/tracked" 2> /dev/null ||
    skip 'not a git checkout: nothing says which files there are'
[ -s "$work/tracked" ] || skip 'git knows no file here'
# missing PACKED: what is neither there nor in a folder that is. Not what is removed, but not yet committed, nor what
# is git's own.
missing()
{
    awk 'NR == FNR { packed[$0]; next }
        { name = $0; while (!(name in packed) && sub("/[^/]*$", "", name)); if (!(name in packed)) print }' \
        "$1" "$work/tracked" | while read -r file; do
        [ ! -e "$srcdir/$file" ] || [ "$file" = .gitignore ] || echo "$file"
    done
}
# all_packed PACKED
all_packed()
{
    missing "$1" > "$work/missing"
    [ ! -s "$work/missing" ] || { cat "$work/missing"; fail 'not in the tarball'; }
}

mapfile -t printed < <(make -s -C "$builddir" print-top_srcdir print-DISTFILES)
tr ' ' '\n' <<< "${printed[1]}" | sed "s,^${printed[0]}/,," > "$work/packed"
all_packed "$work/packed"
grep -vx src/api/strag.h "$work/packed" > "$work/fewer"
[ "$(missing "$work/fewer")" = src/api/strag.h ] || fail 'a file that is not packed is not noticed'
echo "ok: all of $(wc -l < "$work/tracked") files"

[ -n "${STRAG_TEST_FULL:-}" ] || exit 0
logged make -C "$builddir" distdir distdir="$work/strag" top_distdir="$work/strag"
(cd "$work/strag" && find . -mindepth 1 -printf '%P\n') > "$work/packed"
all_packed "$work/packed"
(
    cd "$work/strag"
    logged ./configure
    logged nice make -j "$(nproc)"
    logged make install DESTDIR="$work/root"
) || exit 1
strag=$(find "$work/root" -name strag -path '*/bin/*')
"$strag" verify ring -n 5 | grep -q '^verified ring n=5 ' || fail 'what README builds does not run'
logged nice make -j "$(nproc)" -C "$builddir" distcheck TESTS='test/cli/usage.sh test/dist/library.sh test/dist/install.sh'
echo "ok: README's steps, and make distcheck"
