# SPDX-License-Identifier: BSD-3-Clause
"""The figure of bench/scale: a point for every machine and state, and the bars above which none is
wanted. Both axes are logarithmic."""
import math

WIDTH, HEIGHT, LEFT, TOP, GAP = 400, 260, 50, 30, 70
COLORS = {"": "#1f77b4", "one slow": "#ff7f0e", "three slow": "#d62728", "one late": "#2ca02c",
          "slow and late": "#9467bd"}
RANKS = (1 << 9, 1 << 18)


class Panel:
    """One of the figure's pictures; `low` and `high` are powers of ten."""

    def __init__(self, number, title, low, high):
        self.left = LEFT + number * (WIDTH + GAP)
        self.low, self.high = low, high
        self.parts = [f'<text x="{self.left}" y="{TOP - 12}" font-size="13">{title}</text>',
                      f'<rect x="{self.left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" '
                      'fill="none" stroke="#888"/>']
        for power in range(low, high + 1):
            y = self.y(10.0 ** power)
            self.parts.append(f'<text x="{self.left - 6}" y="{y + 4:.1f}" text-anchor="end">'
                              f'{10.0 ** power:g}</text>')
            self.parts.append(self.line((RANKS[0], 10.0 ** power), (RANKS[1], 10.0 ** power),
                                        "#ddd"))
        for log in range(10, 18, 2):
            self.parts.append(f'<text x="{self.x(1 << log):.1f}" y="{TOP + HEIGHT + 16}" '
                              f'text-anchor="middle">{1 << log:,}</text>')

    def x(self, ranks):
        first, last = map(math.log, RANKS)
        return self.left + WIDTH * (math.log(ranks) - first) / (last - first)

    def y(self, value):
        part = (math.log10(max(value, 10.0 ** self.low)) - self.low) / (self.high - self.low)
        return TOP + HEIGHT * (1 - part)

    def line(self, start, end, color):
        return (f'<line x1="{self.x(start[0]):.1f}" y1="{self.y(start[1]):.1f}" '
                f'x2="{self.x(end[0]):.1f}" y2="{self.y(end[1]):.1f}" stroke="{color}"/>')

    def add(self, rows, column, bars):
        first = RANKS[0]
        for most, limit in bars:
            self.parts.append(self.line((first, limit), (most, limit), "black"))
            first = most
        for row in rows:
            self.parts.append(f'<circle cx="{self.x(int(row["ranks"])):.1f}" '
                              f'cy="{self.y(float(row[column])):.1f}" r="3" '
                              f'fill="{COLORS[row["state"]]}" fill-opacity="0.6">'
                              f'<title>{row["machine"]} {row["state"]}: {row[column]}</title>'
                              '</circle>')
        return self.parts


def legend():
    parts = []
    for number, (state, color) in enumerate(COLORS.items()):
        x, y = LEFT + 150 * number, TOP + HEIGHT + 42
        parts.append(f'<circle cx="{x}" cy="{y - 4}" r="4" fill="{color}"/>'
                     f'<text x="{x + 8}" y="{y}">{state or "as it is"}</text>')
    return parts


def write(rows, table_bars, plan_bars, path):
    """Milliseconds of tables and plans over the ranks; bars are pairs of ranks and milliseconds."""
    parts = Panel(0, "a table: ms of CPU time, over ranks", 0, 3).add(rows, "table ms", table_bars)
    parts += Panel(1, "a plan: ms of CPU time, over ranks", -3, 2).add(rows, "plan ms", plan_bars)
    width, height = LEFT + 2 * WIDTH + GAP + 20, TOP + HEIGHT + 56
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                    'font-family="sans-serif" font-size="11">\n'
                    f'<rect width="{width}" height="{height}" fill="white"/>\n'
                    + "\n".join(parts + legend()) + "\n</svg>\n", encoding="utf-8")
