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

# value NAME: a variable of the build's Makefile. One make prints all of them: reading it takes half a second.
value()
{
    echo "${values[$1]}"
}
declare -A values
names=(AM_CFLAGS CC CFLAGS CMOCKA_LIBS EXTRA_DIST LDFLAGS LIBS OMPI_PLUGINDIR PACKAGE_VERSION PKG_CONFIG PMIX_CONFDIR
    PMIX_HIDING STRAG_KERNELS_COMMAND includedir libdir plugindir src_libstrag_la_LIBADD strag_program_sources
    unit_ldflags)
mapfile -t printed < <(make -s -C "$builddir" "${names[@]/#/print-}")
for i in "${!names[@]}"; do
    values[${names[i]}]=${printed[i]}
done
