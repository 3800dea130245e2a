# SPDX-License-Identifier: BSD-3-Clause
"""The scenarios by name. A scenario is a list of points; each point is a lab of its own."""
import dataclasses
import pathlib
import sys
import typing

import contenders
import network

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import measured

KIB, MIB = 1 << 10, 1 << 20
ALL_SETTINGS = ("default", "send", "eager", "ucx")
DEFAULT_AND_SEND = ("default", "send")
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
    map_by: str = "slot"  # how mpirun maps ranks: by slot (host by host) or by node
    degraded: typing.Optional[Degraded] = None
    bars: tuple = ()  # besides the scenario's
    latency: str = "0"  # from host to host, besides the kernel's own

    def make(self):
        made = network.parse(self.network, self.rate, self.ties)
        made.slow_down(self.slow)
        made.map_by = self.map_by
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
    # "bound"; "model"; "vector": median from a straggler's arrival, "mean-vector": the mean; "stock";
    # "best": the best other contender; or a contender's name
    of: str
    most: float
    delay: typing.Optional[float] = None  # only with this one (of a range: from this one on)


@dataclasses.dataclass
class Scenario:
    name: str
    title: str
    points: list
    sizes: str = "4M"
    settings: tuple = ALL_SETTINGS
    who: typing.Callable = contenders.all_that_apply
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


def from_first(size, most=1.05):
    """After the first calls auto is as fast as the best of all others."""
    return Bar("strag-auto", size, "best", most)


STAR_ALGORITHMS = ("ring", "circulant", "recursive-halving", "recursive-doubling", "swing",
                   "swing-latency", "bine", "direct", "flexreduce")
UNCONFIGURED_RATE = {4: 100, 5: 50, 6: 80, 7: 50, 8: 100}  # Mbit/s


UNCONFIGURED_LATENCY = ("0.0", "0.2", "2")  # ms


def unconfigured_scenario(name, title, points, sizes, **more):
    """No speed is configured, and every size has a communicator of its own: what auto runs in its
    first 40 calls, and how fast others are in the last 10."""
    return Scenario(name, title, points, sizes=",".join(map(str, sizes)), settings=("default",),
                    unconfigured=True, who=contenders.settled, algorithms=STAR_ALGORITHMS, iterations=40,
                    settle=30, least=33, seconds=3, parameters={"coll_strag_verbose": "1"},
                    x="point", bars=tuple(from_first(size) for size in sizes), **more)


def unconfigured_scenarios():
    for hosts, rate in UNCONFIGURED_RATE.items():
        yield unconfigured_scenario(
            f"unconfigured-{hosts}", f"{hosts} hosts without configuration",
            [Point(f"{latency}ms", f"star:{hosts}", rate, latency=f"{latency}ms", x=float(latency))
             for latency in UNCONFIGURED_LATENCY],
            [KIB << shift for shift in range(6, 14, 2)], x_title="added latency in milliseconds")
    yield unconfigured_scenario(
        "unconfigured-short", "Hosts without configuration: 4 and 16 KiB, whose calls scatter",
        [Point(f"n={hosts}-{latency}ms", f"star:{hosts}", rate, latency=f"{latency}ms", x=hosts)
         for hosts, rate in UNCONFIGURED_RATE.items() for latency in UNCONFIGURED_LATENCY],
        (4 * KIB, 16 * KIB), rounds=6, x_title="ranks")
    common = {"settings": ("default",), "unconfigured": True, "who": contenders.settled,
              "parameters": {"coll_strag_verbose": "1"}}
    sizes = (MIB, 4 * MIB)
    yield Scenario("unconfigured-long", "Hosts without configuration: 16 MiB",
                   [Point(f"n={hosts}-{latency}ms", f"star:{hosts}", 100, latency=f"{latency}ms",
                          x=hosts) for hosts in (4, 8) for latency in ("0.0", "2")],
                   sizes="16M", algorithms=("ring", "circulant", "recursive-halving", "swing"),
                   iterations=33, settle=30, least=33, seconds=1, x="point", x_title="ranks",
                   bars=(from_first(16 * MIB),), **common)
    for hosts in (4, 8):
        yield Scenario(
            f"unconfigured-slow-{hosts}", f"{hosts} hosts, one is slow, without configuration",
            [Point(f"x{factor:g}", f"star:{hosts}", 100, slow={1: factor}, x=factor)
             for factor in (1.3, 2, 3)],
            sizes="1M,4M", algorithms=("ring", "circulant", "optcc", "weighted",
                                       "flexreduce-pipelined"),
            iterations=35, settle=30, least=33, seconds=3, x="point", x_title="slowdown factor",
            bars=tuple(from_first(size) for size in sizes), **common)
    yield Scenario("unconfigured-torus", "Torus 8x8 without configuration",
                   [Point("ties-split", "torus:8x8", TORUS_RATE)], sizes="1M,4M",
                   algorithms=("bucket", "swing", "hamiltonian"), iterations=22, settle=20, least=22,
                   seconds=1, bars=tuple(from_first(size) for size in sizes), **common)
    yield Scenario("unconfigured-slow-7", "Seven hosts, one is slow, without configuration: 12 MiB",
                   [Point("x1.7", "star:7", 80, slow={3: 1.7})], sizes="12M",
                   algorithms=("ring", "optcc", "weighted", "flexreduce-pipelined"), iterations=16,
                   settle=12, least=15, seconds=1, bars=(from_first(12 * MIB),),
                   **{**common, "parameters": {"coll_strag_verbose": "1",
                                               "coll_strag_window": "4"}})
    yield Scenario("configured-late", "Six hosts, one configured as 0.2 s late: 12 MiB",
                   [Point("late", "star:6", 80)], sizes="12M", settings=("default",), unconfigured=True,
                   who=contenders.configured_straggler, late="4", delays="200000", iterations=8,
                   settle=3, least=8, parameters={"coll_strag_verbose": "1"},
                   bars=(Bar("strag-auto", 12 * MIB, "tuned-ring", 1.03),))


def last_scenarios():
    """Another rank comes last in every call, or all ranks are late at random. Times are in those
    of a vector: delays, and the bars after the last arrival."""
    common = {"settings": ("default",), "who": contenders.last_ones, "of_vector": True,
              "unconfigured": True, "x": "point", "x_title": "ranks", "seconds": 1000,
              "parameters": {"coll_strag_verbose": "1", "coll_strag_window": str(WINDOW)}}
    gains = {4: 1.10, 5: 1.13, 7: 1.20, 8: 1.20}
    for name, text, size, calls, settle in (("", "4 MiB", 4 * MIB, 30, 12),
                                            ("-long", "16 MiB", 16 * MIB, 22, 12)):
        points = [Point(f"n={hosts}", f"star:{hosts}", 100, x=hosts,
                        bars=(Bar("strag-auto", size, "tuned-ring", 1 / gain, delay=1),))
                  for hosts, gain in gains.items()]
        yield Scenario(f"last{name}", f"Another straggler in each call: {text}", points,
                       sizes=str(size), late="random", delays="0,0.25-2,1-2", jitter=0.05,
                       iterations=calls, settle=settle, least=calls,
                       bars=(Bar("strag-auto", size, "strag-unwatched", 1.01, delay=0),
                             Bar("strag-auto", size, "mean-vector", 1.25, delay=0.25)), **common)
    yield Scenario("last-exponential", "All ranks late by exponential times: 4 MiB",
                   [Point(f"n={hosts}", f"star:{hosts}", 100, x=hosts) for hosts in (4, 8)],
                   late="all", delays="0.5-exp", iterations=50, settle=12, least=50,
                   bars=(Bar("strag-auto", 4 * MIB, "tuned-ring", 1.0),), **common)


WINDOW = 5  # calls, of coll/strag's watch, where these are few
VECTOR_US = 4 * MIB * 8 / (100 * network.GOODPUT)  # one vector of 4 MiB over one link


def late_ranks_scenario():
    """A straggler that arrives when the others have done all they can without it."""
    points = [Point(f"n={ranks}", f"star:{ranks}", x=ranks) for ranks in (4, 5, 7, 8)]
    return Scenario("late-ranks", "4 to 8 hosts, one straggler by 1.8 s", points,
                    sizes="4M,16M", late="1", delays="1800000", x="point",
                    x_title="ranks", settings=DEFAULT_AND_SEND, who=contenders.for_very_long,
                    algorithms=("straggler-pipeline", "stragglar", "ring"), iterations=2, least=2,
                    seconds=30, bars=(Bar("strag-straggler-pipeline", 4 * MIB, "vector", 1.18),
                                      Bar("strag-straggler-pipeline", 16 * MIB, "vector", 1.10)))


def late_auto_scenario():
    """Neither the straggler nor its delay is configured."""
    delays = (0, 30000, 60000, 88000, 130000, 176000, 352000, 704000, 1000000)
    return Scenario("late-auto", "Eight hosts, one straggler, which strag has to detect: 4 MiB",
                    [Point("late", "star:8")], late="5", delays=",".join(map(str, delays)),
                    x="delay", x_title="delay in milliseconds", settings=("default",),
                    who=contenders.observed, iterations=24, least=24, settle=18,
                    parameters={"coll_strag_window": str(WINDOW), "coll_strag_verbose": "1"},
                    bars=(Bar("strag-auto", 4 * MIB, "stock", 1.05),))


def late_elsewhere_scenario():
    """As late-auto, but on a torus, on hosts of several ranks, and with a slow host besides."""
    points = [Point("torus-3x4", "torus:3x4", 25, x=0), Point("4+4+3", "tree:4,4,3", x=1),
              Point("slow-host", "star:6", 60, slow={1: 2}, x=2)]
    return Scenario("late-elsewhere", "One straggler on other networks, which strag has to detect: 4 MiB",
                    points, late="5", delays="0,800000", x="point", x_title="scenario",
                    settings=("default",), who=contenders.observed, iterations=16, least=16, settle=10,
                    parameters={"coll_strag_verbose": "1"},
                    bars=(Bar("strag-auto", 4 * MIB, "stock", 1.03),))


def late_two_scenario():
    """Two stragglers that arrive together, neither of which is configured."""
    return Scenario("late-two", "Eight hosts, two stragglers, which strag has to detect: 4 MiB",
                    [Point("late", "star:8")], late="2,5", delays="0,300000,800000", x="delay",
                    x_title="delay in milliseconds", settings=("default",), who=contenders.observed,
                    iterations=16, least=16, settle=10, parameters={"coll_strag_verbose": "1"},
                    bars=(Bar("strag-auto", 4 * MIB, "stock", 1.03),))


def slow_scenario(name, title, most, points):
    """Points with slow hosts. `most`: over the lower bound, at 16 MiB."""
    return Scenario(name, title, points, sizes="4M,16M", x="point", x_title="slowdown factor",
                    settings=DEFAULT_AND_SEND, who=contenders.for_very_long,
                    algorithms=("ring", "optcc", "weighted"), iterations=2, least=2, seconds=30,
                    bars=(Bar("strag-auto", 4 * MIB, "bound", 1.15),
                          Bar("strag-auto", 16 * MIB, "bound", most)))


def slow_scenarios():
    yield slow_scenario("slow-1", "Eight hosts, one is slow", 1.10,
                        [Point(f"x{factor:g}", "star:8", slow={1: factor}, x=factor)
                         for factor in (1.14, 1.33, 2, 3, 4)])
    yield slow_scenario("slow-2", "Eight hosts, two are slow", 1.15,
                        [Point("x2-x1.33", "star:8", slow={1: 2, 3: 1.33}, x=1),
                         Point("x2-x2", "star:8", slow={1: 2, 3: 2}, x=2)])
    yield slow_scenario("slow-3", "Eight hosts, three are slow", 1.15,
                        [Point("x2-x2-x2", "star:8", slow={1: 2, 3: 2, 5: 2}, x=2)])
    yield slow_scenario("slow-pairs", "Four hosts of two ranks, one is slow", 1.15,
                        [Point(f"x{factor:g}", "star:4x2", slow={1: factor}, x=factor)
                         for factor in (1.33, 2)])


def degrade_scenario(factor):
    return Scenario(
        "degrade", "Eight hosts, one is degraded while the job runs: 2 MiB",
        [Point("healed", "star:8", degraded=Degraded(host=3, factor=factor, first=20, end=180))],
        sizes="2M", settings=("default",), who=contenders.observed, iterations=200, least=200,
        parameters={"coll_strag_window": str(WINDOW), "coll_strag_verbose": "1",
                    "coll_strag_report": "1"})


def uneven_scenario(ranks):
    name = "-".join(str(count) for count in ranks)
    text = ",".join(str(count) for count in ranks)
    return Scenario(f"uneven-{name}", f"Hosts with {text} ranks, slow uplinks",
                    [Point(name, f"tree:{text}")], sizes="1M,4M",
                    algorithms=FLAT + ("flexreduce", "flexreduce-pipelined", "blueconnect",
                                       "leaders"))


def uplinks_scenario():
    """Every point mapped by slot; two of them also by node, and two with an uplink of half the rate."""
    trees = ("2,2", "2,3", "3,4", "4,4", "3,3,3", "3,3,4", "4,4,4")
    points = [Point(tree.replace(",", "+"), f"tree:{tree}") for tree in trees]
    points += [Point(f"{tree.replace(',', '+')}-by-node", f"tree:{tree}", map_by="node")
               for tree in ("2,3", "3,3,4")]
    points += [Point("2+2+2-half", "tree:2@0.1,2@0.1,2@0.05"),
               Point("3+3+4-half", "tree:3@0.1,3@0.1,4@0.05")]
    points += [Point("1+4+2", "tree:1,4,2"), Point("4x4", "tree:4,4,4,4", 25)]
    for number, point in enumerate(points):
        point.x = number
    return Scenario("uplinks", "Hosts with several ranks, slow uplinks: long vectors", points,
                    sizes="4M,16M", settings=DEFAULT_AND_SEND, who=contenders.for_uplinks,
                    algorithms=("flexreduce", "flexreduce-pipelined", "flexreduce-direct",
                                "leaders"), least=2,
                    seconds=4, x="point", x_title="scenario",
                    bars=(Bar("strag-auto", 4 * MIB, "bound", 1.10),
                          Bar("strag-auto", 16 * MIB, "bound", 1.05),
                          Bar("strag-auto", 4 * MIB, "stock", 1.0),
                          Bar("strag-auto", 16 * MIB, "stock", 1.0)))


def direct_scenario():
    """All messages of a level at once, at sizes where rounds count: against fewer messages in more
    rounds. Links are of one kind, of two, or shared by ranks."""
    points = [Point("5-slow", "star:5", slow={1: 2}, latency="2ms", x=0),
              Point("2+3", "tree:2,3", latency="2ms", x=1),
              Point("5", "star:5", latency="2ms", x=2), Point("8", "star:8", latency="2ms", x=3)]
    return Scenario("direct", "Middle sizes: all messages of a level at once", points,
                    sizes="4K,64K,256K,1M", settings=("default",), who=contenders.for_long,
                    algorithms=("recursive-doubling", "circulant", "recursive-halving", "ring",
                                "direct", "weighted", "flexreduce",
                                "flexreduce-pipelined", "flexreduce-direct"),
                    iterations=8, least=8, seconds=2, x="point", x_title="scenario")


def torus_scenario(dims, rate, sizes):
    points = [Point(f"ties-{ties}", f"torus:{dims}", rate, ties) for ties in ("split", "plus")]
    if dims.startswith("2x"):  # both directions of a ring of two lead to the same host
        points = points[1:]
    return Scenario(f"torus-{dims}", f"Torus {dims}", points, sizes=sizes,
                    settings=DEFAULT_AND_SEND, who=contenders.for_long,
                    algorithms=FLAT + ("bucket", "hamiltonian", "swing", "torus-halving", "bine"))


def torus_3x3_scenario():
    """Where rings of three are."""
    return Scenario("torus-3x3", "Torus 3x3", [Point("ties-split", "torus:3x3", 25)],
                    sizes="256K,1M,4M", settings=DEFAULT_AND_SEND, who=contenders.for_long,
                    algorithms=("ring", "circulant", "bucket", "hamiltonian", "swing",
                                "swing-latency"))


MANY_RATE = 10  # Mbit/s, of a star's links: two cores carry 64 of them
TORUS_RATE = 4  # ... of an 8x8 torus's links: messages pass through several hosts
MANY_SIZES = "256K,1M,4M"
STAR_MOST, TORUS_MOST = 1.07, 1.10  # times the model


def over_model(most):
    return tuple(Bar("strag-auto", size, "model", most) for size in (MIB // 4, MIB, 4 * MIB))


def many_scenario(name, title, point, **more):
    """32 hosts and more: few calls, for each takes seconds."""
    standard = {"sizes": MANY_SIZES, "settings": ("default",), "who": contenders.for_many,
                "least": 2, "seconds": 12, "bars": over_model(STAR_MOST)}
    return Scenario(name, title, [point], **{**standard, **more})


def many_scenarios():
    flat = ("ring", "recursive-halving")
    for hosts in (32, 64):
        yield many_scenario(f"flat-{hosts}", f"{hosts} hosts on one switch",
                            Point("flat", f"star:{hosts}", MANY_RATE), algorithms=flat,
                            settings=DEFAULT_AND_SEND if hosts == 32 else ("default",))
    ranks = ",".join(["1,2,3,4,1,2,1,2"] * 4)
    yield many_scenario("uneven-64", "32 hosts with 1 to 4 ranks, 64 in all",
                        Point("uneven", f"tree:{ranks}", MANY_RATE),
                        algorithms=("ring", "flexreduce", "flexreduce-pipelined"))
    yield many_scenario("slow-32", "32 hosts, one is slow",
                        Point("x2", "star:32", MANY_RATE, slow={1: 2}),
                        algorithms=("optcc", "flexreduce-pipelined"),
                        bars=over_model(STAR_MOST) + tuple(
                            Bar("strag-auto", size, "tuned-ring", 1 / 1.6)
                            for size in (MIB, 4 * MIB)))
    yield many_scenario("late-32", "32 hosts, one straggler, which strag has to detect",
                        Point("late", "star:32", MANY_RATE), sizes="1M", late="5",
                        delays="0,900000", x="delay", x_title="delay in milliseconds",
                        who=contenders.observed, iterations=15, least=15, settle=12,
                        parameters={"coll_strag_window": str(WINDOW),
                                    "coll_strag_verbose": "1"}, bars=())
    for name, sizes in (("", "256K,1M"), ("-long", "4M")):
        yield many_scenario(f"torus-8x8{name}", "Torus 8x8" + (name and ", long vectors"),
                            Point("ties-split", "torus:8x8", TORUS_RATE), sizes=sizes,
                            algorithms=("bucket", "hamiltonian", "swing"),
                            bars=over_model(TORUS_MOST) + tuple(
                                Bar("strag-auto", size, "stock", 1 / 3.8)
                                for size in (MIB, 4 * MIB)))


SCENARIOS = [
    Scenario("repeat", "The same ring five times: the precision of measurements",
             [Point("ring", "star:8")], settings=("default", "send"), who=contenders.rings,
             iterations=5, exact=0.02),
    Scenario("flat", "Eight hosts on one switch", [Point("flat", "star:8")], sizes="64K,256K,1M,4M",
             algorithms=FLAT, bars=(Bar("strag-auto", 4 * MIB, "tuned-ring", 1.03),)),
    Scenario("late", "Eight hosts, one straggler: 4 MiB", [Point("late", "star:8")], late="7",
             delays=",".join(f"{part * VECTOR_US:.0f}" for part in (0, 0.25, 0.5, 1, 2)),
             x="delay", x_title="delay in milliseconds", settings=DEFAULT_AND_SEND,
             who=contenders.for_long,
             algorithms=("recursive-halving", "circulant", "ring", "stragglar",
                         "straggler-pipeline", "broadcast-after")),
    late_ranks_scenario(),
    late_auto_scenario(),
    late_elsewhere_scenario(),
    late_two_scenario(),
    *slow_scenarios(),
    degrade_scenario(3),
    uneven_scenario((2, 3)),
    uneven_scenario((3, 4, 2)),
    uneven_scenario((4, 4, 4, 1)),
    uplinks_scenario(),
    direct_scenario(),
    torus_scenario("2x4", 50, "1M,4M"),
    torus_scenario("2x8", 25, "1M,4M"),
    torus_scenario("4x4", 25, "1M,4M"),
    torus_3x3_scenario(),
    Scenario("torus-4x4-long", "Torus 4x4, long vectors", [Point("ties-split", "torus:4x4", 25)],
             sizes="16M", settings=DEFAULT_AND_SEND, who=contenders.for_very_long,
             algorithms=("bucket", "swing"), iterations=2, least=1, seconds=30),
    *many_scenarios(),
    *unconfigured_scenarios(),
    *last_scenarios(),
    Scenario("shm", "Shared memory of one host",
             [Point(f"np{ranks}", f"star:1x{ranks}", x=ranks) for ranks in (2, 4, 8)],
             sizes="64K..4M", settings=("default", "ucx"), iterations=50, least=20, seconds=2,
             algorithms=FLAT),
]


def find(name):
    for scenario in SCENARIOS:
        if scenario.name == name:
            return scenario
    names = ", ".join(scenario.name for scenario in SCENARIOS)
    raise network.Refused(f"scenario '{name}': {names} are accepted")
