# SPDX-License-Identifier: BSD-3-Clause
"""Which hosts, switches and links a lab has, and which links a message takes. Nothing is built.

A link has two ends, called ports. A port shapes what leaves it, so that a port stands for one
direction of its link:

    star, tree   h0:e0 -> s0, s0:p0 -> h0, s1:u0 -> s0, ...
    torus        h5:p0 -> the neighbour upwards in dimension 0, h5:m1 -> downwards in dimension 1

Rates are in Mbit/s. Besides, a network may have a latency: what comes to a host over the data
network waits for that time, whatever the way that it took.
"""
import collections
import dataclasses
import itertools
import math
import re

# The goodput of TCP, of a link's rate: 1448 of 1514 bytes of a frame, less the acknowledgements of
# the other direction.
GOODPUT = 0.9526
LONGEST_US = 1000000  # of latency


class Refused(Exception):
    """An invalid description; the text has what is accepted."""


@dataclasses.dataclass
class Port:
    node: str
    interface: str
    peer: str  # the node at the other end
    peer_interface: str
    healthy_rate: float
    factor: float = 1  # how many times slower than that

    @property
    def rate(self):
        return self.healthy_rate / self.factor

    @property
    def name(self):
        return f"{self.node}:{self.interface}"

    @property
    def seconds_per_byte(self):
        return 8 / (self.rate * 1e6 * GOODPUT)


@dataclasses.dataclass
class Host:
    name: str
    ranks: int
    address: str


class Network:
    """What star, tree and torus have in common."""

    def __init__(self):
        self.hosts = []
        self.switches = []
        self.ports = {}  # by name
        self.rank_host = []  # with ranks numbered host by host
        self.ties = "split"
        self.latency_us = 0  # from host to host, besides the kernel's own

    def add_host(self, ranks):
        number = len(self.hosts)
        host = Host(f"h{number}", ranks, f"10.1.0.{number + 1}")
        self.hosts.append(host)
        self.rank_host += [number] * ranks
        return host.name

    def add_link(self, a, a_interface, b, b_interface, rate):
        self.ports[f"{a}:{a_interface}"] = Port(a, a_interface, b, b_interface, rate)
        self.ports[f"{b}:{b_interface}"] = Port(b, b_interface, a, a_interface, rate)

    @property
    def ranks(self):
        return len(self.rank_host)

    def latency_text(self):
        return f", latency {self.latency_us / 1000:g} ms" if self.latency_us else ""

    def links(self):
        """Each link once: its two ports."""
        for port in self.ports.values():
            other = self.ports[f"{port.peer}:{port.peer_interface}"]
            if port.name < other.name:
                yield port, other

    def slow_down(self, factors):
        """Make the links of hosts slower: {host number: factor}."""
        for port, other in self.links():
            for number, factor in factors.items():
                if f"h{number}" in (port.node, other.node):
                    port.factor = other.factor = factor

    def loads(self, traffic):
        """Bytes on every port for bytes between hosts: {(from, to): bytes}."""
        loads = dict.fromkeys(self.ports, 0)
        for (source, target), size in traffic.items():
            if source != target:
                for port in self.route(source, target):
                    loads[port.name] += size
        return loads

    def busiest_seconds(self, traffic):
        """Seconds that the busiest link needs for that traffic."""
        loads = self.loads(traffic)
        return max(loads[name] * port.seconds_per_byte for name, port in self.ports.items())


class Tree(Network):
    """Hosts below switches; a star is a tree of one switch.

    The text is that of `strag --tree`: ranks per host separated by commas, parentheses for switches,
    and "@GBIT" after either for the rate of its uplink: "(2@0.1,3)@0.2".
    """

    kind = "tree"

    def __init__(self, text, rate):
        super().__init__()
        self.rate = rate
        self.parent = {}  # node: the port that leads up
        self.text, self.at = text, 0
        children = self.read_list(self.add_switch())
        if len(self.hosts) > 64:
            raise Refused(f"a tree of {len(self.hosts)} hosts: 1 to 64 are accepted")
        if self.at != len(text) or not children:
            raise Refused(f"tree '{text}': text like 1,1,1,1 or ((2,3@0.1)@0.2,(4)) is accepted")

    def add_switch(self):
        self.switches.append(f"s{len(self.switches)}")
        return self.switches[-1]

    def read_list(self, switch):
        """Children of a switch, separated by commas. Returns the sum of their uplinks' rates."""
        rates = 0
        for number in itertools.count():
            node, below = self.read_node()
            rate = self.read_rate() or below
            interface = "e0" if node.startswith("h") else "u0"
            self.add_link(node, interface, switch, f"p{number}", rate)
            self.parent[node] = self.ports[f"{node}:{interface}"]
            rates += rate
            if not self.take(","):
                return rates

    def read_node(self):
        if self.take("("):
            switch = self.add_switch()
            rates = self.read_list(switch)
            if not self.take(")"):
                raise Refused(f"tree '{self.text}': a bracket is not closed")
            return switch, rates
        ranks = self.number("0123456789")
        if not ranks or not 1 <= int(ranks) <= 64:
            raise Refused(f"tree '{self.text}': a host has 1 to 64 ranks")
        return self.add_host(int(ranks)), self.rate

    def read_rate(self):
        """Mbit/s, or None."""
        if not self.take("@"):
            return None
        text = self.number("0123456789.")
        try:
            rate = float(text)
        except ValueError:
            rate = 0
        if not 0 < rate <= 1000:
            raise Refused(f"tree '{self.text}': a rate is a number of Gbit/s up to 1000, not "
                          f"'{text}'")
        return 1000 * rate

    def take(self, letter):
        found = self.text[self.at:self.at + 1] == letter
        self.at += found
        return found

    def number(self, letters):
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in letters:
            self.at += 1
        return self.text[start:self.at]

    def path_up(self, node):
        """Ports from a node to the root."""
        path = []
        while node in self.parent:
            path.append(self.parent[node])
            node = path[-1].peer
        return path

    def route(self, source, target):
        up, down = self.path_up(f"h{source}"), self.path_up(f"h{target}")
        while up and down and up[-1] is down[-1]:
            up.pop()
            down.pop()
        back = [self.ports[f"{port.peer}:{port.peer_interface}"] for port in reversed(down)]
        return up + back

    def describe(self):
        rates = sorted(collections.Counter(port.rate for port in self.parent.values()).items())
        speed = (f"{rates[0][0]:g}" if len(rates) == 1 else
                 ", ".join(f"{count} at {rate:g}" for rate, count in rates)) + " Mbit/s"
        items = self.text.split(",")
        one_kind = len(items) > 8 and len(set(items)) == 1
        text = f"{items[0]},... ({len(items)} times)" if one_kind else self.text
        return f"tree {text}: {len(self.hosts)} hosts, {self.ranks} ranks, {speed}{self.latency_text()}"

    def strag_arguments(self):
        """The same tree for the strag command, with goodput instead of rates and without slow
        hosts, which have an option of their own."""
        return ["--tree", self.strag_text("s0")]

    def strag_text(self, switch):
        items = []
        for node, port in self.parent.items():
            if port.peer == switch:
                inner = (f"({self.strag_text(node)})" if node in self.switches
                         else str(self.hosts[int(node[1:])].ranks))
                items.append(f"{inner}@{port.healthy_rate * GOODPUT / 1000:.6g}")
        return ",".join(items)

    def layout(self):
        """The same tree for the component: Slurm's topology.conf. A host's rate is that of a
        switch of its own."""
        lines = []
        for host in self.hosts:
            rate = self.parent[host.name].rate * GOODPUT / 1000
            lines.append(f"SwitchName=x{host.name} Nodes={host.name} LinkSpeed={rate:.6g}")
        for switch in reversed(self.switches):
            below = [f"x{node}" if node.startswith("h") else node
                     for node, port in self.parent.items() if port.peer == switch]
            up = self.parent.get(switch)
            speed = f" LinkSpeed={up.rate * GOODPUT / 1000:.6g}" if up else ""
            lines.append(f"SwitchName={switch} Switches={','.join(below)}{speed}")
        return "\n".join(lines) + "\n"

    def component_parameters(self, layout_file):
        """Parameters: for equal hosts on one switch their rate, else a layout."""
        rates = {port.rate for port in self.ports.values()}
        if len(self.switches) == 1 and len(rates) == 1:
            return {"coll_strag_bandwidth": f"{rates.pop() * GOODPUT / 1000:.6g}"}
        return {"coll_strag_layout": layout_file}

    def bound_seconds(self, size):
        """A lower bound: q groups around a switch (all that is above it is one) send 2(q-1) vectors
        in total to each other, and each of them sends at least one."""
        best = 0
        for switch in self.switches:
            rates = [1 / port.seconds_per_byte for port in self.ports.values()
                     if port.peer == switch]
            if len(rates) > 1:
                best = max(best, 2 * (len(rates) - 1) * size / sum(rates), size / min(rates))
        return best


def star(hosts, rate, ranks_per_host=1):
    return Tree(",".join([str(ranks_per_host)] * hosts), rate)


class Torus(Network):
    """Hosts that are each other's routers; the first dimension is the fastest.

    Messages go dimension by dimension in the shorter direction. If both are equally long, hosts at
    even coordinates send up and the others down (ties "split": that halves the load as splitting
    every message would), or all go up ("plus").
    """

    kind = "torus"

    def __init__(self, text, rate, ties="split"):
        super().__init__()
        self.text, self.ties, self.rate = text, ties, rate
        self.passing = {}  # the name of a port: the hosts whose messages may leave by it
        try:
            self.dims = [int(size) for size in text.split("x")]
        except ValueError:
            self.dims = []
        if not self.dims or min(self.dims) < 2 or math.prod(self.dims) > 64:
            raise Refused(f"torus '{text}': sizes such as 4x4 are accepted, up to 64 hosts")
        for _ in range(math.prod(self.dims)):
            self.add_host(1)
        for number, dimension in itertools.product(range(len(self.hosts)), range(len(self.dims))):
            self.add_link(f"h{number}", f"p{dimension}",
                          f"h{self.neighbour(number, dimension, 1)}", f"m{dimension}", rate)

    def coordinates(self, number):
        at = []
        for size in self.dims:
            at.append(number % size)
            number //= size
        return at

    def neighbour(self, number, dimension, step):
        stride, size = math.prod(self.dims[:dimension]), self.dims[dimension]
        here = number // stride % size
        return number + ((here + step) % size - here) * stride

    def next_port(self, here, target):
        """The port by which a message leaves a host."""
        at, to = self.coordinates(here), self.coordinates(target)
        for dimension, size in enumerate(self.dims):
            distance = (to[dimension] - at[dimension]) % size
            if distance:
                tie = 2 * distance == size and self.ties == "split" and at[dimension] % 2
                up = 2 * distance <= size and not tie
                return self.ports[f"h{here}:{'p' if up else 'm'}{dimension}"]
        raise ValueError("a message to oneself takes no link")

    def route(self, source, target):
        path = []
        while source != target:
            path.append(self.next_port(source, target))
            source = int(path[-1].peer[1:])
        return path

    def sources(self, port):
        """Hosts whose messages may leave by a port."""
        if not self.passing:
            self.passing = {name: set() for name in self.ports}
            for source, target in itertools.permutations(range(len(self.hosts)), 2):
                for taken in self.route(source, target):
                    self.passing[taken.name].add(source)
        return sorted(self.passing[port.name])

    def describe(self):
        return (f"torus {self.text}, ties {self.ties}: {len(self.hosts)} hosts, "
                f"{self.rate:g} Mbit/s per link and direction{self.latency_text()}")

    def strag_arguments(self):
        return ["--torus", self.text, "--ties", self.ties,
                "--bandwidth", f"{self.rate * GOODPUT / 1000:.6g}"]

    def layout(self):
        return ""

    def component_parameters(self, _layout_file):
        return {"coll_strag_torus": self.text,
                "coll_strag_bandwidth": f"{self.rate * GOODPUT / 1000:.6g}"}

    def bound_seconds(self, size):
        """2(n-1) vectors in total over all links, and one vector out of every host."""
        ranks = self.ranks
        rates = {host.name: 0 for host in self.hosts}
        for port in self.ports.values():
            rates[port.node] += 1 / port.seconds_per_byte
        return max(2 * (ranks - 1) * size / sum(rates.values()), size / min(rates.values()))


def microseconds(text):
    """A latency: 0.2ms, 200us or 0."""
    units = {"us": 1, "ms": 1000, "s": 1e6}
    found = re.fullmatch(r"([0-9]*\.?[0-9]+)(us|ms|s)|0", text)
    value = float(found[1]) * units[found[2]] if found and found[1] else 0
    if not found or value != round(value) or value > LONGEST_US:
        raise Refused(f"latency '{text}': 0.2ms, 200us or the like is accepted, in whole "
                      "microseconds up to 1s")
    return round(value)


def parse(text, rate, ties="split"):
    """star:8, star:4x2 (hosts x ranks), tree:((2,3)), torus:4x4."""
    kind, _, rest = text.partition(":")
    if kind == "star" and rest:
        hosts, _, ranks = rest.partition("x")
        if hosts.isdecimal() and (ranks or "1").isdecimal() and 1 <= int(hosts) <= 64:
            return star(int(hosts), rate, int(ranks or 1))
    elif kind == "tree":
        return Tree(rest, rate)
    elif kind == "torus":
        return Torus(rest, rate, ties)
    raise Refused(f"network '{text}': star:HOSTS[xRANKS], tree:TEXT or torus:XxY is accepted")
