# SPDX-License-Identifier: BSD-3-Clause
# ---- Costs ----

COST_STYLE = """.grey{fill:#666}
.white{fill:#fff}
.cross{stroke:#888;stroke-dasharray:4 3}
.curve{fill:none;stroke-width:2}
"""


def size_text(size):
    for suffix in ("", "K", "M", "G"):
        if size % 1024:
            return f"{size}{suffix}"
        size //= 1024
    return f"{size}T"


def time_text(seconds):
    """Microseconds with four digits that count, never as 1e+05."""
    us, limit = seconds * 1e6, 0.99995
    decimals = 0 if us == 0 else 4
    while decimals > 0 and us >= limit:
        decimals -= 1
        limit *= 10
    return f"{us:.{decimals}f}"


class Costs:
    """Those algorithms are drawn that are the fastest at some size, then those that come nearest to it;
    the others are counted."""

    LEFT, TOP, WIDTH, HEIGHT = 60, 86, 760, 330  # of the axes
    NAMES = 190  # to the right of them
    BOTTOM = 64
    BAND = 18  # the fastest's name, above the axes
    RATIOS = [1, 1.2, 1.5, 2, 3, 4, 6, 8]  # the last is the upper edge
    SAME = 2e-3  # of each other: two curves are one line
    EQUAL = 1e-8  # likewise: neither is faster; times are written with nine digits
    CURVES, TICKS = 8, 10

    def __init__(self, made):
        self.made = made
        self.seconds = {}  # [algorithm][size]
        for cost in made["costs"]:
            self.seconds.setdefault(cost["algorithm"], []).append(cost["seconds"])
        self.names = list(self.seconds)
        self.bytes = [cost["bytes"] for cost in made["costs"] if cost["algorithm"] == self.names[0]]
        self.sizes = range(len(self.bytes))
        self.fastest = [self.fastest_at(s) for s in self.sizes]
        self.least = [self.seconds[name][s] for s, name in enumerate(self.fastest)]
        self.drawn = []
        while len(self.drawn) < self.CURVES:
            rest = [name for name in self.names if self.colour_of(name) == len(self.drawn)]
            if not rest:
                break
            self.drawn.append(min(rest, key=self.distance))

    def fastest_at(self, size):
        """Of equals the first."""
        best = self.names[0]
        for name in self.names:
            if self.seconds[name][size] < self.seconds[best][size] * (1 - self.EQUAL):
                best = name
        return best

    def distance(self, name):
        """How near it comes to the fastest at any size; 0: at some it is the fastest."""
        if name in self.fastest:
            return 0
        return min(seconds / least for seconds, least in zip(self.seconds[name], self.least))

    def colour_of(self, name):
        """The number of the drawn curve that it is, or lies on; else one that is not used."""
        for number, other in enumerate(self.drawn):
            if all(abs(a / b - 1) < self.SAME
                   for a, b in zip(self.seconds[name], self.seconds[other])):
                return number
        return len(self.drawn)

    def x_of(self, size):
        low, high = math.log2(self.bytes[0]), math.log2(self.bytes[-1])
        return self.LEFT + self.WIDTH * (math.log2(size) - low) / (high - low)

    def y_of(self, ratio):
        highest = self.RATIOS[-1]
        return self.TOP + self.HEIGHT * (1 - math.log2(min(ratio, highest)) / math.log2(highest))

    def draw(self):
        yield begin(self.LEFT + self.WIDTH + self.NAMES, self.TOP + self.HEIGHT + self.BOTTOM, 12,
                    COST_STYLE, f"n = {self.made['n']}, {self.made['topology']}")
        yield text_at("note", MARGIN, BELOW, "Modelled time over that of the fastest (named above the "
                      "curves), by the vector's size")
        yield from self.draw_axes()
        yield from self.draw_winners()
        for number in reversed(range(len(self.drawn))):
            yield from self.draw_curve(number)
        more = len(self.names) - len(self.drawn)
        if more:
            yield text_at("grey", self.LEFT + self.WIDTH + 16, self.TOP + 12 + 20 * len(self.drawn),
                          f"{more} more: slower, or the same")

    def draw_axes(self):
        """Sizes, with what the fastest takes there; and times over it."""
        bottom = self.TOP + self.HEIGHT
        for s in self.sizes[::(len(self.bytes) + self.TICKS - 1) // self.TICKS]:
            x = self.x_of(self.bytes[s])
            yield line("rule", x, self.TOP, x, bottom)
            yield text_at("middle", x, bottom + 18, size_text(self.bytes[s]))
            yield text_at("middle grey", x, bottom + 36, f"{time_text(self.least[s])} us")
        for ratio in self.RATIOS:
            y = self.y_of(ratio)
            yield line("rule", self.LEFT, y, self.LEFT + self.WIDTH, y)
            yield text_at("end", self.LEFT - 8, y + 4,
                          f"{ratio:g}{'' if ratio < self.RATIOS[-1] else '+'}")

    def crossing(self, s):
        """The size at which the line between two sizes of one curve crosses that of another one."""
        old, new = self.seconds[self.fastest[s]], self.seconds[self.fastest[s + 1]]
        before, behind = math.log(new[s] / old[s]), math.log(old[s + 1] / new[s + 1])
        part = before / (before + behind) if before + behind > 0 else 0.5
        low, high = math.log2(self.bytes[s]), math.log2(self.bytes[s + 1])
        return 2 ** (low + part * (high - low))

    def draw_winners(self):
        left = self.LEFT
        for s in self.sizes:
            last = s == self.sizes[-1]
            if not last and self.fastest[s + 1] == self.fastest[s]:
                continue
            right = self.LEFT + self.WIDTH if last else self.x_of(self.crossing(s))
            name = self.fastest[s]
            yield (f'<g class="fastest"><title>{name}</title><rect x="{left:.1f}" '
                   f'y="{self.TOP - self.BAND - 4}" width="{right - left:.1f}" height="{self.BAND}" '
                   f'fill="{colour(self.colour_of(name))}"/>')
            if right - left > 7.5 * len(name):
                yield text_at("middle white", (left + right) / 2, self.TOP - 9, name)
            yield "</g>\n"
            if not last:
                yield line("cross", right, self.TOP - 4, right, self.TOP + self.HEIGHT)
            left = right

    def draw_curve(self, number):
        name = self.drawn[number]
        y = self.TOP + 12 + 20 * number
        points = " ".join(f"{self.x_of(self.bytes[s]):.1f},"
                          f"{self.y_of(self.seconds[name][s] / self.least[s]):.1f}" for s in self.sizes)
        yield (f'<polyline class="curve" stroke="{colour(number)}" points="{points}">'
               f'<title>{name}</title></polyline>\n'
               f'<rect x="{self.LEFT + self.WIDTH + 16}" y="{y - 6}" width="14" height="4" '
               f'fill="{colour(number)}"/>{text_at("", self.LEFT + self.WIDTH + 36, y, name)}')


