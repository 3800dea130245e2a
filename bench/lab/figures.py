# SPDX-License-Identifier: BSD-3-Clause
"""Figures of a scenario: `figures.py FOLDER` writes FOLDER/summary.csv and FOLDER/figure.svg.

Two pictures side by side: all contenders at Open MPI's defaults, and each at the protocol setting
that is best for it; the time as a multiple of the lower bound (without one, in milliseconds).
"""
import importlib.util
import pathlib
import subprocess
import sys

import results

STYLES = {"strag-auto": ("black", "-", "o"), "tuned": ("tab:red", "-", "s"),
          "tuned-again": ("tab:red", ":", "s"),
          "basic": ("tab:brown", ":", "x"), "sm": ("tab:pink", ":", "x"),
          "han": ("tab:olive", "-", "D")}
STRAG_COLORS = ["tab:blue", "tab:green", "tab:cyan", "navy", "limegreen", "slateblue", "teal",
                "darkviolet", "deepskyblue", "seagreen", "steelblue"]
STOCK_COLORS = ["tab:orange", "salmon", "goldenrod", "indianred", "chocolate", "gold"]


def style(name, names):
    if name in STYLES:
        return STYLES[name]
    alike = [other for other in names
             if other not in STYLES and other.startswith(name.split("-")[0] + "-")]
    colors = STRAG_COLORS if name.startswith("strag") else STOCK_COLORS
    return (colors[alike.index(name) % len(colors)],
            "-" if name.startswith("strag") else "--", "." if name.startswith("strag") else "+")


def abscissa(point, case):
    kind = point.info["x_axis"]
    return {"bytes": case[0], "delay": case[1] / 1000, "point": point.info["x"]}[kind]


def height(point, case, times):
    bound = point.bound(case)
    return times.median / bound if bound else 1000 * times.median


def lines(points, at_default):
    """{contender: ([x], [y])}"""
    found = {}
    for point in points:
        for case in point.cases():
            for name in point.contenders():
                best = point.best(name, case)
                times = point.times.get(("default", name, *case)) if at_default else (
                    best and best[1])
                if times:
                    xs, ys = found.setdefault(name, ([], []))
                    xs.append(abscissa(point, case))
                    ys.append(height(point, case, times))
    return found


def plot_panel(panel, points, at_default, title):
    data = lines(points, at_default)
    one = len({x for xs, _ in data.values() for x in xs}) == 1
    for number, (name, (xs, ys)) in enumerate(data.items()):
        color, line, marker = style(name, list(data))
        if one:
            panel.barh(number, ys[0], color=color, label=name)
        else:
            panel.plot(xs, ys, color=color, linestyle=line, marker=marker, label=name,
                       markersize=5, linewidth=1.2)
    panel.set_title(title, fontsize=10)
    if one:
        panel.set_yticks(range(len(data)), list(data), fontsize=8)
        panel.invert_yaxis()
        return
    panel.set_xlabel(points[0].info["x_title"])
    panel.set_yscale("log")
    if points[0].info["x_axis"] == "bytes":
        panel.set_xscale("log", base=2)
        ticks = sorted({case[0] for point in points for case in point.cases()})
        panel.set_xticks(ticks, [results.size_text(tick) for tick in ticks], fontsize=8)


def plot(points, path):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "strag"
    matplotlib.rcParams["svg.fonttype"] = "none"  # text is text: small files
    from matplotlib import pyplot, ticker
    figure, panels = pyplot.subplots(1, 2, figsize=(12, 5), sharey=True)
    plot_panel(panels[0], points, True, "at Open MPI's defaults")
    plot_panel(panels[1], points, False, "each at its best setting")
    bounded = points[0].info["hosts"] > 1
    what = "time / lower bound" if bounded else "milliseconds"
    for panel in panels:
        if panel.get_yscale() == "log":
            if panel is panels[0]:
                panel.set_ylabel(what)
            if bounded:
                panel.axhline(1, color="gray", linewidth=0.8)
                panel.yaxis.set_minor_formatter(ticker.ScalarFormatter())
                panel.yaxis.set_major_formatter(ticker.ScalarFormatter())
        else:
            panel.set_xlabel(what)
            panel.axvline(1, color="gray", linewidth=0.8)
    if panels[1].get_yscale() == "log":
        panels[1].legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.suptitle(f"{points[0].info['title']}: {points[0].info['machine']['date'][:10]}",
                    fontsize=11)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def python_with_matplotlib():
    """This Python, or the system's own, which Debian's packages belong to."""
    for python in (sys.executable, "/usr/bin/python3"):
        probe = subprocess.run([python, "-c", "import matplotlib"], capture_output=True,
                               check=False)
        if probe.returncode == 0:
            return python
    return None


def draw(folder):
    """Summary and figure of a scenario."""
    folder = pathlib.Path(folder)
    points = results.read(folder)
    if not points:
        return
    results.write_summary(points, folder / "summary.csv")
    if importlib.util.find_spec("matplotlib"):
        plot(points, folder / "figure.svg")
        return
    python = python_with_matplotlib()
    if python:
        subprocess.run([python, __file__, str(folder)], check=True)
    else:
        print("no figure: matplotlib is not installed (Debian: python3-matplotlib)")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        draw(argument)
