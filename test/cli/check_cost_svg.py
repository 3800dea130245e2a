#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compare a picture of costs with the same costs as CSV.

usage: check_cost_svg.py SVG CSV

The fastest ones are named in order, side by side from edge to edge; each changes between the sizes
between which the CSV says so; and a drawn curve's height is its time over the fastest.
"""
import csv
import math
import sys
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
LEFT, TOP, WIDTH, HEIGHT, HIGHEST = 60, 86, 760, 330, 8


def read(path):
    """{algorithm: {bytes: seconds}}"""
    costs = {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            costs.setdefault(row["algorithm"], {})[int(row["bytes"])] = float(row["seconds"])
    return costs


def expected_winners(costs, sizes):
    """[(algorithm, its first size, its last)]"""
    winners = []
    for size in sizes:
        best = None
        for name, times in costs.items():
            if best is None or times[size] < costs[best][size] * (1 - 1e-9):
                best = name
        if winners and winners[-1][0] == best:
            winners[-1][2] = size
        else:
            winners.append([best, size, size])
    return winners


def check(root, costs):
    sizes = sorted(next(iter(costs.values())))
    least = {size: min(times[size] for times in costs.values()) for size in sizes}

    def x(size):
        return LEFT + WIDTH * math.log2(size / sizes[0]) / math.log2(sizes[-1] / sizes[0])

    bars = [g for g in root.iter(SVG + "g") if g.get("class") == "fastest"]
    winners = expected_winners(costs, sizes)
    if [bar.find(SVG + "title").text for bar in bars] != [name for name, *_ in winners]:
        return f"the fastest are {winners}"
    end = LEFT
    for bar, (name, first, last) in zip(bars, winners):
        left, width = (float(bar.find(SVG + "rect").get(key)) for key in ("x", "width"))
        if abs(left - end) > 0.2 or left > x(first) + 0.2 or left + width < x(last) - 0.2:
            return f"{name} is from {left} on, {width} wide"
        end = left + width
    if abs(end - LEFT - WIDTH) > 0.2:
        return "the names end before the axis"
    curves = list(root.iter(SVG + "polyline"))
    if not 0 < len(curves) <= 8:
        return f"{len(curves)} curves"
    for curve in curves:
        times = costs[curve.find(SVG + "title").text]
        for size, point in zip(sizes, curve.get("points").split(" "), strict=True):
            ratio = min(times[size] / least[size], HIGHEST)
            y = TOP + HEIGHT * (1 - math.log2(ratio) / math.log2(HIGHEST))
            if max(abs(float(point.split(",")[0]) - x(size)),
                   abs(float(point.split(",")[1]) - y)) > 0.11:
                return f"{curve.find(SVG + 'title').text}, {size} bytes, is at {point}"
    return None


wrong = check(ElementTree.parse(sys.argv[1]).getroot(), read(sys.argv[2]))
if wrong:
    sys.exit(f"{sys.argv[1]}: {wrong}")
