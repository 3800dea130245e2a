#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run the plans that `strag plan --format json` writes, without any code of strag.

usage: execute.py STRAG ALGORITHM SEED N...

For every n, on one switch, a tree, a torus and a mesh of as many hosts, if the algorithm
can be planned, the plans of all ranks are read, their bounds are held against exact fractions, and they
are run on integer vectors of several lengths, twice: in program order, and in a random order that keeps only the waits ("after") and the
order of messages between two ranks. Each rank must end with the sum, and with the same expression
of left and right operands as every other rank; also with a straggler and a slow link. Exits with 1 and a
line at the first difference.
"""
import json
import math
import random
import subprocess
import sys
from fractions import Fraction


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


def check_disturbed(name, n, network):
    """With a straggler and a slow link, for which some plan otherwise"""
    if name in ("optcc", "weighted") and n > 6:
        return  # thousands of blocks take long here
    state = ["--straggler", str(chance.randrange(n)), "--delay", str(chance.choice([1, 5, 200])),
             "--slow", "%d:%g" % (chance.randrange(n), chance.choice([1.5, 4]))]
    plan = json.loads(strag("plan", name, "-n", str(n), *network, *state, "--format", "json"))
    check_form(plan, name, n)
    check_runs(plan)


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
    """Options: a switch; two switches; the squarest torus and mesh of n hosts"""
    networks = [()]
    if n > 1:
        halves = ",".join("(%s)" % ",".join("1" * hosts) for hosts in (n - n // 2, n // 2))
        networks.append(("--tree", f"({halves})"))
        width = max(d for d in range(1, n + 1) if n % d == 0 and d * d <= n)
        dims = f"{n // width}x{width}"
        if name == "hamiltonian":  # no mesh, and no 3x2 torus: it has no two disjoint cycles
            return networks + [("--torus", dims)] * (width != 2 or n // width % 2 == 0)
        if not needs_a_tree(name):
            networks += [("--torus", dims), ("--mesh", dims)]
    return networks


def forms(name, n, network):
    """The options of each form of swing: the counts of blocks that a refusal names."""
    if name != "swing" or n == 1:
        return [()]
    run = subprocess.run([program, "plan", name, "-n", str(n), *network, "--blocks",
                          str(10**6)], capture_output=True, text=True)
    need(run.returncode == 2 and " into " in run.stderr, "refused forms", run.stderr)
    counts = run.stderr.split(" into ")[1].split(" blocks")[0].replace(" or ", ", ").split(", ")
    return [("--blocks", count) for count in counts]


def check(name, n, network, form=()):
    plan = json.loads(strag("plan", name, "-n", str(n), *network, *form,
                            "--format", "json"))
    check_form(plan, name, n)
    if "--tree" in network and needs_a_tree(name):
        bounds = plan["bounds"]  # as large as the tree's parts
        need(bounds[0] == 0 and bounds[-1] == 1 and bounds == sorted(bounds), "bounds", bounds)
    else:
        check_bounds(plan)
    check_runs(plan)
    if n > 1:
        check_disturbed(name, n, network)
    for rank in {0, n // 2, n - 1}:
        alone = json.loads(strag("plan", name, "-n", str(n), *network, *form,
                                 "--rank", str(rank), "--format", "json"))
        need(alone == {**plan, "ranks": [plan["ranks"][rank]]}, "--rank", rank, "differs")


def main(name, sizes):
    late = needs_a_straggler(name)
    for n in sizes:
        for network in networks_of(name, n):
            try:
                if late:
                    check_disturbed(name, n, network)
                for form in () if late else forms(name, n, network):
                    check(name, n, network, form)
            except Wrong as wrong:
                print(" ".join([name, *network, f"n={n}: {wrong}"]))
                return 1
    print(f"{name} n={','.join(map(str, sizes))}: right")
    return 0


if __name__ == "__main__":
    program = sys.argv[1]
    chance = random.Random(int(sys.argv[3]))
    sys.exit(main(sys.argv[2], [int(n) for n in sys.argv[4:]]))
