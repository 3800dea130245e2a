#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the first page of doc/results.md, and README's chart, from the tables of doc/results.md.

    python3 bench/summary.py doc/results.md README.md

Nothing is measured here, and nothing is left out: a row is the lowest, the median and the highest
ratio of all sizes and points of its sections, and every line that a section says it missed is
counted. Ratios are times of stock Open MPI over strag's; above 1 strag is faster.
"""
import math
import pathlib
import re
import statistics
import sys

sys.dont_write_bytecode = True

import section

# Rows: what it is, and the sections it is taken from.
ROWS = (
    ("one host, 2 ranks", r"auto, (short|longer) vectors.*: 2 ranks"),
    ("one host, 4 ranks on 2 cores", r"auto, (short|longer) vectors.*: 4 ranks"),
    ("one host, 8 ranks on 2 cores", r"auto, (short|longer) vectors.*: 8 ranks"),
    ("one host, 16 to 128 ranks on 2 cores", r"auto, more ranks than processors.*"),
    ("8 hosts alike", r"Eight hosts on one switch"),
    ("32 and 64 hosts alike", r"(32|64) hosts on one switch"),
    ("4 to 8 hosts, speed not told", r"(\d+ hosts|Hosts) whose speed is not told.*"),
    ("hosts with unequal numbers of ranks", r"Hosts with .* ranks, slow uplinks.*|32 hosts with .*"),
    ("one or two hosts with slow links", r"Eight hosts, (one is|two are) slow|Four hosts .* slow|"
                                         r"32 hosts, one is slow|(\d|Seven) hosts, one is slow, .*"),
    ("one rank late, from its arrival on", r"(Eight|32) hosts, one straggler, which.*"),
    ("another rank late in each call", r"Another straggler in each call.*"),
    ("tori 2x4 and 4x4", r"Torus (2x4|4x4).*"),
    ("torus 8x8", r"Torus 8x8.*"),
)


class Section:
    """A section of results.md: what was measured, and what it says was missed."""

    def __init__(self, title):
        self.title = title
        self.choice = []  # Open MPI's own choice at its defaults, over strag
        self.best = []    # the fastest of stock's, each at its best setting, over strag at its best
        self.sizes = []   # bytes
        self.missed = []  # what its text says of strag
        self.lab_missed = 0  # and of the lab itself, or of stock's contenders

    def anchor(self):
        words = re.sub(r"[^\w\- ]", "", self.title.lower())
        return "#" + words.replace(" ", "-")


def number(text):
    return float(text.replace("*", ""))


def bytes_of(text):
    units = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}
    found = re.match(r"(\d+) (B|KiB|MiB)\b", text)
    return int(found[1]) * units[found[2]] if found else None


def take_late(found, rows):
    """Milliseconds from the straggler's arrival on: {contender: its columns}, a delay in each."""
    mine = rows.get("strag-auto", {})
    for delay, time in mine.items():
        others = [number(row[delay]) for name, row in rows.items()
                  if not name.startswith("strag") and delay.endswith(" late") and row[delay]]
        if others and not delay.startswith("0 "):
            found.best.append(min(others) / number(time))


def take_case(found, rows):
    """A table of contenders: {contender: its columns}."""
    mine = rows.get("strag-auto")
    if not mine or "straggler" in found.title:
        return
    if mine["stock"]:
        found.best.append(number(mine["stock"]))
    if "tuned" in rows:
        found.choice.append(number(rows["tuned"]["default"]) / number(mine["default"]))


def take_row(found, row):
    """A line of a table with a size in each line."""
    if "stock / strag" in row:
        found.best.append(number(row["stock / strag"]))
        found.sizes.append(bytes_of(row["size"]))
    elif row.get("contender") == "strag-auto" and "gain" in row:
        found.best.append(number(row["gain"]))
        found.sizes.append(bytes_of(row["delays"]))
    elif row.get("auto / tuned"):
        found.choice.append(1 / number(row["auto / tuned"]))
        found.sizes.append(bytes_of(row["size"]))


def take_table(found, lines):
    names = [name.strip() for name in lines[0].strip("|").split("|")]
    rows = [dict(zip(names, (cell.strip() for cell in line.strip("|").split("|"))))
            for line in lines[2:]]
    if names[0] == "contender":
        by_name = {row["contender"]: row for row in rows}
        take = take_case if "stock" in names else take_late
        take(found, by_name)
    for row in rows:
        take_row(found, row)
        if row.get("met") == "**no**":
            found.missed.append(f"{row[names[0]]}: {row[names[1]]}: {row['measured']}, "
                                f"at most {row['at most']}")


def take_block(found, lines):
    """What lies between two empty lines."""
    first = lines[0]
    if first.startswith("|"):
        take_table(found, lines)
    elif first.startswith("- "):
        mine = [line[2:] for line in lines if ": strag-" in line]
        found.missed += mine
        found.lab_missed += len(lines) - len(mine)
    elif first.startswith("Target: "):
        missed = first.partition("Missed: ")[2].rstrip(".")
        found.missed += [] if missed == "none" else missed.split(", ")
    elif bytes_of(first) and "lower bound" in first:
        found.sizes.append(bytes_of(first))


def read(text):
    """The sections with measurements of calls."""
    sections = []
    measured = text.partition("<!-- summary: end -->")[2]
    for part in measured.split("\n### ")[1:]:
        title, _, body = part.partition("\n")
        body = re.split(r"\n## |\n<!--", body)[0]
        found = Section(title)
        for block in re.split(r"\n\s*\n", body):
            lines = block.strip("\n").splitlines()
            if lines:
                take_block(found, lines)
        sections.append(found)
    return sections


def span(ratios):
    if not ratios:
        return ""
    low, high = min(ratios), max(ratios)
    if f"{low:.2f}" == f"{high:.2f}":
        return f"{low:.2f}"
    return f"{low:.2f} .. **{statistics.median(ratios):.2f}** .. {high:.2f}"


def summarize(sections):
    """[(label, sections, all ratios to the choice, all to the best)]"""
    rows = []
    for label, pattern in ROWS:
        own = [found for found in sections if re.fullmatch(pattern, found.title)]
        choice = [ratio for found in own for ratio in found.choice]
        best = [ratio for found in own for ratio in found.best]
        if choice or best:
            rows.append((label, own, choice, best))
    return rows


def page(rows, sections):
    yield "## How much, and where not\n"
    yield ("strag is a collective component for Open MPI, started by `mpirun --mca coll strag PROGRAM`; with "
           "`--mca coll_strag_verbose 1` it says what it runs, and if it says nothing it does not run.\n")
    yield ("How many times as long as strag's `auto` stock Open MPI takes: the lowest, **median** and "
           "highest ratio of all sizes and points. *Its choice*: what Open MPI runs by itself. *Its "
           "best*: the fastest of all its algorithms and components, each at the protocol setting that "
           "suits it best (between hosts), which nobody has without measuring. All of it was measured "
           "on one machine with two cores: hosts are network namespaces with shaped links of 4 to "
           "100 Mbit/s. There was no real cluster.\n")
    yield "![Stock's time over strag's](figures/summary.svg)\n"
    yield "| where | sizes | its choice / strag | its best / strag | sections |"
    yield "|---|---|---:|---:|---|"
    for label, own, choice, best in rows:
        sizes = [size for found in own for size in found.sizes]
        between = " to ".join(dict.fromkeys(map(section.size_text, (min(sizes), max(sizes)))))
        links = ", ".join(f"[{i + 1}]({found.anchor()})" for i, found in enumerate(own))
        yield f"| {label} | {between} | {span(choice)} | {span(best)} | {links} |"
    yield "\n### What was missed\n"
    yield ("strag takes longer than stock where a ratio above is below 1. Besides, each section holds "
           "its measurements against targets of its own; these were not met "
           f"(and {sum(found.lab_missed for found in sections)} that concern the precision of the lab, "
           "or stock's algorithms):\n")
    for found in sections:
        if found.missed:
            rest = len(found.missed) - 3
            shown = "; ".join(found.missed[:3]) + (f"; and {rest} more" if rest > 0 else "")
            yield f"- [{found.title}]({found.anchor()}): {shown}"


# ---- The chart ----

WIDTH, LEFT, RIGHT, TOP, STEP = 760, 250, 30, 46, 24
CHOICE, BEST = "#1f77b4", "#ff7f0e"
LOWEST, TICKS = 0.6, (0.7, 1, 1.5, 2, 3, 4, 6, 8, 10)


def x(ratio):
    part = math.log(ratio / LOWEST) / math.log(TICKS[-1] / LOWEST)
    return LEFT + (WIDTH - LEFT - RIGHT) * min(max(part, 0), 1)


def bar(y, ratios, color):
    low, middle, high = min(ratios), statistics.median(ratios), max(ratios)
    return (f'<rect x="{x(low):.1f}" y="{y - 4}" width="{max(x(high) - x(low), 2):.1f}" height="8" '
            f'fill="{color}" fill-opacity="0.8"><title>{low:.2f} to {high:.2f}</title></rect>'
            f'<line x1="{x(middle):.1f}" y1="{y - 5}" x2="{x(middle):.1f}" y2="{y + 5}" '
            f'stroke="black" stroke-width="2"/>')


def frame(height):
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           'font-family="sans-serif" font-size="11">')
    yield f'<rect width="{WIDTH}" height="{height}" fill="white"/>'
    yield ('<text x="8" y="16" font-size="13">Stock Open MPI\'s time over strag\'s, from the lowest to '
           'the highest size, and the median; right of 1 strag is faster</text>')
    for left, color, text in ((LEFT, CHOICE, "against its own choice"),
                              (LEFT + 160, BEST, "against its best algorithm and setting")):
        yield (f'<rect x="{left}" y="24" width="10" height="8" fill="{color}"/>'
               f'<text x="{left + 14}" y="32">{text}</text>')
    for tick in TICKS:
        yield (f'<line x1="{x(tick):.1f}" y1="{TOP - 6}" x2="{x(tick):.1f}" y2="{height - 24}" '
               f'stroke="{"black" if tick == 1 else "#ddd"}"/>'
               f'<text x="{x(tick):.1f}" y="{height - 10}" text-anchor="middle">{tick:g}</text>')


def chart(rows):
    parts = list(frame(TOP + STEP * len(rows) + 30))
    for i, (label, _, choice, best) in enumerate(rows):
        y = TOP + STEP * i + STEP // 2
        parts.append(f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{label}</text>')
        if choice:
            parts.append(bar(y - 5 if best else y, choice, CHOICE))
        if best:
            parts.append(bar(y + 5 if choice else y, best, BEST))
    return "\n".join(parts) + "\n</svg>\n"


def readme_table(rows):
    yield "| | Open MPI's choice takes | its best takes |"
    yield "|---|---:|---:|"
    for label, _, choice, best in rows:
        yield f"| {label} | {span(choice)} | {span(best)} |"


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: summary.py doc/results.md README.md")
    path = pathlib.Path(sys.argv[1])
    sections = read(path.read_text(encoding="utf-8"))
    rows = summarize(sections)
    section.put(path, "summary", "\n".join(page(rows, sections)))
    (path.parent / "figures" / "summary.svg").write_text(chart(rows), encoding="utf-8")
    section.put(sys.argv[2], "summary", "\n".join(readme_table(rows)))


main()
