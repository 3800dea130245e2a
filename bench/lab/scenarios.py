# SPDX-License-Identifier: BSD-3-Clause
"""The scenarios by name. A scenario is a list of points; each point is a lab of its own.

There are few, so that one evening on a quiet machine (two to three hours) measures all of them again, five times each:
a page whose sections are of different versions compares nothing. `lab --algorithms`, `--sizes`, `--delays` and
`lab mpirun` try what is not here.
"""
import dataclasses
import pathlib
import sys
import typing

import contenders
import network

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import measured
import section

MIB = 1 << 20
SETTINGS = ("default", "send")  # of the protocols; default: what users get
FLAT = ("recursive-doubling", "recursive-halving", "circulant", "ring")


@dataclasses.dataclass
class Degraded:
    """A host's links are re-shaped while the job runs, without notice to strag."""
    host: int
    factor: float  # how many times slower
    first: int  # from this call on, of every contender's ...
    end: int  # ... to before this one


@dataclasses.dataclass
class Point:
    label: str  # also a folder's name
    network: str  # as network.parse takes it
    rate: float = 100  # Mbit/s
    ties: str = "split"
    slow: dict = dataclasses.field(default_factory=dict)  # {host: factor}
    x: float = 0  # its abscissa in the figure
    degraded: typing.Optional[Degraded] = None
    bars: tuple = ()  # besides the scenario's
    latency: str = "0"  # from host to host, besides the kernel's own

    def make(self):
        made = network.parse(self.network, self.rate, self.ties)
        made.slow_down(self.slow)
        made.latency_us = network.microseconds(self.latency)
        return made

    def slowdown(self):
        """The parameter that configures the slow hosts."""
        slow = "+".join(f"h{host}:{factor:g}" for host, factor in self.slow.items())
        return f",coll_strag_slowdown={slow}" if slow else ""

    def state(self, made, late):
        """Options of the strag command for slow links and a straggler."""
        slow = ",".join(f"{made.rank_host.index(host)}:{factor:g}"
                        for host, factor in self.slow.items())
        one = late.isdigit()  # the command has one straggler
        return (["--slow", slow] if slow else []) + (["--straggler", late] if one else [])


@dataclasses.dataclass
class Bar:
    """A target: a contender at its best setting takes at most this multiple of another time."""
    contender: str
    bytes: int
    # "bound"; "model"; "vector": what it takes on a host's link; "stock"; "best": the best other contender; or a
    # contender's name
    of: str
    most: float
    delay: typing.Optional[float] = None  # only with this one (of a range: from this one on)


@dataclasses.dataclass
class Scenario:
    name: str
    title: str
    points: list
    sizes: str = "4M"
    settings: tuple = SETTINGS
    who: typing.Callable = contenders.for_long
    algorithms: tuple = ()  # of strag, those that differ there; (): all
    iterations: int = 3
    least: int = 3
    seconds: float = 3  # of one contender's calls, per size and delay
    rounds: int = measured.LAUNCHES  # launches per setting
    settle: int = 0  # calls that do not count, in which strag detects what happens
    parameters: dict = dataclasses.field(default_factory=dict)  # MCA parameters besides
    unconfigured: bool = False  # no speed of links is configured; each size has communicators of its own
    late: str = ""  # ranks; random: another one in each call
    delays: str = "0"  # microseconds
    jitter: float = 0  # all ranks are late by up to that; units as of delays
    of_vector: bool = False  # delays are in times that a vector takes on a host's link
    exact: float = 0  # allowed deviation of the best times from the model, and of launches from each other
    bars: tuple = ()
    x: str = "bytes"  # what the figure's abscissa is: bytes, delay or the points' x
    x_title: str = "bytes"

    def exponential(self):
        """Are stragglers late by any time?"""
        return "exp" in self.delays

    def random_arrivals(self):
        return bool(self.late == "random" or self.jitter or self.of_vector or self.exponential())


def at_most(most, of, sizes):
    """Targets of strag-auto, at each of the sizes."""
    return tuple(Bar("strag-auto", size, of, most) for size in section.sizes_of(sizes))


STAR_ALGORITHMS = ("ring", "circulant", "recursive-halving", "recursive-doubling", "swing",
                   "swing-latency", "bine", "direct", "flexreduce")


def unconfigured_scenario(name, title, points, sizes, **more):
    """No speed is configured, and every size has a communicator of its own: what auto runs in its first 40 calls,
    and how fast the others are in the last 10. auto is then to be as fast as the best of them."""
    standard = {"settings": ("default",), "algorithms": STAR_ALGORITHMS, "iterations": 40, "settle": 30, "least": 33}
    return Scenario(name, title, points, sizes=sizes, unconfigured=True, who=contenders.settled,
                    parameters={"coll_strag_verbose": "1"}, x="point", bars=at_most(1.05, "best", sizes),
                    **{**standard, **more})


def unconfigured_scenarios():
    yield unconfigured_scenario("unconfigured-8", "8 hosts without configuration",
                                [Point(f"{latency}ms", "star:8", latency=f"{latency}ms", x=float(latency))
                                 for latency in ("0.0", "0.2")],
                                "64K,256K,1M,4M", x_title="added latency in milliseconds")
    yield unconfigured_scenario("unconfigured-short", "Hosts without configuration: 4 and 16 KiB, whose calls scatter",
                                [Point(f"n={hosts}-{latency}ms", f"star:{hosts}", latency=f"{latency}ms", x=hosts)
                                 for hosts in (4, 8) for latency in ("0.0", "0.2")],
                                "4K,16K", x_title="ranks")
    yield unconfigured_scenario("unconfigured-slow-8", "8 hosts, one is slow, without configuration",
                                [Point("x2", "star:8", slow={1: 2})],
                                "1M,4M", x_title="slowdown factor", iterations=35,
                                algorithms=("ring", "circulant", "optcc", "weighted", "flexreduce-pipelined"))


WINDOW = 5  # calls, of coll/strag's watch, if these are few
VECTOR_US = 4 * MIB * 8 / (100 * network.GOODPUT)  # one vector of 4 MiB over one link


def observed_scenario(name, title, points, **more):
    """strag, which has to detect what happens, and tuned's ring."""
    return Scenario(name, title, points, settings=("default",), who=contenders.observed, **more)


def late_scenarios():
    """Ranks that arrive late. Delays are in microseconds."""
    yield Scenario("late", "Eight hosts, one straggler, configured: 4 MiB", [Point("late", "star:8")], late="7",
                   delays=",".join(f"{part * VECTOR_US:.0f}" for part in (0, 0.5, 1, 2)), x="delay",
                   x_title="delay in milliseconds", settings=("default",), who=contenders.pinned,
                   algorithms=("ring", "broadcast-after", "stragglar", "straggler-pipeline"))
    yield observed_scenario("late-auto", "Eight hosts, one straggler, which strag has to detect: 4 MiB",
                            [Point("late", "star:8")], delays="0,352000,1000000", x="delay",
                            x_title="delay in milliseconds", iterations=20, least=20, settle=14, late="5",
                            parameters={"coll_strag_window": str(WINDOW), "coll_strag_verbose": "1"},
                            bars=at_most(1.05, "stock", "4M"))
    common = {"iterations": 16, "least": 16, "settle": 10, "parameters": {"coll_strag_verbose": "1"},
              "bars": at_most(1.03, "stock", "4M")}
    points = [Point("torus-3x4", "torus:3x4", 25, x=0), Point("4+4+3", "tree:4,4,3", x=1),
              Point("slow-host", "star:6", 60, slow={1: 2}, x=2)]
    yield observed_scenario("late-elsewhere", "One straggler on other networks, which strag has to detect: 4 MiB",
                            points, late="5", delays="0,800000", x="point", x_title="scenario", **common)
    yield observed_scenario("late-two", "Eight hosts, two stragglers, which strag has to detect: 4 MiB",
                            [Point("late", "star:8")], late="2,5", delays="0,300000,800000", x="delay",
                            x_title="delay in milliseconds", **common)


def last_scenario():
    """Another rank comes last in each call. Delays are in times that a vector takes. The targets: 1.25 vectors after the
    last arrival, and 1/1.2 of the ring's time."""
    return observed_scenario(
        "last", "Another straggler in each call: 4 MiB", [Point("n=8", "star:8")],
        late="random", delays="0.25-2,1-2", jitter=0.05, of_vector=True, unconfigured=True, x="point", x_title="ranks",
        iterations=28, settle=12, least=28, seconds=1000,
        parameters={"coll_strag_window": str(WINDOW), "coll_strag_verbose": "1"},
        bars=(Bar("strag-auto", 4 * MIB, "vector", 1.25, delay=0.25),
              Bar("strag-auto", 4 * MIB, "tuned-ring", 1 / 1.20, delay=1)))


def slow_scenario():
    """Slow hosts, which are configured."""
    points = [Point("x2", "star:8", slow={1: 2}, x=0), Point("x2-x2", "star:8", slow={1: 2, 3: 2}, x=1),
              Point("pairs-x2", "star:4x2", slow={1: 2}, x=2)]
    return Scenario("slow", "Eight ranks, one or two slow hosts: 4 MiB", points, x="point", x_title="scenario",
                    algorithms=("optcc", "weighted"), iterations=2, least=2, seconds=30,
                    bars=(Bar("strag-auto", 4 * MIB, "bound", 1.15),))


def degrade_scenario():
    return observed_scenario(
        "degrade", "Eight hosts, one is degraded while the job runs: 2 MiB",
        [Point("healed", "star:8", degraded=Degraded(host=3, factor=3, first=20, end=80))],
        sizes="2M", iterations=120, least=120,
        parameters={"coll_strag_window": str(WINDOW), "coll_strag_verbose": "1", "coll_strag_report": "1"})


def uneven_scenario():
    """Hosts of unequal numbers of ranks; on the last network one of them also has an uplink of half the rate."""
    networks = {"2+3": "2,3", "3+4+2": "3,4,2", "3+3+4-half": "3@0.1,3@0.1,4@0.05"}
    points = [Point(label, f"tree:{tree}", x=number) for number, (label, tree) in enumerate(networks.items())]
    return Scenario("uneven", "Hosts with several ranks, slow uplinks", points, sizes="1M,4M", x="point",
                    x_title="scenario", who=contenders.for_uplinks, iterations=2, least=2, seconds=30,
                    algorithms=("flexreduce", "flexreduce-pipelined"),
                    bars=(Bar("strag-auto", 4 * MIB, "bound", 1.10), Bar("strag-auto", 4 * MIB, "stock", 1.0)))


STAR_MOST, TORUS_MOST = 1.07, 1.10  # times the model


def torus_scenario():
    points = [Point("2x4", "torus:2x4", 50, "plus", x=0),  # both ways round a ring of two lead to the same host
              Point("4x4", "torus:4x4", 25, x=1)]
    return Scenario("torus", "Tori 2x4 and 4x4", points, sizes="1M,4M", x="point", x_title="scenario", iterations=2,
                    least=2, seconds=30, algorithms=("ring", "bucket", "swing"),
                    bars=at_most(TORUS_MOST, "model", "1M,4M"))


def many_scenario(name, title, point, sizes, most, **more):
    """32 hosts and more: few calls, for each takes seconds. `most`: times the model."""
    bars = at_most(most, "model", sizes) + more.pop("bars", ())
    return Scenario(name, title, [point], sizes=sizes, settings=("default",), who=contenders.for_many, least=2,
                    seconds=12, bars=bars, **more)


# Two cores carry the links of 64 hosts at 10 Mbit/s, and of an 8x8 torus, on which messages pass through several hosts,
# at 4 Mbit/s.
SCENARIOS = [
    Scenario("repeat", "The same ring five times: the precision of measurements",
             [Point("ring", "star:8")], who=contenders.rings, iterations=5, exact=0.02),
    Scenario("flat", "Eight hosts on one switch", [Point("flat", "star:8")], sizes="64K,256K,1M,4M",
             algorithms=FLAT, bars=(Bar("strag-auto", 4 * MIB, "tuned-ring", 1.03),)),
    many_scenario("flat-32", "32 hosts on one switch", Point("flat", "star:32", 10), "256K,1M", STAR_MOST,
                  algorithms=("ring", "recursive-halving")),
    *late_scenarios(),
    last_scenario(),
    slow_scenario(),
    degrade_scenario(),
    uneven_scenario(),
    torus_scenario(),
    many_scenario("torus-8x8", "Torus 8x8", Point("ties-split", "torus:8x8", 4), "256K,1M", TORUS_MOST,
                  algorithms=("bucket", "swing"), bars=(Bar("strag-auto", MIB, "stock", 1 / 3.8),)),
    *unconfigured_scenarios(),
]


def find(name):
    for scenario in SCENARIOS:
        if scenario.name == name:
            return scenario
    names = ", ".join(scenario.name for scenario in SCENARIOS)
    raise network.Refused(f"scenario '{name}': {names} are accepted")
