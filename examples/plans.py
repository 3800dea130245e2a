#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes plans of allreduces, for strag and Open MPI: plans.py ring|trivance N > FILE

ring      N ranks, N blocks: a block's sum travels round the ring and grows, then the whole sum does.
          Ranks and rounds repeat, so that the compact form has four operations for any N.
trivance  N a power of three, in its bandwidth form (Juerss, Addanki, Schmid, "Trivance", arXiv
          2602.17254; our reconstruction): with neighbours at distance 1, 3, 9, .. to both sides a
          rank exchanges a third of what it has left, in every step; then all comes back.

The format is in doc/plan-format.md. `strag verify --plan FILE` proves what this writes, `strag cost`
prices it, `strag plan --plan` draws it, and `mpirun --mca coll_strag_plan FILE` runs it: examples/README.md.
"""
import json
import sys


def ring(n):
    """peer and first are [start, + for each rank, + for each turn], modulo n and blocks."""
    def turns(kind, stage, peer, first, round_):
        return {"kind": kind, "peer": [peer, 1], "first": [first, 1, -1], "count": 1, "round": [round_, 0, 1],
                "stage": stage}
    return {"blocks": n, "groups": [{"ranks": [0, n], "ops": [
        {"repeat": n - 1, "ops": [turns("send", "reduce-scatter", 1, 0, 0),
                                  turns("recv_reduce", "reduce-scatter", -1, -1, 0)]},
        {"repeat": n - 1, "ops": [turns("send", "allgather", 1, 1, n - 1),
                                  turns("recv", "allgather", -1, 0, n - 1)]}]}]}


def reversed_digits(number, steps):
    """0 .. 3^steps - 1 in base 3, read from the other end."""
    result = 0
    for _ in range(steps):
        number, digit = divmod(number, 3)
        result = 3 * result + digit
    return result


def trivance(n):
    """Rank r ends up with the sum of the block at place reversed_digits(r): then what it keeps after
    step k, the blocks b with b = r modulo 3^(k+1), is one range, and so is what it sends."""
    steps = 0
    while 3 ** steps < n:
        steps += 1
    if 3 ** steps != n:
        sys.exit(f"trivance: {n} ranks; a power of three is needed")
    ranks = []
    for rank in range(n):
        ops = []

        def add(kind, peer, of, step, round_, stage):
            """The blocks that rank `of` keeps after a step."""
            count = n // 3 ** (step + 1)
            first = reversed_digits(of % 3 ** (step + 1), step + 1) * count
            ops.append({"kind": kind, "peer": peer, "first": first, "count": count, "round": round_,
                        "stage": stage})

        for step in range(steps):
            sides = [(rank + 3 ** step) % n, (rank - 3 ** step) % n]
            for peer in sides:
                add("send", peer, peer, step, step, "reduce-scatter")
            for peer in sides:
                add("recv_reduce", peer, rank, step, step, "reduce-scatter")
        for step in reversed(range(steps)):
            sides = [(rank + 3 ** step) % n, (rank - 3 ** step) % n]
            for peer in sides:
                add("send", peer, rank, step, 2 * steps - 1 - step, "allgather")
            for peer in sides:
                add("recv", peer, peer, step, 2 * steps - 1 - step, "allgather")
        ranks.append({"rank": rank, "ops": ops})
    return {"blocks": n, "ranks": ranks}


def main():
    makers = {"ring": ring, "trivance": trivance}
    if len(sys.argv) != 3 or sys.argv[1] not in makers or not sys.argv[2].isdigit() or int(sys.argv[2]) < 2:
        sys.exit("usage: plans.py ring|trivance N, with 2 ranks or more")
    name, n = sys.argv[1], int(sys.argv[2])
    plan = {"strag-plan": 1, "algorithm": f"my-{name}", "n": n} | makers[name](n)
    json.dump(plan, sys.stdout)
    print()


main()
