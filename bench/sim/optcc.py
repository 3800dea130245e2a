#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The figures 8 to 10 of the OptCC paper, from strag's model.

usage: optcc.py STRAG FOLDER

Runs `strag cost` (STRAG is the command) and writes into FOLDER

    optcc.csv   figure,x,curve,seconds
    fig*.svg    8: one slow host; 9: two; 10: one, with four ranks on every host;
                a: over the ranks, b: over the vector's size (both with the milder slow links),
                c, d: the same with links at half the speed, e: over the factor
    optcc.md    the paper's claims on these figures, and whether they hold by the model

200 Gbit/s per rank, as in the paper: hosts of four ranks have one link of 800 Gbit/s, and ranks
600 Gbit/s to each other; 1 us for a message. Curves are: ring without a slow link; ring with; R2CCL
by its closed form; optcc; weighted; and the lower bounds, theorem 2 for links that are shared and
theorem 6 (13) for one flow at a time.
"""
import csv
import io
import subprocess
import sys
from pathlib import Path

GBIT, MIB = 200, 1 << 20
SIZE, RANKS = 512 * MIB, 64
COLOURS = {"ring, healthy": "#444", "ring": "#c33", "R2CCL": "#e90", "optcc": "#06c",
           "weighted": "#093", "theorem 2": "#999", "theorem 6": "#b6b"}


class Figure:
    """One panel: a curve's points are x: seconds."""

    def __init__(self, name, title, axis):
        self.name, self.title, self.axis = name, title, axis
        self.curves = {}

    def add(self, x, times):
        for curve, seconds in times.items():
            self.curves.setdefault(curve, {})[x] = seconds


def cost(strag, algorithm, ranks, per_host, size, slow):
    command = [strag, "cost", algorithm, "-n", str(ranks), "--bytes", str(size), "--format", "csv",
               "--ranks-per-node", str(per_host), "--bandwidth", str(GBIT * per_host),
               "--local-bandwidth", str(GBIT * max(per_host - 1, 1))]
    if slow:
        command += ["--slow", ",".join(f"{rank}:{factor:g}" for rank, factor in slow)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"optcc.py: {' '.join(command)}: {run.stderr.strip()}")
    return float(list(csv.DictReader(io.StringIO(run.stdout)))[0]["seconds"])


def bounds(hosts, factors):
    """In vectors over a host's link: theorems 2 and, for one slow host, 6."""
    shared = max(2 * (hosts - 1) / (hosts - len(factors) + sum(1 / f for f in factors)),
                 max(factors))
    if len(factors) > 1:
        return {"theorem 2": shared}
    f = factors[0]
    return {"theorem 2": shared,
            "theorem 6": max(2 * f * (hosts - 1) / (f * (hosts - 2) + 2), f)}


def point(strag, ranks, per_host, size, factors):
    """All curves at one point; slow hosts are a third of the way round, and two thirds."""
    hosts = ranks // per_host
    slow = [(hosts * (i + 1) // 3 * per_host, f) for i, f in enumerate(factors)]
    healthy = cost(strag, "ring", ranks, per_host, size, [])
    worst = max(factors)
    times = {"ring, healthy": healthy,
             "ring": cost(strag, "ring", ranks, per_host, size, slow),
             "optcc": cost(strag, "optcc", ranks, per_host, size, slow),
             "weighted": cost(strag, "weighted", ranks, per_host, size, slow)}
    if len(factors) == 1:
        times["R2CCL"] = healthy * (1 + hosts * (worst - 1) / (2 * (hosts - 1)))
    vector = size * 8 / (GBIT * per_host * 1e9)
    times.update({name: value * vector for name, value in bounds(hosts, factors).items()})
    return times


def panels(strag, number, per_host, mild, half, repeat):
    """The five panels of a figure. @param repeat  how many hosts have the factor of panel e"""
    made = []
    for letters, factors in (("ab", mild), ("cd", half)):
        text = " and ".join(f"{f:g}" for f in factors)
        over_ranks = Figure(f"fig{number}{letters[0]}", f"factor {text}, 512 MiB", "ranks")
        for ranks in (16, 32, 64, 128, 256):
            over_ranks.add(ranks, point(strag, ranks, per_host, SIZE, factors))
        over_size = Figure(f"fig{number}{letters[1]}", f"factor {text}, {RANKS} ranks", "MiB")
        for mib in (64, 256, 1024, 4096, 8192):
            over_size.add(mib, point(strag, RANKS, per_host, mib * MIB, factors))
        made += [over_ranks, over_size]
    over_factor = Figure(f"fig{number}e", f"{RANKS} ranks, 512 MiB", "factor")
    for factor in (1, 1.14, 1.33, 1.6, 2, 2.5, 3, 3.5, 4):
        over_factor.add(factor, point(strag, RANKS, per_host, SIZE, [factor] * repeat))
    return made + [over_factor]


# ---- Output ----

def write_svg(folder, figure):
    """Time over the healthy ring's, so that all sizes share a scale."""
    xs = list(next(iter(figure.curves.values())))
    base = figure.curves["ring, healthy"]
    top = max(s / base[x] for points in figure.curves.values() for x, s in points.items())
    across = {x: 60 + 380 * i / (len(xs) - 1) for i, x in enumerate(xs)}

    def height(ratio):
        return 250 - 210 * (ratio - 0.9) / (top - 0.9)

    lines = [f'<text x="60" y="22" font-weight="bold">{figure.name}: {figure.title}</text>',
             '<text x="12" y="36">time / healthy ring</text>',
             f'<text x="240" y="290">{figure.axis}</text>']
    for x in xs:
        lines.append(f'<text x="{across[x]:.0f}" y="268" text-anchor="middle">{x:g}</text>')
    step = 0.1 if top < 1.7 else 0.5
    ratio = 1.0
    while ratio <= top + 1e-9:
        y = height(ratio)
        lines.append(f'<path d="M60 {y:.1f}H440" stroke="#ddd"/>'
                     f'<text x="54" y="{y + 4:.1f}" text-anchor="end">{ratio:.1f}</text>')
        ratio += step
    for row, (curve, points) in enumerate(figure.curves.items()):
        path = " ".join(f"{across[x]:.1f},{height(s / base[x]):.1f}" for x, s in points.items())
        dashes = ' stroke-dasharray="5 4"' if curve.startswith("theorem") else ""
        lines.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[curve]}"'
                     f' stroke-width="2"{dashes}/>'
                     f'<text x="455" y="{60 + 20 * row}" fill="{COLOURS[curve]}">{curve}</text>')
    (folder / f"{figure.name}.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="570" height="300" font-family="sans-serif"'
        ' font-size="12"><rect width="570" height="300" fill="#fff"/>\n'
        + "\n".join(lines) + "\n</svg>\n", encoding="utf-8")


def write_csv(folder, figures):
    with open(folder / "optcc.csv", "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["figure", "x", "curve", "seconds"])
        for figure in figures:
            for curve, points in figure.curves.items():
                writer.writerows([figure.name, x, curve, f"{s:.9g}"] for x, s in points.items())


def ratios(figure, curve, base):
    return {x: s / figure.curves[base][x] for x, s in figure.curves[curve].items()}


def claims(figures):
    """The paper's claims: (claim, what the model gives, does it hold)."""
    found = []
    for number, name in ((8, "one slow host"), (9, "two slow hosts"), (10, "four ranks per host")):
        for letter in "ac":
            figure = figures[f"fig{number}{letter}"]
            for curve in ("optcc", "weighted"):
                worst = max(ratios(figure, curve, "ring, healthy").items(), key=lambda r: r[1])
                found.append((f"figure {number}{letter}, {name}: within 6 % of the healthy ring"
                              f" from 16 to 256 ranks ({curve})",
                              f"at most {worst[1]:.3f}, with {worst[0]} ranks", worst[1] <= 1.06))
    half = figures["fig8c"]
    worst = max(ratios(half, "R2CCL", "ring, healthy").values())
    found.append(("R2CCL: up to 57 % over it at half the speed", f"{worst - 1:.1%}",
                  abs(worst - 1.57) < 0.05))
    for other, gain in (("R2CCL", 0.29), ("ring", 0.58)):
        here = half.curves[other][256] / half.curves["optcc"][256] - 1
        found.append((f"at half the speed and 256 ranks {other} takes {gain:.0%} more than optcc",
                      f"{here:.1%} more", here >= gain))
    for number, bound, most in ((8, "theorem 6", 1.02), (10, "theorem 6", 1.05)):
        over = ratios(figures[f"fig{number}b"], "optcc", bound)[8192]
        found.append((f"figure {number}b, 8 GiB: optcc at most {most} of its bound",
                      f"{over:.3f}", over <= most))
    over = ratios(figures["fig9b"], "weighted", "theorem 2")[8192]
    found.append(("figure 9b, 8 GiB: weighted at most 1.05 of theorem 2", f"{over:.3f}",
                  over <= 1.05))
    return found


def write_markdown(folder, figures):
    rows = claims({f.name: f for f in figures})
    text = ["| what the paper says, or the bar | by the model | |", "|---|---|---|"]
    text += [f"| {claim} | {value} | {'hit' if holds else 'miss'} |" for claim, value, holds in rows]
    (folder / "optcc.md").write_text("\n".join(text) + "\n", encoding="utf-8")
    print("\n".join(text))


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: optcc.py STRAG FOLDER")
    strag, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    figures = (panels(strag, 8, 1, [1.14], [2], 1) + panels(strag, 9, 1, [1.33, 1.14], [2, 1.33], 2)
               + panels(strag, 10, 4, [1.14], [2], 1))
    for figure in figures:
        write_svg(folder, figure)
    write_csv(folder, figures)
    write_markdown(folder, figures)


if __name__ == "__main__":
    main()
