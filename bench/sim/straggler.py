#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Stragglers by the cost model: figure 6(b) of the StragglAR paper, and sweeps of the delay.

    python3 bench/sim/straggler.py tools/strag FOLDER

writes to the folder, from `strag cost --mode rounds` on one switch (needs matplotlib, Debian:
python3-matplotlib):

    fig6b.csv, fig6b.svg              from the straggler's arrival to the end, as a speedup over ring,
                                      for 4 to 256 ranks, 1 GiB, alpha 3 us, 450 GB/s: powers of two,
                                      and the numbers half way between; the delay is long enough for
                                      all that can be done before it
    delay-*.csv, delay-*.svg          from the first rank's arrival to the end, against the delay
    straggler.md                      the numbers, for doc/results.md
"""
import csv
import io
import pathlib
import subprocess
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "strag", "font.size": 8,
                            "axes.grid": True, "grid.linewidth": 0.3, "lines.linewidth": 1,
                            "lines.markersize": 3})

from matplotlib import pyplot  # noqa: E402  after the choice of what draws

ALGORITHMS = ("ring", "recursive-halving", "broadcast-after", "stragglar", "straggler-pipeline")
SYMMETRIC = ("recursive-doubling", "circulant", "recursive-halving", "ring")
GIB = 1 << 30
LONG_US = 1e6  # longer than all that can be done before the arrival

# The delay sweeps: name, title, ranks, bytes, alpha in us, Gbit/s.
SWEEPS = (
    ("delay-256", "256 ranks, 1 GiB, alpha 3 us, 450 GB/s", 256, GIB, 3, 3600),
    ("delay-8", "8 ranks, 4 GiB, alpha 3 us, 300 GB/s", 8, 4 * GIB, 3, 2400),
    ("delay-lab", "8 ranks, 4 MiB, alpha 100 us, 100 Mbit/s", 8, 4 << 20, 100, 0.1),
    ("delay-7", "7 ranks, 16 MiB, alpha 100 us, 100 Mbit/s", 7, 16 << 20, 100, 0.1),
)


def costs(strag, ranks, size, alpha, gbit, delay_us):
    """{algorithm: seconds} from the first rank's arrival to the end."""
    run = subprocess.run(
        [strag, "cost", "all", "-n", str(ranks), "--bytes", str(size), "--alpha", str(alpha),
         "--bandwidth", str(gbit), "--straggler", str(ranks - 1), "--delay", repr(delay_us),
         "--format", "csv"], capture_output=True, text=True, check=True)
    return {row["algorithm"]: float(row["seconds"]) for row in csv.DictReader(io.StringIO(run.stdout))}


def write_csv(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def after_arrival(strag, ranks):
    """{algorithm: seconds} from the straggler's arrival to the end."""
    found = costs(strag, ranks, GIB, 3, 3600, LONG_US)
    return {name: found[name] - LONG_US * 1e-6 for name in ALGORITHMS if name in found}


def figure_6b(strag, folder):
    powers = [1 << k for k in range(2, 9)]
    families = (("powers of two", powers), ("half way between", [3 * n // 2 for n in powers[:-1]]))
    rows, lines = [], []
    figure, both = pyplot.subplots(1, 2, figsize=(7, 2.8), sharey=True)
    for axes, (title, sizes) in zip(both, families):
        table = {n: after_arrival(strag, n) for n in sizes}
        for name in ALGORITHMS:
            points = [(n, table[n]["ring"] / table[n][name]) for n in sizes if name in table[n]]
            axes.plot(*zip(*points), marker=".", label=name)
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes, sizes)
        axes.minorticks_off()
        axes.set_title(title)
        axes.set_xlabel("ranks")
        rows += [(n, name, f"{s:.9g}", f"{table[n]['ring'] / s:.6g}")
                 for n in sizes for name, s in table[n].items()]
        lines += [f"| {n} | " + " | ".join(f"{table[n]['ring'] / table[n][name]:.2f}"
                                           for name in ALGORITHMS[1:]) + " |" for n in sizes]
    both[0].set_ylabel("speedup over ring")
    both[0].legend(fontsize=6)
    save(figure, folder / "fig6b.svg")
    write_csv(folder / "fig6b.csv", ("ranks", "algorithm", "seconds_after_arrival", "over_ring"), rows)
    return ["| ranks | " + " | ".join(ALGORITHMS[1:]) + " |", "|---:|" + "---:|" * 4] + lines


def crossing(delays, table, name):
    """The first delay from which on the algorithm is faster than every symmetric one."""
    best = None
    for delay, found in zip(delays, table):
        if found[name] >= min(found[other] for other in SYMMETRIC):
            best = None
        elif best is None:
            best = delay
    return best


def sweep(strag, folder, name, title, ranks, size, alpha, gbit):
    vector = size / (gbit * 1e9 / 8)  # seconds on a link
    delays = [vector * step / 40 for step in range(81)]
    table = [costs(strag, ranks, size, alpha, gbit, delay * 1e6) for delay in delays]
    algorithms = [a for a in ALGORITHMS + ("circulant",) if a in table[0]]
    figure, axes = pyplot.subplots(figsize=(4.5, 3))
    for algorithm in algorithms:
        if algorithm != "broadcast-after" or ranks < 16:
            axes.plot([d * 1e3 for d in delays], [t[algorithm] * 1e3 for t in table],
                      label=algorithm)
    axes.set_xlabel("delay, ms")
    axes.set_ylabel("from the first arrival to the end, ms")
    axes.set_title(title)
    axes.legend(fontsize=6)
    save(figure, folder / f"{name}.svg")
    write_csv(folder / f"{name}.csv", ("delay_seconds", *algorithms),
              [(f"{d:.9g}", *(f"{t[a]:.9g}" for a in algorithms)) for d, t in zip(delays, table)])
    cells = []
    for form in ("straggler-pipeline", "stragglar"):
        if form not in table[0]:
            cells += ["refused", "", ""]
            continue
        start = crossing(delays, table, form)
        last = table[-1]
        cells += [f"{start / vector:.3f}" if start is not None else "never",
                  f"{(last[form] - delays[-1]) / vector:.3f}",
                  f"{(min(last[a] for a in SYMMETRIC) - delays[-1]) / (last[form] - delays[-1]):.2f}"]
    return f"| {title} | {2 / ranks:.3f} | " + " | ".join(cells) + " |"


def main(strag, folder):
    folder.mkdir(parents=True, exist_ok=True)
    text = ["## Stragglers, by the cost model", "",
            "Speedup over ring from the straggler's arrival on, 1 GiB, alpha 3 us, 450 GB/s (figure "
            "6(b) of the StragglAR paper):", ""]
    text += figure_6b(strag, folder)
    text += ["", "The delay from which an algorithm is faster than every symmetric plan, its time from "
             "the arrival on, both relative to the vector's time on a link, and its speedup then; 2/n "
             "is the break-even for many blocks:", "",
             "| | 2/n | pipeline from | after arrival | faster | stragglar from | after arrival | "
             "faster |", "|---|" + "---:|" * 7]
    text += [sweep(strag, folder, *what) for what in SWEEPS]
    (folder / "straggler.md").write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
