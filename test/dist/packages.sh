#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What packages are made from has the program's version, address and URL, and goes into the tarball;
# debian/ names every file that `make install` installs; rpmlint finds no error; the recipes for Spack and
# EasyBuild run.
set -eu
. "${srcdir:?run me by make check}/test/dist/common.sh"
own_folder packages

version=$(value PACKAGE_VERSION)
python3 "$srcdir/test/dist/recipes.py" "$srcdir/dist/spack/package.py" "$srcdir/dist/easybuild/strag-$version-gompi-2023b.eb" "$version"

# The address for reports and the URL: the same everywhere, nowhere else, and one edit.
sh "$srcdir/dist/publish" --check || fail 'the address for reports, or the URL, is not the same everywhere'
published=$work/published
mkdir "$published"
(cd "$srcdir" && tar cf - configure.ac ./*.md CITATION.cff quickstart debian dist doc/results/README.md) |
    tar xf - -C "$published"
chmod -R u+w "$published"
(cd "$published" && mkdir bench cuda examples models ompi_coll_strag src tools)
sh "$published/dist/publish" reports@strag.test https://strag.test
if grep -rIF example.org "$published"; then
    fail 'dist/publish leaves a placeholder'
fi
sh "$published/dist/publish" --check || fail 'dist/publish --check after dist/publish'
echo 'Write to reports@strag.test.' >> "$published/CONTRIBUTING.md"
if sh "$published/dist/publish" --check > "$work/log" 2>&1; then
    fail 'an address elsewhere is not found'
fi
grep -q CONTRIBUTING.md "$work/log" || { cat "$work/log"; fail 'an address elsewhere is not named'; }
[ "$(sed -n 's/^Version: *//p' "$srcdir/dist/strag.spec")" = "$version" ] || fail 'the version of dist/strag.spec'
quickstart=$(sed -n "/^packages_build='/,/'\$/{s/packages_build=//;s/'//g;p}" "$srcdir/quickstart")
diff <(tr -s ' ' '\n' <<< "$quickstart" | grep -Evx '(auto(conf|make)|libtool|)') \
    <(sed -n 's/^RUN .*--no-install-recommends \([^&]*\) &&.*/\1/p' "$srcdir/dist/Containerfile" | tr ' ' '\n' | grep -vx xz-utils) ||
    fail 'dist/Containerfile installs other packages than quickstart'
grep -q "^COPY strag-$version.tar.xz " "$srcdir/dist/Containerfile" || fail 'the version of dist/Containerfile'
for command in rpmspec rpmlint; do
    command -v "$command" > /dev/null || { echo "left out: no $command"; continue; }
    options=()
    [ "$command" != rpmspec ] || options=(-P --define 'ompi /nowhere')
    [ "$command" != rpmlint ] || options=(-r "$srcdir/dist/strag.rpmlintrc")
    "$command" "${options[@]}" "$srcdir/dist/strag.spec" > "$work/log" 2>&1 || { cat "$work/log"; fail "$command"; }
done
[ "$(sed -n '1s/^strag (\(.*\)) .*/\1/p' "$srcdir/debian/changelog")" = "$version" ] ||
    fail "debian/changelog has another version than configure.ac, $version"
value EXTRA_DIST | tr ' ' '\n' | sed -n '/^debian\//p' | sort > "$work/tarball"
(cd "$srcdir" && find debian -type f) | sort | diff - "$work/tarball" ||
    fail 'not in the tarball (<), or not there (>)'

# Where Debian's Open MPI is, every file belongs to a package.
libdir=/usr/lib/x86_64-linux-gnu
if [ "$(value OMPI_PLUGINDIR)" = "$libdir/openmpi/lib/openmpi3" ]; then
    make -C "$builddir" install DESTDIR="$work/root" prefix=/usr libdir="$libdir" > "$work/log" 2>&1 ||
        { cat "$work/log"; fail 'make install'; }
    (cd "$work/root" && rm -rf usr/share/modulefiles usr/share/doc && find . -name '*.la' -delete)
    while read -r pattern; do
        (cd "$work/root" && compgen -G "$pattern" > "$work/matched") || fail "debian/*.install: nothing is $pattern"
        while read -r matched; do rm -r "$work/root/$matched"; done < "$work/matched"
    done < <(sort "$srcdir"/debian/*.install)
    [ -z "$(find "$work/root" ! -type d)" ] ||
        { find "$work/root" ! -type d; fail 'installed, but in no package'; }
    echo 'ok: every file is in a package'
fi
echo 'ok: versions, and what the tarball has'
