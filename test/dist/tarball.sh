#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What `make dist` packs has every file of the repository. With STRAG_TEST_FULL=1, minutes: README's
# steps build and install from it, and `make distcheck` passes with a few of the tests.
set -eu
# shellcheck source=test/dist/common.sh
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
logged make -C "$builddir" distdir distdir="$work/strag" top_distdir="$work/strag"
while read -r file; do
    # Removed, but not yet committed, or of git itself.
    if [ -e "$srcdir/$file" ] && [ "$file" != .gitignore ] && [ ! -e "$work/strag/$file" ]; then
        echo "$file"
    fi
done < "$work/tracked" > "$work/missing"
[ ! -s "$work/missing" ] || { cat "$work/missing"; fail 'not in the tarball'; }
echo "ok: all of $(wc -l < "$work/tracked") files"

[ -n "${STRAG_TEST_FULL:-}" ] || exit 0
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
