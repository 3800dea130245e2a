# SPDX-License-Identifier: BSD-3-Clause
"""The figures, as small SVG files (Debian: python3-matplotlib)."""
import statistics

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "strag", "font.size": 8,
                            "axes.grid": True, "grid.linewidth": 0.3, "lines.linewidth": 1,
                            "lines.markersize": 3})

from matplotlib import pyplot  # noqa: E402  after the choice of what draws

from scenarios import ALPHAS_US, LINES, MIB, SIZES, size_text  # noqa: E402

COLOURS = dict(zip((line.label for line in LINES), ("C3", "C0", "C4", "C2", "C1")))


def size_axis(axes, sizes=tuple(SIZES[::2])):
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [size_text(size) for size in sizes], rotation=45)
    axes.minorticks_off()


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def goodput(axes, prices, scenario):
    """Curves of all lines; a large dot where a line changes its algorithm."""
    alpha = ALPHAS_US[0]
    for line in LINES:
        if not prices.exists(scenario, line):
            continue
        rates = [prices.goodput(scenario, line, alpha, size) for size in SIZES]
        axes.plot(SIZES, rates, marker=".", color=COLOURS[line.label], label=line.label)
        names = [prices.algorithm(scenario, line, alpha, size) for size in SIZES]
        for size, rate, here, before in zip(SIZES[1:], rates[1:], names[1:], names):
            if here != before:
                axes.plot(size, rate, marker="o", markersize=6, color=COLOURS[line.label])
    size_axis(axes)
    axes.set_title(scenario.name)
    axes.set_ylabel("goodput, Gbit/s")


def runtimes(axes, prices, scenario):
    small = [size for size in SIZES if size <= 32 << 10]
    for line in LINES[:-1]:
        if prices.exists(scenario, line):
            axes.plot(small, [prices.seconds(scenario, line, ALPHAS_US[0], size) * 1e6
                              for size in small], marker=".", color=COLOURS[line.label])
    axes.set_yscale("log")
    size_axis(axes, small)
    axes.set_title("short vectors")
    axes.set_ylabel("time, us")


def gains(axes, prices, scenarios, letters):
    """Swing's gain over the best known algorithm; dashed for the larger alpha."""
    for i, scenario in enumerate(scenarios):
        for alpha, style in zip(ALPHAS_US, ("-", "--")):
            ratios = prices.speedups(scenario, alpha)
            values = [100 * (ratio - 1) for ratio in ratios.values()]
            solid = style == "-"
            axes.plot(SIZES, values, style, marker="." if solid else "", color=f"C{i}",
                      label=scenario.name if solid else None)
            for size, value in zip(SIZES, values) if letters and solid else ():
                axes.annotate(prices.best_known(scenario, alpha, size).letter, (size, value),
                              textcoords="offset points", xytext=(0, 4), ha="center", fontsize=6)
    axes.axhline(0, color="black", linewidth=0.6)
    size_axis(axes)
    axes.set_title(f"gain of Swing; - - alpha {ALPHAS_US[1]} us")
    axes.set_ylabel("gain over the best known, %")


def draw_goodput(prices, scenarios, path):
    """A panel for each scenario, then their gains; short vectors where there is one scenario."""
    single = len(scenarios) == 1
    panels = len(scenarios) + (2 if single else 1)
    figure, axes = pyplot.subplots(1, panels, figsize=(3.2 * panels, 3.2))
    for panel, scenario in zip(axes, scenarios):
        goodput(panel, prices, scenario)
    axes[0].legend(fontsize=6)
    if single:
        runtimes(axes[1], prices, scenarios[0])
    gains(axes[-1], prices, scenarios, single)
    if not single:
        axes[-1].legend(fontsize=6)
    save(figure, path)


def draw_gains(prices, scenarios, path):
    figure, axes = pyplot.subplots(figsize=(5, 3.2))
    gains(axes, prices, scenarios, False)
    axes.legend(fontsize=6)
    save(figure, path)


def draw_summary(prices, scenarios, path):
    figure, axes = pyplot.subplots(figsize=(5, 0.25 * len(scenarios) + 0.8))
    names = [scenario.name for scenario in reversed(scenarios)]
    values = [[100 * (ratio - 1) for ratio in
               prices.speedups(scenario, ALPHAS_US[0], 512 * MIB).values()]
              for scenario in reversed(scenarios)]
    axes.boxplot(values, vert=False, labels=names, flierprops={"markersize": 3})
    medians = [statistics.median(row) for row in values]
    axes.plot(medians, range(1, len(values) + 1), "^", color="C3")
    axes.axvline(0, color="black", linewidth=0.6)
    axes.set_xlabel("gain of Swing over the best known, %, 32 B to 512 MiB")
    save(figure, path)
