# SPDX-License-Identifier: BSD-3-Clause
"""The strag command: the algorithms, their plans, and what these send over which link."""
import collections
import csv
import functools
import io
import json
import math
import subprocess

ELEMENT = 4  # bytes of a float

# The numbers of the component's model where they are not the command's own (see launch.py).
ALPHA_US = 100
MODEL = ["--alpha", str(ALPHA_US), "--local-alpha", "4", "--local-bandwidth", "128",
         "--reduce-bandwidth", "128"]
LONG_DELAY_US = 1e6  # of a straggler whose delay the component does not know


class Strag:
    """The command, for one network and state."""

    def __init__(self, command, network, state=()):
        self.command, self.network = str(command), network
        self.place = ["-n", str(network.ranks)] + network.strag_arguments() + list(state)

    def run(self, *arguments):
        return subprocess.run([self.command, *arguments], capture_output=True, text=True,
                              check=False)

    @functools.cached_property
    def algorithms(self):
        """Those of `strag list` that can be planned for this network."""
        done = self.run("list")
        done.check_returncode()
        names = [line.split()[0] for line in done.stdout.splitlines() if line.strip()]
        return [name for name in names if self.plan(name)]

    @functools.cached_property
    def late(self):
        """The straggler in the state, or None."""
        place = self.place
        return place[place.index("--straggler") + 1] if "--straggler" in place else None

    @functools.lru_cache(maxsize=None)
    def needs_late(self, name):
        """Can it be planned only with a straggler?"""
        return self.run("plan", name, "-n", str(self.network.ranks), "--straggler", "0",
                        "--rank", "0").returncode == 0 and self.run(
                            "plan", name, "-n", str(self.network.ranks),
                            "--rank", "0").returncode == 2

    @functools.lru_cache(maxsize=None)
    def explain(self, size):
        """What `strag explain` says, with the component's model."""
        delay = ["--delay", f"{LONG_DELAY_US:g}"] if self.late else []
        done = self.run("explain", *self.place, *delay, *MODEL, "--bytes", str(size), "--format",
                        "json")
        done.check_returncode()
        return json.loads(done.stdout)["sizes"][0]

    def choices(self, size):
        """{algorithm: blocks} as the component chooses, where the number depends on the size."""
        return {candidate["algorithm"]: candidate["blocks"]
                for candidate in self.explain(size)["candidates"] if "blocks" in candidate}

    def chosen(self, size):
        """The algorithm that runs at this size when none is pinned."""
        return self.explain(size)["algorithm"]

    def blocks(self, name, size):
        """The number of blocks that the component chooses for this algorithm; None: no choice."""
        return self.choices(size).get(name)

    @functools.lru_cache(maxsize=None)
    def plan(self, name, blocks=None):
        """All ranks' plans, or None."""
        place = [item for item in self.place]
        for option in ("--ties", "--bandwidth"):  # a plan does not depend on these
            if option in place:
                del place[place.index(option):place.index(option) + 2]
        cut = ["--blocks", str(blocks)] if blocks else []
        done = self.run("plan", name, *place, *cut, "--format", "json")
        if done.returncode == 2:
            return None
        done.check_returncode()
        return json.loads(done.stdout)

    def rounds(self, name, size):
        """[{(host, host): bytes}] for every round, between different hosts only."""
        plan = self.plan(name, self.blocks(name, size))
        host = self.network.rank_host
        count = size // ELEMENT
        first = [math.floor(bound * count) * ELEMENT for bound in plan["bounds"]]
        rounds = collections.defaultdict(collections.Counter)
        for rank in plan["ranks"]:
            for op in rank["ops"]:
                pair = host[rank["rank"]], host[op["peer"]]
                if op["kind"] == "send" and pair[0] != pair[1]:
                    end = first[op["first"] + op["count"]]
                    rounds[op["round"]][pair] += end - first[op["first"]]
        return [rounds[number] for number in sorted(rounds)]

    def traffic(self, name, size):
        """{port: bytes} that the plan sends over every link."""
        total = collections.Counter()
        for traffic in self.rounds(name, size):
            total.update(traffic)
        return self.network.loads(total)

    def floor_seconds(self, name, size):
        """Seconds that the busiest link needs for the whole plan, a lower bound of its time."""
        loads = self.traffic(name, size)
        return max(loads[port.name] * port.seconds_per_byte
                   for port in self.network.ports.values())

    def model_seconds(self, name, size):
        """Rounds one after another, each as long as its busiest link needs; without latency."""
        return sum(self.network.busiest_seconds(traffic) for traffic in self.rounds(name, size))

    def cost_seconds(self, name, size, delay):
        """The result of `strag cost` for the same links, with a clock per rank; None: it has none.
        The straggler, if there is one, arrives `delay` microseconds late."""
        late = ["--delay", f"{delay:g}"] if self.late else []
        blocks = self.blocks(name, size)
        late += ["--blocks", str(blocks)] if blocks else []
        done = self.run("cost", name, *self.place, *late, "--bytes", str(size), "--alpha", "0",
                        "--local-alpha", "0", "--link-latency", "0", "--hop-latency", "0",
                        "--local-bandwidth", "400", "--reduce-bandwidth", "0",
                        "--mode", "clocks", "--format", "csv")
        if done.returncode:
            return None
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        return float(rows[0]["seconds"])
