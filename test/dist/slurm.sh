#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs by Slurm as doc/guide/slurm.md says: srun with PMIx, and mpirun in a batch script, on four nodes,
# each a slurmd with host name, IPC and /dev/shm of its own. strag runs, and knows Slurm's switches.
# Needs root, and Debian's packages slurm-wlm and munge.
set -eu
. "${srcdir:?run me by make check}/test/dist/common.sh"
for program in munged slurmctld slurmd srun; do
    command -v "$program" > /dev/null || skip "no $program"
done
[ "$(id -u)" = 0 ] || skip 'not root'
unshare -u -i -m true 2> /dev/null || skip 'no namespaces here'

work=$(mktemp -d /tmp/strag-slurm.XXXXXX) # sockets have short names
host=$(hostname -s)
port=$((20000 + $$ % 10000))
stop()
{
    local file pids=()
    for file in "$work"/run/*.pid; do
        [ ! -s "$file" ] || pids+=("$(cat "$file")")
    done
    for _ in {1..40}; do
        kill "${pids[@]}" 2> /dev/null || break # until all have ended, or there are none
        sleep 0.25
    done
    rm -rf "$work"
}
trap stop EXIT
mkdir -p "$work"/{state,run,log} "$work"/{spool,tmp}/n{1,2,3,4}
chmod 755 "$work" "$work/run"
chmod 777 "$work"/tmp/*
cat > "$work/slurm.conf" << END
ClusterName=strag
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/run/munge
SlurmctldPort=$port
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool/%n
TmpFS=$work/tmp/%n
SlurmctldPidFile=$work/run/control.pid
SlurmdPidFile=$work/run/%n.pid
SlurmctldLogFile=$work/log/control
SlurmdLogFile=$work/log/%n
SlurmdParameters=config_overrides
TopologyPlugin=topology/tree
NodeName=n[1-4] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 4))] CPUs=2
PartitionName=all Nodes=ALL Default=YES State=UP
END
printf 'SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\nSwitchName=c Switches=a,b\n' > "$work/topology.conf"
export SLURM_CONF=$work/slurm.conf
# Newer ones look for control groups, if nothing forbids it.
case $(srun --version) in *' 2'[0-3].*) ;; *) echo 'CgroupPlugin=disabled' > "$work/cgroup.conf" ;; esac
head -c 1024 /dev/urandom > "$work/run/key"
chmod 400 "$work/run/key"
munged --force --socket="$work/run/munge" --key-file="$work/run/key" --pid-file="$work/run/munge.pid" \
    --log-file="$work/log/munge" --seed-file="$work/run/seed" > "$work/log/start" 2>&1 || skip 'munged does not start'
slurmctld -i || skip 'slurmctld does not start'
for node in n1 n2 n3 n4; do
    unshare -u -i -m sh -c 'hostname "$0" && mount -t tmpfs tmpfs /dev/shm && exec slurmd -N "$0"' "$node" ||
        skip 'slurmd does not start'
done
for _ in {1..120}; do
    [ "$(sinfo -h -t idle -o %D 2> /dev/null)" != 4 ] || break
    sleep 0.25
done
[ "$(sinfo -h -t idle -o %D)" = 4 ] || { tail -n 5 "$work"/log/*; skip 'the nodes do not come up'; }

# ran NAME: strag ran, on Slurm's two switches
ran()
{
    if ! grep -q 'coll:strag: .*topology: tree, 2 switches, 4 hosts, 8 ranks, 2 per host' "$work/out" ||
        ! grep -q 'coll:strag: .*allreduce of 65536 .. 131071 bytes: [a-z-]* .*(auto' "$work/out"; then
        cat "$work/out"
        fail "$1"
    fi
    echo "ok: $1"
}

# batch NAME: the file job, as a batch job
batch()
{
    timeout 120 sbatch --wait -o "$work/out" "$work/job" > "$work/log/batch" 2>&1 ||
        { cat "$work/log/batch" "$work/out"; fail "$1"; }
    ran "$1"
}

cd "$builddir"
eval "$("$builddir/strag-mpirun" --print-env)"
export OMPI_MCA_coll_strag_verbose=2
case $("$OMPI_INFO" --version) in *'v5.0.'*) export OMPI_MCA_btl_tcp_disable_family=6 ;; esac # doc/guide/install.md
[ ! -e test/mpi/.libs/nap.so ] || export LD_PRELOAD=$builddir/test/mpi/.libs/nap.so # as test/mpi/common.sh does
program=("$builddir/bench/allreduce" --sizes 64K --iterations 2 --check --contender strag)
ways=0
if srun --mpi=list 2>&1 | grep -q pmix; then
    OMPI_MCA_coll_strag_priority=100 timeout 120 srun --mpi=pmix -N4 -n8 "${program[@]}" > "$work/out" 2>&1 ||
        { cat "$work/out"; fail srun; }
    ran 'srun --mpi=pmix'
    # The guide's batch script; strag-mpirun's variables are in place of the modules.
    sed -n '/^    #!\/bin\/sh/,/^$/s/^    //p' "$srcdir/doc/guide/slurm.md" |
        sed -e '/^module load/d' -e 's/=16$/=2/' -e 's/verbose=1 /verbose=2 /' -e "s|PROGRAM|${program[*]}|" > "$work/job"
    batch "the guide's batch script"
    timeout 240 "$srcdir/bench/compare" --mpirun srun --minutes 0.02 --sizes 4K --launches 1 --again 0 --tests blocking \
        --components '' --output "$work" -- --mpi=pmix -N4 -n8 > "$work/out" 2>&1 || { cat "$work/out"; fail compare; }
    grep -q '^8 ranks on 4 hosts$' "$work/out" || { cat "$work/out"; fail 'what compare says'; }
    [ -s "$work/comparison.html" ] || fail "compare's page"
    echo 'ok: bench/compare, whose ranks srun starts'
    ways=1
else
    echo "left out: $(srun --version)'s srun has no PMIx: $(srun --mpi=list 2>&1 | paste -s -d ' ')"
fi
case $("$OMPI_INFO" --version) in
    *'v6.0.'*) echo "left out: btl/tcp of Open MPI 6.0.0rc2 finds no way between hosts that have one address" ;;
    *)
        printf '%s\n' '#!/bin/sh' '#SBATCH --nodes=4 --ntasks-per-node=2' "$MPIRUN --mca coll strag ${program[*]}" > "$work/job"
        batch 'mpirun in a batch script'
        ways=1
        ;;
esac
[ "$ways" = 1 ] || skip 'no way is left'
