#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The kernels by nvcc: they are all there, use 16-byte accesses, and keep everything in registers;
# CUDA's headers agree with cuda/driver.h.
#
# nvcc is that of configure, or comes with Python packages (into ./nvcc of the build folder, or
# STRAG_NVCC_FOLDER, where it is kept). Without either the test is skipped.
set -eu
: "${srcdir:=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}"
: "${builddir:=$PWD}"
folder=${STRAG_NVCC_FOLDER:-$builddir/nvcc}
packages='nvidia-cuda-nvcc==13.0.* nvidia-cuda-crt==13.0.* nvidia-nvvm==13.0.* nvidia-cuda-runtime==13.0.*'
work=$builddir/test/cuda/nvcc.$$
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

fail()
{
    echo "FAIL: $*"
    exit 1
}

# The nvcc that Python's packages bring, installed at the first use; fails without a registry.
python_nvcc()
{
    if [ ! -e "$folder/bin/python3" ] && ! python3 -m venv "$folder"; then
        return 1
    fi
    if ! ls "$folder"/lib/python3*/site-packages/nvidia/*/bin/nvcc > /dev/null 2>&1; then
        # shellcheck disable=SC2086 # a list of packages
        "$folder/bin/python3" -m pip install --quiet --retries 1 --timeout 20 $packages || return 1
    fi
    nvcc=$(echo "$folder"/lib/python3*/site-packages/nvidia/*/bin/nvcc)
    [ -x "$nvcc" ]
}

nvcc=${STRAG_NVCC:-}
if [ -z "$nvcc" ] && ! python_nvcc > "$work/log" 2>&1; then
    tail -n 3 "$work/log"
    echo "skipped: configure found no nvcc, and Python's packages with one cannot be installed"
    exit 77
fi
"$nvcc" --version | tail -n 2

"$nvcc" -O3 -fmad=false -ptx -arch=compute_80 -o "$work/kernels.ptx" "$srcdir/cuda/kernels.cu"
expected=$(grep -c '"strag_kernel_' <(
    printf '#include "kernels.h"\n#define NAME(op, type) "strag_kernel_" #op "_" #type\nSTRAG_KERNELS(NAME)\n' |
        gcc -E -P -I"$srcdir/cuda" -x c - | grep -o '"strag_kernel_" "[a-z]*" "_" "[a-z0-9_]*"'))
made=$(grep -c '^\.visible \.entry strag_kernel_' "$work/kernels.ptx")
[ "$made" -eq "$expected" ] || fail "$made kernels, not $expected"
if grep -q '\.local' "$work/kernels.ptx"; then
    fail "a kernel keeps something in local memory"
fi
awk '/^\.visible \.entry/ { name = $3; wide = 0 }
     /(ld|st)\.global\.v[24]\.[a-z]*(32|64)/ { wide++ }
     /^}/ && name != "" { if (wide < 20) { print name, wide; bad = 1 } name = "" }
     END { exit bad }' "$work/kernels.ptx" || fail "these have too few 16-byte accesses"

"$nvcc" -O3 -cubin -arch=sm_90 -Xptxas -v -o "$work/kernels.cubin" \
    "$work/kernels.ptx" 2> "$work/log" || { cat "$work/log"; fail "sm_90"; }
if grep 'spill' "$work/log" | grep -qv ' 0 bytes spill stores, 0 bytes spill loads'; then
    fail "registers are spilled"
fi
# No number is converted to an integer. ptxas of CUDA 13.0 stored a half that it found in a register
# byte by byte as if a byte were its value (strag_to_half).
python3 - "$work/kernels.cubin" << 'END' || fail "a half is stored as an integer"
import struct, sys
F2I = 0x305  # the operation, in the lowest 12 bits of an instruction of 16 bytes
data = open(sys.argv[1], "rb").read()
table, = struct.unpack_from("<Q", data, 0x28)
size, count = struct.unpack_from("<HH", data, 0x3a)
found = 0
for section in range(table, table + size * count, size):
    kind, flags, _, start, length = struct.unpack_from("<4xIQQQQ", data, section)
    if kind == 1 and flags & 4:  # code
        found += sum(struct.unpack_from("<H", data, at)[0] & 0xfff == F2I
                     for at in range(start, start + length, 16))
sys.exit(found > 0)
END
"$nvcc" -x c -c -o "$work/check_driver.o" -I"$srcdir/cuda" -I"$srcdir/src" \
    "$srcdir/test/cuda/check_driver.c" || fail "cuda/driver.h is not what CUDA's headers say"
echo "$made kernels"
