#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write a SimGrid platform: the hosts and links on which replay.c runs.

usage: make_platform.py (--torus 8x8 | --hosts RANKS/RANKS_PER_HOST) --bandwidth GBIT
                        --latency NS [--local-bandwidth GBIT] [--slow RANK:FACTOR] [--explicit]

Every rank is a SimGrid host, "r0", "r1", ...

--torus   one rank at each position, the first dimension fastest; SimGrid's own torus cluster routes
          the messages, unless a slow host or --explicit asks for a list of all links and routes.
          These go dimension by dimension, the first one first, as SimGrid's; if both ways round
          a ring are equally long, they go upwards (SimGrid's go without wrapping around).
--hosts   hosts on one switch. A message between hosts takes its host's link up and the other
          one's down; a message within a host takes its rank's own link up and the other one's down,
          of --local-bandwidth and without latency.
--slow    all links of this rank's host, both directions, are FACTOR times slower.

--latency is a link's, with the switch or host behind it.
"""
import argparse
import sys

HEAD = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
"""


def slow_pair(text):
    rank, _, factor = text.partition(":")
    return int(rank), float(factor)


def options(arguments):
    parser = argparse.ArgumentParser()
    shape = parser.add_mutually_exclusive_group(required=True)
    shape.add_argument("--torus", type=lambda s: [int(d) for d in s.split("x")])
    shape.add_argument("--hosts", type=lambda s: [int(d) for d in s.split("/")])
    parser.add_argument("--bandwidth", type=float, required=True)
    parser.add_argument("--latency", type=float, required=True)
    parser.add_argument("--local-bandwidth", type=float, default=0)
    parser.add_argument("--slow", type=slow_pair, default=(-1, 1.0))
    parser.add_argument("--explicit", action="store_true")
    return parser.parse_args(arguments)


def bytes_per_second(gbit):
    return f"{gbit * 1e9 / 8!r}Bps"


def torus_cluster(sizes, bandwidth, latency):
    n = 1
    for size in sizes:
        n *= size
    return HEAD + f"""<zone id="all" routing="Full">
<cluster id="torus" prefix="r" radical="0-{n - 1}" suffix="" speed="1Gf" topology="TORUS"
 topo_parameters="{','.join(map(str, sizes))}" bw="{bytes_per_second(bandwidth)}" lat="{latency}ns"
 sharing_policy="SPLITDUPLEX"/>
</zone>
</platform>
"""


def torus_route(sizes, source, target):
    """The links from one position to another: (position, dimension, step)."""
    links, at, stride = [], source, 1
    for dim, size in enumerate(sizes):
        here, there = source // stride % size, target // stride % size
        distance = (there - here) % size
        step = 1 if 2 * distance <= size else -1
        while here != there:
            links.append((at, dim, step))
            at += ((here + step) % size - here) * stride
            here = (here + step) % size
        stride *= size
    return links


def torus(sizes, slow_rank):
    """All links, each with whether it is the slow host's, and the routes of all pairs."""
    n, stride, links = 1, 1, {}
    for size in sizes:
        n *= size
    for dim, size in enumerate(sizes):
        for at in range(n):
            for step in (1, -1):
                here = at // stride % size
                neighbour = at + ((here + step) % size - here) * stride
                links[at, dim, step] = slow_rank in (at, neighbour)
        stride *= size
    return n, links, lambda a, b: torus_route(sizes, a, b)


def switch(n, ranks_per_host, slow_rank):
    host = {rank: rank // ranks_per_host for rank in range(n)}
    links = {}
    for rank in range(n):
        for way in ("up", "down"):
            links["host", host[rank], way] = host[rank] == host.get(slow_rank)
            links["rank", rank, way] = False

    def route(a, b):
        if host[a] == host[b]:
            return [("rank", a, "up"), ("rank", b, "down")]
        return [("host", host[a], "up"), ("host", host[b], "down")]
    return n, links, route


def name(link):
    return "-".join(str(part) for part in link)


def explicit(n, links, route, arguments):
    lines = [HEAD + '<zone id="all" routing="Full">']
    lines += [f'<host id="r{rank}" speed="1Gf"/>' for rank in range(n)]
    for link, slow in links.items():
        local = link[0] == "rank"
        bandwidth = arguments.local_bandwidth if local else arguments.bandwidth
        if slow:
            bandwidth /= arguments.slow[1]
        if bandwidth > 0:
            lines.append(f'<link id="{name(link)}" bandwidth="{bytes_per_second(bandwidth)}" '
                         f'latency="{0 if local else arguments.latency}ns"/>')
    for a in range(n):
        for b in range(n):
            if a != b:
                path = "".join(f'<link_ctn id="{name(link)}"/>' for link in route(a, b))
                lines.append(f'<route src="r{a}" dst="r{b}" symmetrical="NO">{path}</route>')
    return "\n".join(lines + ["</zone>", "</platform>", ""])


def make(words):
    """The platform that command line words ask for, as XML."""
    arguments = options(words)
    slow_rank = arguments.slow[0]
    if arguments.torus and slow_rank < 0 and not arguments.explicit:
        return torus_cluster(arguments.torus, arguments.bandwidth, arguments.latency)
    made = torus(arguments.torus, slow_rank) if arguments.torus \
        else switch(*arguments.hosts, slow_rank)
    return explicit(*made, arguments)


if __name__ == "__main__":
    sys.stdout.write(make(sys.argv[1:]))
