# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Shared by the tests of the package. Needs bash with set -eu.

: "${srcdir:?run me by make check}" "${builddir:?}"
# Do not inherit jobs and TESTS from the caller's make.
unset MAKEFLAGS MFLAGS MAKELEVEL TESTS

fail()
{
    echo "FAIL: $*"
    exit 1
}

skip()
{
    echo "SKIP: $*"
    exit 77
}

# own_folder NAME: in `work`, a folder of the test's own, which is removed in the end
own_folder()
{
    work=$(mktemp -d "$builddir/dist-$1.XXXXXX")
    trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
}

# value NAME: a variable of the build's Makefile
value()
{
    make -s -C "$builddir" "print-$1"
}
