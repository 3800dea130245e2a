#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `make doc`: a page for strag.h that has every function of it, the example and its pictures, without a
# complaint of Doxygen.
set -eu
. "${srcdir:?run me by make check}/test/dist/common.sh"
command -v doxygen > /dev/null || skip 'no doxygen'

own_folder doc
trap 'rm -rf "$work" "$builddir/doc/html" "$builddir/doc/shown"' EXIT
make -s -C "$builddir" doc > "$work/log" 2>&1 || { cat "$work/log"; fail 'make doc'; }
[ ! -s "$work/log" ] || { cat "$work/log"; fail 'Doxygen complains'; }
html=$builddir/doc/html
for name in $(grep -oE '[ *]strag_[a-z_]+\(' "$srcdir/src/api/strag.h" | tr -d ' *(' | sort -u); do
    grep -q ">$name<" "$html/strag_8h.html" || fail "strag.h's page has no $name"
done
for picture in ring oversubscribed cost; do
    grep -q "$picture.svg" "$html/index.html" || fail "the first page does not show $picture.svg"
    grep -q '</svg>' "$html/$picture.svg" || fail "$picture.svg is no picture"
done
grep -q 'algorithm_for' "$html/index.html" || fail 'the first page does not show the example'
echo 'ok: make doc'
