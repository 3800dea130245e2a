# SPDX-License-Identifier: BSD-3-Clause
"""Reads what measure.py wrote, and judges it."""
import collections
import csv
import json
import math
import pathlib
import statistics

import stream

HEADER = 66  # bytes of Ethernet, IP and TCP (with timestamps) before a packet's data
TRUSTED = 0.05  # allowed deviation of the calibration stream ...
LATENCY = 0.10  # ... and of the latency
NOT_BELOW = 0.97  # of the lower bound; faster: the traffic took another route
LONG = 1 << 20  # bytes; shorter vectors profit from the burst of a link
LINKS = 0.03  # allowed deviation of bytes on a link from the plan's


class Times:
    """All calls of one contender under one setting at one size and delay; seconds from the first rank's call to the last
    one's return or, if ranks are late, from the last rank's call."""

    def __init__(self, late=False, random=False):
        self.column = "after_s" if late else "total_s"
        self.average = statistics.mean if random else statistics.median
        self.seconds, self.ran, self.by_launch = [], set(), {}

    def add(self, row):
        seconds = float(row[self.column])
        self.seconds.append(seconds)
        self.ran.add(row["ran"])
        self.by_launch.setdefault(row["launch"], []).append(seconds)

    @property
    def middle(self):
        """The median; if delays are random, the mean."""
        return self.average(self.seconds)

    def ratios(self, other):
        """This time over another one, in each launch that both have."""
        return [self.average(times) / self.average(other.by_launch[launch])
                for launch, times in self.by_launch.items() if launch in other.by_launch]

    def over(self, other):
        """The median of these, and of several launches the lowest and highest in brackets."""
        found = self.ratios(other)
        middle = f"{statistics.median(found):.3f}"
        return f"{middle} ({min(found):.3f} to {max(found):.3f})" if len(found) > 1 else middle

    @property
    def spread(self):
        """From the fastest to the slowest launch (calls, if there is one), of the median."""
        several = [self.average(times) for times in self.by_launch.values()]
        values = several if len(several) > 1 else self.seconds
        return (max(values) - min(values)) / self.middle


class Point:
    """One lab's results."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.info = json.loads((self.folder / "info.json").read_text(encoding="utf-8"))
        self.times = {}  # (setting, contender, bytes, delay): Times
        self.delays = {}  # {(bytes, delay): as it was drawn: LOW-HIGH or MEAN-exp, microseconds}
        self.early = {}  # the same, of calls in which strag has yet to find out
        settle = self.info.get("settle", 0)
        clock = bool(self.info["late"]), self.info.get("random", False)
        for row in self.rows("samples"):
            self.delays[self.key(row)[2:]] = row["delay_us"]
            times = self.early if int(row["sample"]) < settle else self.times
            times.setdefault(self.key(row), Times(*clock)).add(row)
        self.sent = collections.defaultdict(dict)  # the same key: {port: bytes of a call}
        totals = collections.Counter()
        calls = collections.Counter()
        for row in self.rows("traffic"):
            place = self.key(row), row["link"]
            totals[place] += int(row["sent_bytes"]) - HEADER * int(row["sent_packets"])
            calls[place] += int(row["calls"])
        for (key, port), total in totals.items():
            self.sent[key][port] = total / calls[key, port]

    def rows(self, name):
        path = self.folder / f"{name}.csv"
        if not path.exists():
            return []
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    @staticmethod
    def key(row):
        return (row["setting"], row["contender"], int(row["bytes"]),
                float(row["delay_us"].split("-")[0]))

    # ---- What there is ----

    def settings(self):
        return list(dict.fromkeys(key[0] for key in self.times))

    def cases(self):
        """(bytes, delay), in order."""
        return sorted({key[2:] for key in self.times})

    def applies(self, contender):
        """Did it run, and no other component instead?"""
        ran = set().union(*(times.ran for key, times in self.times.items() if key[1] == contender))
        if contender == "strag-auto":
            return "other" not in ran
        return ran == {"strag"} if contender.startswith("strag") else "strag" not in ran

    def measured(self):
        """All that ran at least once: some run short vectors only."""
        names = {key[1] for key in self.times}
        return [name for name in self.info["contenders"] if name in names]

    def contenders(self):
        return [name for name in self.measured() if self.applies(name)]

    def best(self, contender, case):
        """(setting, Times) of the fastest one, or None."""
        found = [(setting, self.times[setting, contender, *case]) for setting in self.settings()
                 if (setting, contender, *case) in self.times]
        return min(found, key=lambda item: item[1].middle, default=None)

    def best_stock(self, case):
        """(contender, setting, Times) of the fastest one that is not strag."""
        found = [(name, *self.best(name, case)) for name in self.contenders()
                 if not name.startswith("strag") and self.best(name, case)]
        return min(found, key=lambda item: item[2].middle, default=None)

    def best_other(self, contender, case):
        """(contender, setting, Times) of the fastest one but the given one, or None."""
        found = [(name, *self.best(name, case)) for name in self.contenders()
                 if name != contender and self.best(name, case)]
        return min(found, key=lambda item: item[2].middle, default=None)

    def launches(self):
        """The fewest of any contender at any setting."""
        return min(len(times.by_launch) for times in self.times.values())

    # ---- A host that is degraded while the job runs ----

    def stretches(self, key):
        """For each launch a contender's calls, in order: before, while, and after the host is degraded."""
        first, end = self.info["degraded"]["first"], self.info["degraded"]["end"]
        return [(times[:first], times[first:end], times[end:]) for times in self.times[key].by_launch.values()]

    def windows_until(self, times, settled=20):
        """The number of windows until calls take as long as the last `settled` ones."""
        usual = statistics.median(times[-settled:])
        number = next(number for number, time in enumerate(times) if time <= 1.15 * usual)
        return number / self.info["window"]

    # ---- What to compare it with ----

    def trusted(self):
        """Was the calibration stream as expected, before and after?"""
        streams = [found["stream"] for found in self.info["calibration"] if "stream" in found]
        return all(abs(ratio - 1) <= TRUSTED for ratio in streams)

    def bound(self, case):
        """Seconds; a straggler cannot end before it has sent one vector."""
        size, delay = case
        bound = self.info["expect"][str(size)]["bound"]
        one_vector = self.info["expect"][str(size)].get("vector", 0)
        if self.info.get("unsure") or self.info.get("random"):
            return one_vector
        return max(bound - delay * 1e-6, one_vector) if delay else bound

    def floor(self, contender, case):
        """A lower bound in seconds, unless the traffic took another route."""
        models = self.info["expect"][str(case[0])]["models"]
        return max(models.get(contender, {}).get("floor", 0) - case[1] * 1e-6, self.bound(case))

    def model(self, contender, case):
        """Seconds by the lab's own model, in which all wait for a straggler; or None."""
        models = self.info["expect"][str(case[0])]["models"]
        return models[contender]["model"] if contender in models else None

    def chosen(self, case):
        """What strag explain says that auto runs, or None."""
        models = self.info["expect"][str(case[0])]["models"]
        return models.get("strag-auto", {}).get("algorithm")

    def cost(self, contender, case):
        """Seconds by strag cost, which count from the first rank's call; or None."""
        models = self.info["expect"][str(case[0])]["models"]
        seconds = models.get(contender, {}).get("cost", {}).get(f"{case[1]:g}")
        return None if seconds is None else seconds - case[1] * 1e-6

    def links_error(self, setting, contender, case):
        """The largest deviation of any port's bytes from the plan's, relative to the plan; or None.
        Ports that the plan does not use are compared with the busiest one."""
        models = self.info["expect"][str(case[0])]["models"]
        sent = self.sent.get((setting, contender, *case))
        if contender not in models or not sent:
            return None
        plan = models[contender]["links"]
        busiest = max(plan.values())
        return max((abs(sent[port] - size) / (size or busiest) for port, size in plan.items()),
                   default=0) if busiest else None

    def misses(self):
        """Failures, a line each."""
        found = list(self.info["failures"])
        for key, times in self.times.items():
            setting, contender, case = key[0], key[1], key[2:]
            where = f"{contender}, {setting}, {case_text(case)}"
            floor = self.floor(contender, case)
            if self.applies(contender) and case[0] >= LONG and times.middle < NOT_BELOW * floor:
                found.append(f"{where}: faster than the links allow, {times.middle:.4f} s against "
                             f"{floor:.4f} s")
            error = self.links_error(setting, contender, case)
            if error is not None and case[0] >= LONG and error > LINKS:
                found.append(f"{where}: a link carried {100 * error:.1f} % more or less than "
                             "planned")
        for name, ratio in self.calibrations():
            if abs(ratio - 1) > (LATENCY if name == stream.LATENCY else TRUSTED):
                found.append(f"calibration: {name}: {ratio:.3f} of the expected time")
        return found + self.inexact() + self.slow_defaults()

    def inexact(self):
        """Where times must equal the model: those that do not."""
        found, allowed = [], self.info.get("exact")
        for case in self.cases() if allowed else []:
            for name in self.contenders():
                best = self.best(name, case)[1]
                off = best.middle / (self.model(name, case) or self.bound(case)) - 1
                if abs(off) > allowed or best.spread > allowed:
                    found.append(f"{name}, {case_text(case)}: {100 * off:+.1f} % off the model, "
                                 f"spread {100 * best.spread:.1f} %; allowed: {100 * allowed:g} %")
        return found

    def bars(self):
        """Targets: (text, measured ratio, the most it may be). Those for sizes that were not
        measured are omitted."""
        for bar in self.info.get("bars", []):
            for case in self.cases():
                meant = case[0] == bar["bytes"] and self.is_meant(bar, case)
                found = self.best(bar["contender"], case) if meant else None
                aim = self.aim(bar["of"], bar["contender"], case) if found else None
                if aim:
                    ratio = (statistics.median(found[1].ratios(aim)) if isinstance(aim, Times)
                             else found[1].middle / aim)
                    yield f"{bar['contender']}, {case_text(case)}, over {bar['of']}", ratio, bar["most"]

    def aim(self, of, contender, case):
        """What a contender's target is a multiple of: seconds, or the Times of another one; or None."""
        if of == "model":
            return self.model(contender, case)
        if of == "bound":
            return self.bound(case)
        if of == "vector":
            return self.info["expect"][str(case[0])]["vector"]
        if of == "best":
            found = self.best_other(contender, case)
        else:
            found = self.best_stock(case)[1:] if of == "stock" else self.best(of, case)
        return found[-1] if found else None

    @staticmethod
    def is_meant(bar, case):
        """Has the case the target's delay? A file of results has six digits of it."""
        delay = bar.get("delay")
        return delay is None or math.isclose(delay, case[1], rel_tol=1e-4, abs_tol=1)

    def noise(self):
        """The largest relative difference of two identical contenders; None: there are none."""
        pairs = [(times, self.times[setting, f"{name}-again", *case])
                 for (setting, name, *case), times in self.times.items()
                 if (setting, f"{name}-again", *case) in self.times]
        return max((abs(one.middle / other.middle - 1) for one, other in pairs), default=None)

    def slow_defaults(self):
        """Where strag's algorithms are more than 10 % slower at the defaults than at their best."""
        found = []
        for name in self.contenders():
            for case in self.cases():
                default = self.times.get(("default", name, *case))
                if not name.startswith("strag") or not default or case[0] < LONG:
                    continue
                setting, best = self.best(name, case)
                if default.middle > 1.10 * best.middle:
                    found.append(f"{name}, {case_text(case)}: {default.middle / best.middle:.2f} "
                                 f"times as long at the defaults as with setting {setting}")
        return found

    def calibrations(self):
        return [(name, ratio) for found in self.info["calibration"]
                for name, ratio in found.items()]


def size_text(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def case_text(case):
    size, delay = case
    return f"{size_text(size)}, {delay / 1000:g} ms late" if delay else size_text(size)


def drawn_text(case, delay):
    """A case whose delays are random: "4 MiB, 88 to 704 ms late"."""
    low, high = delay.split("-")
    low = float(low) / 1000
    if high == "exp":
        return f"{size_text(case[0])}, exponential, mean {low:.0f} ms"
    high = float(high) / 1000
    late = f"{low:.0f} to {high:.0f}" if high > low else f"{low:.0f}"
    return f"{size_text(case[0])}, {late} ms late" if high else size_text(case[0])


def read(folder, labels=None):
    """A scenario's points, in order; only those with these labels, where some are given."""
    points = [Point(path.parent) for path in sorted(pathlib.Path(folder).glob("*/info.json"))
              if labels is None or path.parent.name in labels]
    return sorted(points, key=lambda point: (point.info["x"], point.info["point"]))


def write_summary(points, path):
    """One line per point, setting, contender, size and delay."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["scenario", "point", "x", "setting", "contender", "bytes", "delay_us",
                      "calls", "min_s", "median_s", "max_s", "bound_s", "floor_s", "model_s", "strag_cost_s",
                      "links_error"])
        for point in points:
            for key, times in point.times.items():
                setting, contender, case = key[0], key[1], key[2:]
                if point.applies(contender):
                    out.writerow([
                        point.info["scenario"], point.info["point"], point.info["x"], setting,
                        contender, *case, len(times.seconds), f"{min(times.seconds):.6f}",
                        f"{times.middle:.6f}", f"{max(times.seconds):.6f}",
                        f"{point.bound(case):.6f}", f"{point.floor(contender, case):.6f}",
                        rounded(point.model(contender, case)),
                        rounded(point.cost(contender, case)),
                        rounded(point.links_error(setting, contender, case))])


def rounded(value):
    return "" if value is None else f"{value:.6f}"
