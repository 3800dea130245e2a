#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run the plans that `strag plan --format json` writes, without any code of strag.

usage: execute.py STRAG ALGORITHM SEED N...

For every n, on one switch, a tree, a torus and a mesh of as many hosts, if the algorithm
can be planned, the plans of all ranks are read, their bounds are held against exact fractions, and they
are run on integer vectors of several lengths, twice: in program order, and in a random order that keeps only the waits ("after") and the
order of messages between two ranks. Each rank must end with the sum, and with the same expression
of left and right operands as every other rank. The estimates of `strag cost` in rounds are computed
again from the plan, also with a straggler and a slow link (those by clocks in test/unit and
test/sim). Exits with 1 and a line at the first difference.
"""
import json
import math
import random
import subprocess
import sys
from fractions import Fraction

ALPHA_US, BANDWIDTH_GBIT, LINK_NS, HOP_NS = 1.5, 40, 150, 250


class Wrong(Exception):
    pass


def need(condition, *what):
    if not condition:
        raise Wrong(" ".join(str(w) for w in what))


def strag(*arguments):
    run = subprocess.run([program, *arguments], capture_output=True, text=True)
    need(run.returncode == 0, arguments, "exits with", run.returncode, run.stderr)
    return run.stdout


def check_form(plan, name, n):
    exact = ["denominator", "numerators"] if "denominator" in plan else []
    need(list(plan) == ["strag-plan", "claim", *exact, "algorithm", "n", "blocks", "bounds", "ranks"], "members",
         list(plan))
    need(plan["strag-plan"] == 1, "version", plan["strag-plan"])
    need(plan["algorithm"] == name and plan["n"] == n, "header", plan["algorithm"], plan["n"])
    need([r["rank"] for r in plan["ranks"]] == list(range(n)), "ranks in order")
    members = ["id", "kind", "peer", "first", "count", "round", "stage", "after"]
    for rank in plan["ranks"]:
        round_before = 0
        for place, op in enumerate(rank["ops"]):
            need([m for m in op if m != "own_left"] == members, "members", list(op))
            need(op["id"] == place, "id", op["id"], "at", place)
            need(op["kind"] in ("send", "recv", "recv_reduce"), op["kind"])
            need(op.get("own_left", True) is True, "own_left is there only where it is true")
            need("own_left" not in op or op["kind"] == "recv_reduce", "own_left in", op["kind"])
            need(0 <= op["peer"] < n and op["peer"] != rank["rank"], "peer", op["peer"])
            need(op["first"] >= 0 and op["count"] >= 1, "range")
            need(op["first"] + op["count"] <= plan["blocks"], "range")
            need(op["round"] >= round_before, "rounds decrease")
            need(all(0 <= a < place for a in op["after"]), "waits point backwards")
            round_before = op["round"]


def check_bounds(plan):
    """Equal blocks: the smallest double not below b / blocks, and floor(bound * count) exact."""
    blocks, bounds = plan["blocks"], plan["bounds"]
    need(len(bounds) == blocks + 1, "number of bounds", len(bounds))
    for b, bound in enumerate(bounds):
        exact = Fraction(b, blocks)
        need(Fraction(bound) >= exact, "bound", b, "is below")
        need(b == 0 or Fraction(math.nextafter(bound, 0.0)) < exact, "bound", b, "is too high")
        limit = 2**50 // blocks
        counts = [0, 1, blocks - 1, blocks, blocks + 1, limit - 1]
        counts += [chance.randrange(limit) for _ in range(4)]
        counts += [chance.randrange(limit // blocks) * blocks for _ in range(4)]
        for count in counts:
            need(math.floor(bound * count) == b * count // blocks, "bound", b, "count", count)


def reduce(op, own, incoming):
    """Values are pairs: the number, and its expression."""
    left, right = (own, incoming) if op.get("own_left") else (incoming, own)
    return (left[0] + right[0], intern(left[1], right[1]))


expressions = {}


def intern(left, right):
    """A number for the expression (left + right); inputs are numbered below 0."""
    return expressions.setdefault((left, right), len(expressions))


def ready_order(ops, done):
    """The next operation in program order, as a list of none or one."""
    return [len(done)] if len(done) < len(ops) else []


def ready_any(ops, done):
    """Every operation whose waits are done, in random order."""
    ready = [i for i, op in enumerate(ops) if i not in done and done.issuperset(op["after"])]
    chance.shuffle(ready)
    return ready


def run(plan, inputs, count, ready_of):
    n = plan["n"]
    start = [math.floor(b * count) for b in plan["bounds"]]
    values = [[(x, -1 - r) for x in inputs[r]] for r in range(n)]
    # The i-th send of a to b is the i-th receive of b from a, whenever each of them starts.
    numbered = []
    for rank in plan["ranks"]:
        seen, keys = {}, []
        for op in rank["ops"]:
            way = (rank["rank"], op["peer"]) if op["kind"] == "send" else (op["peer"], rank["rank"])
            keys.append((*way, seen.get(way, 0)))
            seen[way] = seen.get(way, 0) + 1
        numbered.append(keys)
    mail, done = {}, [set() for _ in range(n)]

    def perform(r, i):
        op = plan["ranks"][r]["ops"][i]
        low, high = start[op["first"]], start[op["first"] + op["count"]]
        key = numbered[r][i]
        if op["kind"] == "send":
            mail[key] = (op["first"], op["count"], op["round"], values[r][low:high])
        elif key not in mail:
            return False
        else:
            first, blocks, round_, data = mail.pop(key)
            need((first, blocks, round_) == (op["first"], op["count"], op["round"]),
                 "message", key, "does not match")
            if op["kind"] == "recv_reduce":
                data = [reduce(op, own, new) for own, new in zip(values[r][low:high], data)]
            values[r][low:high] = data
        done[r].add(i)
        return True

    moved = True
    while moved:
        moved = False
        for r in chance.sample(range(n), n):
            for i in ready_of(plan["ranks"][r]["ops"], done[r]):
                moved = perform(r, i) or moved
    need(all(len(done[r]) == len(plan["ranks"][r]["ops"]) for r in range(n)), "nothing can go on")
    need(not mail, "messages that nobody receives:", list(mail)[:3])
    return values


def check_result(values, inputs, count):
    sums = [sum(vector[e] for vector in inputs) for e in range(count)]
    for r, vector in enumerate(values):
        need([v[0] for v in vector] == sums, "rank", r, "has a wrong sum")
        need(vector == values[0], "rank", r, "reduces in another order than rank 0")


def check_runs(plan):
    n = plan["n"]
    for count in sorted({0, 1, n - 1, n, n + 1, 2 * plan["blocks"], chance.randrange(3 * n + 20)}):
        inputs = [[chance.randrange(10**6) for _ in range(count)] for _ in range(n)]
        for ready_of in (ready_order, ready_any):
            try:
                check_result(run(plan, inputs, count, ready_of), inputs, count)
            except Wrong as wrong:
                raise Wrong(f"count={count} {ready_of.__name__}: {wrong}") from None


class Switch:
    """Every rank on a host of its own, all on one switch."""
    options, latencies = [], ["--link-latency", "0", "--hop-latency", "0"]

    def route(self, a, b):
        """The links of a message, with its share on each, and how many there are in a row."""
        return [((a, "up"), 1), ((b, "down"), 1)], 0

    def touches(self, link, rank):
        return link[0] == rank


class Tree(Switch):
    """Two switches under a third one, joined to it like a host; the first has half of the hosts, or
    one more."""

    def __init__(self, n):
        self.first = n - n // 2
        self.options = ["--tree", "(%s)" % ",".join(
            "(%s)@%d" % (",".join(["1"] * hosts), BANDWIDTH_GBIT)
            for hosts in (self.first, n // 2))]

    def route(self, a, b):
        links, row = super().route(a, b)
        at, to = a < self.first, b < self.first
        return links + ([(("switch", at, "up"), 1), (("switch", to, "down"), 1)] if at != to
                        else []), row


class Grid:
    """A torus or a mesh, the first dimension fastest; minimal routes, dimension by dimension."""
    latencies = ["--link-latency", str(LINK_NS), "--hop-latency", str(HOP_NS)]

    def __init__(self, dims, wrap):
        self.dims, self.wrap = dims, wrap
        self.options = ["--torus" if wrap else "--mesh", "x".join(map(str, dims))]

    def coordinates(self, rank):
        at = []
        for d in self.dims:
            at.append(rank % d)
            rank //= d
        return at

    def route(self, a, b):
        at, to, links, row = self.coordinates(a), self.coordinates(b), [], 0
        for d, size in enumerate(self.dims):
            up, down = (to[d] - at[d]) % size, (at[d] - to[d]) % size
            if up == 0:
                continue
            if self.wrap and up == down:
                ways = [(1, up, 0.5), (-1, down, 0.5)]
            elif (up < down) if self.wrap else (to[d] > at[d]):
                ways = [(1, up, 1)]
            else:
                ways = [(-1, down, 1)]
            for direction, steps, share in ways:
                place = list(at)
                for _ in range(steps):
                    before = tuple(place)
                    place[d] = (place[d] + direction) % size
                    links.append(((before, tuple(place), direction), share))
            row += ways[0][1]
            at[d] = to[d]
        return links, row

    def touches(self, link, rank):
        return tuple(self.coordinates(rank)) in link[:2]


def price_rounds(plan, network, size, slow):
    """Every round's messages as (from, to, seconds)."""
    pace = 8 / (BANDWIDTH_GBIT * 1e9)
    last = max((op["round"] for rank in plan["ranks"] for op in rank["ops"]), default=-1)
    rounds = [[] for _ in range(last + 1)]
    for rank in plan["ranks"]:
        for op in rank["ops"]:
            if op["kind"] == "send":
                bounds = plan["bounds"]
                amount = size * (bounds[op["first"] + op["count"]] - bounds[op["first"]])
                rounds[op["round"]].append((rank["rank"], op["peer"], amount))
    priced = []
    chain = plan["claim"].get("chain", 0)  # rounds that wait for others: without overheads only theirs
    shown = chain / len(rounds) if 0 < chain < len(rounds) else 1  # latencies are to be seen
    for messages in rounds:
        load, routes = {}, []
        for a, b, amount in messages:
            links, row = network.route(a, b)
            for link, share in links:
                load[link] = load.get(link, 0) + amount * share
            routes.append((a, b, links, row))
        for link in load:
            load[link] *= pace * (slow[1] if slow and network.touches(link, slow[0]) else 1)
        priced.append([(a, b, shown * (ALPHA_US * 1e-6 + row * (LINK_NS + HOP_NS) * 1e-9) +
                        max(load[link] for link, _ in links)) for a, b, links, row in routes])
    return priced


def estimate_rounds(rounds, late):
    """A straggler delays the first round that it takes part in, and all later ones."""
    seconds, waits = 0, late is not None
    for messages in rounds:
        if waits and any(late[0] in (a, b) for a, b, _ in messages):
            seconds, waits = max(seconds, late[1]), False
        seconds += max((s for _, _, s in messages), default=0)
    return max(seconds, late[1]) if waits else seconds


def check_cost(plan, name, n, network):
    sizes = "0,%d,1000003,512..1K" % (n + 1)
    expected = [0, n + 1, 1000003, 512, 1024]
    late = (chance.randrange(n), chance.choice([1, 5, 200]))
    slow = (chance.randrange(n), chance.choice([1.5, 4]))
    state = ["--straggler", str(late[0]), "--delay", str(late[1]), "--slow", "%d:%g" % slow]
    late = (late[0], late[1] * 1e-6)
    for given in ([], state) if plan else (state,):
        if given and name in ("optcc", "weighted") and n > 6:
            continue  # thousands of blocks take long here
        if given:  # some plan otherwise then
            plan = json.loads(strag("plan", name, "-n", str(n), *network.options, *given,
                                    "--format", "json"))
            check_form(plan, name, n)
            check_runs(plan)
        table = json.loads(strag(
            "cost", name, "-n", str(n), *network.options, *given, "--bytes", sizes,
            "--blocks", str(plan["blocks"]),
            "--alpha", str(ALPHA_US), "--overhead", "0", "--bandwidth", str(BANDWIDTH_GBIT),
            "--reduce-bandwidth", "0", *network.latencies, "--format", "json"))
        need([c["bytes"] for c in table["costs"]] == expected, "sizes of cost")
        for cost in table["costs"]:
            rounds = price_rounds(plan, network, cost["bytes"], slow if given else None)
            again = estimate_rounds(rounds, late if given else None)
            need(math.isclose(cost["seconds"], again, rel_tol=1e-6), "cost of", cost["bytes"],
                 "bytes with", *given, "is", cost["seconds"], "and computed again", again)


def says(words, *arguments):
    """Is this refused with this message? Any other refusal is an error where the plan is made."""
    run = subprocess.run([program, "plan", *arguments, "--rank", "0"], capture_output=True,
                         text=True)
    return run.returncode == 2 and words in run.stderr


def needs_a_tree(name):
    return says("needs a tree", name, "--torus", "2x2")


def needs_a_straggler(name):
    return says("none is named", name, "-n", "4")


def networks_of(name, n):
    """A switch; two switches; the squarest torus and mesh of n hosts."""
    networks = [Switch()]
    if n > 1:
        networks.append(Tree(n))
        width = max(d for d in range(1, n + 1) if n % d == 0 and d * d <= n)
        length = n // width
        if name == "hamiltonian":  # no mesh, and no 3x2 torus: it has no two disjoint cycles
            return networks + [Grid([length, width], True)] * (width != 2 or length % 2 == 0)
        if not needs_a_tree(name):
            networks += [Grid([length, width], wrap) for wrap in (True, False)]
    return networks


def forms(name, n, network):
    """The options of each form of swing: the counts of blocks that a refusal names."""
    if name != "swing" or n == 1:
        return [()]
    run = subprocess.run([program, "plan", name, "-n", str(n), *network.options, "--blocks",
                          str(10**6)], capture_output=True, text=True)
    need(run.returncode == 2 and " into " in run.stderr, "refused forms", run.stderr)
    counts = run.stderr.split(" into ")[1].split(" blocks")[0].replace(" or ", ", ").split(", ")
    return [("--blocks", count) for count in counts]


def check(name, n, network, form=()):
    plan = json.loads(strag("plan", name, "-n", str(n), *network.options, *form,
                            "--format", "json"))
    check_form(plan, name, n)
    if isinstance(network, Tree) and needs_a_tree(name):
        bounds = plan["bounds"]  # as large as the tree's parts
        need(bounds[0] == 0 and bounds[-1] == 1 and bounds == sorted(bounds), "bounds", bounds)
    else:
        check_bounds(plan)
    check_runs(plan)
    check_cost(plan, name, n, network)
    for rank in {0, n // 2, n - 1}:
        alone = json.loads(strag("plan", name, "-n", str(n), *network.options, *form,
                                 "--rank", str(rank), "--format", "json"))
        need(alone == {**plan, "ranks": [plan["ranks"][rank]]}, "--rank", rank, "differs")


def check_late(name, n, network):
    """Algorithms for a straggler have plans only with one."""
    check_cost(None, name, n, network)


def main(name, sizes):
    late = needs_a_straggler(name)
    for n in sizes:
        for network in networks_of(name, n):
            try:
                if late:
                    check_late(name, n, network)
                for form in () if late else forms(name, n, network):
                    check(name, n, network, form)
            except Wrong as wrong:
                print(" ".join([name, *network.options, f"n={n}: {wrong}"]))
                return 1
    print(f"{name} n={','.join(map(str, sizes))}: right")
    return 0


if __name__ == "__main__":
    program = sys.argv[1]
    chance = random.Random(int(sys.argv[3]))
    sys.exit(main(sys.argv[2], [int(n) for n in sys.argv[4:]]))
