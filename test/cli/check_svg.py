#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compare a timeline with the same plan as JSON.

usage: check_svg.py SVG JSON [SVG JSON]...

Every message is one bar whose tooltip says what the plan says, in the sender's row (or, if only the
receiver's plan is there, in its row), right of the bars of earlier rounds, inside the picture; with all
ranks an arrow ends in the receiver's row. Rounds that are left out are named, and those that are said
to be like another one are.
"""
import json
import re
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


def left_out(root, plan):
    """The rounds that are not shown. Raises ValueError if a claim about them is wrong."""
    messages = {}
    for rank in plan["ranks"]:
        for op in rank["ops"]:
            messages.setdefault(op["round"], []).append(
                (rank["rank"], op["kind"], op["peer"], op["count"]))
    rounds = set()
    for gap in (g for g in root.iter(SVG + "g") if g.get("class") == "gap"):
        words = gap.find(SVG + "title").text
        first, last, like = re.fullmatch(r"rounds (\d+) to (\d+): (?:like round (\d+)|left out)",
                                         words).groups()
        gone = range(int(first), int(last) + 1)
        if like and any(messages.get(round_) != messages.get(int(like)) for round_ in gone):
            raise ValueError("they are not: " + words)
        if plan["claim"].get("rounds", len(messages)) <= 24 or not gone:
            raise ValueError("there is room: " + words)
        rounds.update(gone)
    return rounds


def check_arrows(messages, expected, tops, height):
    """Each ends in the middle of the receiver's row."""
    for g, (_, _, _, title) in zip(messages, expected):
        receiver = int(re.search(r"to rank (\d+),", title)[1])
        end = float(g.find(SVG + "path").get("d").split(" ")[-1])
        if abs(end - tops[receiver, True] - height / 2) > 0.1:
            return "its arrow ends elsewhere: " + title
    return None


def check(root, plan):
    try:
        gone = left_out(root, plan)
    except ValueError as wrong:
        return str(wrong)
    width, height = float(root.get("width")), float(root.get("height"))
    messages = [g for g in root.iter(SVG + "g") if g.get("class", "").startswith("m ")]
    expected = [one for one in expected_titles(plan) if one[2] not in gone]
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
    ranks = len(plan["ranks"])
    if messages and ranks == plan["n"] and ranks <= 64 and len(tops) == ranks:
        bar_height = float(messages[0].find(SVG + "rect").get("height"))
        wrong = check_arrows(messages, expected, tops, bar_height)
        if wrong:
            return wrong
    for round_ in starts_of_rounds:
        if round_ and starts_of_rounds[round_] < ends_of_rounds.get(round_ - 1, 0):
            return f"round {round_} begins before the one before it ends"
    used = {op["stage"] for rank in plan["ranks"] for op in rank["ops"]}
    legend = {g.find(SVG + "text").text for g in root.iter(SVG + "g")
              if g.get("class", "").startswith("legend ")}
    return None if used == legend else f"the legend names {legend}, the plan {used}"


for drawn, expected in zip(sys.argv[1::2], sys.argv[2::2]):
    with open(expected, encoding="utf-8") as text:
        wrong = check(ElementTree.parse(drawn).getroot(), json.load(text))
    if wrong:
        print(drawn, wrong)
        sys.exit(1)
