# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of ratios, as small SVG files: stock Open MPI's time over strag's, above or right of 1
where strag is faster. Nothing but Python is needed.

CHOICE is what Open MPI runs by itself, BEST the fastest of STOCK, each at the protocol setting that suits it best:
both mean the same in every picture and table, and have one colour each. If fewer of STOCK were measured, the ratio
is called FEWER.
"""
import html
import math
import statistics

CHOICE, BEST, FEWER = "its choice", "its best", "some of its algorithms"
# Its choice, and tuned's algorithms that may be the fastest; besides these a component that suits the machine:
# sm and basic on one host, han on hosts of several ranks, whatever else a site's Open MPI has.
STOCK = {"tuned", "tuned-recursive-doubling", "tuned-ring", "tuned-rabenseifner"}
COLORS = {CHOICE: "#1f77b4", BEST: "#e06c00", FEWER: "#2ca02c"}
OTHER_COLORS = ("#9467bd", "#8c564b", "#d62728", "#17becf")
TICKS = (1, 2, 0.5, 4, 8, 16, 32, 64, 0.25, 0.1, 1.5, 3, 6, 12, 24, 48, 0.7, 1.2, 1.1, 0.9, 0.8, 1.35, 1.75, 2.5, 5)
APART = 30  # pixels between ticks, at least; those named first go before others
TITLE = "Stock Open MPI's time over strag's"
FASTER = "strag is faster \N{RIGHTWARDS ARROW}"


def colors_of(names):
    """{name: its colour}; "its best, ..." has that of its best, "its ring" that of some of its algorithms."""
    others = iter(OTHER_COLORS)
    return {name: COLORS.get(name.partition(",")[0]) or (COLORS[FEWER] if name.startswith("its ") else next(others))
            for name in names}


def best_name(contenders):
    """What the fastest of these contenders is called: "its best" if all of STOCK are among them, else "its ring and
    Rabenseifner"."""
    if STOCK <= set(contenders):
        return BEST
    words = {"tuned-ring": "ring", "tuned-rabenseifner": "Rabenseifner", "tuned-recursive-doubling": "recursive doubling"}
    names = [word for name, word in words.items() if name in contenders]
    return "its " + (" and ".join(names) or "choice at its best setting")


class Axis:
    """Ratios from `start` to `end` pixels: a logarithmic axis that has 1."""

    def __init__(self, ratios, start, end):
        self.low, self.high = min(0.85, *ratios) / 1.05, max(1.25, *ratios) * 1.05
        self.start, self.end = start, end
        self.ticks = []
        for tick in TICKS:
            if self.low <= tick <= self.high and all(
                    abs(self.at(tick) - self.at(other)) >= APART for other in self.ticks):
                self.ticks.append(tick)

    def at(self, ratio):
        part = math.log(ratio / self.low) / math.log(self.high / self.low)
        return self.start + (self.end - self.start) * part


def text(x, y, words, anchor="start", size=11):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">'
            f'{html.escape(str(words))}</text>')


def line(x1, y1, x2, y2, color, width=1):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" '
            f'stroke-width="{width}"/>')


def document(width, height, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            'font-family="sans-serif" font-size="11">\n'
            f'<rect width="{width}" height="{height}" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n")


def head(title, names, left):
    """The title, and the names of the curves or dots."""
    yield text(8, 18, title, size=13)
    yield text(8, 34, TITLE)
    columns = names_in_a_row(names)
    for number, (name, color) in enumerate(colors_of(names).items()):
        x, y = left + 190 * (number % columns), 52 + 16 * (number // columns)
        yield f'<rect x="{x}" y="{y - 8}" width="10" height="8" fill="{color}"/>'
        yield text(x + 14, y, name)


def names_in_a_row(names):
    """How many names a line has room for."""
    return 3 if max(map(len, names)) <= 28 else 1


def top_of(names):
    return 66 + 16 * ((len(names) - 1) // names_in_a_row(names))


def values(series):
    return [ratio for points in series.values() for spread in points if spread for ratio in spread]


def curves(title, labels, series, what):
    """Curves: {name: [the ratios at each label, or None]}; each has its median, and a thin bar from the
    lowest to the highest. @return SVG"""
    width, left, right, top, bottom = 640, 64, 20, top_of(series), 320
    axis = Axis(values(series), bottom, top)
    parts = list(head(title, series, left))
    parts.append(f'<g transform="translate(16 {bottom}) rotate(-90)">{text(0, 0, FASTER)}</g>')
    step = (width - left - right) / max(len(labels), 1)
    across = [left + step * (number + 0.5) for number in range(len(labels))]
    for tick in axis.ticks:
        y = axis.at(tick)
        parts += [line(left, y, width - right, y, "black" if tick == 1 else "#ddd"),
                  text(left - 6, y + 4, f"{tick:g}", "end")]
    every = math.ceil(len(labels) / 14)
    parts += [text(x, bottom + 18, label, "middle")
              for x, label in list(zip(across, labels))[::every]]
    parts.append(text((left + width - right) / 2, bottom + 36, what, "middle"))
    for (name, points), color in zip(series.items(), colors_of(series).values()):
        dots = [(x, spread, label) for x, spread, label in zip(across, points, labels) if spread]
        path = " ".join(f"{x:.1f},{axis.at(statistics.median(spread)):.1f}" for x, spread, _ in dots)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.6"/>')
        for x, spread, label in dots:
            middle = statistics.median(spread)
            parts += [line(x, axis.at(min(spread)), x, axis.at(max(spread)), color),
                      f'<circle cx="{x:.1f}" cy="{axis.at(middle):.1f}" r="3" fill="{color}">'
                      f'<title>{html.escape(f"{name}, {label}: {middle:.3f}")}</title></circle>']
    return document(width, bottom + 48, parts)


def rows(title, labels, series):
    """A line for each label, with a dot for each name, a thin bar from the lowest to the highest, and the
    median at the end: {name: [the ratios at each label, or None]}. @return SVG"""
    left = 24 + max(6.2 * len(label) for label in labels)
    right, step, top = left + 400, 19, top_of(series)
    width, bottom = int(right) + 20 + 44 * len(series), top + step * len(labels)
    axis = Axis(values(series), left, right)
    parts = list(head(title, series, 8))
    parts.append(text(right, bottom + 31, FASTER, "end"))
    for tick in axis.ticks:
        x = axis.at(tick)
        parts += [line(x, top, x, bottom, "black" if tick == 1 else "#ddd"),
                  text(x, bottom + 16, f"{tick:g}", "middle")]
    for number, label in enumerate(labels):
        y = top + step * (number + 0.5)
        parts.append(text(left - 10, y + 4, label, "end"))
        own = [(column, color, name, points[number], statistics.median(points[number]))
               for column, ((name, points), color) in enumerate(zip(series.items(), colors_of(series).values()))
               if points[number]]
        ends = [axis.at(ratio) for ratio in [1, *(middle for *_, middle in own)]]
        parts.append(line(min(ends), y, max(ends), y, "#bbb", 2))
        for column, color, name, spread, middle in own:
            parts += [line(axis.at(min(spread)), y, axis.at(max(spread)), y, color),
                      f'<circle cx="{axis.at(middle):.1f}" cy="{y:.1f}" r="4" fill="{color}">'
                      f'<title>{html.escape(f"{name}, {label}: {middle:.3f}")}</title></circle>',
                      f'<text x="{right + 48 + 44 * column:.1f}" y="{y + 4:.1f}" '
                      f'text-anchor="end" fill="{color}">{middle:.2f}</text>']
    return document(width, bottom + 40, parts)
