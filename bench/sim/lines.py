# SPDX-License-Identifier: BSD-3-Clause
"""Line charts as SVG, without a library; and CSV files of what they show."""
import csv

COLOURS = ("#06c", "#c33", "#093", "#e90", "#83b", "#444", "#0aa", "#b6b", "#999")


class Chart:
    """Curves, each {x: y}; every x has its place, from left to right."""

    def __init__(self, name, title, across, up):
        self.name, self.title, self.across, self.up = name, title, across, up
        self.curves = {}

    def add(self, x, values):
        for curve, y in values.items():
            self.curves.setdefault(curve, {})[x] = y


def steps(low, high):
    """A round distance of some four to eight lines, and the lines."""
    step = 10.0 ** -3
    factors = (2, 2.5, 2)
    turn = 0
    while (high - low) / step > 8:
        step *= factors[turn % 3]
        turn += 1
    first = int(low / step)
    return [step * i for i in range(first, int(high / step) + 2) if low <= step * i <= high + 1e-9]


def svg(folder, chart):
    xs = list(dict.fromkeys(x for points in chart.curves.values() for x in points))
    values = [y for points in chart.curves.values() for y in points.values()]
    low, high = min(values) - 0.05 * (max(values) - min(values)), max(values)
    across = {x: 60 + 380 * i / max(len(xs) - 1, 1) for i, x in enumerate(xs)}

    def height(y):
        return 250 - 210 * (y - low) / (high - low or 1)

    text = [f'<text x="60" y="16" font-weight="bold">{chart.title}</text>',
            f'<text x="12" y="32">{chart.up}</text>', f'<text x="240" y="290">{chart.across}</text>']
    for x in xs[::1 + (len(xs) - 1) // 12]:
        shown = f"{x:g}" if isinstance(x, (int, float)) else x
        text.append(f'<text x="{across[x]:.0f}" y="268" text-anchor="middle">{shown}</text>')
    for y in steps(low, high):
        text.append(f'<path d="M60 {height(y):.1f}H440" stroke="#ddd"/>'
                    f'<text x="54" y="{height(y) + 4:.1f}" text-anchor="end">{y:g}</text>')
    for row, (curve, points) in enumerate(chart.curves.items()):
        path = " ".join(f"{across[x]:.1f},{height(y):.1f}" for x, y in points.items())
        dashes = ' stroke-dasharray="5 4"' if curve.startswith("theorem") else ""
        colour = COLOURS[row % len(COLOURS)]
        text.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"'
                    f'{dashes}/><text x="455" y="{60 + 20 * row}" fill="{colour}">{curve}</text>')
    (folder / f"{chart.name}.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="300" font-family="sans-serif"'
        ' font-size="12"><rect width="600" height="300" fill="#fff"/>\n'
        + "\n".join(text) + "\n</svg>\n", encoding="utf-8")


def write(folder, charts, table):
    """An SVG of each, and all of their numbers in FOLDER/TABLE.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    for chart in charts:
        svg(folder, chart)
    with open(folder / f"{table}.csv", "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["figure", "x", "curve", "value"])
        for chart in charts:
            for curve, points in chart.curves.items():
                writer.writerows([chart.name, x, curve, f"{y:.9g}"] for x, y in points.items())


def answer(holds, text):
    """A cell of a table of claims."""
    return ("yes: " if holds else "**no**: ") + text
