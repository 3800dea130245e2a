#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compare a timeline with the same plan as JSON.

usage: check_svg.py SVG JSON [SVG JSON]...

Every message is one bar whose tooltip says what the plan says, in the sender's row (or, if only the
receiver's plan is there, in its row), right of the bars of earlier rounds, inside the picture.
"""
import json
import sys
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def expected_titles(plan):
    shown = {rank["rank"] for rank in plan["ranks"]}
    bounds = plan["bounds"]
    for rank in plan["ranks"]:
        for op in rank["ops"]:
            me, peer = rank["rank"], op["peer"]
            sends = op["kind"] == "send"
            if not sends and peer in shown:
                continue
            last = op["first"] + op["count"] - 1
            blocks = f"block {last}" if op["count"] == 1 else f"blocks {op['first']}..{last}"
            share = 100 * (bounds[last + 1] - bounds[op["first"]])
            way = (me, peer) if sends else (peer, me)
            yield (me, sends, op["round"],
                   f"round {op['round']}, {op['stage']}: rank {way[0]} to rank {way[1]}, {blocks}, "
                   f"{share:.4g} % of the vector; operation {op['id']} ({op['kind']}) of rank {me}")


def check(root, plan):
    width, height = float(root.get("width")), float(root.get("height"))
    messages = [g for g in root.iter(SVG + "g") if g.get("class", "").startswith("m ")]
    expected = list(expected_titles(plan))
    titles = [g.find(SVG + "title").text for g in messages]
    if titles != [title for *_, title in expected]:
        return "bars and messages differ"
    tops, ends = {}, {}
    starts_of_rounds, ends_of_rounds = {}, {}
    for g, (rank, sends, round_, title) in zip(messages, expected):
        bar = g.find(SVG + "rect")
        x, y, w, h = (float(bar.get(a)) for a in ("x", "y", "width", "height"))
        if w <= 0 or h <= 0 or x < 0 or y < 0 or x + w > width or y + h > height:
            return "outside the picture: " + title
        if tops.setdefault((rank, sends), y) != y:
            return "in another row: " + title
        if x < ends.get((rank, sends), 0):
            return "over another bar: " + title
        ends[rank, sends] = x + w
        starts_of_rounds[round_] = min(x, starts_of_rounds.get(round_, x))
        ends_of_rounds[round_] = max(x + w, ends_of_rounds.get(round_, 0))
    if len(set(tops.values())) != len(tops):
        return "two ranks in one row"
    for round_ in starts_of_rounds:
        if round_ and starts_of_rounds[round_] < ends_of_rounds.get(round_ - 1, 0):
            return f"round {round_} begins before the one before it ends"
    used = {op["stage"] for rank in plan["ranks"] for op in rank["ops"]}
    legend = {g.find(SVG + "text").text for g in root.iter(SVG + "g")
              if g.get("class", "").startswith("legend ")}
    return None if used == legend else f"the legend names {legend}, the plan {used}"


for drawn, told in zip(sys.argv[1::2], sys.argv[2::2]):
    with open(told, encoding="utf-8") as text:
        wrong = check(ElementTree.parse(drawn).getroot(), json.load(text))
    if wrong:
        print(drawn, wrong)
        sys.exit(1)
