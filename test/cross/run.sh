#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# libstrag for other processors: compiled without a warning, and its unit tests. See usage below.
set -eu

usage()
{
    cat << 'END'
usage: test/cross/run.sh [OPTION...] [PROCESSOR...]

Compiles libstrag and the strag command by a cross compiler, where a warning is an error, and runs the
unit tests. Processors: aarch64, i386; without any: both. A processor whose programs this machine does
not run by itself is emulated (qemu-user).

  --install     first install the Debian packages that are missing, also those of foreign
                architectures, as root
  --tests LIST  only these tests, such as 'test/unit/test_plan test/unit/test_engine'
  --build DIR   has a folder for each processor (default: build/cross)
  --help

STRAG_TEST_SLOWER=3 for a busy machine: three times the tests' time limits. Exit status: 0: all
passed; 1; 2: wrong usage.
END
}

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)

say()
{
    printf '%s\n' "$@"
}

wrong()
{
    say "test/cross/run.sh: $*" >&2
    exit 2
}

# describe PROCESSOR: its names for GNU, and Debian's for packages and libraries
describe()
{
    case $1 in
        aarch64) gnu=aarch64-linux-gnu debian=arm64 libraries=aarch64-linux-gnu ;;
        i386) gnu=i686-linux-gnu debian=i386 libraries=i386-linux-gnu ;;
        *) wrong "processors are aarch64 and i386, not '$1'" ;;
    esac
    packages="make autoconf automake libtool pkg-config qemu-user gcc-$gnu"
    for library in libhwloc-dev libyaml-dev libjansson-dev libcmocka-dev; do
        packages="$packages $library:$debian"
    done
}

install_packages()
{
    dpkg --add-architecture "$debian"
    apt-get -q update
    # shellcheck disable=SC2086 # a list
    DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends $packages
}

# logged FILE COMMAND...: its output goes to the file; the end of it is shown if it fails
logged()
{
    local file=$1
    shift
    "$@" < /dev/null > "$file" 2>&1 && return
    tail -n 25 "$file" | sed 's/^/      /'
    say "      ($file)"
    return 1
}

configured()
{
    env -C "$folder" PKG_CONFIG_LIBDIR="/usr/lib/$libraries/pkgconfig" "$top/configure" --host="$gnu" \
        --without-ompi --without-cuda --without-ucx --enable-werror
}

# try PROCESSOR
try()
{
    local start=$SECONDS units run=() emulated=0 status=0
    describe "$1"
    folder=$build/$1
    mkdir -p "$folder"
    if [ "$install" = yes ]; then
        logged "$folder/packages.log" install_packages || return 1
    fi
    command -v "$gnu-gcc" > /dev/null ||
        wrong "there is no $gnu-gcc; --install installs it, and what else is missing"
    [ -f "$folder/Makefile" ] || logged "$folder/configure.log" configured || return 1
    units=$tests
    if [ -z "$units" ]; then
        units=$(make -s -C "$folder" print-TESTS | tr ' ' '\n' | grep '^test/unit/' | paste -s -d ' ')
    fi
    # shellcheck disable=SC2086 # a list
    logged "$folder/make.log" make -C "$folder" -j "$(nproc)" src/libstrag.la tools/strag $units || return 1
    say "$1: compiled without a warning ($((SECONDS - start)) s)"

    if ! "$folder/tools/strag" --version > /dev/null 2>&1; then
        run=("qemu-$1") emulated=1
    fi
    # As many cases as with sanitizers: emulated, each takes ten times as long.
    STRAG_TEST_EMULATED=$emulated STRAG_CASES_MOST=${STRAG_CASES_MOST:-1000} make -C "$folder" -j "$(nproc)" check-TESTS TESTS="$units" \
        check_PROGRAMS="$units" check_LTLIBRARIES=test/unit/libunit.la \
        LOG_COMPILER="sh $top/test/run-test ${run[*]-}" > "$folder/check.log" 2>&1 || status=1
    grep -E '^(FAIL|ERROR|SKIP): ' "$folder/check.log" || true
    say "$1: $(grep -c '^PASS: ' "$folder/check.log" || true) tests passed ($((SECONDS - start)) s)"
    return $status
}

main()
{
    local status=0 processor
    build=$top/build/cross install=no tests='' processors=()
    while [ $# -gt 0 ]; do
        case $1 in
            --help | -h)
                usage
                exit 0
                ;;
            --install) install=yes ;;
            --tests | --build)
                [ $# -ge 2 ] || wrong "$1 needs a value"
                case $1 in
                    --tests) tests=$2 ;;
                    --build) build=$2 ;;
                esac
                shift
                ;;
            -*) wrong "'$1' is unknown; --help says what is not" ;;
            *) processors+=("$1") ;;
        esac
        shift
    done
    [ ${#processors[@]} -gt 0 ] || processors=(aarch64 i386)
    [ -x "$top/configure" ] || (cd "$top" && autoreconf -i) || exit 1
    for processor in "${processors[@]}"; do
        try "$processor" || status=1
    done
    exit $status
}

main "$@"
