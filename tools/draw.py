# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of what strag writes as JSON: plans, costs, or a machine and its links. `strag --format svg`
runs it (tools/draw.c): JSON on standard input, SVG on standard output.

    plans      ranks down, rounds across, one coloured bar per message, and an arrow from it to the
               receiver's row
    costs      what each algorithm takes over the fastest, at every size, and where another one becomes
               the fastest
    machines   the tree from the network down to its hosts (of a single host: to its ranks), or the
               grid, each link in both directions; with an algorithm, how busy its plan makes each link

All lengths are in SVG user units, a pixel each.
"""
import json
import math
import sys

# Contrast with white is 4.5 and more; the first four differ also without red or green receptors.
COLOURS = ["#2f6db3", "#c2561a", "#1b7f5c", "#5a2a6b", "#8a6d00", "#5b6470", "#b3354f", "#1f7f93"]
MARGIN = 24
BELOW = 48  # the title


def colour(index):
    return COLOURS[index % len(COLOURS)]


def words(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def text_at(style, x, y, text):
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{words(text)}</text>\n'


def line(style, x1, y1, x2, y2):
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>\n'


def count_text(count, unit):
    return f"{count} {unit}{'' if count == 1 else 's'}"


def begin(width, height, font, style, title):
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}">\n<title>{words(title)}</title>\n<style>\n'
            'text{font-family:Helvetica,Arial,"DejaVu Sans",sans-serif;'
            f'font-size:{font:g}px;fill:#222}}\n'
            ".title{font-size:16px;font-weight:bold}\n"
            ".note{font-size:12px;fill:#666}\n"
            ".middle{text-anchor:middle}\n.end{text-anchor:end}\n"
            ".rule{stroke:#d5dae0}\n"
            f'{style}</style>\n<rect width="100%" height="100%" fill="#fff"/>\n'
            f'<text class="title" x="{MARGIN}" y="28">{words(title)}</text>\n')


# ---- Plans ----

TO_RIGHT, TO_LEFT = "\u2192", "\u2190"
IN, FROM = ' class="in"', ' class="from"'  # of messages whose sender is not shown
PLAN_STYLE = """.number{fill:#666}
.number,.m text{text-anchor:middle}
.legend text{font-size:12px}
.m text{fill:#fff}
.m .in{fill:#fff;stroke-width:1.5}
.b{fill-opacity:.8}
.m path{fill:none;stroke-opacity:.6}
.m:hover{opacity:.6}
.m:hover path{stroke-opacity:1}
.band{fill:#f4f6f8}
"""


class Columns:
    """Which rounds are shown. A few: all of them. Of more, if many are identical (the same ranks send as
    many blocks to the same ranks), the first two and the last of each row of like ones. And if these
    are still too many, the first and the last: a ring's 126 rounds with 64 ranks are

        0 1 .. 62 63 64 .. 125      0 to 62 are identical (reduce), and 63 to 125 (copy)

    A column is (its first round, how many are left out there, whether they are like the one before)."""

    FEW = 24  # rounds that are all shown
    LIKE = 4  # rounds like the one before that are all shown
    MOST = 40
    AT_ENDS = 18  # of these at each end, if there would be more

    def __init__(self, plan):
        like = self.compare(plan)
        self.list = []
        first = 0
        while first < plan.rounds:
            end = first + 1
            while end < plan.rounds and like[end] == like[first]:
                end += 1
            if plan.rounds > self.FEW and end - first > self.LIKE:
                self.list += [(first, 0, False), (first + 1, 0, False),
                              (first + 2, end - first - 3, True), (end - 1, 0, False)]
            else:
                self.list += [(r, 0, False) for r in range(first, end)]
            first = end
        if len(self.list) > self.MOST:
            last = self.list[-self.AT_ENDS:]
            start = self.list[self.AT_ENDS][0]
            self.list[self.AT_ENDS:] = [(start, last[0][0] - start, False)] + last
        self.of = {column[0]: c for c, column in enumerate(self.list) if column[1] == 0}

    @staticmethod
    def compare(plan):
        """@return [round]: equal numbers, equal messages"""
        like = [0] * plan.rounds
        for rank, ops in plan.ranks:
            for kind, peer, _, count, at, _ in ops:
                like[at] = hash((like[at], rank, kind, peer, count))
        return like


def read_op(member):
    """Operations as tuples, which take less memory than their dictionaries."""
    if "peer" not in member:
        return member
    return (member["kind"], member["peer"], member["first"], member["count"], member["round"],
            member["stage"])


class Plan:
    """A bar stands on its sender's row and names the receiver and, if it is long enough, the blocks. If
    the sender's plan is not among those shown (one rank alone), the message stands in a second lane of
    its receiver's row, as an outline, and names the sender. The length of a bar is a constant, which has
    room for the peer's name, and a part in proportion to the message; messages of one rank in one round
    stand side by side. A round is as wide as its widest rank, and the room for the arrows behind it."""

    HEADER = 104  # title, legend, axis
    FOOTER = 40  # the line that explains the bars
    ROW_NAME = 64  # to the left of the rows
    GAP = 3  # between the bars of neighbouring rounds
    BARS_WIDTH = 1040  # all rounds together, if the bars need no more for their labels
    SIZE_PART_MIN, SIZE_PART_MAX = 6, 110  # of the largest message, beyond the label's room
    WIDTH_MIN = 720  # for the title and the legend
    GAP_WIDTH = 46  # of a column in place of rounds that are left out
    ARROWS_MIN, ARROWS_RANK = 22, 0.9  # room for a round's arrows, and the additional room for each rank
    ARROWS_MOST = 64  # ranks; with more they would only be grey

    def __init__(self, made):
        self.made = made
        self.n, self.blocks, self.rounds = made["n"], made["blocks"], made["claim"]["rounds"]
        self.numerators, self.denominator = made.get("numerators"), made.get("denominator")
        self.ranks = [(one["rank"], one["ops"]) for one in made["ranks"]]
        self.shown = {rank for rank, _ in self.ranks}
        self.columns = Columns(self)
        self.lanes, self.largest, self.stages = 1, 0, []
        self.survey()
        count = len(self.ranks)
        lane = 26 if count <= 16 else 20 if count <= 32 else 16
        self.row = lane * self.lanes
        self.font = 12 if lane >= 26 else 11 if lane >= 20 else 10
        # A digit is 0.6 of the font's size wide, the arrow 0.9.
        self.label = self.font * (0.6 * len(str(self.n - 1)) + 0.9) + 5
        self.arrows = 0  # room for arrows in each column; 0: there are none
        if count == self.n and 1 < count <= self.ARROWS_MOST:
            self.arrows = self.ARROWS_MIN + self.ARROWS_RANK * count
        self.place_columns()

    def fraction(self, first, count):
        if self.numerators is None:
            return count / self.blocks
        return (self.numerators[first + count] - self.numerators[first]) / self.denominator

    def lane_of(self, kind, peer, at):
        """The lane that the operation's message is drawn in; None: it is drawn elsewhere, or left out."""
        if at not in self.columns.of:
            return None
        if kind == "send":
            return 0
        return None if peer in self.shown else 1

    def survey(self):
        """Lanes, the largest message, and stages in the order of their first rounds."""
        begun = {}
        for _, ops in self.ranks:
            for kind, peer, first, count, at, stage in ops:
                if at < begun.get(stage, self.rounds):
                    self.use_stage(stage, at)
                    begun[stage] = at
                if self.lane_of(kind, peer, at) == 1:
                    self.lanes = 2
                self.largest = max(self.largest, self.fraction(first, count))

    def use_stage(self, name, at):
        """Behind those that begin no later."""
        self.stages = [stage for stage in self.stages if stage[0] != name]
        place = len(self.stages)
        while place > 0 and self.stages[place - 1][1] > at:
            place -= 1
        self.stages.insert(place, (name, at))

    def bar_width(self, first, count):
        return self.label + self.size_part * self.fraction(first, count) / self.largest

    def measure_columns(self):
        """@return [column]: what the widest rank needs"""
        width = [self.GAP_WIDTH if out else self.label + self.GAP for _, out, _ in self.columns.list]
        for _, ops in self.ranks:
            before, used = None, [0, 0]
            for kind, peer, first, count, at, _ in ops:
                if at != before:
                    before, used = at, [0, 0]
                lane = self.lane_of(kind, peer, at)
                if lane is None:
                    continue
                c = self.columns.of[at]
                used[lane] += self.bar_width(first, count) + self.GAP
                width[c] = max(width[c], used[lane])
        return [wide + (0 if out else self.arrows)
                for wide, (_, out, _) in zip(width, self.columns.list)]

    def place_columns(self):
        """Where columns start: the bars' constant parts first, then what is left for their sizes."""
        self.size_part = 0
        constant = sum(self.measure_columns())
        self.size_part = 1
        everything = sum(self.measure_columns())
        room = self.BARS_WIDTH + self.arrows * len(self.columns.list)
        part = (room - constant) / (everything - constant) if everything > constant else 0
        self.size_part = max(min(part, self.SIZE_PART_MAX), self.SIZE_PART_MIN)
        self.left = [MARGIN + self.ROW_NAME]
        for wide in self.measure_columns():
            self.left.append(wide + self.left[-1])

    def draw(self):
        bottom = self.HEADER + self.row * len(self.ranks)
        width = self.left[-1] + MARGIN
        rank = f", rank {self.ranks[0][0]}" if len(self.ranks) == 1 and self.n > 1 else ""
        title = (f"{self.made['algorithm']}, n = {self.n}{rank}: {count_text(self.rounds, 'round')}, "
                 f"{count_text(self.blocks, 'block')}")
        yield begin(max(width, self.WIDTH_MIN), bottom + self.FOOTER, self.font, PLAN_STYLE, title)
        yield from self.draw_stages()
        for p in range(0, len(self.ranks), 2):  # every other row is shaded
            yield (f'<rect class="band" x="{MARGIN}" y="{self.HEADER + self.row * p:g}" '
                   f'width="{self.left[-1] - MARGIN:.1f}" height="{self.row:g}"/>\n')
        for p, (rank, ops) in enumerate(self.ranks):
            yield from self.draw_row(p, rank, ops)
        yield from self.draw_rounds(self.HEADER - 8, bottom)
        yield text_at("note", MARGIN, bottom + 24, self.note())

    def draw_stages(self):
        """How each stage looks, its arrows too; and the legend."""
        yield "<style>\n"
        for s in range(len(self.stages)):
            yield (f".s{s} rect{{fill:{colour(s)};stroke:{colour(s)}}}.s{s} .from{{fill:{colour(s)}}}"
                   f".s{s} path{{stroke:{colour(s)};marker-end:url(#h{s})}}\n")
        yield "</style>\n"
        for s in range(len(self.stages) if self.arrows else 0):
            yield (f'<marker id="h{s}" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" '
                   'markerHeight="6" markerUnits="userSpaceOnUse" orient="auto">'
                   f'<polygon points="0,0 6,3 0,6" fill="{colour(s)}"/></marker>\n')
        x = MARGIN
        for s, (name, _) in enumerate(self.stages):
            yield (f'<g class="legend s{s}"><rect x="{x}" y="{MARGIN + 28}" width="14" height="14" '
                   f'rx="3"/>{text_at("", x + 20, MARGIN + 39.5, name)}</g>\n')
            x += 20 + 7 * len(name) + 24

    def draw_rounds(self, y, bottom):
        """The rounds' numbers, but for those that would run into the one before."""
        room = 7.0 * len(str(self.rounds)) + 6
        free_from = 0
        yield text_at("note end", MARGIN + self.ROW_NAME - 10, y, "round")
        for c, (first, out, same) in enumerate(self.columns.list):
            middle = (self.left[c] + self.left[c + 1] - self.GAP) / 2
            x = self.left[c] - self.GAP / 2
            yield line("rule", x, self.HEADER, x, bottom)
            if out:
                like = f"like round {first - 1}" if same else "left out"
                yield (f'<g class="gap"><title>rounds {first} to {first + out - 1}: {like}</title>'
                       f'<text class="number" x="{self.left[c] + self.GAP_WIDTH / 2:.1f}" y="{y:g}">'
                       f'\u2026 {out} \u2026</text></g>\n')
            elif middle - room / 2 >= free_from:
                free_from = middle + room / 2
                yield text_at("number", middle, y, str(first))

    def draw_row(self, index, rank, ops):
        top = self.HEADER + self.row * index
        yield text_at("end", MARGIN + self.ROW_NAME - 10, top + self.row / 2 + 0.36 * self.font,
                      f"rank {rank}")
        before, x = None, [0, 0]
        for i, (kind, peer, first, count, at, _) in enumerate(ops):
            if at != before and at in self.columns.of:
                x = [self.left[self.columns.of[at]]] * 2
            before = at
            lane = self.lane_of(kind, peer, at)
            if lane is None:
                continue
            yield self.message(rank, i, ops[i], x[lane], top + lane * self.row / self.lanes)
            x[lane] += self.bar_width(first, count) + self.GAP

    def message(self, rank, index, op, x, y):
        kind, peer, first, count, at, stage = op
        sends = kind == "send"
        number = [name for name, _ in self.stages].index(stage)
        width, height = self.bar_width(first, count), self.row / self.lanes - 4
        blocks = f"{first}..{first + count - 1}" if count > 1 else str(first)
        sender, receiver = (rank, peer) if sends else (peer, rank)
        parts = [
            f'<g class="m s{number}"><title>round {at}, {stage}: rank {sender} to rank {receiver}, '
            f'block{"s" if count > 1 else ""} {blocks}, {100 * self.fraction(first, count):.4g} % of the '
            f'vector; operation {index} ({kind}) of rank {rank}</title>'
            f'<rect{"" if sends else IN} x="{x:.1f}" y="{y + 2:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}" rx="3"/><text{"" if sends else FROM} x="{x + width / 2:.1f}" '
            f'y="{y + 2 + height / 2 + 0.36 * self.font:.1f}">{TO_RIGHT if sends else TO_LEFT}{peer}']
        if self.label + self.font * (0.6 * len(blocks) + 0.7) < width:
            parts.append(f'<tspan class="b" dx="{0.6 * self.font:g}">{blocks}</tspan>')
        parts.append("</text>")
        if self.arrows:
            parts.append(self.arrow(rank, op, x + width, y + self.row / 2))
        return "".join(parts) + "</g>\n"

    def arrow(self, rank, op, x, y):
        """From the bar, past the others of its round, to the receiver's row."""
        _, peer, first, count, at, _ = op
        end = self.left[self.columns.of[at] + 1] - self.GAP
        start, middle = end - self.arrows, end - self.arrows / 2
        to = y + self.row * (peer - rank)
        wide = 0.8 + 1.6 * self.fraction(first, count) / self.largest
        return (f'<path d="M{x:.1f} {y:.1f}H{start:.1f}C{middle:.1f} {y:.1f} {middle:.1f} {to:.1f} '
                f'{end:.1f} {to:.1f}" stroke-width="{wide:.2g}"/>')

    def note(self):
        """What the bars say."""
        if not self.stages:
            return "No rank sends anything."
        out = " \u2026 5 \u2026: five rounds are left out." if len(self.columns.list) < self.rounds else ""
        one, two = ("", "; \u21903: from rank 3") if self.lanes == 2 else (" in its sender's row", "")
        return (f"A bar is a message{one}. \u21923 4..7: to rank 3, blocks 4 to 7{two}. Longer bars are "
                f"larger messages.{out}")


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
        yield text_at("note", MARGIN, BELOW, "Modelled time over that of the fastest, which is named "
                      "above, by the vector's size")
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
                          f"{ratio:g}{'' if ratio < self.RATIOS[-1] else ' up'}")

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


# ---- Machines ----

MACHINE_STYLE = """.name{fill:#666;font-size:10px}
.link{fill:none}
.link:hover{stroke:#000}
.host rect{fill:#fff;stroke:#2f6db3;stroke-width:1.5}
.switch rect{fill:#2f6db3}
.free rect{fill:#f4f6f8;stroke:#d5dae0}
"""


def heat_colour(heat):
    """From yellow to red. @param heat  of the busiest link's time, above 0 to 1"""
    return f"hsl({50 - 50 * heat:.0f},85%,{55 - 13 * heat:.0f}%)"


class Machine:
    """Both directions of a link are lines side by side. How busy one is is the time that the plan's bytes
    take on it, over the busiest one's. A link is [from, to, dimension, bytes per second or null, vectors]:
    the ends are nodes or, in a grid's dimension, positions; -1 is a row's switch."""

    EDGE = 32
    HEADER = 96
    FOOTER = 30
    NODE = 15  # half a node's width
    APART = 4  # of a link's two directions, from its middle
    CHARS = 6.4  # a letter
    WIDE_MIN = 640

    def __init__(self, made):
        self.made = made
        self.nodes = {node["id"]: node for node in made["nodes"]}
        self.algorithm = made["algorithm"]
        self.place = {}  # of nodes, or of positions: (x, y)
        self.put()
        # Those that are not drawn count, too, if they are outside of hosts.
        outside = [link for link in made["links"] if self.is_outside(link)]
        self.busiest, self.hottest = 0, None
        for link in outside:
            if self.busy(link) > self.busiest * (1 + 1e-9):
                self.busiest, self.hottest = self.busy(link), link

    def busy(self, link):
        return link[4] / link[3] if self.algorithm and link[3] else 0

    def heat(self, link):
        return self.busy(link) / self.busiest if self.busiest else 0

    def link_title(self, link):
        title = f"{self.end_text(link[0])} to {self.end_text(link[1])}"
        if self.algorithm:
            title += f": {link[4]:.4g} of the vector"
        if link[3]:
            title += f", {link[3] * 8 / 1e9:.4g} Gbit/s"
        return words(title)

    def named(self, text, node):
        """With the node's name, or its only rank. @param node  None: no host is there"""
        if node and node.get("name", text) != text:
            return f"{text} {node['name']}"
        if node and "name" not in node and len(node["ranks"]) == 1:
            return f"{text} of rank {node['ranks'][0]}"
        return text

    def straight(self, a, b):
        """From one point to another, to the right of the line between them as seen on the way."""
        (ax, ay), (bx, by) = self.place[a], self.place[b]
        dx, dy = bx - ax, by - ay
        length = math.hypot(dx, dy)
        ox, oy = -self.APART * dy / length, self.APART * dx / length
        return f'd="M{ax + ox:.1f} {ay + oy:.1f}L{bx + ox:.1f} {by + oy:.1f}"'

    def draw(self):
        title = f"n = {self.made['n']}, {self.made['topology']}"
        title += f": {self.algorithm}" if self.algorithm else ""
        yield begin(max(self.width, self.WIDE_MIN), self.height, 11, MACHINE_STYLE, title)
        yield text_at("note", MARGIN, BELOW,
                      "Boxes are hosts, with their ranks; each link has a line in each direction")
        if self.hottest:
            yield (f'<text class="note" x="{MARGIN}" y="66">Busiest (red): '
                   f'{self.link_title(self.hottest)}</text>\n')
            yield from self.draw_scale()
        # The busiest last, so that no other one hides it.
        for turn in range(3):
            for link in self.made["links"]:
                heat = self.heat(link)
                if (heat > 0.5) + (heat > 0.95) == turn and self.is_drawn(link):
                    yield self.draw_link(link, heat)
        yield from self.draw_nodes()

    @staticmethod
    def draw_scale():
        """Which colour is how busy."""
        steps, left, top, step = 20, MARGIN + 28, 74, 7
        yield text_at("note", MARGIN, top + 10, "0 %")
        for s in range(1, steps + 1):
            yield (f'<rect class="scale" x="{left + step * (s - 1)}" y="{top}" width="{step}" '
                   f'height="12" fill="{heat_colour(s / steps)}"/>\n')
        yield text_at("note", left + step * steps + 6, top + 10,
                      "100 % of the time of the busiest link; grey: not used")

    def draw_link(self, link, heat):
        style = ('stroke="#b8bfc8" stroke-width="1.4"' if heat <= 0 else
                 f'stroke="{heat_colour(heat)}" stroke-width="{1.6 + 2.2 * heat:.1f}"')
        return (f'<path class="link" {self.path(link)} {style}><title>{self.link_title(link)}</title>'
                '</path>\n')

    def draw_node(self, at, node, bottom):
        """@param bottom  it is a host, or of a single host a rank; or no host is there"""
        text = self.ranks_text(node["ranks"]) if node and bottom else ""
        half = max(self.NODE, self.CHARS * len(text) / 2 + 3)
        x, y = at
        kind = "free" if not node else "host" if bottom else "switch"
        drawn = (f'<g class="{kind}"><rect x="{x - half:.1f}" y="{y - self.NODE * 0.7:.1f}" '
                 f'width="{2 * half:.1f}" height="{self.NODE * 1.4:.1f}" rx="4"/>'
                 f'{text_at("middle", x, y + 4, text)}')
        if node and "name" in node:
            drawn += self.draw_name(x, y, node["name"], bottom)
        return drawn + "</g>\n"

    @staticmethod
    def ranks_text(ranks):
        """"3", "0..3"; of others the first: "0,8..". """
        if len(ranks) == 1:
            return str(ranks[0])
        if ranks[-1] - ranks[0] == len(ranks) - 1:
            return f"{ranks[0]}..{ranks[-1]}"
        return f"{ranks[0]},{ranks[1]}.."


class Tree(Machine):
    """A row of nodes for each level, parents above the middle of their children."""

    ROW = 92
    LEAF = 76  # a host's share of the width

    def put(self):
        self.whole = self.made["hosts"] == 1
        depth, children, x = {}, {}, {}
        for i, node in self.nodes.items():  # level by level: children have higher numbers
            depth[i] = depth[node["parent"]] + 1 if i else 0
            children.setdefault(node["parent"], []).append(i)
        leaf = {node["ranks"][0]: i for i, node in self.nodes.items() if node["level"] == "rank"}
        # Those at the bottom in the order of their ranks, then each above the middle of its own.
        for rank in self.nodes[0]["ranks"]:
            i = leaf[rank]
            while not self.is_shown(i):
                i = self.nodes[i]["parent"]
            x.setdefault(i, self.EDGE + self.LEAF * (len(x) + 0.5))
        leaves = len(x)
        for i in sorted(self.nodes, reverse=True):
            if self.is_shown(i) and i not in x:
                x[i] = (x[children[i][0]] + x[children[i][-1]]) / 2
        self.place = {i: (x[i], self.HEADER + self.NODE + self.ROW * depth[i]) for i in x}
        self.width = 2 * self.EDGE + self.LEAF * leaves
        self.height = (self.HEADER + self.ROW * max(depth[i] for i in x) + 4 * self.NODE + self.FOOTER)

    def is_shown(self, i):
        return self.whole or self.nodes[i]["level"] not in ("rank", "cache", "NUMA domain", "package")

    def is_drawn(self, link):
        return link[0] >= 0 and self.is_shown(link[0]) and self.is_shown(link[1])

    is_outside = is_drawn

    def end_text(self, end):
        return self.named(self.nodes[end]["level"], self.nodes[end])

    def path(self, link):
        return self.straight(link[0], link[1])

    def draw_nodes(self):
        for i in sorted(self.place):
            node = self.nodes[i]
            yield self.draw_node(self.place[i], node, node["level"] == ("rank" if self.whole else "host"))

    def draw_name(self, x, y, name, bottom):
        if bottom:
            return text_at("name middle", x, y + self.NODE + 9, name)
        return text_at("name", x + self.NODE + 6, y - self.NODE, name)


class Grid(Machine):
    """The first two dimensions to the right and down, the others as pictures side by side, whose links
    are not drawn; links round the back, and to a HammingMesh's switches, end there, dashed."""

    STEP = 96  # from one position to the next
    LOOSE_END = 26

    def put(self):
        self.dims = self.made["dims"]
        column = self.STEP * self.dims[0] + self.LOOSE_END
        rows, panels, positions = (self.dims[1] if len(self.dims) > 1 else 1), 1, 1
        for size in self.dims:
            positions *= size
        for position in range(positions):
            at = self.coordinates(position)
            panel = 0
            for d in range(len(self.dims) - 1, 1, -1):
                panel = panel * self.dims[d] + at[d]
            panels = max(panels, panel + 1)
            down = at[1] if len(at) > 1 else 0
            self.place[position] = (
                self.EDGE + self.LOOSE_END + self.NODE + column * panel + self.STEP * at[0],
                self.HEADER + self.LOOSE_END + self.NODE + self.STEP * down)
        self.hosts = {tuple(node["at"]): node for node in self.nodes.values()
                      if node["level"] == "host" and "at" in node}
        self.width = 2 * self.EDGE + self.LOOSE_END + column * panels - self.STEP + 4 * self.NODE
        self.height = (self.HEADER + 2 * self.LOOSE_END + self.STEP * (rows - 1) + 2 * self.NODE +
                       self.FOOTER)

    def coordinates(self, position):
        at = []
        for size in self.dims:
            at.append(position % size)
            position //= size
        return tuple(at)

    def host_at(self, position):
        return self.hosts.get(self.coordinates(position))

    def is_drawn(self, link):
        return link[2] in (0, 1) and (link[0] >= 0 or link[1] >= 0)

    @staticmethod
    def is_outside(link):
        return link[2] >= 0

    def end_text(self, end):
        if end < 0:
            return "a row's switch"
        return self.named(f"({','.join(map(str, self.coordinates(end)))})", self.host_at(end))

    def path(self, link):
        start, to, d = link[:3]
        known = start if start >= 0 else to
        a, b = self.coordinates(known), self.coordinates(to if to >= 0 else known)
        step = b[d] - a[d]
        if start < 0 or to < 0:
            board = self.made["board"][d]
            return self.loose_end(known, d, 1 if a[d] % board > 0 or board == 1 else -1, to < 0)
        if abs(step) == 1:
            return self.straight(start, to)
        if self.made["network"] == "HyperX":
            return self.arc(start, to)
        return self.loose_end(start, d, 1 if step < 0 else -1, True)

    def arc(self, a, b):
        """Over what lies between, the further the higher."""
        (ax, ay), (bx, by) = self.place[a], self.place[b]
        dx, dy = bx - ax, by - ay
        length = math.hypot(dx, dy)
        bend = 0.22 * length
        return (f'd="M{ax:.1f} {ay:.1f}Q{(ax + bx) / 2 - bend * dy / length:.1f} '
                f'{(ay + by) / 2 + bend * dx / length:.1f} {bx:.1f} {by:.1f}"')

    def loose_end(self, position, dim, sign, out):
        """Out of the picture, or into it. @param sign  1: towards larger coordinates"""
        x, y = self.place[position]
        side, far = (1 if out else -1) * sign * self.APART, sign * (self.NODE + self.LOOSE_END)
        if dim == 0:
            return f'd="M{x:.1f} {y + side:.1f}L{x + far:.1f} {y + side:.1f}" stroke-dasharray="3 2"'
        return f'd="M{x - side:.1f} {y:.1f}L{x - side:.1f} {y + far:.1f}" stroke-dasharray="3 2"'

    def draw_nodes(self):
        for position, at in self.place.items():
            yield self.draw_node(at, self.host_at(position), True)
        if len(self.dims) > 2:
            yield text_at("note", MARGIN, self.height - 12,
                          "Links of dimensions 2 and up join the pictures; they are not drawn.")

    def draw_name(self, x, y, name, _):
        return text_at("name", x + self.APART + 5, y + self.NODE + 9, name)


def picture_of(made):
    if "ranks" in made:
        return Plan(made)
    if "costs" in made:
        return Costs(made)
    return Tree(made) if made["network"] == "tree" else Grid(made)


def main():
    with open(0, encoding="utf-8", errors="surrogateescape") as given:
        picture = picture_of(json.load(given, object_hook=read_op))
    with open(1, "w", encoding="utf-8", errors="surrogateescape") as out:
        out.writelines(picture.draw())
        out.write("</svg>\n")


try:
    main()
except OSError as error:
    sys.exit(f"strag: the output could not be written: {error.strerror}")
except KeyboardInterrupt:
    sys.exit(1)
