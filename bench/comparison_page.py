# SPDX-License-Identifier: BSD-3-Clause
"""The page of a comparison (bench/contributed.py): one HTML file with its figures, that needs nothing else."""
import html
import statistics

import busy
import contributed
import ratios
import section
import verdict

TITLES = {"blocking": "MPI_Allreduce", "nonblocking": "MPI_Iallreduce", "persistent": "A persistent allreduce",
          "late": "A late rank", "slow": "A slow host"}
CHOICE, BEST = "what Open MPI runs by itself", "the fastest of Open MPI's that was measured"
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 60em; margin: 2em auto; padding: 0 1em }
h1 { font-size: 1.6em; margin-bottom: 0 } h2 { font-size: 1.2em; margin: 2em 0 .3em } p { margin: .5em 0 }
table { border-collapse: collapse; font-size: .92em; margin: .7em 0; font-variant-numeric: tabular-nums }
th, td { padding: .15em .55em; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap }
th { vertical-align: bottom; font-weight: 600; white-space: normal } td.name, th.name { text-align: left }
td.text { text-align: left; white-space: normal; overflow-wrap: anywhere }
.faster { color: #176b2c; font-weight: 600 } .slower { color: #b3261e; font-weight: 600 }
.spread, .about { color: #666 }
.doubt { border-left: 4px solid #d9a400; padding-left: .8em } svg { max-width: 100%; height: auto }
.wide { overflow-x: auto } @media print { h2 { break-after: avoid } svg, tr { break-inside: avoid } }
"""


def text(words):
    return html.escape(str(words))


def against(found, test, best):
    """{bytes: ratios of a test}: to Open MPI's choice, or to its best"""
    return {size: found.ratios(test, size, found.best(test, size) if best else "stock") for size in found.sizes(test)}


def has_best(found, test):
    """Was more than Open MPI's own choice measured?"""
    return len(set(found.contenders(test)) - set(contributed.ALONE)) > 1


def sentences(found, test):
    yield verdict.sentence(against(found, test, False), CHOICE)
    if has_best(found, test):
        yield verdict.sentence(against(found, test, True), BEST)


def doubts(found):
    """What makes numbers doubtful."""
    scattered = {test: verdict.scattered(against(found, test, False)) for test in found.tests()}
    places = "; ".join(f"{TITLES[test]} at {sizes}" for test, sizes in scattered.items() if sizes)
    if places:
        yield (f"Launches differ by more than half: {places}. Something else runs here: try more of them, or another "
               "time.")
    loads = {(row["test"] == "slow", row["launch"]): row["foreign_percent"] for row in found.rows}
    most = busy.most(int(found.about["processors"]))
    loud = [load for load in loads.values() if load > most]
    if loud:
        yield (f"Next to {len(loud)} of {len(loads)} launches other programs took more than {most:.3g} % of the "
               f"processors of the host on which compare ran, up to {max(loud):.3g} %.")
    launches = {row["launch"] for row in found.rows}
    if len(launches) < contributed.LAUNCHES:
        yield (f"{len(launches)} launch{'es' if len(launches) > 1 else ''}; at least {contributed.LAUNCHES} are needed "
               "to send the file in.")


def ratio_cell(own):
    """The median of ratios, and from the lowest to the highest."""
    kind = {1: ' class="faster"', -1: ' class="slower"', 0: ""}[verdict.verdict(own)]
    return (f'<td><span{kind}>{statistics.median(own):.2f}</span> '
            f'<span class="spread">({min(own):.2f} to {max(own):.2f})</span></td>')


def runs_none(found, test, size):
    """Did strag leave all calls to the previous component?"""
    return not any(row["strag_calls"] for row in found.rows
                   if (row["test"], row["bytes"], row["contender"]) == (test, size, "strag"))


def row(found, test, size):
    own = found.times[test, size]
    left = ' <span class="spread">delegated</span>' if runs_none(found, test, size) else ""
    cells = [f'<td>{section.size_text(size)}</td>', f'<td>{found.microseconds(test, size, "strag"):.2f}{left}</td>',
             f'<td>{found.microseconds(test, size, "stock"):.2f}</td>', ratio_cell(found.ratios(test, size, "stock"))]
    if has_best(found, test):
        best = found.best(test, size)
        cells += [f'<td>{found.microseconds(test, size, best):.2f}</td><td class="name">{text(best)}</td>',
                  ratio_cell(found.ratios(test, size, best))]
    noise = found.ratios(test, size, "stock", "stock-again") if "stock-again" in own else []
    cells.append(f'<td class="spread">{min(noise):.2f} to {max(noise):.2f}</td>' if noise else "<td></td>")
    if test == "late":
        delays = [row["delay_us"] for row in found.rows if (row["test"], row["bytes"]) == (test, size)]
        cells.append(f'<td class="spread">{statistics.median(delays):.2f}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def table(found, test):
    names = ["size", "strag, us", "its choice, us", "its choice / strag"]
    if has_best(found, test):
        names += ["its best, us", "which is", "its best / strag"]
    names += ["noise"] + (["late by, us"] if test == "late" else [])
    head = "".join(f'<th{" class=name" if name == "which is" else ""}>{name}</th>' for name in names)
    rows = "\n".join(row(found, test, size) for size in found.sizes(test))
    return f'<div class="wide"><table>\n<tr>{head}</tr>\n{rows}\n</table></div>'


def figure(found, test):
    series = {ratios.CHOICE: list(against(found, test, False).values())}
    if has_best(found, test):
        series[ratios.BEST] = list(against(found, test, True).values())
    labels = [section.size_text(size) for size in found.sizes(test)]
    return ratios.curves(TITLES[test], labels, series, "size of the vector")


def show_test(found, test):
    said = "".join(f"<p>{text(words)}</p>\n" for words in sentences(found, test))
    meaning = contributed.TESTS[test]
    about = f"<p class=about>{text(meaning)}.</p>\n" if meaning != TITLES[test] else ""
    return (f"<h2>{TITLES[test]}</h2>\n{about}{said}"
            f"{figure(found, test)}\n{table(found, test)}")


def how(found):
    """How it was measured."""
    launches = len({row["launch"] for row in found.rows})
    names = [name for name in found.contenders("blocking") if name not in contributed.ALONE + ("stock",)]
    yield (f"{launches} launches, in each of which all contenders take turns from call to call, each on its own "
           "communicator. The time of a call is that of its slowest rank; tables have the median over the launches of "
           "each launch's median, in microseconds. Ratios are of times of the same launch: the median over the "
           "launches, the lowest and the highest. Above 1 strag is faster. It is called faster or slower if the median "
           f"differs by more than {100 * verdict.MARGIN:.0f} % and all launches agree. The results of a call before the "
           "timed ones and of one after them were checked.")
    yield (f"Its choice: {CHOICE}, without strag. Its best: the fastest of that and of "
           f"{', '.join(names) or 'nothing else'}. Noise: its choice over the same once more, from the lowest to "
           "the highest. Delegated: strag left these calls to the previous component, so that their difference is noise.")


def page(found, contact):
    """@param contact  where the CSV is sent to @return HTML"""
    first, tests = found.rows[0], found.tests()
    hosts = f"{first['hosts']} host{'s' if first['hosts'] > 1 else ''}"
    title = f"strag and stock Open MPI: {first['ranks']} ranks on {hosts}"
    about = "\n".join(f'<tr><td class="name">{name}</td><td class="text">{text(words)}</td></tr>'
                      for name, words in found.about.items() if name != "strag-comparison")
    doubtful = "".join(f"<p class=doubt>{text(words)}</p>\n" for words in doubts(found))
    return "\n".join([
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>',
        '<meta name="viewport" content="width=device-width">', f"<style>{STYLE}</style>\n</head>\n<body>",
        f"<h1>{title}</h1>\n<p class=about>{text(found.about['machine'])}; network: {text(found.about['fabric'])}; "
        f"{text(found.about['date'][:10])}</p>",
        doubtful,
        "\n".join(show_test(found, test) for test in tests),
        "<h2>How it was measured</h2>", "".join(f"<p>{text(words)}</p>\n" for words in how(found)),
        f"<table>\n{about}\n</table>",
        f"<h2>Send it in</h2>\n<p>comparison.csv, next to this page, has all of it: please mail it to {text(contact)}. "
        "Check that its first lines may be public.</p>\n</body>\n</html>\n"])
