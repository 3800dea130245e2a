# SPDX-License-Identifier: BSD-3-Clause
"""The lab's pictures, drawn from the tables of its report, so that they agree: stock Open MPI's time
over strag-auto's, a line for each scenario and size.

    python3 bench/lab/pictures.py doc/results      all of them again, into doc/figures

Where only sizes differ they are the abscissa of curves. *its choice*: what Open MPI runs by itself, at its defaults;
*its best*: the fastest of its algorithms, each at its best setting, as strag-auto at its own; if fewer than
ratios.STOCK were measured, they are named. If a rank is late, times are from the last arrival on.
"""
import math
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import ratios
import scenarios
import section

CASE = r"(\d+ (?:B|KiB|MiB))(?:, ([\d.]+) ms late)?, lower bound [\d.]+ ms(, from the last arrival on)?"
CHOICE, BEST = ratios.CHOICE, ratios.BEST
LATE = ", from the last arrival on"
PLAN = BEST + " over strag's fastest plan for a rank known to be late, from its arrival on"
SPREAD = r"([\d.]+) \(([\d.]+) to ([\d.]+)\)"  # of launches


class Case:
    """What a line of a picture shows."""

    def __init__(self, label, size="", late=False):
        self.label, self.size, self.late = label, size, late
        self.found = {}  # {CHOICE or BEST: ratios: the median, and if launches are there the lowest and highest}

    def take(self, name, over, under):
        if number(over) and number(under):
            spread = re.fullmatch(SPREAD, over) if under == "1" else None
            self.found[name] = [float(word) for word in spread.groups()] if spread else [number(over) / number(under)]

    def rename(self, best):
        """The fastest of the contenders is called that, as fewer than all were measured."""
        self.found = {name.replace(BEST, best) if name.startswith(BEST) else name: ratios_
                      for name, ratios_ in self.found.items()}


def number(text):
    """The first number of a cell, before what is in brackets"""
    try:
        return float((text or "").replace("*", "").partition(" (")[0])
    except ValueError:
        return None


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def take_contenders(case, rows):
    mine, choice = rows.get("strag-auto"), rows.get("tuned")
    if mine:
        case.take(BEST + (LATE if case.late else ""), mine["stock"], "1")
        if choice:
            case.take(CHOICE, choice["default"], mine["default"])
    elif case.late:
        plans = [row["stock"] for name, row in rows.items() if name.startswith("strag-") and number(row["stock"])]
        case.take(PLAN, max(plans, key=number, default=""), "1")


def inverse(text):
    """strag's time over another one: the other one's over strag's"""
    spread = re.fullmatch(SPREAD, text)
    middle, low, high = map(float, spread.groups()) if spread else [number(text) or math.inf] * 3
    return f"{1 / middle:.3f} ({1 / high:.3f} to {1 / low:.3f})"


def take_settled(cases, row):
    """A size in a scenario without configuration."""
    case = Case(row["size"], row["size"])
    case.take(CHOICE, inverse(row["auto / tuned"]), "1")
    if not row["which"].startswith("strag"):
        case.take(BEST, inverse(row["auto / best"]), "1")
    cases.append(case)


def take_degraded(cases, rows):
    for column, label in (("before, ms", "before"), ("degraded, ms", "while it is slow"),
                          ("after, ms", "afterwards"), ("all calls, s", "all calls")):
        case = Case(label)
        if "strag-auto" in rows and "tuned-ring" in rows:
            case.take(BEST, rows["tuned-ring"][column], rows["strag-auto"][column])
        cases.append(case)


def take_table(cases, lines):
    names, table = cells(lines[0]), [cells(line) for line in lines[2:]]
    rows = [dict(zip(names, row)) for row in table]
    by_name = {row[names[0]]: row for row in rows}
    if "stock" in names and cases:
        take_contenders(cases[-1], by_name)
    elif "degraded, ms" in names:
        take_degraded(cases, by_name)
    elif names[:2] == ["size", "first"]:
        for row in rows:
            take_settled(cases, row)
    elif names[0] == "delays":
        for row in rows:
            if row["contender"] == "strag-auto":
                cases.append(Case(row["delays"]))
                cases[-1].take(BEST + LATE, row["gain"], "1")


def contenders_of(text):
    """All that a scenario's tables name; without configuration a table names the fastest only, of all of them."""
    if "| size | first |" in text:
        return ratios.STOCK
    return set(re.findall(r"(?<=\| )tuned[\w-]*(?= \|)", text))


def read(text):
    """[(network, its cases)] of a scenario's text"""
    points = []
    best = ratios.best_name(contenders_of(text))
    for block in re.split(r"\n\s*\n", text):
        lines = block.strip("\n").splitlines()
        point = re.fullmatch(r"\*\*(.*)\*\*", lines[0]) if lines else None
        case = re.match(CASE, lines[0]) if lines else None
        if point:
            points.append((point[1], []))
        elif case and points:
            delay = f", {float(case[2]):.0f} ms late" if case[2] else ""
            points[-1][1].append(Case(case[1] + delay, case[1], bool(case[3])))
        elif lines and lines[0].startswith("|") and points:
            take_table(points[-1][1], lines)
    for case in (case for _, cases in points for case in cases):
        case.rename(best)
    return [(name, [case for case in cases if case.found]) for name, cases in points]


def name_of(point):
    """What distinguishes a point of a scenario."""
    words = []
    kind, _, text = point.network.partition(":")
    if point.slow:
        factors = ", ".join(f"{factor:g}" for factor in point.slow.values())
        words.append(f"{factors} times slower")
    if kind == "tree":
        words.append("ranks " + re.sub(r"@[\d.]+", "", text).replace(",", "+")
                     + (", one uplink half as fast" if "@0.05" in text else ""))
    elif kind == "star" and "x" in text:
        words.append("{0} hosts of {1} ranks".format(*text.split("x")))
    elif not point.slow:
        words.append(f"{text} hosts" if kind == "star" else f"{kind} {text}")
    if point.latency not in ("0", "0ms"):
        words.append(f"latency {point.latency}")
    return ", ".join(words)


def names_of(scenario, networks):
    """The points' names in the order of a text, which may be of other points than there are today."""
    left = [(point.make().describe(), name_of(point)) for point in scenario.points]
    names = []
    for network in networks:
        found = next((one for one in left if one[0] == network), None)
        if found:
            left.remove(found)
        names.append(found[1] if found else network)
    return names


def series_of(cases):
    every = dict.fromkeys(name for case in cases for name in case.found)
    names = [name for name in (CHOICE, BEST) if name in every]
    names += [name for name in every if name not in names]
    return {name: [case.found.get(name) for case in cases] for name in names}


def picture(scenario, text):
    """@return SVG; None: neither strag's choice nor stock's is here"""
    points = read(text)
    cases = [case for _, own in points for case in own]
    if not cases:
        return None
    if len(points) > 1:
        names = names_of(scenario, [network for network, _ in points])
        for name, (_, own) in zip(names, points):
            for case in own:
                case.label = f"{name}: {case.label}"
    labels = [case.label for case in cases]
    sizes = {case.size for case in cases}
    if len(points) == 1 and len(cases) > 2 and len(sizes) == len(cases) and cases[0].size:
        return ratios.curves(scenario.title, labels, series_of(cases), "size of the vector")
    return ratios.rows(scenario.title, labels, series_of(cases))


def draw_all(target):
    """Those of all scenarios that the page lab of the folder has, into the folder `figures` next to that."""
    (target.parent / "figures").mkdir(parents=True, exist_ok=True)
    texts = {text.partition("\n")[0]: text for text in section.read(target, "lab").split("\n## ")[1:]}
    for scenario in scenarios.SCENARIOS:
        drawn = picture(scenario, texts.get(scenario.title, ""))
        if drawn:
            place = target.parent / "figures" / f"lab-{scenario.name}.svg"
            place.write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    draw_all(pathlib.Path(sys.argv[1]))
