#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run the plans that `strag plan --format json` writes, with nothing of strag's own code.

usage: execute.py STRAG ALGORITHM FIRST_N LAST_N SEED

For every n the plans of all ranks are read, their bounds are held against exact fractions, and they
are run on integer vectors of several lengths, twice: in program order, and in a random order that
keeps only the waits ("after") and the order of messages between two ranks. Each rank must end with
the sum, and with the same expression of left and right operands as every other rank. The estimate
of `strag cost` is computed again from the plan. Exits with 1 and a line at the first difference.
"""
import json
import math
import random
import subprocess
import sys
from fractions import Fraction

ALPHA_US, BANDWIDTH_GBIT = 1.5, 40


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
    need(list(plan) == ["algorithm", "n", "blocks", "bounds", "ranks"], "members", list(plan))
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
        counts += [chance.randrange(limit) for _ in range(20)]
        counts += [chance.randrange(limit // blocks) * blocks for _ in range(20)]
        for count in counts:
            need(math.floor(bound * count) == b * count // blocks, "bound", b, "count", count)


def combine(op, own, incoming):
    """Values are pairs: the number, and how it came about."""
    left, right = (own, incoming) if op.get("own_left") else (incoming, own)
    return (left[0] + right[0], intern(left[1], right[1]))


expressions = {}


def intern(left, right):
    """A number for the expression (left + right); inputs are numbered below 0."""
    return expressions.setdefault((left, right), len(expressions))


def ready_order(ops, done):
    """The next operation in program order, as a list of none or one."""
    return [i for i in range(len(ops)) if i not in done][:1]


def ready_any(ops, done):
    """Every operation whose waits are over, in random order."""
    ready = [i for i in range(len(ops))
             if i not in done and all(a in done for a in ops[i]["after"])]
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
                data = [combine(op, own, new) for own, new in zip(values[r][low:high], data)]
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
        need(vector == values[0], "rank", r, "combines in another order than rank 0")


def check_runs(plan):
    n = plan["n"]
    for count in sorted({0, 1, n - 1, n, n + 1, 2 * plan["blocks"], chance.randrange(3 * n + 20)}):
        inputs = [[chance.randrange(10**6) for _ in range(count)] for _ in range(n)]
        for ready_of in (ready_order, ready_any):
            try:
                check_result(run(plan, inputs, count, ready_of), inputs, count)
            except Wrong as wrong:
                raise Wrong(f"count={count} {ready_of.__name__}: {wrong}") from None


def estimate(plan, count):
    """Seconds: per round the busiest rank's messages, the larger of sending and receiving."""
    alpha, beta = ALPHA_US * 1e-6, 8 / (BANDWIDTH_GBIT * 1e9)
    start = [b * count // plan["blocks"] for b in range(plan["blocks"] + 1)]
    rounds = {}
    for rank in plan["ranks"]:
        busy = {}
        for op in rank["ops"]:
            size = start[op["first"] + op["count"]] - start[op["first"]]
            if size:
                key = (op["round"], op["kind"] == "send")
                busy[key] = busy.get(key, 0) + alpha + size * beta
        for (round_, _), seconds in busy.items():
            rounds[round_] = max(rounds.get(round_, 0), seconds)
    return sum(rounds.values())


def check_cost(plan, name, n):
    sizes = "0,1,%d,%d,1000003,32..1K" % (n, n + 1)
    table = json.loads(strag("cost", name, "-n", str(n), "--bytes", sizes, "--alpha", str(ALPHA_US),
                             "--bandwidth", str(BANDWIDTH_GBIT), "--format", "json"))
    expected = [0, 1, n, n + 1, 1000003, 32, 64, 128, 256, 512, 1024]
    need([c["bytes"] for c in table["costs"]] == expected, "sizes of cost")
    for cost in table["costs"]:
        again = estimate(plan, cost["bytes"])
        need(math.isclose(cost["seconds"], again, rel_tol=1e-7), "cost of", cost["bytes"], "bytes:",
             cost["seconds"], "and computed again:", again)


def main(name, first, last):
    for n in range(first, last + 1):
        plan = json.loads(strag("plan", name, "-n", str(n), "--format", "json"))
        try:
            check_form(plan, name, n)
            check_bounds(plan)
            check_runs(plan)
            check_cost(plan, name, n)
            for rank in {0, n // 2, n - 1}:
                alone = json.loads(strag("plan", name, "-n", str(n), "--rank", str(rank),
                                         "--format", "json"))
                need(alone == {**plan, "ranks": [plan["ranks"][rank]]}, "--rank", rank, "differs")
        except Wrong as wrong:
            print(f"{name} n={n}: {wrong}")
            return 1
    print(f"{name} n={first}..{last}: right")
    return 0


if __name__ == "__main__":
    program = sys.argv[1]
    chance = random.Random(int(sys.argv[5]))
    sys.exit(main(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
