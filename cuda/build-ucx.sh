#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# build-ucx.sh: UCX with CUDA support, and Open MPI over it if wanted, from Debian's source packages.
set -eu

usage()
{
    cat << 'END'
usage: build-ucx.sh --prefix=DIR [--with-cuda=DIR] [--openmpi] [--sources=DIR] [--jobs=N]
  --prefix=DIR     where they are installed
  --with-cuda=DIR  the CUDA toolkit (/usr/local/cuda): include/cuda.h and cuda_runtime.h, libcudart;
                   the driver's libcuda, or its stub in the toolkit
  --openmpi        build Open MPI, too
  --sources=DIR    where the packages' sources are, or are to be downloaded to (PREFIX/src)
  --jobs=N         (all processors)

Needed: gcc, g++, make, autoconf, automake, libtool, pkg-config, xz-utils, dpkg-dev; for --openmpi
also libhwloc-dev, libevent-dev, libpmix-dev, zlib1g-dev, flex, and perl. The sources come by apt-get,
unless they are there; nothing outside of the two folders is changed.

Then:  UCX       configure strag with PKG_CONFIG_PATH=PREFIX/lib/pkgconfig, run with
                 LD_LIBRARY_PATH=PREFIX/lib and --mca coll_strag_transport ucp
       Open MPI  configure strag with --with-ompi=PREFIX
END
}

say()
{
    echo "build-ucx.sh: $*"
}

fail()
{
    say "$*" >&2
    exit 1
}

prefix='' cuda=/usr/local/cuda openmpi=no sources='' jobs=$(nproc)
for option in "$@"; do
    value=${option#*=}
    case $option in
        --prefix=/*) prefix=$value ;;
        --with-cuda=/*) cuda=$value ;;
        --openmpi) openmpi=yes ;;
        --sources=/*) sources=$value ;;
        --jobs=[1-9]*) jobs=$value ;;
        --help | -h)
            usage
            exit 0
            ;;
        *)
            say "'$option' is unknown, or not an absolute path" >&2
            usage >&2
            exit 2
            ;;
    esac
done
[ -n "$prefix" ] || fail "--prefix=DIR is needed"
: "${sources:=$prefix/src}"
for header in cuda.h cuda_runtime.h; do
    [ -f "$cuda/include/$header" ] || fail "no $cuda/include/$header: --with-cuda=DIR names the CUDA toolkit"
done
mkdir -p "$sources" "$prefix"

# UCX is linked with the toolkit's libraries, by their names without a version, and with the driver's.
libraries=$prefix/src/cuda-lib
mkdir -p "$libraries"
system='/usr/lib/x86_64-linux-gnu /usr/lib64'

# library NAME FOLDER...: @return whether it is in one of them
library()
{
    local found name=$1
    shift
    found=$(find -L "$@" -maxdepth 1 -name "$name.so*" 2> /dev/null | sort | head -n 1)
    if [ -n "$found" ]; then
        ln -sf "$found" "$libraries/$name.so"
    else
        return 1
    fi
}
library libcudart "$cuda"/lib64 "$cuda"/lib "$cuda"/targets/*/lib || fail "no libcudart.so in $cuda"
# shellcheck disable=SC2086 # a list
library libcuda $system "$cuda"/lib64/stubs "$cuda"/lib/stubs "$cuda"/targets/*/lib/stubs ||
    fail "no libcuda.so: neither the driver's nor a stub in $cuda"

# The driver has NVML, but not every toolkit its header. UCX asks it how many NVLinks a device has;
# what it needs for that is declared here, and found in the driver's libnvidia-ml.so.1 at run time.
make_nvml()
{
    cat > "$libraries/nvml.h" << 'END'
#pragma once
typedef enum { NVML_SUCCESS = 0, NVML_ERROR_LIBRARY_NOT_FOUND = 12 } nvmlReturn_t;
typedef struct nvmlDevice_st *nvmlDevice_t;
typedef union { double dVal; unsigned uiVal; unsigned long ulVal; unsigned long long ullVal; } nvmlValue_t;
typedef enum { NVML_VALUE_TYPE_DOUBLE, NVML_VALUE_TYPE_UNSIGNED_INT } nvmlValueType_t;
typedef struct {
    unsigned fieldId, scopeId;
    long long timestamp, latencyUsec;
    nvmlValueType_t valueType;
    nvmlReturn_t nvmlReturn;
    nvmlValue_t value;
} nvmlFieldValue_t;
typedef struct {
    char busIdLegacy[16];
    unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
    char busId[32];
} nvmlPciInfo_t;
#define NVML_FI_DEV_NVLINK_LINK_COUNT 91
#define nvmlInit nvmlInit_v2
#define nvmlDeviceGetHandleByIndex nvmlDeviceGetHandleByIndex_v2
#define nvmlDeviceGetNvLinkRemotePciInfo nvmlDeviceGetNvLinkRemotePciInfo_v2
nvmlReturn_t nvmlInit_v2(void);
nvmlReturn_t nvmlShutdown(void);
const char *nvmlErrorString(nvmlReturn_t result);
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values);
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned link, nvmlPciInfo_t *pci);
END
    cat > "$libraries/nvml.c" << 'END'
#define STUB(name) int name(void) { return 12; }
STUB(nvmlInit) STUB(nvmlInit_v2) STUB(nvmlShutdown) STUB(nvmlDeviceGetHandleByIndex_v2)
STUB(nvmlDeviceGetFieldValues) STUB(nvmlDeviceGetNvLinkRemotePciInfo_v2)
const char *nvmlErrorString(int result) { return result ? "this is only a stub" : "success"; }
END
    gcc -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 -o "$libraries/libnvidia-ml.so" "$libraries/nvml.c"
}
# shellcheck disable=SC2086 # a list
if [ ! -f "$cuda/include/nvml.h" ] ||
    ! library libnvidia-ml $system "$cuda"/lib64/stubs "$cuda"/lib/stubs "$cuda"/targets/*/lib/stubs; then
    make_nvml
fi

# download PACKAGE: its source, by an apt-get that looks at copies of the system's lists of sources
download()
{
    local apt=$sources/apt file
    if ls "$sources/$1"_*.dsc > /dev/null 2>&1; then
        return
    fi
    say "downloading the source of $1"
    mkdir -p "$apt/parts" "$apt/lists/partial"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
        [ -f "$file" ] || continue
        case $file in
            *.sources) sed 's/^Types:.*/Types: deb-src/' "$file" > "$apt/parts/${file##*/}" ;;
            *.list) sed -n 's/^deb /deb-src /p' "$file" > "$apt/parts/${file##*/}" ;;
        esac
    done
    (
        cd "$sources" || exit 1
        set -- -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$apt/parts" \
            -o Dir::State::lists="$apt/lists" -o APT::Sandbox::User=root "$1"
        apt-get "${@:1:$#-1}" update &&
            apt-get "${@:1:$#-1}" source --download-only "${!#}"
    ) > "$sources/$1.log" 2>&1 || { tail -n 5 "$sources/$1.log" >&2; fail "the source of $1 cannot be downloaded"; }
}

# unpack PACKAGE: a fresh copy in $sources/PACKAGE, with Debian's patches
unpack()
{
    rm -rf "${sources:?}/$1"
    dpkg-source --no-check -x "$sources/$1"_*.dsc "$sources/$1" > "$sources/$1.log" 2>&1 ||
        { tail -n 5 "$sources/$1.log" >&2; fail "$1 cannot be unpacked"; }
    # Debian's patches make sources newer than what the authors' own automake made of them.
    if [ -x "$sources/$1/configure" ]; then
        find "$sources/$1" -exec touch -h -r "$sources/$1/configure" {} +
    fi
}

# UCX's own tests are left out: those of older ones are not for the newest CUDA.
make_ucx()
{
    local folder
    for folder in src/ucm src/ucs src/uct src/ucp src/tools/info; do
        make -C "$folder" -j "$jobs" && make -C "$folder" install || return
    done
    make install-pkgconfigDATA
}

make_openmpi()
{
    make -j "$jobs" && make install
}

# build PACKAGE CONFIGURE-OPTION...
build()
{
    local name=$1 log=$sources/$1.log
    shift
    say "building $name (log: $log)"
    (
        cd "$sources/$name" &&
            { [ -x configure ] || ./autogen.sh; } &&
            ./configure --prefix="$prefix" "$@" &&
            "make_$name"
    ) >> "$log" 2>&1 || { tail -n 20 "$log" >&2; fail "$name cannot be built"; }
}

download ucx
unpack ucx
build ucx --enable-mt --disable-logging --disable-debug --disable-assertions --disable-params-check \
    --without-java --without-go --with-cuda="$cuda" CPPFLAGS="-I$cuda/include -I$libraries" \
    LDFLAGS="-L$libraries"
"$prefix/bin/ucx_info" -d | grep -q cuda || say "UCX shows no CUDA devices: normal where there is no driver"
ls "$prefix"/lib/ucx/libuct_cuda.so* > /dev/null 2>&1 || fail "UCX was built, but without CUDA: see config.log in $sources/ucx"

if [ "$openmpi" = yes ]; then
    download openmpi
    unpack openmpi
    build openmpi --with-ucx="$prefix" --with-cuda="$cuda" --with-hwloc=external --with-libevent=external \
        --with-devel-headers --enable-mpi-fortran=no --disable-dependency-tracking \
        CPPFLAGS="-I$cuda/include -I$libraries" LDFLAGS="-L$libraries"
    say "Open MPI: $("$prefix/bin/ompi_info" --parsable --all 2> /dev/null | grep mpi_built_with_cuda_support:value || true)"
fi
say "installed in $prefix"
