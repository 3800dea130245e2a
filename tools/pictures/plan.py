# SPDX-License-Identifier: BSD-3-Clause
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
        return self.label + self.size_part * self.fraction(first, count) / max(self.largest, 1e-9)

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
        wide = 0.8 + 1.6 * self.fraction(first, count) / max(self.largest, 1e-9)
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


