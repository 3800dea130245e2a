# SPDX-License-Identifier: BSD-3-Clause
"""All results as Markdown: tables, figures, missed targets. Nothing is typed by hand."""
import collections
import pathlib
import statistics
import sys

import pictures
import results
import scenarios

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import section

INTRODUCTION = """\
Real Open MPI over TCP in network namespaces of one machine, whose links are shaped (bench/lab). Times are medians
over all calls, from the first rank's call (if ranks are late, from the last one's) to the last rank's return, in
milliseconds; every element was checked in warm-up calls of up to 1 MiB and in one of the timed calls. *default*: Open
MPI's own settings. *best*: the fastest protocol setting for this contender. *spread*: from the fastest to the slowest
call (or launch, where there are several). *bound*: the lower bound of any allreduce, for a goodput of 0.9526 of the
rate. *model*: the plan's rounds one after another on the lab's links; plans whose rounds overlap may be faster.
*cost*: `strag cost --mode clocks` for these links. *links*: the largest deviation of any link's bytes from the
plan's, without TCP's headers. *stock*: the time of the fastest contender other than strag, over this one's; above 1
this one is faster: the median of the launches' ratios. In brackets: the launch with the lowest ratio, and with the
highest. A launch next to which other programs take more than 20 % of the processors is repeated, at most twice.
"""


def builds(points):
    """What was measured; more than one where points were repeated with another build."""
    return " and ".join(dict.fromkeys(f"{point.info['machine']['mpi']}, "
                                      f"{point.info['machine']['strag']}" for point in points))


def describe(points):
    first, info = points[0], points[0].info
    machine = info["machine"]
    lines = [f"## {info['title']}", ""]
    loads = [load["busy"] for point in points for load in point.info["load"]]
    averages = [load["average"] for point in points for load in point.info["load"]]
    ratios = [ratio for point in points for name, ratio in point.calibrations()
              if name == "stream"]
    lines += [f"    {machine['date']}, {machine['kernel']}, {machine['processor']}",
              f"    {builds(points)}; as {machine['user']}",
              f"    foreign load: {100 * min(loads):.0f} to {100 * max(loads):.0f} % of the "
              f"processors, load average {min(averages):.1f} to {max(averages):.1f}"]
    lines.append(f"    launches: {min(point.launches() for point in points)}")
    if ratios:
        lines.append(f"    calibration: a TCP stream takes {min(ratios):.3f} to {max(ratios):.3f} "
                     "of the expected time")
    return lines + [f"    {setting}: {first.info['settings'][setting]}"
                    for setting in first.settings()] + [""]


def milliseconds(times):
    return f"{1000 * times.middle:.1f}" if times else ""


def ratio(times, seconds, trusted):
    if not times or not seconds:
        return ""
    return f"{times.middle / seconds:.3f}" if trusted else "-"


def table(point, case):
    lines = ["| contender | default | best | at | spread | best / bound | best / model "
             "| best / cost | stock | links |", "|---|---:|---:|---|---:|---:|---:|---:|---:|---:|"]
    stock = point.best_stock(case)
    trusted = point.trusted()
    for name in point.contenders():
        found = point.best(name, case)
        if not found:
            continue
        setting, best = found
        errors = [error for key in point.times if key[1:] == (name, *case)
                  and (error := point.links_error(key[0], name, case)) is not None]
        gain = stock[2].over(best) if stock and trusted else "-"
        lines.append(
            f"| {name} | {milliseconds(point.times.get(('default', name, *case)))} "
            f"| {milliseconds(best)} | {setting} | {100 * best.spread:.1f} % "
            f"| {ratio(best, point.bound(case), trusted)} "
            f"| {ratio(best, point.model(name, case), trusted)} "
            f"| {ratio(best, point.cost(name, case), trusted)} | {gain} "
            f"| {f'{100 * max(errors):.2f} %' if errors else ''} |")
    return lines + [""]


def degraded_table(point):
    """Where a host is degraded in between: the total time, and how soon strag adapts."""
    degraded = point.info["degraded"]
    lines = [f"Host {degraded['host']}'s link was {degraded['factor']:g} times slower from call "
             f"{degraded['first']} to {degraded['end'] - 1}, without notice to strag. *noticed*, "
             "*back*: the number of windows until calls take their final time (within 15 %).", "",
             "| contender | all calls, s | before, ms | degraded, ms | finally, ms | noticed "
             "| after, ms | back |", "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for key, times in point.times.items():
        launches = point.stretches(key)
        if not all(calls for launch in launches for calls in launch):
            continue  # fewer calls were asked for

        def middle(take, unit=1000):
            return f"{unit * statistics.median(take(*launch) for launch in launches):.1f}"
        cells = [middle(lambda before, while_, after: sum(before + while_ + after), 1),
                 middle(lambda before, while_, after: statistics.median(before)),
                 middle(lambda before, while_, after: statistics.median(while_)),
                 middle(lambda before, while_, after: statistics.median(while_[-20:])),
                 middle(lambda before, while_, after: point.windows_until(while_), 1),
                 middle(lambda before, while_, after: statistics.median(after[-20:])),
                 middle(lambda before, while_, after: point.windows_until(after), 1)]
        lines.append(f"| {key[1]} | " + " | ".join(cells) + " |")
    return lines + [""]


def ran_text(algorithms):
    """Few are named; of many, which may be trials, the last."""
    different = list(dict.fromkeys(algorithms))
    if len(different) <= 3:
        return ", ".join(different)
    return f"{len(different) - 1} others, {algorithms[-1]}"


def settled_table(point):
    """Without configuration: auto next to the best of all others, once it has settled."""
    first = point.info["settle"] + 1
    lines = ["Each size has new communicators. Medians, in milliseconds, are of the calls from number "
             f"{first} on; *first*: of strag-auto's calls 1 to 10. *ran*: its algorithms in the order "
             "in which strag first ran them, of more than three the last; previous component: tuned.",
             "",
             "| size | first | auto | best | which | auto / best | tuned | auto / tuned | ran |",
             "|---|---:|---:|---:|---|---:|---:|---:|---|"]
    for case in point.cases():
        auto, other = point.best("strag-auto", case), point.best_other("strag-auto", case)
        tuned = point.best("tuned", case)
        if not auto or not other:
            continue
        early = point.early.get((auto[0], "strag-auto", *case))
        first = f"{1000 * statistics.median(early.seconds[:10]):.2f}" if early else ""
        ran = point.info["ran"].get("strag-auto", {}).get(str(case[0]), [])
        stock = (f"{1000 * tuned[1].middle:.2f} | {auto[1].over(tuned[1])}"
                 if tuned else " | ")
        lines.append(f"| {results.case_text(case)} | {first} | {1000 * auto[1].middle:.2f} "
                     f"| {1000 * other[2].middle:.2f} | {other[0]} "
                     f"| {auto[1].over(other[2])} | {stock} | {ran_text(ran)} |")
    return lines + [""]


def random_table(point):
    """Where stragglers are random: means from the last arrival on."""
    lines = ["Means from the last arrival on. *after*: in times that a vector takes. *gain*: the ring's over this "
             "one's.", "",
             "| delays | contender | ms | after | gain |", "|---|---|---:|---:|---:|"]
    for case in point.cases():
        found = {name: point.best(name, case)[1] for name in point.contenders() if point.best(name, case)}
        vector = point.info["expect"][str(case[0])]["vector"]
        for name, times in found.items():
            gain = found["tuned-ring"].over(times) if "tuned-ring" in found else ""
            lines.append(f"| {results.drawn_text(case, point.delays[case])} | {name} "
                         f"| {1000 * times.middle:.1f} | {times.middle / vector:.3f} | {gain} |")
    return lines + [""]


def show_point(point):
    lines = [f"**{point.info['network']}**", ""]
    measured = point.measured()
    replaced = [name for name in measured if not point.applies(name)]
    absent = [name for name in point.info["contenders"] if name not in measured]
    if replaced:
        lines += [f"Do not apply here, another component ran instead: {', '.join(replaced)}.", ""]
    if absent:
        lines += [f"Omitted with vectors of this length: {', '.join(absent)}.", ""]
    if not point.trusted():
        lines += ["The calibration stream is off by more than 5 %: no ratios.", ""]
    if point.info.get("degraded"):
        return lines + degraded_table(point)
    if point.info.get("random"):
        return lines + random_table(point)
    if point.info.get("unconfigured"):
        return lines + settled_table(point)
    for case in point.cases():
        runs = point.chosen(case)
        lines += [f"{results.case_text(case)}, lower bound {1000 * point.bound(case):.1f} ms"
                  + (", from the last arrival on" if point.info["late"] else "")
                  + (f", strag-auto runs {runs}:" if runs else ":"), ""]
        lines += table(point, case)
    if point.noise() is not None:
        lines += ["Noise: two runs of the same stock contender differ by up to "
                  f"{100 * point.noise():.1f} %.", ""]
    more = [f"{name} {value:.3f}" for name, value in point.calibrations() if name != "stream"]
    if more:
        lines += [f"Other streams, measured / expected time: {', '.join(more)}.", ""]
    return lines


def show_bars(points):
    """Targets, and what was measured."""
    lines = [f"| {point.info['point']} | {text} | {ratio:.3f} | {most:.4g} "
             f"| {'yes' if ratio <= most else '**no**'} |"
             for point in points for text, ratio, most in point.bars()]
    if not lines:
        return []
    return ["Targets:", "", "| point | ratio of times | measured | at most | met |",
            "|---|---|---:|---:|---|"] + lines + [""]


def show_misses(points):
    found = collections.Counter()
    for point in points:
        found.update(f"{point.info['point']}: {miss}" for miss in point.misses())
    if not found:
        return ["Missed: nothing.", ""]
    return ["Missed:", ""] + [f"- {miss}" for miss in found] + [""]


def parts(text):
    """{title: lines} of the page's scenarios."""
    found = {}
    for part in text.split("\n## ")[1:]:
        title, _, rest = part.partition("\n")
        found[title] = f"## {title}\n{rest.rstrip()}\n".split("\n")
    return found


def show_points(points):
    return [line for point in points for line in show_point(point)]


def text_of(folder, figures, old=""):
    """The text; `figures` is the prefix of the figures' names. Scenarios without results remain as
    they are in the old text."""
    lines, kept = ["# The lab", "", INTRODUCTION], parts(old)
    for scenario in scenarios.SCENARIOS:
        labels = [point.label for point in scenario.points]
        points = results.read(folder / scenario.name, labels)
        if not points:
            lines += kept.get(scenario.title, [])
            continue
        lines += describe(points)
        shown = show_points(points)
        if pictures.picture(scenario, "\n".join(shown)):
            lines += [f"![{scenario.title}]({figures}{scenario.name}.svg)", ""]
        lines += shown + show_bars(points) + show_misses(points)
    return "\n".join(lines)


def draw(folder, scenario):
    """Summary and figure of a scenario's results: FOLDER/summary.csv and FOLDER/figure.svg."""
    points = results.read(folder)
    if not points:
        return
    results.write_summary(points, folder / "summary.csv")
    drawn = pictures.picture(scenario, "\n".join(show_points(points)))
    if drawn:
        (folder / "figure.svg").write_text(drawn, encoding="utf-8")


def write(folder, target):
    """Write the page lab of the folder of results, and the figures into the folder `figures` next to
    that. What the page has of scenarios without results in `folder` remains."""
    old = section.read(target, "lab")
    section.write(target, "lab", text_of(folder, "../figures/lab-", old))
    pictures.draw_all(target)
