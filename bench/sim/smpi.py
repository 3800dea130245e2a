#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""strag's choice against SMPI's selectors of Open MPI, MPICH and MVAPICH2, in SimGrid.

usage: smpi.py BUILD FOLDER [--jobs FILE]... [--network NAME] [--least N] [--most N]
                [--seed N] [--minutes M] [--report FILE]

BUILD is a build's folder. On fat trees and dragonflies whose global links are tapered to 1, 1/2 and
1/4, with jobs of 64 to 1,024 hosts, and on tori of as many, every row asks `strag explain` what runs
for 1 KiB to 64 MiB, runs that plan in SimGrid (test/sim/replay.c), and SMPI's own allreduce with each
of the three selectors (test/sim/selector.c), under the same settings. Needs smpicc and smpirun (Debian:
libsimgrid-dev). It writes

    FOLDER/smpi.csv    one row per network, job and size: the choice, its modelled and its simulated
                       time, the selectors' times. Rows of an earlier run stay: strag is asked again, and
                       its plan is run again if it is another one
    FOLDER/oracle.csv  with --oracle: for each row the fastest of all algorithms' plans
    FOLDER/smpi.svg    simulated time of the choice over that of Open MPI's selector, by size
    FILE               a section (doc/papers.md): the summary, the rows that miss, the dragonfly

--jobs      recorded jobs: "job,nodes,runs" with runs like "8:2 9:7", group:hosts in the order of
            hosts (gzipped if the name ends in .gz). 40 of those that lie in several groups are drawn.
            Without: 40 placements are made, of 64, 91, 128, .. 1,024 hosts in 2 to 16 groups, divided at
            random places.
--network   only this one: fat tree, dragonfly or torus
--least, --most  only the rows of this many hosts (64 to 1,024)
--seed      of what is drawn, and of the order of rows
--oracle    also run the plans that strag has of other algorithms, of each in the blocks that the model
            finds best for it, if that takes at most twice the chosen one's modelled time
--minutes   begin no row after this many; the rows come in a random order, so that those that were
            reached are a sample of all. Without: all of them.

A job has the links that are its share. In a fat tree a group of h hosts has taper x h host links up
and as many down, spread evenly (adaptive routes). In a dragonfly there is a link between every two
groups, each direction, of taper x min(h, h') / (G - 1) host links, but of at least taper; messages take
it directly (minimal routes). Inside a group nothing is shared but hosts' links. Tori are SimGrid's
own cluster. strag is given the uplinks of the fat tree, and that a dragonfly's groups are joined pair by
pair: for each group its widest link. SMPI charges the time for a message to its sender only, the model to
both ends.
"""
import argparse
import collections
import csv
import gzip
import json
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TEST = HERE.parent.parent / "test" / "sim"
sys.path[:0] = [str(HERE.parent), str(TEST)]

import make_platform
import section
from compare import SETTINGS

GBIT, LINK_NS, OVERHEAD_US = 100, 500, 0.2
SIZES = [1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 26]
TAPERS = 1, 0.5, 0.25
TORI = "4x4x4", "8x4x4", "8x8x4", "8x8x8", "16x8x8"
NETWORKS = "fat tree", "dragonfly", "torus"
SELECTORS = "ompi", "mpich", "mvapich2"
DRAWN = 40
LIMIT_S = 120  # of processor time, for a simulation
COMPARED = "flexreduce", "ring", "bine", "torus-halving"  # is a dragonfly modelled right?
COMPARED_MOST = 128  # hosts
WITHIN = 2  # the oracle's plans take at most this many times as long as the chosen one, by the model
DECISION = """\
Yes, since a layout can say that its groups are joined pair by pair. Of 43 plans that had been run on these
dragonflies the model's times were .25 to 3.40 of SimGrid's when groups had uplinks, as in a fat tree: too short
with the sum of a group's links if hosts of one group all send to the same other group (a ring's crossing,
the long messages of halving and circulant), too long with one link for plans that use all links at once
(flexreduce-direct). Joined pair by pair they are 1.00 to 1.38, with half of the overhead, since SMPI charges
the sender only. A ring's are 1.00 (.25 to 1.00 with the sum). By the sum one choice took 2.24 times as long
as the best selector's, and by one link another one 1.15 times; neither plan is chosen any more."""

Row = collections.namedtuple("Row", "network taper job groups bytes")  # groups of a torus: its sizes
COLUMNS = ("network", "taper", "job", "ranks", "groups", "bytes", "algorithm", "blocks",
           "model_seconds", "strag_seconds") + tuple(f"{s}_seconds" for s in SELECTORS)


# ---- Jobs ----

def read_jobs(path):
    """[hosts of each group]: jobs in several groups, each of which comes once."""
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8")
    jobs = []
    with opened as file:
        for row in csv.DictReader(file):
            runs = [run.split(":") for run in row["runs"].split()]
            names = [name for name, _ in runs]
            hosts = [int(count) for _, count in runs]
            if len(set(names)) == len(names) > 1 and 64 <= sum(hosts) <= 1024:
                jobs.append(hosts)
    return jobs


def draw_jobs(files, rng):
    """Of the recorded ones as many of every file, spread over their sizes."""
    drawn = []
    for number, path in enumerate(files):
        jobs = sorted(read_jobs(path), key=sum)
        wanted = min(len(jobs), DRAWN // len(files) + (number < DRAWN % len(files)))
        for i in range(wanted):
            here = jobs[len(jobs) * i // wanted:len(jobs) * (i + 1) // wanted]
            drawn.append((f"{pathlib.Path(path).name.partition('.')[0]} {i + 1}", rng.choice(here)))
    return drawn


def make_jobs(rng):
    jobs = []
    for i in range(DRAWN):
        n = round(64 * 2 ** (i % 9 / 2))
        cuts = sorted(rng.sample(range(1, n), rng.randint(2, 16) - 1))
        jobs.append((f"made {i}", [b - a for a, b in zip([0] + cuts, cuts + [n])]))
    return jobs


def all_rows(jobs):
    rows = [Row(network, taper, job, tuple(hosts), size) for network in ("fat tree", "dragonfly")
            for taper in TAPERS for job, hosts in jobs for size in SIZES]
    return rows + [Row("torus", 1, dims, tuple(map(int, dims.split("x"))), size) for dims in TORI
                   for size in SIZES]


# ---- Networks ----

def ranks(row):
    n = 1
    for size in row.groups:
        n *= size
    return n if row.network == "torus" else sum(row.groups)


def pair(row, a, b):
    """Gbit/s of a dragonfly's link between two groups."""
    share = min(row.groups[a], row.groups[b]) / (len(row.groups) - 1)
    return row.taper * max(1, share) * GBIT


def uplink(row, group):
    """Gbit/s that leave a group, as strag is given them."""
    if row.network == "fat tree":
        return row.taper * row.groups[group] * GBIT
    links = [pair(row, group, other) for other in range(len(row.groups)) if other != group]
    return max(links)


def rate(gbit):
    return f"{gbit / 8 * 1e9!r}Bps"


def platform(row):
    """Groups are clusters; global links lie between them."""
    if row.network == "torus":
        return make_platform.torus_cluster(row.groups, GBIT, LINK_NS)
    links, routes, zones, first = [], [], [], 0
    groups = range(len(row.groups))
    for g in groups:
        zones.append(f'<cluster id="g{g}" prefix="r" radical="{first}-{first + row.groups[g] - 1}" '
                     f'suffix="" speed="1Gf" bw="{rate(GBIT)}" lat="{LINK_NS}ns" '
                     f'sharing_policy="SPLITDUPLEX" router_id="gate{g}"/>')
        first += row.groups[g]
        if row.network == "fat tree":
            links += [f'<link id="{way}{g}" bandwidth="{rate(uplink(row, g))}" '
                      f'latency="{LINK_NS}ns"/>' for way in ("up", "down")]
    for a, b in ((a, b) for a in groups for b in groups if a != b):
        path = f'<link_ctn id="up{a}"/><link_ctn id="down{b}"/>'
        if row.network != "fat tree":
            links.append(f'<link id="pair{a}-{b}" bandwidth="{rate(pair(row, a, b))}" '
                         f'latency="{2 * LINK_NS}ns"/>')
            path = f'<link_ctn id="pair{a}-{b}"/>'
        routes.append(f'<zoneRoute src="g{a}" dst="g{b}" gw_src="gate{a}" gw_dst="gate{b}" '
                      f'symmetrical="NO">{path}</zoneRoute>')
    return "\n".join([make_platform.HEAD + '<zone id="all" routing="Full">', *zones, *links, *routes,
                      "</zone>", "</platform>", ""])


def topology(row):
    """As strag is given it."""
    if row.network == "torus":
        return ["--torus", "x".join(map(str, row.groups))]
    uplinks = [uplink(row, g) for g in range(len(row.groups))]
    groups = ",".join(f"({','.join('1' * hosts)})@{gbit:.6g}" for hosts, gbit in zip(row.groups, uplinks))
    return ["--tree", f"({groups})" + (f"@{max(uplinks):.6g}" if row.network == "dragonfly" else "")]


def replayed(row):
    if row.network == "torus":
        return ["--torus", "x".join(map(str, row.groups))]
    return ["--groups", ",".join(f"{hosts}@{uplink(row, g):.6g}"
                                 for g, hosts in enumerate(row.groups))]


# ---- The choice and its time ----

def limit_time():
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S + 5))


class Runner:
    """@param work  a folder with the programs, for platforms too"""

    def __init__(self, build, work):
        self.strag = build / "tools" / "strag"
        self.work = work
        src, library = TEST.parent.parent / "src", build / "src" / ".libs" / "libstrag.a"
        for program, sources in (("replay", [TEST / "replay.c", TEST / "sim.c", library]),
                                 ("selector", [TEST / "selector.c"])):
            subprocess.run(["smpicc", "-std=gnu11", "-O1", f"-I{src}", *sources, "-o", work / program],
                           check=True)

    def ask(self, row, *words):
        command = [self.strag, *words, *topology(row), "--bytes", row.bytes, "--alpha", OVERHEAD_US,
                   "--overhead", OVERHEAD_US, "--bandwidth", GBIT, "--reduce-bandwidth", 0,
                   "--link-latency", LINK_NS, "--hop-latency", 0, "--ties", "plus", "--format", "json"]
        run = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if run.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}: {run.stderr}")
        return json.loads(run.stdout)

    def candidates(self, row):
        """By explain, what runs first: [{algorithm, seconds, blocks, ..}]."""
        answer = self.ask(row, "explain")["sizes"][0]
        return sorted(answer["candidates"], key=lambda c: (c["algorithm"] != answer["algorithm"], c["seconds"]))

    def simulate(self, row, program, settings=()):
        """Simulated seconds; None after LIMIT_S."""
        n = ranks(row)
        (self.work / "platform.xml").write_text(platform(row))
        (self.work / "hosts").write_text("".join(f"r{rank}\n" for rank in range(n)))
        command = ["smpirun", "-no-privatize", "-np", n, "-platform", self.work / "platform.xml",
                   "-hostfile", self.work / "hosts", "--log=root.thres:warning",
                   *(f"--cfg={s}" for s in SETTINGS), "--cfg=contexts/stack-size:256",
                   f"--cfg=smpi/ois:0:{OVERHEAD_US * 1e-6!r}:0", *(f"--cfg={s}" for s in settings),
                   *program]
        run = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                             preexec_fn=limit_time)
        if run.returncode == 128 + signal.SIGXCPU:
            return None
        if run.returncode != 0 or not run.stdout:
            raise RuntimeError(f"{' '.join(map(str, command))}: {run.stderr[-2000:]}")
        return float(run.stdout.split()[-1])

    def plan(self, row, algorithm, blocks=0, **_):
        return self.simulate(row, [self.work / "replay", algorithm, row.bytes, *replayed(row),
                                   "--blocks", blocks])

    def selector(self, row, name):
        return self.simulate(row, [self.work / "selector", row.bytes],
                             [f"smpi/coll-selector:{name}"])


PLAN = "algorithm", "blocks"


def measure(runner, row, before):
    """@param before  the row of an earlier run, or None  @return it, and the candidates"""
    candidates = runner.candidates(row)
    plan = {name: candidates[0].get(name, 0) for name in PLAN}
    where = "x".join(map(str, row.groups)) if row.network == "torus" else len(row.groups)
    found = dict(row._asdict(), ranks=ranks(row), groups=where, **plan,
                 model_seconds=candidates[0]["seconds"])
    same = before and all(str(before[name]) == str(plan[name]) for name in PLAN)
    found["strag_seconds"] = before["strag_seconds"] if same else runner.plan(row, **plan)
    for name in SELECTORS:
        column = f"{name}_seconds"
        found[column] = before and before[column]
        if found["strag_seconds"] and not found[column]:
            found[column] = runner.selector(row, name)
    return found, candidates


def find_best(runner, row, found, candidates):
    """Of the fastest plan: a row of oracle.csv."""
    best = {name: found[name] for name in ("algorithm", "blocks", "strag_seconds")}
    for candidate in candidates[1:]:
        if candidate["seconds"] <= WITHIN * candidates[0]["seconds"]:
            seconds = runner.plan(row, **candidate)
            if seconds and seconds < best["strag_seconds"]:
                best = dict(candidate, strag_seconds=seconds)
    return [*key(found), best["algorithm"], best.get("blocks", 0), best["strag_seconds"]]


def is_complete(found):
    return all(found[name] is not None for name in COLUMNS)


def key(found):
    return tuple(str(found[name]) for name in ("network", "taper", "job", "bytes"))


def read_rows(path):
    """The rows of an earlier run."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["taper"], row["bytes"] = float(row["taper"]), int(row["bytes"])
        row["taper"] = int(row["taper"]) if row["taper"] == 1 else row["taper"]
        for name in COLUMNS:
            if name.endswith("_seconds"):
                row[name] = float(row[name]) if row[name] else None
    return rows


def write_rows(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def measure_all(runner, rows, minutes, path, oracle):
    """The rows that were reached, also by earlier runs, these first; all are written after each.

    @param oracle  path of the file for the fastest plans, or None"""
    end, found = time.monotonic() + 60 * minutes, {key(row): row for row in read_rows(path)}
    for row in sorted(rows, key=lambda row: key(row._asdict()) not in found):
        if time.monotonic() > end:
            break
        name = key(row._asdict())
        found[name], candidates = measure(runner, row, found.get(name))
        write_rows(path, found.values())
        if oracle and found[name]["strag_seconds"]:
            best = find_best(runner, row, found[name], candidates)
            with oracle.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerow(best)
    return list(found.values())


def compare_dragonfly(runner, jobs):
    """{(algorithm, taper): [model / SimGrid]} on dragonflies."""
    found = {(algorithm, taper): [] for algorithm in COMPARED for taper in TAPERS}
    for job, hosts in [job for job in jobs if sum(job[1]) <= COMPARED_MOST][::4]:
        for taper in TAPERS:
            row = Row("dragonfly", taper, job, tuple(hosts), 1 << 22)
            for algorithm in COMPARED:
                estimate = runner.ask(row, "cost", algorithm)["costs"][0]
                simulated = runner.plan(row, algorithm)
                if simulated:
                    found[algorithm, taper].append(estimate["seconds"] / simulated)
    return found


# ---- The report ----

def ratio(found, others):
    return found["strag_seconds"] / min(found[f"{name}_seconds"] for name in others)


def mean(values):
    return sum(values) / len(values)


def summary(found):
    lines = ["| network | taper | rows | over Open MPI's selector: mean | bar | worst | over the best of "
             "the three: mean | worst | rows above 1.05 |", "|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    kinds = [(f"{network} | {taper:g}", 0.7 if taper < 1 else 0.8,
              [r for r in found if (r["network"], r["taper"]) == (network, taper)])
             for network, taper in sorted({(r["network"], r["taper"]) for r in found})]
    kinds += [("all | below 1", 0.7, [r for r in found if r["taper"] < 1]),
              ("all | 1", 0.8, [r for r in found if r["taper"] == 1]),
              ("all but tori | 1", 0.8, [r for r in found if r["taper"] == 1 and r["network"] != "torus"])]
    for name, bar, here in kinds:
        if here:
            ompi, best = [ratio(r, ["ompi"]) for r in here], [ratio(r, SELECTORS) for r in here]
            met = f"{mean(ompi):.3f}" if mean(ompi) <= bar else f"**{mean(ompi):.3f}**"
            lines.append(f"| {name} | {len(here)} | {met} | {bar} | {max(ompi):.3f} | "
                         f"{mean(best):.3f} | {max(best):.3f} | {sum(b > 1.05 for b in best)} |")
    return lines


def by_choice(found):
    """How good each algorithm is where it is chosen, and how well it is modelled."""
    lines = ["| chosen | rows | over Open MPI's selector: mean | over the best of the three: mean | modelled / "
             "SimGrid: least | mean | largest |", "|---|---:|---:|---:|---:|---:|---:|"]
    for name in sorted({row["algorithm"] for row in found}):
        here = [row for row in found if row["algorithm"] == name]
        models = [row["model_seconds"] / row["strag_seconds"] for row in here]
        lines.append(f"| {name} | {len(here)} | {mean([ratio(r, ['ompi']) for r in here]):.3f} | "
                     f"{mean([ratio(r, SELECTORS) for r in here]):.3f} | {min(models):.2f} | "
                     f"{mean(models):.2f} | {max(models):.2f} |")
    return lines


def misses(found):
    rows = sorted((row for row in found if ratio(row, SELECTORS) > 1.05),
                  key=lambda row: -ratio(row, SELECTORS))
    lines = ["| network | taper | job | hosts | groups | bytes | chosen | modelled / SimGrid | over the best "
             "selector | which |", "|---|---:|---|---:|---|---:|---|---:|---:|---|"]
    for row in rows:
        best = min(SELECTORS, key=lambda name: row[f"{name}_seconds"])
        lines.append(f"| {row['network']} | {row['taper']:g} | {row['job']} | {row['ranks']} | "
                     f"{row['groups']} | {section.size_text(row['bytes'])} | {row['algorithm']} | "
                     f"{row['model_seconds'] / row['strag_seconds']:.2f} | "
                     f"{ratio(row, SELECTORS):.3f} | {best} |")
    return lines if rows else ["None."]


def draw(found, path):
    """Mean of the choice over Open MPI's selector, by size; a line for each network and taper."""
    width, height, left, top = 420, 240, 60, 40
    lines = ['<text x="12" y="20">time / Open MPI\'s selector (SMPI), mean</text>']
    for tick in (0, 0.25, 0.5, 0.75, 1):
        y = top + height * (1 - tick)
        lines.append(f'<path d="M{left} {y:.0f}h{width}" stroke="#ddd"/>'
                     f'<text x="{left - 6}" y="{y + 4:.0f}" text-anchor="end">{tick:g}</text>')
    across = {size: left + width * i / (len(SIZES) - 1) for i, size in enumerate(SIZES)}
    for size, x in across.items():
        lines.append(f'<text x="{x:.0f}" y="{top + height + 18}" text-anchor="middle">'
                     f'{section.size_text(size)}</text>')
    colours = {"fat tree": "#06c", "dragonfly": "#c33", "torus": "#093"}
    dashes = {1: "", 0.5: ' stroke-dasharray="6 3"', 0.25: ' stroke-dasharray="2 3"'}
    for number, (network, taper) in enumerate(sorted({(r["network"], r["taper"]) for r in found})):
        means = {}
        for size in SIZES:
            here = [ratio(r, ["ompi"]) for r in found
                    if (r["network"], r["taper"], r["bytes"]) == (network, taper, size)]
            if here:
                means[size] = mean(here)
        points = " ".join(f"{across[s]:.0f},{top + height * (1 - min(m, 1.2)):.1f}"
                          for s, m in means.items())
        y = top + 10 + 20 * number
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colours[network]}" '
                     f'stroke-width="2"{dashes[taper]}/>'
                     f'<text x="{left + width + 20}" y="{y}" fill="{colours[network]}">{network}, '
                     f'taper {taper:g}</text>')
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 160}" '
                    f'height="{top + height + 30}" font-family="sans-serif" font-size="12">'
                    '<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(lines) + "\n</svg>\n",
                    encoding="utf-8")


def report(arguments, found, total, dragonfly):
    complete = [row for row in found if is_complete(row)]
    hosts = sorted(int(row["ranks"]) for row in complete)
    jobs = "recorded jobs of two machines" if arguments.jobs else "made placements"
    text = [f"""\
## At scale in SimGrid: the choice against SMPI's selectors

Written by bench/sim/smpi.py (seed {arguments.seed}): {len(complete)} of {total} rows, a sample, {jobs}, {hosts[0]} to {hosts[-1]:,}
hosts with one rank each, 1 KiB to 64 MiB; {len(found) - len(complete)} more are left out: they took longer than {LIMIT_S} s of processor time, or are to be run again. {GBIT} Gbit/s,
{LINK_NS} ns per link, {OVERHEAD_US} us for each message posted; reducing takes no time. The program's head describes the
networks. Bars: the mean over Open MPI's selector is at most 0.7 if global links are tapered and 0.8 if
not, and no row is above 1.05 of the best of SMPI's three selectors. Misses are bold.
""", *summary(complete), "", "By what was chosen:", "", *by_choice(complete), "",
            "### Rows above 1.05 of the best selector", "", *misses(complete)]
    text += ["", "### Is a dragonfly modelled right?", "", DECISION]
    if dragonfly:
        text += ["", "Time by the model over SimGrid's, both with a link for each pair of groups; 4 MiB, jobs of up to "
                 f"{COMPARED_MOST}\nhosts.", "",
                 "| | taper | cases | least | mean | largest |", "|---|---:|---:|---:|---:|---:|"]
        text += [f"| {name} | {taper:g} | {len(r)} | {min(r):.2f} | {mean(r):.2f} | {max(r):.2f} |"
                 for (name, taper), r in dragonfly.items() if r]
    section.put(arguments.report, "smpi", "\n".join(text))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--jobs", action="append", default=[])
    parser.add_argument("--network", choices=NETWORKS)
    parser.add_argument("--least", type=int, default=64)
    parser.add_argument("--most", type=int, default=1024)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--oracle", action="store_true")
    parser.add_argument("--report")
    arguments = parser.parse_args()
    print("seed", arguments.seed)
    rng = random.Random(arguments.seed)
    jobs = draw_jobs(arguments.jobs, rng) if arguments.jobs else make_jobs(rng)
    rows = [row for row in all_rows(jobs) if arguments.least <= ranks(row) <= arguments.most]
    rng.shuffle(rows)
    rows = [row for row in rows if arguments.network in (None, row.network)]
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        runner = Runner(arguments.build, pathlib.Path(work))
        oracle = arguments.folder / "oracle.csv" if arguments.oracle else None
        found = measure_all(runner, rows, arguments.minutes, arguments.folder / "smpi.csv", oracle)
        dragonfly = compare_dragonfly(runner, jobs) if arguments.report else {}
    complete = [row for row in found if is_complete(row)]
    draw(complete, arguments.folder / "smpi.svg")
    print("\n".join(summary(complete) + [""] + misses(complete)))
    if arguments.report:
        report(arguments, found, len(all_rows(jobs)), dragonfly)


if __name__ == "__main__":
    main()
