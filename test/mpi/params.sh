#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The component's parameters: good ones, bad ones, and who runs an allreduce under which.
#
# Whatever is asked for, the program must get right results. Who ran is shown by strag's counters,
# which the program prints (sizes.c: 24 calls, of which auto leaves 12 to the previous component).
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

output=$builddir/params-output.$$
trap 'rm -f "$output"' EXIT

# run OPTIONS...: the program with 3 ranks, whose output goes to a file; it must succeed
run()
{
    into_output 3 "$@" "$programs/sizes"
}

# expect CALLS DELEGATED OPTIONS...: who ran
expect()
{
    local calls=$1 delegated=$2
    shift 2
    run "$@"
    if ! grep -q "^sizes: calls $calls, delegated $delegated\$" "$output"; then
        cat "$output"
        fail "not $calls calls and $delegated delegated: $*"
    fi
    echo "ok: $calls calls, $delegated delegated: $*"
}

# warns ACCEPTED OPTIONS...: exactly one warning of strag, which names the accepted values
warns()
{
    local accepted=$1
    shift
    expect 12 12 "$@" > /dev/null
    lines 1 'ignores the values of these MCA parameters'
    lines 1 "$accepted"
    echo "ok: one warning: $*"
}

# ---- Who runs ----

expect 12 12 --mca coll strag
lines 0 'coll:strag' # it says nothing
expect 0 0 --mca coll strag --mca coll_tuned_priority 95
expect 6 18 --mca coll strag --mca coll_strag_minimum_size 1M
choose 3
segment=64
for algorithm in "${chosen[@]:1:2}"; do
    expect 24 0 --mca coll strag --mca coll_strag_algorithm "$algorithm" \
        --mca coll_strag_segment_size "$segment" --mca coll_strag_minimum_size 1G
    segment=1G
done

# 32 short calls are handed on before a communicator finds out that it has shared memory for them,
# and ranks agree on that also where some of them tell what they do.
few=("$programs/sizes" --short 40)
for verbose in '0 1' '1 0'; do
    mpi 2 --mca coll strag "${own[@]}" OMPI_MCA_coll_strag_verbose="${verbose% *}" \
        OMPI_MCA_coll_strag_verbose="${verbose#* }" "${few[@]}" > "$output" 2>&1 ||
        { cat "$output"; fail "short calls, verbose on ranks 0 and 1: $verbose"; }
    lines 1 '^sizes: calls 8, delegated 32$'
done
echo "ok: short calls, reported on some ranks"

expect 0 24 --mca coll strag --mca coll_strag_algorithm swing --mca coll_strag_ports 2 # one host

# Late ranks and slow links, by rank and by host; and every word for reproducible results
while read -r straggler slowdown reproducible; do
    [ -n "$straggler" ] || continue
    expect 12 12 --mca coll strag --mca coll_strag_straggler "$straggler" \
        --mca coll_strag_slowdown "$slowdown" --mca coll_strag_reproducible "$reproducible"
    lines 0 'coll/strag ignores'
done << END
0:1500 1:1.5,0:4 mapping
${STRAG_TEST_FULL:+2 1:2 0}
none $(hostname):2 ranks
${STRAG_TEST_FULL:+dynamic none 1}
END
expect 24 0 --mca coll strag --mca coll_strag_algorithm straggler-pipeline \
    --mca coll_strag_straggler 2 --mca coll_strag_verbose 1
lines 8 'coll:strag: .*: straggler-pipeline in [0-9]+ blocks? \(pinned by coll_strag_algorithm\)'
lines 8 'allreduce of'

# Other components underneath (6.0 has xhc instead of sm)
shared=$("$OMPI_INFO" | sed -n 's/^ *MCA coll: \(sm\|xhc\) .*/\1/p' | head -n 1)
for list in strag,basic,libnbc,self,inter "tuned,strag,$shared,basic,libnbc,self,inter"; do
    expect 12 12 --mca coll "$list"
done

# ---- What it says ----

expect 12 12 --mca coll strag --mca coll_strag_verbose 1
for name in MPI_COMM_WORLD 'the duplicate'; do
    lines 1 "coll:strag: $name \\(cid .*, 3 ranks\\): allreduce of 4 .. 7 bytes: previous component \\(below coll_strag_minimum_size\\)"
    lines 1 "coll:strag: $name .*: allreduce of 2048 .. 4095 bytes: previous component"
    lines 1 "coll:strag: $name .*: allreduce of 32768 .. 65535 bytes: [a-z-]+( in [0-9]+ blocks?)? \\("
    lines 1 "coll:strag: $name .*: allreduce of 1048576 .. 2097151 bytes: [a-z-]+( in [0-9]+ blocks?)? \\("
done
lines 8 'allreduce of'
expect 0 0 --mca coll_strag_verbose 1
lines 1 'coll:strag: MPI_COMM_WORLD .*: not used: not selected'
lines 0 'coll:strag: MPI_COMM_SELF' # one for each process
expect 0 0 --mca coll_strag_verbose 1 --mca coll_strag_priority 100 --mca coll_strag_enable 0
lines 1 'coll:strag: MPI_COMM_WORLD .*: not used: coll_strag_enable is 0'

# ---- Bad values: one warning, the default is used ----

printf -v names ', %s' "${algorithms[@]}"
names="accepted: auto, previous$names; used: auto"
# Each parameter with what it accepts, and values that it does not. A run has one of each parameter.
sizes='bytes.*'
times='numbers from .*, in [un]s'
rates='numbers from .*, in Gbit.s'
bad=(
    "algorithm/${names#accepted: }/rign/Ring/ring,/ring circulant"
    'segment_size/auto, or bytes from 1 to 1G.*; used: auto/banana/0/2G/99999999999999999999'
    'shared_memory_size/bytes from 1M to 64G.*; used: 256M/banana/0/512K/65G'
    "minimum_size/$sizes/1.5K/-1/5X/99999999999G"
    "watch_size/$sizes; used: 64K/banana/-1"
    'torus/sizes such as 8x8x4.*; used: none/4y/0x4/mesh:4x/cube:4x4'
    'transport/auto, pml.*; used: auto/x/UCP/pml,ucp'
    'ports/auto, or 1 to 16; used: auto/x/0/-1/17'
    'straggler/auto, dynamic, none, or RANK.*; used: auto/x/-1/1:x/5000000000'
    'slowdown/auto, none, or WHO:FACTOR.*; used: auto/1:0.5/:2/a:1,b/1:1e9'
    'reproducible/no \(or 0\), mapping, ranks \(or 1\); used: no/x/2/Mapping/true'
    'window/an integer from 0 to 8; used: 0/x/-1/9'
    'verbose/an integer, 0 or more; used: 0/abc/99999999999'
    'stuck/an integer, 0 or more; used: 30/soon/-1/1.5'
    "alpha/$times/x/-1" "local_alpha/$times/1e99" "bandwidth/$rates/0"
    "local_bandwidth/$rates/1x" "overhead/$times/-1" "injection_bandwidth/$rates/-0.5" "link_latency/$times/-0.1" "hop_latency/$times/nan"
    "reduce_bandwidth/$rates/0x10"
)
for k in 2 3 4 5; do
    options=()
    expected=()
    for row in "${bad[@]}"; do
        IFS=/ read -r -a part <<< "$row"
        if [ "${#part[@]}" -gt "$k" ]; then
            options+=(--mca "coll_strag_${part[0]}" "${part[k]}")
            expected+=("coll_strag_${part[0]} = \"${part[k]}\": .*accepted: ${part[1]}")
        fi
    done
    warns 'ignores the values of these MCA parameters' --mca coll strag "${options[@]}"
    for line in "${expected[@]}"; do
        lines 1 "$line"
    done
    lines "${#expected[@]}" 'coll_strag_[a-z_]* = ".*": .*accepted: .*; used: '
done

# ---- ompi_info ----

eval "$("$STRAG_MPIRUN" --print-env)"
"$OMPI_INFO" --param coll strag --level 9 > "$output"
for parameter in enable priority verbose algorithm segment_size minimum_size layout torus ports transport \
    shared_memory shared_memory_size straggler window watch_size learn report trace reproducible \
    slowdown rules model save \
    alpha local_alpha overhead injection_bandwidth bandwidth local_bandwidth link_latency hop_latency reduce_bandwidth; do
    lines 1 "parameter \"coll_strag_$parameter\""
done
lines 2 'performance "coll_strag_(calls|delegated)"'
echo "ok: ompi_info lists all parameters"
