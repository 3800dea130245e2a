# SPDX-License-Identifier: BSD-3-Clause
# ---- Machines ----

MACHINE_STYLE = """.name{fill:#666;font-size:10px;paint-order:stroke;stroke:#fff;stroke-width:3px}
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


