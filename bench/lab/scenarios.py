# SPDX-License-Identifier: BSD-3-Clause
"""The scenarios by name. A scenario is a list of points; each point is a lab of its own."""
import dataclasses
import typing

import contenders
import network

MIB = 1 << 20
ALL_SETTINGS = ("default", "send", "eager", "ucx")
DEFAULT_AND_SEND = ("default", "send")
FLAT = ("recursive-doubling", "recursive-halving", "circulant", "ring")


@dataclasses.dataclass
class Degraded:
    """A host's links are re-shaped while the job runs; nobody is told."""
    host: int
    factor: float  # so many times slower
    first: int  # from this call on, of every contender's ...
    end: int  # ... to before this one


@dataclasses.dataclass
class Point:
    label: str  # also a folder's name
    network: str  # as network.parse takes it
    rate: float = 100  # Mbit/s
    ties: str = "split"
    slow: dict = dataclasses.field(default_factory=dict)  # {host: factor}
    x: float = 0  # where it stands in the figure
    degraded: typing.Optional[Degraded] = None

    def make(self):
        made = network.parse(self.network, self.rate, self.ties)
        made.slow_down(self.slow)
        return made

    def state(self, made, late):
        """What the strag command is told of slow links and of a late rank."""
        slow = ",".join(f"{made.rank_host.index(host)}:{factor:g}"
                        for host, factor in self.slow.items())
        one = late.isdigit()  # it knows of one late rank
        return (["--slow", slow] if slow else []) + (["--straggler", late] if one else [])


@dataclasses.dataclass
class Scenario:
    name: str
    title: str
    points: list
    sizes: str = "4M"
    settings: tuple = ALL_SETTINGS
    who: typing.Callable = contenders.everybody
    algorithms: tuple = ()  # of strag, those that differ there; (): all
    iterations: int = 3
    least: int = 3
    seconds: float = 3  # of one contender's calls, per size and delay
    rounds: int = 1  # launches per setting
    parameters: dict = dataclasses.field(default_factory=dict)  # MCA parameters besides
    late: str = ""  # ranks
    delays: str = "0"  # microseconds
    exact: float = 0  # how far the best times may be from the model, and launches from each other
    x: str = "bytes"  # what the figure's abscissa is: bytes, delay or the points' x
    x_title: str = "bytes"


FACTORS = {1: (1.14, 1.5, 2, 4), 2: (1.14, 2), 3: (1.14, 2)}  # by the number of slow hosts
VECTOR_US = 4 * MIB * 8 / (100 * network.GOODPUT)  # one vector of 4 MiB over one link


def slow_scenario(count):
    points = [Point(f"x{factor:g}", "star:8",
                    slow={2 * host + 1: factor for host in range(count)}, x=factor)
              for factor in FACTORS[count]]
    hosts = "one slow host" if count == 1 else f"{count} slow hosts"
    return Scenario(f"slow-{count}", f"Eight hosts, {hosts}: 4 MiB", points, x="point",
                    x_title="slowdown factor", settings=DEFAULT_AND_SEND, who=contenders.for_long,
                    algorithms=("recursive-halving", "circulant", "ring", "optcc", "weighted"))


WINDOW = 5  # calls, of coll/strag's watch


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


def torus_scenario(dims, rate, sizes):
    points = [Point(f"ties-{ties}", f"torus:{dims}", rate, ties) for ties in ("split", "plus")]
    if dims.startswith("2x"):  # both ways of a ring of two lead to the same host
        points = points[1:]
    return Scenario(f"torus-{dims}", f"Torus {dims}", points, sizes=sizes,
                    settings=DEFAULT_AND_SEND, who=contenders.for_long,
                    algorithms=FLAT + ("bucket", "hamiltonian", "swing", "torus-halving", "bine"))


SCENARIOS = [
    Scenario("repeat", "The same ring five times: how far measurements can be trusted",
             [Point("ring", "star:8")], settings=("default", "send"), who=contenders.rings,
             iterations=5, rounds=5, exact=0.02),
    Scenario("flat", "Eight hosts on one switch", [Point("flat", "star:8")], sizes="64K,256K,1M,4M",
             algorithms=FLAT),
    Scenario("late", "Eight hosts, one rank is late: 4 MiB", [Point("late", "star:8")], late="7",
             delays=",".join(f"{part * VECTOR_US:.0f}" for part in (0, 0.25, 0.5, 1, 2)),
             x="delay", x_title="delay in milliseconds", settings=DEFAULT_AND_SEND,
             who=contenders.for_long,
             algorithms=("recursive-halving", "circulant", "ring", "stragglar",
                         "straggler-pipeline", "broadcast-after")),
    slow_scenario(1),
    slow_scenario(2),
    slow_scenario(3),
    degrade_scenario(3),
    uneven_scenario((2, 3)),
    uneven_scenario((3, 4, 2)),
    uneven_scenario((4, 4, 4, 1)),
    torus_scenario("2x4", 50, "1M,4M"),
    torus_scenario("2x8", 25, "1M,4M"),
    torus_scenario("4x4", 25, "1M,4M"),
    Scenario("torus-4x4-long", "Torus 4x4, long vectors", [Point("ties-split", "torus:4x4", 25)],
             sizes="16M", settings=DEFAULT_AND_SEND, who=contenders.for_very_long,
             algorithms=("bucket", "swing"), iterations=2, least=1, seconds=30),
    Scenario("shm", "Shared memory of one host",
             [Point(f"np{ranks}", f"star:1x{ranks}", x=ranks) for ranks in (2, 4, 8)],
             sizes="64K..4M", settings=("default", "ucx"), iterations=50, least=20, seconds=2,
             rounds=3, algorithms=FLAT),
]


def find(name):
    for scenario in SCENARIOS:
        if scenario.name == name:
            return scenario
    names = ", ".join(scenario.name for scenario in SCENARIOS)
    raise network.Refused(f"scenario '{name}': {names} are accepted")
