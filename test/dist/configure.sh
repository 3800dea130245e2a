#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Where strag cannot be built configure prints one line with the remedy. Small scripts emulate the
# wrappers of other MPIs, of an old Open MPI, and of one without its internal headers.
set -eu
. "${srcdir:?run me by make check}/test/dist/common.sh"

[ -f "$srcdir/configure" ] || skip 'there is no configure script'
own_folder configure
unset MPICC MPIRUN OMPI_INFO CONFIG_SITE

# wrapper FILE: a program of standard input
wrapper()
{
    mkdir -p "$(dirname "$1")"
    { echo '#!/bin/sh'; cat; } > "$1"
    chmod +x "$1"
}

# refused NAME TEXT CONFIGURE-ARGUMENT...: configure fails and prints TEXT, before it has examined the compiler
refused()
{
    local name=$1 text=$2
    shift 2
    mkdir "$work/try-$name"
    if (cd "$work/try-$name" && "$srcdir/configure" "$@" > output 2>&1); then
        fail "$name: configure accepts $*"
    fi
    ! grep -q '^checking .*compiler' "$work/try-$name/output" || fail "$name: refused late"
    grep -q "^configure: error: .*$text" "$work/try-$name/output" ||
        { tail -n 3 "$work/try-$name/output"; fail "$name: no error with '$text'"; }
    echo "ok: $name: $(grep '^configure: error: ' "$work/try-$name/output")"
}

# What the build's own has found out of the compiler is known.
mkdir "$work/alone"
if [ -f "$builddir/config.cache" ]; then
    sed -E '/^ac_cv_(env|path)_/d' "$builddir/config.cache" > "$work/alone/config.cache"
fi
(cd "$work/alone" && "$srcdir/configure" --without-ompi --disable-dependency-tracking --config-cache > output 2>&1) ||
    { tail -n 3 "$work/alone/output"; fail '--without-ompi is refused'; }
grep -q 'Open MPI  *no: only libstrag and the strag command' "$work/alone/output" ||
    fail 'the summary of --without-ompi'
echo 'ok: --without-ompi'

wrapper "$work/mpich/bin/mpicc" << 'END'
echo "mpicc for MPICH version 4.0.2"
END
refused mpich 'not Open MPI' --with-ompi="$work/mpich"

wrapper "$work/old/bin/mpicc" << 'END'
echo "mpicc: Open MPI 3.1.6 (Language: C)"
END
wrapper "$work/old/bin/mpirun" << 'END'
END
wrapper "$work/old/bin/ompi_info" << 'END'
echo "Open MPI v3.1.6"
END
refused old 'Open MPI 3.1.6 is too old; 4.1, 5.0 or 6.0' --with-ompi="$work/old"

cp -r "$work/old" "$work/bare"
wrapper "$work/bare/bin/ompi_info" << 'END'
case "$1" in
    --version) echo "Open MPI v4.1.4" ;;
    *) echo "path:$3:/nowhere" ;;
esac
END
refused bare 'libopenmpi-dev.*ask its administrator' --with-ompi="$work/bare"

refused folder 'no .*/bin/mpicc' --with-ompi="$work/nothing"
refused relative 'absolute path' --with-ompi=mpi
refused plugindir 'absolute path' --without-ompi --with-plugindir=lib
refused sanitizers 'exclude each other' --with-ompi --enable-sanitizers=address
refused ucx 'no .*/lib/pkgconfig/ucx.pc' --without-ompi --with-ucx="$work/nothing"
refused relative-ucx 'absolute path' --without-ompi --with-ucx=ucx
refused cuda "no $work/nothing/bin/nvcc" --without-ompi --with-cuda="$work/nothing"

