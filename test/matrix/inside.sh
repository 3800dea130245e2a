#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What run.sh does inside a chroot, as README.md tells users to: inside.sh build | check TESTS | install
set -eu

# what make install leaves in Open MPI's folders
installed()
{
    find /usr /etc \( -type f -o -type l \) \( -name '*strag*' -o -name pmix-mca-params-override.conf \) "$@"
}

# what make check is to build: not the unit tests, which know nothing of MPI
programs()
{
    make -s print-check_PROGRAMS | tr ' ' '\n' | grep -Ev '^test/(unit|sim|fuzz|cuda)/' | paste -s -d ' '
}

build()
{
    installed -delete # by a run that was interrupted
    cd /strag/source
    autoreconf -i
    mkdir -p /strag/build
    cd /strag/build
    /strag/source/configure --enable-werror
    make -j "$(nproc)"
    make -j "$(nproc)" check-programs check_PROGRAMS="$(programs)"
}

# check TESTS: none named: all that depend on Open MPI
check()
{
    local tests=$1
    cd /strag/build
    if [ -z "$tests" ]; then
        tests=$(make -s print-TESTS | tr ' ' '\n' | grep -E '^test/(mpi|cli|dist|app)/' | paste -s -d ' ')
    fi
    make -j "$(nproc)" -k check TESTS="$tests" check_PROGRAMS="$(programs)"
}

# Into the folders that configure chose; and out of them again.
install()
{
    local left
    cd /strag/build
    make install
    trap 'make uninstall' ERR # what is left would be in the next run's way
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 builddir=/strag/build \
        bash /strag/source/test/matrix/installed.sh
    trap - ERR
    make uninstall
    left=$(installed && find /usr/local -type d -name '*strag*')
    if [ -n "$left" ]; then
        echo "FAIL: left by make uninstall: $left"
        exit 1
    fi
}

command=$1
shift
"$command" "$@"
