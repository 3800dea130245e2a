# SPDX-License-Identifier: BSD-3-Clause
"""Starts MPI jobs in a lab."""
import os
import pathlib
import signal
import subprocess

import box
import contenders
import strag


MANY_RANKS = 16  # more of them poll less often


class Build:
    """The folder in which strag was built, and its files."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.mpirun = self.folder / "strag-mpirun"
        self.strag = self.folder / "tools/strag"
        self.benchmark = self.folder / "bench/lab/allreduce_lab"
        self.shim = self.folder / "bench/lab/.libs/poll_shim.so"
        self.holder = self.folder / "bench/lab/hold_packets"

    def missing(self):
        return [str(path) for path in (self.mpirun, self.strag, self.benchmark, self.shim,
                                       self.holder)
                if not path.exists()]


def mca(parameters):
    return [word for name, value in parameters.items() for word in ("--mca", name, value)]


# What tells strag the network's speed.
SPEED = ("coll_strag_alpha", "coll_strag_bandwidth", "coll_strag_layout")


def several_ranks(network):
    return any(host.ranks > 1 for host in network.hosts)


def parameters(network, setting):
    """MCA parameters of a run."""
    local = ",vader" if several_ranks(network) else ""
    found = {
        "plm": "rsh", "plm_rsh_agent": str(box.PLACE / "agent"), "plm_rsh_no_tree_spawn": "1",
        "plm_rsh_num_concurrent": "64",
        "oob": "tcp", "oob_tcp_if_include": box.CONTROL,
        "pml": "ob1", "btl": f"tcp,self{local}", "btl_tcp_if_include": box.DATA,
        "mpi_yield_when_idle": "1",
        "coll_strag_priority": "90",
        "coll_strag_alpha": str(strag.ALPHA_US),  # latency of the kernel and the shim
        "coll_han_priority": "1",  # so that it can be selected
        "coll_tuned_use_dynamic_rules": "1",  # so that an algorithm of tuned can be selected
    }
    found.update(network.component_parameters(str(box.PLACE / "layout.conf")))
    found.update(contenders.SETTINGS[setting])
    if found["pml"] == "ucx":
        for name in ("btl", "btl_tcp_if_include"):
            del found[name]
    return found


def poll_wait(network):
    """Microseconds that an empty poll blocks. With many ranks longer, for they share the processors;
    data that arrives ends the wait in any case, and links are slower there."""
    if network.ranks > MANY_RANKS:
        return "500" if several_ranks(network) else "1000"
    return "50" if several_ranks(network) else "200"


def environment(build, network, setting):
    """Variables of the ranks."""
    found = {
        "LD_PRELOAD": str(build.shim),
        "LAB_POLL_US": os.environ.get("LAB_POLL_US", poll_wait(network)),
        "LAB_POLL_IDLE": "100" if several_ranks(network) else "0",
        # Large buffers stay: no page faults while the time is taken.
        "MALLOC_MMAP_THRESHOLD_": "1073741824",
        "MALLOC_TRIM_THRESHOLD_": "4294967296",
        "MALLOC_TOP_PAD_": "67108864",
    }
    if setting == "ucx":
        devices = sorted({port.interface for port in network.ports.values()
                          if port.node.startswith("h")})
        found["UCX_TLS"] = "tcp,self,sm"
        found["UCX_NET_DEVICES"] = "own" if network.kind == "torus" else ",".join(devices)
        found["UCX_WARN_UNUSED_ENV_VARS"] = "n"
    return found


def command(build, network, setting, program, more=(), without=()):
    hosts = ",".join(f"{host.name}:{host.ranks}" for host in network.hosts)
    words = [str(build.mpirun), "--allow-run-as-root", "-np", str(network.ranks), "--host", hosts,
             "--map-by", "slot", "--bind-to", "none"]
    passed = {**parameters(network, setting), **dict(more)}
    words += mca({name: value for name, value in passed.items() if name not in without})
    for name, value in environment(build, network, setting).items():
        words += ["-x", f"{name}={value}"]
    return words + program


def run(build, network, setting, program, log, limit, keep=frozenset(), more=(),
        without=()):
    """Run an MPI program in the lab, with its output in the file `log`. Returns its status. After
    `limit` seconds all its processes are killed, but not those to `keep`: the lab's own. `more`: further
    MCA parameters; `without`: those of the setting that are not passed."""
    os.environ["OMPI_ALLOW_RUN_AS_ROOT"] = os.environ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    words = command(build, network, setting, program, more, without)
    with open(log, "a", encoding="utf-8") as file:
        print("$", " ".join(words), file=file, flush=True)
        try:
            return subprocess.run(words, stdout=file, stderr=subprocess.STDOUT,
                                  stdin=subprocess.DEVNULL, timeout=limit, check=False).returncode
        except subprocess.TimeoutExpired:
            print(f"ended after {limit:g} seconds", file=file)
            end_all(keep)
            return 124


def end_all(keep):
    """Kill all processes of the box, a namespace, but this one, its first and its nodes."""
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in keep | {1, os.getpid()}:
            try:
                os.kill(int(name), signal.SIGKILL)
            except ProcessLookupError:
                pass  # it has ended by itself
