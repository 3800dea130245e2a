#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write doc/results.md, its chart and README's three numbers from the pages of doc/results.

    python3 bench/summary.py doc/results.md README.md

Nothing is measured here, and nothing is left out: a row is the lowest, the median and the highest
ratio of all sizes and points of its sections, and every line that a section says it missed is
counted. Ratios are times of stock Open MPI over strag's; above 1 strag is faster. "Its best" means the same in all rows
(bench/ratios.py); a section that measured fewer of Open MPI's algorithms counts in a column of its own. If a rank is
late, all times are from the last arrival on.
"""
import math
import pathlib
import re
import statistics
import sys

sys.dont_write_bytecode = True

import busy
import measured
import ratios
import section

# Rows: what it is, and the sections it is taken from.
ROWS = (
    ("one host, 2 ranks", r"auto, (short|longer) vectors.*: 2 ranks"),
    ("one host, 4 ranks on 2 cores", r"auto, (short|longer) vectors.*: 4 ranks"),
    ("one host, 8 ranks on 2 cores", r"auto, (short|longer) vectors.*: 8 ranks"),
    ("one host, 16 and 32 ranks on 2 cores", r"auto, more ranks than processors.*"),
    ("8 identical hosts", r"Eight hosts on one switch"),
    ("32 identical hosts", r"32 hosts on one switch"),
    ("4 and 8 hosts, no configuration", r"(8 hosts|Hosts) without configuration.*"),
    ("hosts with unequal numbers of ranks", r"Hosts with several ranks, slow uplinks"),
    ("one or two hosts with slow links", r"Eight ranks, one or two slow hosts.*|8 hosts, one is slow, .*"),
    ("one or two ranks late, from the last arrival", r".* stragglers?.*, which strag has to detect.*"),
    ("another rank late in each call, from its arrival", r"Another straggler in each call.*"),
    ("tori 2x4 and 4x4", r"Tori 2x4 and 4x4"),
    ("torus 8x8", r"Torus 8x8"),
)

# Pages of doc/results: what writes each, and from what.
PAGES = {
    "shared-memory": ("bench/report.py", "bench/shm.sh"),
    "lab": ("bench/lab/lab report", "bench/lab/lab run"),
    "jobs": ("bench/jobs.py", "bench/jobs.sh"),
    "communicators": ("bench/communicators.py", "bench/communicators.sh"),
    "overlap": ("bench/overlap.py", "bench/overlap.sh"),
    "plans": ("bench/plans.py", "bench/plans.sh"),
    "scale": ("bench/scale/report.py", "bench/scale/scale.c"),
    "watch": ("bench/scale/watch.py", "bench/scale/watch.c"),
    "host": ("bench/scale/host.py", "bench/scale/host.c"),
    "soak": ("bench/soak.py", "the long forms of test/mpi/*.sh"),
}

# What else is measured: what a number is, its page, its sections, and its column there.
OTHERS = (
    ("first call of a size in a job, 4 to 64 ranks on 2 cores: strag / stock", "jobs", "First call with.*",
     "strag / stock"),
    ("first call on a later communicator: strag / stock", "jobs", "First call on.*", "strag / stock"),
    ("later calls, 4 to 64 ranks on 2 cores: strag / stock", "jobs", "Later calls", "strag / stock"),
    ("a communicator made, used once and freed: strag / stock", "jobs", "A communicator.*",
     "strag / stock"),
    ("MPI_Iallreduce and MPI_Wait over MPI_Allreduce", "overlap", ".*", "over blocking"),
    ("MPI_Iallreduce with a computation, one host: strag / stock", "overlap", "Shared memory.*", "ratio"),
    ("MPI_Iallreduce with a computation, four hosts: strag / stock", "overlap", "The lab.*", "ratio"),
    ("the same, the computation as long as each one's own wait: strag / stock", "overlap", ".*", "own ratio"),
    ("a plan from a file over the same plan built in", "plans", ".*", "file / built in"),
    ("a table for 16 to 131,072 ranks: ms of CPU time", "scale", ".*", "table ms"),
    ("a table for 16 to 131,072 ranks: MiB", "scale", ".*", "MiB"),
    ("a plan of one rank among 16 to 131,072: ms of CPU time", "scale", ".*", "plan ms"),
    ("judging a watched call, 8 to 131,072 ranks: us of CPU time", "watch", ".*", "us a call"),
    ("soak tests: cases that failed", "soak", ".*", "failed"),
)

# Columns of ratios of times: what has one should have enough launches, and no other load.
RATIOS = {"stock", "stock / strag", "auto / tuned", "gain", "strag / stock", "over blocking", "ratio", "own ratio",
          "file / built in", "degraded, ms"}

# Columns of the table by size: vectors up to this many bytes.
SIZES = (1 << 10, 16 << 10, 128 << 10, 512 << 10, 2 << 20, 16 << 20)


class Section:
    """A section of a page: what was measured, and what it says was missed."""

    def __init__(self, page, title):
        self.page = page
        self.title = title
        self.date = ""
        self.tables = []   # [{column: cell}], a list for each table
        self.size = None   # bytes of the vector, of the tables that follow; None: ranks are late by 0 ms there
        self.choice = []   # (bytes, Open MPI's own choice at its defaults over strag)
        self.best = []     # (bytes, the fastest of stock's over strag, each at its best setting)
        self.fewer = []    # the same of a section that measured some of stock's algorithms only
        self.contenders = set()
        self.launches = None  # None: it does not say
        self.load = 0      # percent of the processors that other programs took, at most
        self.sizes = []    # bytes
        self.missed = []   # what its text says of strag
        self.lab_missed = 0  # and of the lab itself, or of stock's contenders

    def link(self):
        words = re.sub(r"[^\w\- ]", "", self.title.lower())
        return f"results/{self.page}.md#" + words.replace(" ", "-")


    def settle(self):
        """When all of it is read: was all of stock's measured?"""
        if not ("all of Open MPI's" in self.title or ratios.STOCK <= self.contenders):
            self.best, self.fewer = [], self.best

    def has_ratios(self):
        return any(RATIOS & row.keys() for table in self.tables for row in table)


def number(text):
    """The first number of a cell: 0.99 of `**0.99** (1.02)`"""
    return float(re.sub(r"[*,]", "", text).split()[0])


def bytes_of(text):
    units = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}
    found = re.match(r"(\d+) (B|KiB|MiB)\b", text)
    return int(found[1]) * units[found[2]] if found else None


def take_case(found, rows):
    """A table of contenders: {contender: its columns}."""
    mine = rows.get("strag-auto")
    if not mine or not found.size:
        return
    if mine.get("stock"):
        found.best.append((found.size, number(mine["stock"])))
    if "tuned" in rows:
        found.choice.append((found.size, number(rows["tuned"]["default"]) / number(mine["default"])))


def take_random(found, rows):
    """Another straggler in each call: means from the last arrival on, a line for each delay and contender."""
    for row in rows:
        if row["contender"] == "strag-auto" and row["gain"]:
            found.sizes.append(bytes_of(row["delays"]))
            found.best.append((bytes_of(row["delays"]), number(row["gain"])))


def take_row(found, row):
    """A line of a table with a size in each line."""
    if "stock / strag" in row:
        size = bytes_of(row["size"])
        found.best.append((size, number(row["stock / strag"])))
    elif row.get("auto / tuned"):
        size = bytes_of(row["size"])
        found.choice.append((size, 1 / number(row["auto / tuned"])))
    else:
        return
    found.sizes.append(size)


def take_table(found, lines):
    names = [name.strip() for name in lines[0].strip("|").split("|")]
    rows = [dict(zip(names, (cell.strip() for cell in line.strip("|").split("|"))))
            for line in lines[2:]]
    found.tables.append(rows)
    if names[0] == "contender":
        take_case(found, {row["contender"]: row for row in rows})
    elif names[:2] == ["delays", "contender"]:
        take_random(found, rows)
    found.contenders |= {row["contender"] for row in rows if "contender" in row}
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
    elif first.startswith("Target: ") and "Missed: " in first:
        missed = first.partition("Missed: ")[2].rstrip(".")
        found.missed += [] if missed == "none" else missed.split(", ")
    elif bytes_of(first) and "lower bound" in first:
        nobody_is_late = "from the last arrival on" in first and " ms late" not in first
        found.size = None if nobody_is_late else bytes_of(first)
        found.sizes.append(bytes_of(first))


def read(folder):
    """The sections of all pages; a page's head is one, too, with the page's title."""
    sections = []
    for page in PAGES:
        for part in re.split(r"^##? ", section.read(folder, page), flags=re.M)[1:]:
            title, _, body = part.partition("\n")
            found = Section(page, title)
            head = next((own for own in sections if own.page == page), found)
            launches = re.search(r"launches: (\d+)|over (\d+) launch|(\d+) folders", title + body)
            found.launches = int(next(filter(None, launches.groups()))) if launches else head.launches
            load = re.search(r"foreign load: \d+ to (\d+) %", body)
            found.load = int(load[1]) if load else head.load
            date = re.search(r"\d{4}-\d\d-\d\d", body)
            found.date = date[0] if date else ""
            for block in re.split(r"\n\s*\n", body):
                lines = block.strip("\n").splitlines()
                if lines:
                    take_block(found, lines)
            found.settle()
            sections.append(found)
    return sections


def span(ratios):
    if not ratios:
        return ""
    low, high = min(ratios), max(ratios)
    if f"{low:.2f}" == f"{high:.2f}":
        return f"{low:.2f}"
    return f"{low:.2f} .. **{statistics.median(ratios):.2f}** .. {high:.2f}"


def ratios_of(pairs):
    return [ratio for _, ratio in pairs]


def summarize(sections):
    """[(label, sections, all (bytes, ratio to the choice), the same to the best, to some algorithms)]"""
    rows = []
    for label, pattern in ROWS:
        own = [found for found in sections if re.fullmatch(pattern, found.title)]
        choice = [pair for found in own for pair in found.choice]
        best = [pair for found in own for pair in found.best]
        fewer = [pair for found in own for pair in found.fewer]
        if choice or best or fewer:
            rows.append((label, own, choice, best, fewer))
    return rows


def show_rows(rows):
    yield "| where | sizes | its choice / strag | its best / strag | some of its algorithms / strag | tables |"
    yield "|---|---|---:|---:|---:|---|"
    for label, own, *ratios_by_kind in rows:
        sizes = [size for found in own for size in found.sizes]
        between = " to ".join(dict.fromkeys(map(section.size_text, (min(sizes), max(sizes)))))
        links = ", ".join(f"[{i + 1}]({found.link()})" for i, found in enumerate(own))
        spans = " | ".join(span(ratios_of(pairs)) for pairs in ratios_by_kind)
        yield f"| {label} | {between} | {spans} | {links} |"


def show_sizes(rows, which):
    """A line for each row, a cell for each range of sizes: the lowest and the median ratio."""
    yield "| where | " + " | ".join(f"up to {section.size_text(size)}" for size in SIZES) + " |"
    yield "|---|" + "---:|" * len(SIZES)
    for row in rows:
        cells = []
        for least, most in zip((0, *SIZES), SIZES):
            ratios = [ratio for size, ratio in row[which] if least < size <= most]
            cells.append(span(ratios).rpartition(" .. ")[0] or span(ratios))
        if any(cells):
            yield f"| {row[0]} | " + " | ".join(cells) + " |"


def values_of(sections, page, pattern, column):
    """All numbers of a column, in the sections of a page whose titles match."""
    return [number(row[column]) for found in sections
            if found.page == page and re.fullmatch(pattern, found.title)
            for table in found.tables for row in table if row.get(column)]


def show_others(sections):
    yield "| what | lowest .. **median** .. highest | page |"
    yield "|---|---:|---|"
    for label, page, pattern, column in OTHERS:
        values = values_of(sections, page, pattern, column)
        if values:
            yield f"| {label} | {span(values)} | [{page}](results/{page}.md) |"


def show_missed(sections):
    for found in sections:
        if found.missed:
            rest = len(found.missed) - 3
            shown = "; ".join(found.missed[:3]) + (f"; and {rest} more" if rest > 0 else "")
            yield f"- [{found.title}]({found.link()}): {shown}"


def links_of(sections):
    return ", ".join(f"[{found.title}]({found.link()})" for found in sections) or "none"


def show_rough(sections):
    """Ratios that are not yet of as many launches, and as undisturbed, as they should be."""
    own = [found for found in sections if found.has_ratios()]
    few = [found for found in own if (found.launches or 0) < measured.LAUNCHES]
    loud = [found for found in own if found.load > busy.MOST]
    yield (f"Programs in bench/ make at least {measured.LAUNCHES} launches of everything, give every ratio its lowest and "
           f"highest launch, and repeat a launch next to which other programs take more than {busy.MOST} % of the "
           f"processors. Of the {len(own)} sections with ratios {len(own) - len(few)} have that many launches; fewer: "
           f"{links_of(few)}. More load next to a launch: {links_of(loud)}. Elsewhere, the tables of the guide's page on "
           "[GPUs](guide/gpus.md#measured-on-one-h100) are of one launch each.\n")


def show_pages(sections):
    for page, (writer, source) in PAGES.items():
        own = [found for found in sections if found.page == page]
        if own:
            dates = f", {own[0].date}" if own[0].date else ""
            yield (f"- **[{own[0].title}](results/{page}.md)**: written by `{writer}` from `{source}`"
                   f"{dates}")
        for found in own[1:]:
            dates = f", {found.date}" if found.date else ""
            yield f"  - [{found.title}]({found.link()}){dates}"


def show_clusters(folder):
    """What sites have sent in."""
    files = sorted((folder / "clusters").glob("*.csv"))
    for path in files:
        yield f"- [{path.stem}](results/clusters/{path.stem}.html), [its file](results/clusters/{path.name})"
    if not files:
        yield "No site has sent in measurements yet; [how to](results/README.md) takes ten minutes of a few hosts."


def document(rows, sections, folder):
    yield "# Results\n"
    yield ("This page is written by bench/summary.py from the tables in [results](results), and these by "
           "programs in bench/ from their measurements, not by hand; the figures of the papers, from the "
           "cost model, are in [papers.md](papers.md).\n")
    yield "## How much, and where not\n"
    yield ("strag is a collective component for Open MPI, started by `mpirun --mca coll strag PROGRAM`; with "
           "`--mca coll_strag_verbose 1` it says what it runs, and if it says nothing it does not run.\n")
    yield ("How many times as long as strag's `auto` stock Open MPI takes: the lowest, **median** and "
           "highest ratio of all sizes and points. *Its choice*: what Open MPI runs by itself. *Its "
           "best*: the fastest of that and of its algorithms recursive doubling, ring and Rabenseifner, with its "
           "components for one host or for hosts of several ranks, each at the protocol setting that suits it best "
           "(between hosts), which nobody has without measuring. On one host the ring took part twice, as tuned-4 and "
           "tuned-5: without a segment size the segmented ring is the ring. *Some of its algorithms*: the fastest of one or two "
           "of these; more were not measured there. If a rank is late, times are from its arrival. All of it was measured "
           "on one machine with two cores: hosts are network namespaces with shaped links of 4 to "
           "100 Mbit/s. There was no real cluster.\n")
    yield "![Stock's time over strag's](figures/summary.svg)\n"
    yield from show_rows(rows)
    yield "\n## By size\n"
    yield "The lowest and the **median** ratio of Open MPI's choice to strag:\n"
    yield from show_sizes(rows, 2)
    yield "\nOf Open MPI's best to strag:\n"
    yield from show_sizes(rows, 3)
    yield "\nOf some of its algorithms to strag:\n"
    yield from show_sizes(rows, 4)
    yield "\n## What else was measured\n"
    yield "Ratios of times: below 1 strag is faster.\n"
    yield from show_others(sections)
    yield "\n## What was missed\n"
    yield ("strag takes longer than stock where a ratio of the first tables is below 1. Besides, each section "
           "holds its measurements against targets of its own; these were not met "
           f"(and {sum(found.lab_missed for found in sections)} that concern the precision of the lab, "
           "or stock's algorithms):\n")
    yield from show_missed(sections)
    yield "\n## Launches, and other load\n"
    yield from show_rough(sections)
    yield "## Clusters\n"
    yield from show_clusters(folder)
    yield "\n## All tables\n"
    yield from show_pages(sections)


# ---- The chart ----

WIDTH, LEFT, RIGHT, TOP, BAR = 760, 270, 30, 60, 11
KINDS = (ratios.CHOICE, ratios.BEST, ratios.FEWER)
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
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
           'font-family="sans-serif" font-size="11">')
    yield f'<rect width="{WIDTH}" height="{height}" fill="white"/>'
    yield ('<text x="8" y="16" font-size="13">Stock Open MPI\'s time over strag\'s: the lowest to the '
           'highest ratio of all sizes, and the median</text>')
    for number_, kind in enumerate(KINDS):
        left = LEFT + (0, 110, 210)[number_]
        yield (f'<rect x="{left}" y="24" width="10" height="8" fill="{ratios.COLORS[kind]}"/>'
               f'<text x="{left + 14}" y="32">{kind}</text>')
    yield f'<text x="{WIDTH - RIGHT}" y="{height - 8}" text-anchor="end">{ratios.FASTER}</text>'
    for tick in TICKS:
        yield (f'<line x1="{x(tick):.1f}" y1="{TOP - 6}" x2="{x(tick):.1f}" y2="{height - 40}" '
               f'stroke="{"black" if tick == 1 else "#ddd"}"/>'
               f'<text x="{x(tick):.1f}" y="{height - 26}" text-anchor="middle">{tick:g}</text>')


def chart(rows):
    parts, y = [], TOP
    for label, _, *by_kind in rows:
        bars = [(ratios_of(pairs), ratios.COLORS[kind]) for kind, pairs in zip(KINDS, by_kind) if pairs]
        middle_ = y + BAR * (len(bars) - 1) / 2
        parts.append(f'<text x="{LEFT - 10}" y="{middle_ + 4:.1f}" text-anchor="end">{label}</text>')
        parts += [bar(y + BAR * number_, *one) for number_, one in enumerate(bars)]
        y += BAR * len(bars) + 9
    return "\n".join([*frame(y + 36), *parts]) + "\n</svg>\n"


def worst_loss(rows, sections):
    """How many times as long as stock strag takes at worst, in all that was measured, and what that is."""
    losses = [(1 / ratio, label) for label, _, *by_kind in rows for pairs in by_kind
              for ratio in ratios_of(pairs)]
    for label, page, pattern, column in OTHERS:
        if label.endswith("strag / stock") or column == "own ratio":
            losses += [(value, label.partition(": strag")[0])
                       for value in values_of(sections, page, pattern, column)]
    return max(losses)


def middle(pairs):
    """The median of (size, ratio), and the lowest and the highest."""
    ratios = ratios_of(pairs)
    return f"**{statistics.median(ratios):.2f}** times as long ({min(ratios):.2f} to {max(ratios):.2f})"


def readme_numbers(rows, sections):
    choice = [pair for row in rows for pair in row[2]]
    best = [pair for row in rows for pair in row[3]]
    loss, where = worst_loss(rows, sections)
    yield "| median of all sizes and machines measured (lowest to highest) | |"
    yield "|---|---|"
    yield f"| Open MPI's own choice, between hosts, takes | {middle(choice)} |"
    yield f"| the fastest of its algorithms and settings that were measured takes | {middle(best)} |"
    yield f"| the worst loss: {where} | strag takes **{loss:.2f}** times as long |"


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: summary.py doc/results.md README.md")
    path = pathlib.Path(sys.argv[1])
    sections = read(path.with_suffix(""))
    rows = summarize(sections)
    path.write_text("\n".join(document(rows, sections, path.with_suffix(""))) + "\n", encoding="utf-8")
    (path.parent / "figures" / "summary.svg").write_text(chart(rows), encoding="utf-8")
    section.put(sys.argv[2], "summary", "\n".join(readme_numbers(rows, sections)))


main()
