# SPDX-License-Identifier: BSD-3-Clause
"""The lab itself: namespaces of this machine, joined by shaped links.

Everything lives in a box, that is in namespaces of its own (processes, mounts, networks, names,
and users where we are not root). The box's first process is this program again. When it ends,
for whatever reason, the kernel kills every process of the box and removes its networks; nothing has
to be cleaned up. A host is a process of the box with a network and a name of its own.
"""
import ctypes
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWNET = 0x00020000, 0x04000000, 0x40000000
INSIDE = "STRAG_LAB_BOX"  # in the environment of what runs in a box
USER = "STRAG_LAB_USER"  # there, too: as whom
PLACE = pathlib.Path("/run/strag-lab")  # in the box: a file system of its own
CONTROL = "10.255.0.0/16"  # mpirun's own traffic, not shaped
DATA = "10.1.0.0/16"
BURST = 20 * 1024  # bytes a link may send at once; a segment of 16 KiB must fit
QUEUE = 16 << 20  # bytes that wait at a link: none are dropped
SOON = 100  # seconds in which what holds packets is ready, also on a busy machine

# No slow start; and no packet is lost, but with slow links some wait for longer than the usual 0.2 s,
# after which TCP would send them again.
ROUTE = "initcwnd 200 initrwnd 200 rto_min 20s"

# TCP as on a quiet network of this size: no cache of old connections, short queues at the sender.
SETTINGS = {
    "ipv4/tcp_congestion_control": "reno",
    "ipv4/tcp_wmem": "4096 65536 131072",
    "ipv4/tcp_limit_output_bytes": "32768",
    "ipv4/tcp_slow_start_after_idle": "0",
    "ipv4/tcp_no_metrics_save": "1",
    "ipv4/tcp_early_retrans": "0",
    "ipv4/conf/all/rp_filter": "0",
    "ipv4/conf/default/rp_filter": "0",
    "ipv4/ip_forward": "1",
    "ipv6/conf/all/disable_ipv6": "1",
    "ipv6/conf/default/disable_ipv6": "1",
}
OPTIONAL = ("ipv6/conf/all/disable_ipv6", "ipv6/conf/default/disable_ipv6")

def control_address(host):
    """A host's address on the network of mpirun's own traffic."""
    return f"10.255.0.{host + 1}"


libc = ctypes.CDLL(None, use_errno=True)


class NotPermitted(Exception):
    """This kernel, or this container, does not permit a lab."""


def inside():
    return os.environ.get(INSIDE) == "1"


def tools():
    """Programs that a lab needs; those of /sbin are not in every user's PATH."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [name for name in ("ip", "tc", "unshare", "setpriv", "nsenter")
               if not shutil.which(name)]
    if missing:
        raise NotPermitted(f"{', '.join(missing)} not found (Debian: iproute2, util-linux)")


def box_command():
    """The command that starts a program in a box. If root may not make namespaces, as in many
    containers, it may still make a user namespace."""
    why = ""
    for users in ([], ["--user", "--map-root-user"])[os.getuid() != 0:]:
        command = ["setpriv", "--pdeathsig", "KILL", "unshare", *users, "--pid", "--fork",
                   "--kill-child=KILL", "--mount", "--net", "--uts", "--mount-proc"]
        probe = subprocess.run(command + ["true"], capture_output=True, text=True, check=False)
        if probe.returncode == 0:
            return command
        why = probe.stderr.strip()
    raise NotPermitted(f"namespaces: {why}")


def enter(arguments):
    """Run this program again inside a box. Returns its exit status."""
    tools()
    command = box_command()
    user = "a user's namespace" if "--user" in command else "root"
    environment = dict(os.environ, **{INSIDE: "1", USER: user})
    with subprocess.Popen(command + [sys.executable, *arguments], env=environment) as child:
        while True:
            try:
                return child.wait()
            except KeyboardInterrupt:
                pass  # the box got it too, and ends by itself


def mount(*arguments):
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotPermitted(f"mounts: {done.stderr.strip()}")


def furnish():
    """First step in the box: temporary file systems and a name of its own."""
    tools()
    for target in ("/run", "/dev/shm"):
        mount("-t", "tmpfs", "-o", "mode=1777", "lab", target)
    (PLACE / "tmp").mkdir(parents=True)
    (PLACE / "hosts").touch()
    mount("--bind", str(PLACE / "hosts"), "/etc/hosts")
    os.environ["TMPDIR"] = str(PLACE / "tmp")
    socket.sethostname("head")
    configure_kernel()


def configure_kernel():
    """Settings of the current network namespace."""
    for name, value in SETTINGS.items():
        path = pathlib.Path("/proc/sys/net") / name
        if name in OPTIONAL and not path.exists():
            continue
        try:
            path.write_text(value)
        except OSError as error:
            raise NotPermitted(f"{path}: {error.strerror}") from error


def enter_network(pid):
    """Move this process into another one's network."""
    with open(f"/proc/{pid}/ns/net", "rb") as file:
        if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")


def live_as(name, ready):
    """A node's process: creates its namespaces, reports it, and waits until it is killed."""
    if libc.unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWNET) != 0:
        os._exit(1)
    # UCX looks for networks in /sys, which shows those of the user who mounted it. If that is not
    # allowed, the setting ucx does not work, and nothing else.
    libc.mount(b"sysfs", b"/sys", b"sysfs", 0, None)
    try:
        socket.sethostname(name)
        configure_kernel()
    except (OSError, NotPermitted):
        os._exit(1)
    os.write(ready, b".")
    os.close(ready)
    while True:
        signal.pause()


def start_node(name):
    """Returns the process number of a new node."""
    readable, ready = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(readable)
        live_as(name, ready)
    os.close(ready)
    answer = os.read(readable, 1)
    os.close(readable)
    if answer != b".":
        raise NotPermitted(f"the node {name} could not be started")
    return pid


def batch(program, lines, pid=None):
    """Run lines of `ip` or `tc`, in a node's network."""
    if not lines:
        return
    command = ["nsenter", "--target", str(pid), "--net"] if pid else []
    done = subprocess.run(command + [program, "-batch", "-"], input="\n".join(lines) + "\n",
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotPermitted(f"{program}: {done.stderr.strip()}")


def shape(port, rate):
    """A line of `tc` for a port of a tree."""
    return (f"qdisc replace dev {port.interface} root handle 1: tbf rate {rate:.6f}mbit "
            f"burst {BURST} limit {QUEUE}")


class Lab:
    """A network, built. Use it inside a box, once."""

    def __init__(self, network, holder=None):
        """`holder`: the program hold_packets, which a network with latency needs."""
        self.network = network
        self.pids = {}
        self.holding = None  # the running program
        furnish()
        for node in network.switches + [host.name for host in network.hosts]:
            self.pids[node] = start_node(node)
        self.build_control()
        for one, other in network.links():
            self.join(one, other)
        self.lines = {node: ["link set lo up"] for node in self.pids}
        self.shapes = {node: [] for node in self.pids}
        if network.kind == "tree":
            self.build_tree()
        else:
            self.build_torus()
        for node, pid in self.pids.items():
            batch("ip", self.lines[node], pid)
            batch("tc", self.shapes[node], pid)
        self.write_files()
        if network.latency_us:
            self.add_latency(holder)

    def keep(self):
        """Processes that must stay when a job is killed."""
        holding = {self.holding.pid} if self.holding else set()
        return frozenset(self.pids.values()) | holding

    # ---- Latency ----

    def add_latency(self, holder):
        """What comes to a host over the data network waits in a queue of the kernel (NFQUEUE), and a
        program lets it pass later."""
        hosts = [str(self.pids[host.name]) for host in self.network.hosts]
        if not shutil.which("iptables"):
            raise NotPermitted("latency: iptables not found (Debian: iptables)")
        rule = ["iptables", "-A", "INPUT", "!", "-i", "lo", "-d", DATA, "-j", "NFQUEUE"]
        for pid in hosts:
            done = subprocess.run(["nsenter", "--target", pid, "--net", *rule], capture_output=True,
                                  text=True, check=False)
            if done.returncode:
                raise NotPermitted(f"latency: iptables with NFQUEUE: {done.stderr.strip()}")
        self.holding = subprocess.Popen([str(holder), str(self.network.latency_us), *hosts],
                                        stdout=subprocess.PIPE)
        ready, _, _ = select.select([self.holding.stdout], [], [], SOON)
        if not ready or self.holding.stdout.readline() != b"ready\n":
            raise NotPermitted("latency: NFQUEUE: hold_packets ended; see above")
        signal.signal(signal.SIGCHLD, self.end_without_latency)

    def end_without_latency(self, _signal, _frame):
        """A child has ended. If it is what holds packets, no packet passes any more: end all."""
        if self.holding.poll() is not None:
            print(f"lab: hold_packets ended with {self.holding.returncode}: without it packets "
                  "are lost, so the lab ends", file=sys.stderr, flush=True)
            os._exit(1)

    # ---- Links ----

    def build_control(self):
        """One switch for all, in the box's own network."""
        lines = ["link set lo up", "link add ctl type bridge", "link set ctl up",
                 "addr add 10.255.255.254/16 dev ctl"]
        for number, host in enumerate(self.network.hosts):
            lines += [f"link add c{number} type veth peer name c0 netns {self.pids[host.name]}",
                      f"link set c{number} master ctl up"]
        batch("ip", lines)
        for number, host in enumerate(self.network.hosts):
            batch("ip", ["link set c0 up", f"addr add {control_address(number)}/16 dev c0"],
                  self.pids[host.name])

    def join(self, one, other):
        batch("ip", [f"link add {one.interface} address {self.mac(one)} type veth "
                     f"peer name {other.interface} address {self.mac(other)} "
                     f"netns {self.pids[other.node]}"], self.pids[one.node])

    def mac(self, port):
        number = list(self.network.ports).index(port.name)
        return f"02:00:00:00:{number >> 8:02x}:{number & 255:02x}"

    def bring_up(self, port):
        self.lines[port.node] += [f"link set dev {port.interface} gso_max_size 16384 mtu 1500 up"]

    def build_tree(self):
        network = self.network
        for switch in network.switches:
            self.lines[switch] += ["link add br0 type bridge", "link set br0 up"]
        for port in network.ports.values():
            self.bring_up(port)
            self.shapes[port.node].append(shape(port, port.rate))
            if port.node in network.switches:
                self.lines[port.node].append(f"link set dev {port.interface} master br0")
        for host in network.hosts:
            self.lines[host.name] += [f"addr add {host.address}/16 dev e0",
                                      f"route change {DATA} dev e0 src {host.address} {ROUTE}"]
            for other in network.hosts:
                mac = self.mac(network.ports[f"{other.name}:e0"])
                self.lines[host.name].append(f"neigh replace {other.address} lladdr {mac} dev e0 "
                                             "nud permanent")

    def build_torus(self):
        network = self.network
        for port in network.ports.values():
            self.bring_up(port)
            self.shapes[port.node] += self.shares(port)
            peer = network.ports[f"{port.peer}:{port.peer_interface}"]
            address = network.hosts[int(port.peer[1:])].address
            self.lines[port.node].append(f"neigh replace {address} lladdr {self.mac(peer)} "
                                         f"dev {port.interface} nud permanent")
        for number, host in enumerate(network.hosts):
            # An address that belongs to no link: that of a bridge without ports.
            lines = ["link add own type bridge", "link set own up",
                     f"addr add {host.address}/32 dev own"]
            for target, other in enumerate(network.hosts):
                if target != number:
                    port = network.next_port(number, target)
                    via = network.hosts[int(port.peer[1:])].address
                    lines.append(f"route add {other.address} via {via} dev {port.interface} "
                                 f"onlink src {host.address} {ROUTE}")
            self.lines[host.name] += lines

    def shares(self, port):
        """A port of a torus: the hosts whose messages pass share it fairly, with a queue each."""
        sources = self.network.sources(port)
        device, rate = f"dev {port.interface}", port.rate
        lines = [f"qdisc replace {device} root handle 1: htb default ff",
                 f"class add {device} parent 1: classid 1:1 htb rate {rate:.6f}mbit "
                 f"burst {BURST} cburst {BURST}"]
        for source in sources + [0xff - 0x10]:
            leaf = f"1:{0x10 + source:x}"
            lines.append(f"class add {device} parent 1:1 classid {leaf} htb "
                         f"rate {rate / (len(sources) + 1):.6f}mbit ceil {rate:.6f}mbit "
                         f"burst 2k cburst {BURST} quantum 18000")
            lines.append(f"qdisc add {device} parent {leaf} pfifo limit 4096")
        for source in sources:
            address = self.network.hosts[source].address
            lines.append(f"filter add {device} parent 1: protocol ip prio 1 u32 "
                         f"match ip src {address}/32 flowid 1:{0x10 + source:x}")
        return lines

    # ---- Files ----

    def write_files(self):
        names = ["127.0.0.1 localhost", "10.255.255.254 head"]
        for number, host in enumerate(self.network.hosts):
            names.append(f"{control_address(number)} {host.name}")
            (PLACE / f"{host.name}.pid").write_text(str(self.pids[host.name]))
        (PLACE / "hosts").write_text("\n".join(names) + "\n")
        (PLACE / "layout.conf").write_text(self.network.layout())
        ports = sorted(self.network.ports.values(), key=lambda port: port.node)
        (PLACE / "links").write_text("".join(
            f"{port.name} {port.interface} /proc/{self.pids[port.node]}/net/dev\n"
            for port in ports))
        agent = PLACE / "agent"
        agent.write_text("#!/bin/sh\n# mpirun calls this in place of ssh: agent HOST COMMAND...\n"
                         f'pid=$(cat {PLACE}/"$1".pid) || exit\nshift\n'
                         'exec nsenter --target "$pid" --mount --net --uts -- /bin/sh -c "$*"\n')
        agent.chmod(0o755)

    def write_reshape(self, name, number, factor):
        """A program that makes the link of a tree's host the given factor slower than a healthy one;
        any host may run it. Returns its path."""
        port = self.network.ports[f"h{number}:e0"]
        ends = (port, self.network.ports[f"{port.peer}:{port.peer_interface}"])
        path = PLACE / name
        path.write_text("#!/bin/sh -e\n" + "".join(
            f"nsenter --target {self.pids[end.node]} --net tc "
            f"{shape(end, end.healthy_rate / factor)}\n" for end in ends))
        path.chmod(0o755)
        return path

    def exercise(self, number, job):
        """Fork a process that does a job in a host's network. Returns its process number."""
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                enter_network(self.pids[f"h{number}"])
                job()
                status = 0
            finally:
                os._exit(status)
        return pid
