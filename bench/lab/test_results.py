# SPDX-License-Identifier: BSD-3-Clause
"""Does the report see errors? From made-up files of one lab, whose figures are known."""
import collections
import html
import json
import pathlib
import re
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import measure
import network
import pictures
import ratios
import report
import results
import scenarios
import stream

SIZE = 4 << 20
PORT = "h0:e0"


class Made:
    """A point of two contenders: strag-ring takes 0.5 s and sends `sent` bytes, stock 1 s."""

    def __init__(self, stream=1.0, sent=SIZE, seconds=0.5, ran="strag"):
        self.info = {
            "title": "Title", "point": "point", "x": 0, "x_axis": "bytes", "network": "star",
            "hosts": 2, "late": "", "settings": {"default": "as it is"}, "failures": [],
            "machine": {"date": "today", "kernel": "k", "processor": "p", "mpi": "m",
                        "strag": "s", "user": "u"},
            "load": [{"average": 0.1, "busy": 0.25}], "calibration": [{"stream": stream}],
            "contenders": ["strag-ring", "tuned"],
            "expect": {str(SIZE): {"bound": 0.4, "vector": 0.4, "models": {"strag-ring": {
                "floor": 0.5, "model": 0.5, "cost": {"0": 0.5}, "links": {PORT: SIZE}}}}},
        }
        self.samples = [("strag-ring", ran, seconds), ("tuned", "other", 1.0)]
        self.sent, self.after = sent, 0

    def point(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "info.json").write_text(json.dumps(self.info))
            lines = ["setting,launch,contender,bytes,delay_us,sample,ran,late_s,first_exit_s,"
                     "total_s,after_s"]
            calls = collections.Counter()
            for who, ran, time in self.samples:
                lines.append(f"default,1,{who},{SIZE},0-0,{calls[who]},{ran},0,0,{time},{time + self.after}")
                calls[who] += 1
            (folder / "samples.csv").write_text("\n".join(lines) + "\n")
            header = "setting,launch,contender,bytes,delay_us,calls,link,sent_bytes,sent_packets"
            bytes_on_wire = int(self.sent) + 100 * results.HEADER
            row = f"default,1,strag-ring,{SIZE},0-0,1,{PORT},{bytes_on_wire},100"
            (folder / "traffic.csv").write_text(f"{header}\n{row}\n")
            return results.Point(folder)


class Report(unittest.TestCase):
    def table(self, **made):
        return "\n".join(report.table(Made(**made).point(), (SIZE, 0.0)))

    def misses(self, **made):
        return Made(**made).point().misses()

    def test_ratios(self):
        """500 ms against a bound of 400, a model of 500 and a stock time of 1000."""
        self.assertIn("| strag-ring | 500.0 | 500.0 | default | 0.0 % | 1.250 | 1.000 | 1.000 "
                      "| 2.000 | 0.00 % |", self.table())
        self.assertEqual(self.misses(), [])

    def test_no_ratio_without_calibration(self):
        for stream in (0.94, 1.06):
            self.assertIn("| strag-ring | 500.0 | 500.0 | default | 0.0 % | - | - | - | - "
                          "| 0.00 % |", self.table(stream=stream))
            self.assertIn("calibration: stream", self.misses(stream=stream)[0])
        self.assertIn("1.250", self.table(stream=1.04))

    def test_links(self):
        self.assertEqual(self.misses(sent=SIZE * 1.02), [])
        for sent in (SIZE * 1.04, SIZE * 0.96):
            self.assertIn("a link carried 4.0 % more or less", self.misses(sent=sent)[0])

    def test_too_fast(self):
        self.assertEqual(self.misses(seconds=0.49), [])
        self.assertIn("faster than the links allow", self.misses(seconds=0.48)[0])

    def test_bars(self):
        """500 ms against a bound of 400 and a stock time of 1000; the vector takes 400."""
        made = Made(seconds=0.5)
        made.info["bars"] = [
            {"contender": "strag-ring", "bytes": SIZE, "of": of, "most": 1.2}
            for of in ("bound", "vector", "stock", "tuned", "absent")]
        made.info["bars"].append({**made.info["bars"][0], "bytes": 2 * SIZE})
        made.info["bars"].append({**made.info["bars"][0], "contender": "absent"})
        text = "\n".join(report.show_bars([made.point()]))
        for of, measured, met in (("bound", "1.250", "**no**"), ("vector", "1.250", "**no**"),
                                  ("stock", "0.500", "yes"), ("tuned", "0.500", "yes")):
            self.assertIn(f"| point | strag-ring, 4 MiB, over {of} | {measured} | 1.2 | {met} |", text)
        self.assertEqual(text.count("strag-ring"), 4)

    def test_spread(self):
        """A ratio is the median of several launches', and has the lowest and the highest."""
        slow, fast = results.Times(), results.Times(late=True)
        for launch, one, other in ((1, 3, 1), (2, 2, 1), (3, 5, 2)):
            slow.add({"total_s": one, "after_s": 9, "ran": "other", "launch": launch})
            fast.add({"total_s": 9, "after_s": other, "ran": "strag", "launch": launch})
        self.assertEqual(slow.over(fast), "2.500 (2.000 to 3.000)")
        self.assertIn("    launches: 1", report.describe([Made().point()]))

    def test_another_component(self):
        self.assertNotIn("strag-ring", self.table(ran="delegated"))

    def test_degraded(self):
        """Calls of 1 s; degraded to 4 s from call 2 to 41, of which 12 pass until it is noticed,
        then they take 2; healed, it takes 6 calls."""
        made = Made()
        made.info.update(degraded={"host": 3, "factor": 4, "first": 2, "end": 42}, window=4)
        times = [1.0] * 2 + [4.0] * 12 + [2.0] * 28 + [2.0] * 6 + [1.0] * 30
        made.samples = [("strag-ring", "strag", time) for time in times]
        self.assertIn("| strag-ring | 148.0 | 1000.0 | 2000.0 | 2000.0 | 3.0 | 1000.0 | 1.5 |",
                      "\n".join(report.show_point(made.point())))

    def test_what_auto_runs(self):
        """Its model is that of the algorithm; a target may be a multiple of it."""
        made = Made()
        models = made.info["expect"][str(SIZE)]["models"]
        models["strag-auto"] = {**models["strag-ring"], "algorithm": "ring", "model": 0.4}
        made.info["contenders"].append("strag-auto")
        made.samples.append(("strag-auto", "strag", 0.5))
        made.info["bars"] = [{"contender": "strag-auto", "bytes": SIZE, "of": "model", "most": 1.07}]
        self.assertIn("strag-auto runs ring:", "\n".join(report.show_point(made.point())))
        self.assertIn("over model | 1.250 | 1.07 | **no** |",
                      "\n".join(report.show_bars([made.point()])))

    def test_settled(self):
        """auto takes 3 s at first and 0.6 s later, when another algorithm of strag takes 0.5."""
        made = Made()
        made.info.update(settle=2, unconfigured=True,
                         ran={"strag-auto": {str(SIZE): ["swing in 4 blocks", "ring"]}},
                         bars=[{"contender": "strag-auto", "bytes": SIZE, "of": "best",
                                "most": 1.05, "delay": None}])
        made.info["contenders"].append("strag-auto")
        made.samples = [("strag-auto", "strag", time) for time in (3.0, 3.0, 0.6, 0.6)]
        made.samples += [(who, ran, time) for who, ran, time in (
            ("strag-ring", "strag", 9.0), ("strag-ring", "strag", 9.0), ("strag-ring", "strag", 0.5),
            ("tuned", "other", 9.0), ("tuned", "other", 9.0), ("tuned", "other", 0.8))]
        self.assertIn("| 4 MiB | 3000.00 | 600.00 | 500.00 | strag-ring | 1.200 | 800.00 | 0.750 "
                      "| swing in 4 blocks, ring |", "\n".join(report.show_point(made.point())))
        self.assertIn("| point | strag-auto, 4 MiB, over best | 1.200 | 1.05 | **no** |",
                      report.show_bars([made.point()]))

    def test_many_algorithms(self):
        self.assertEqual(report.ran_text(["ring", "bine", "ring"]), "ring, bine")
        self.assertEqual(report.ran_text(["ring", "bine", "swing", "direct", "bine"]), "3 others, bine")

    def test_random_stragglers(self):
        """Means, and targets of one delay only; the vector takes 400 ms."""
        made = Made()
        bar = {"contender": "strag-ring", "bytes": SIZE, "most": 1.2}
        made.info.update(random=True, bars=[{**bar, "of": "vector", "delay": 0},
                                            {**bar, "of": "stock", "delay": 0},
                                            {**bar, "of": "stock", "delay": 1e5}])
        made.samples = [("strag-ring", "strag", time) for time in (0.4, 0.4, 0.7)]
        made.samples += [("tuned-ring", "other", time) for time in (1.0, 1.0, 1.3)]
        made.info["contenders"].append("tuned-ring")
        text = "\n".join(report.show_point(made.point()))
        self.assertIn("| 4 MiB | strag-ring | 500.0 | 1.250 | 2.200 |", text)
        self.assertEqual([(of.split()[-1], round(ratio, 3)) for of, ratio, _ in made.point().bars()],
                         [("vector", 1.25), ("stock", 0.455)])

    def test_drawn_delays(self):
        for delay, text in (("0-0", "4 MiB"), ("2e+06-2e+06", "4 MiB, 2000 ms late"),
                            ("88060.1-704482", "4 MiB, 88 to 704 ms late"),
                            ("176120-exp", "4 MiB, exponential, mean 176 ms")):
            self.assertEqual(results.drawn_text((SIZE, 0), delay), text)

    def test_late_by_any_time(self):
        """Bounds are from the last arrival on: what cannot have been sent before, and the last one's vector. An
        exponential delay leaves the vector only."""
        made = Made(seconds=0.5)
        made.info["expect"][str(SIZE)]["bound"] = 0.7
        self.assertEqual([round(made.point().bound((SIZE, delay)), 6) for delay in (0, 1e5, 2e6)], [0.7, 0.6, 0.4])
        made.info["unsure"] = True
        self.assertEqual(made.point().bound((SIZE, 1e5)), 0.4)

    def test_late_from_the_arrival(self):
        """Of a call of 2 s with a rank that is 1 s late the last second counts."""
        made = Made()
        made.info["late"] = "1"
        made.after = -1
        made.samples = [("strag-ring", "strag", 2.0), ("tuned", "other", 3.0)]
        text = "\n".join(report.show_point(made.point()))
        self.assertIn("4 MiB, lower bound 400.0 ms, from the last arrival on:", text)
        self.assertIn("| strag-ring | 1000.0 | 1000.0 | default | 0.0 % | 2.500 | 2.000 | 2.000 | 2.000 | 0.00 % |", text)

    def test_latency_is_less_exact(self):
        made = Made()
        made.info["calibration"] = [{"stream": 1.0, stream.LATENCY: ratio} for ratio in (1.09, 1.11)]
        self.assertEqual(made.point().misses(),
                         ["calibration: added latency: 1.110 of the expected time"])

    def test_algorithms_in_log(self):
        """Lines of a contender's own size only; those of warm-up calls have another one."""
        line = "[h0:00102] coll:strag: {} (cid 4, 4 ranks): allreduce of {} bytes: {} (auto: modelled)"
        log = "\n".join(line.format(*words) for words in (
            ("strag-auto/65536", "65536 .. 131071", "swing in 4 blocks"),
            ("strag-auto/65536", "65536 .. 131071", "ring"),
            ("strag-auto/65536", "262144 .. 524287", "circulant"),
            ("MPI COMMUNICATOR 4 DUP FROM 0", "65536 .. 131071", "direct")))
        self.assertEqual(measure.algorithms_in(log),
                         {"strag-auto": {"65536": ["swing in 4 blocks", "ring"]}})

    def test_sizes_measured_later(self):
        old, new = Made().info, Made(stream=1.2).info
        new["expect"] = {1024: new["expect"][str(SIZE)]}
        new["contenders"] = ["tuned", "han"]
        both = measure.united(old, new)
        self.assertEqual(sorted(both["expect"]), ["1024", str(SIZE)])
        self.assertEqual(both["contenders"], ["strag-ring", "tuned", "han"])
        self.assertEqual(both["calibration"], [{"stream": 1.0}, {"stream": 1.2}])

    def test_other_scenarios_remain(self):
        """A report of a folder without results leaves what is there, of known scenarios."""
        old = "# The lab\n\nText\n\n## Torus 8x8\n\nwas measured\n\n## Unknown\n\nx\n"
        text = report.text_of(pathlib.Path("/nowhere"), "figures/", old)
        self.assertIn("## Torus 8x8\n\nwas measured\n", text)
        self.assertNotIn("Unknown", text)

    def test_load_is_reported(self):
        self.assertIn("foreign load: 25 to 25 %", "\n".join(report.describe([Made().point()])))


class Pictures(unittest.TestCase):
    CASE = """**star**

4 MiB, 50 ms late, lower bound 9.0 ms:

| contender | default | best | at | stock |
|---|---:|---:|---|---:|
| strag-auto | 100.0 | 90.0 | send | 1.500 (1.400 to 1.700) |
| tuned | 300.0 | 135.0 | send | 1.000 |
"""
    ALL = "".join(f"| tuned-{name} | 400.0 | 400.0 | send | 0.338 |\n"
                  for name in ("recursive-doubling", "ring", "rabenseifner"))

    def drawn(self, text):
        """The numbers that a picture has, by the titles of its dots."""
        svg = pictures.picture(scenarios.find("late"), text)
        return dict(re.findall(r"<title>(.*): ([\d.]+)</title>", html.unescape(svg or "")))

    def test_choice_and_best(self):
        self.assertEqual(self.drawn(self.CASE + self.ALL), {"its choice, 4 MiB, 50 ms late": "3.000",
                                                            "its best, 4 MiB, 50 ms late": "1.500"})

    def test_fewer_are_named(self):
        """And have another colour than the best of all."""
        ring = self.ALL.splitlines()[1] + "\n"
        self.assertEqual(self.drawn(self.CASE + ring), {"its choice, 4 MiB, 50 ms late": "3.000",
                                                        "its ring, 4 MiB, 50 ms late": "1.500"})
        colors = ratios.colors_of(["its choice", "its ring", "its best, from the last arrival on", "another"])
        self.assertEqual(list(colors.values())[:3], [ratios.COLORS[name] for name in (
            ratios.CHOICE, ratios.FEWER, ratios.BEST)])
        self.assertEqual(len(set(colors.values())), 4)

    def test_spread_of_launches(self):
        """Drawn as a bar from the lowest to the highest."""
        case = pictures.read(self.CASE + self.ALL)[0][1][0]
        self.assertEqual(case.found, {"its choice": [3.0], "its best": [1.5, 1.4, 1.7]})

    def test_random_stragglers_from_the_arrival(self):
        table = ("**star**\n\n| delays | contender | ms | after | gain |\n|---|---|---:|---:|---:|\n"
                 "| 4 MiB, 10 to 20 ms late | strag-auto | 50.0 | 1.000 | 2.000 (1.900 to 2.100) |\n"
                 "| 4 MiB, 10 to 20 ms late | tuned-ring | 100.0 | 2.000 | 1.000 |\n")
        self.assertEqual(self.drawn(table), {"its ring, from the last arrival on, 4 MiB, 10 to 20 ms late": "2.000"})

    def test_from_the_arrival_on(self):
        """Without strag-auto the fastest plan that knows who is late."""
        late = self.CASE.replace("9.0 ms", "9.0 ms, from the last arrival on")
        self.assertEqual(self.drawn(late + self.ALL)["its best, from the last arrival on, 4 MiB, 50 ms late"], "1.500")
        plan = late.replace("strag-auto", "strag-ring") + "| strag-stragglar | 80.0 | 80.0 | default | 1.700 |\n"
        self.assertEqual(self.drawn(plan + self.ALL), {pictures.PLAN + ", 4 MiB, 50 ms late": "1.700"})

    def test_nothing_of_strag(self):
        self.assertEqual(self.drawn(self.CASE.replace("strag-auto", "strag-ring")), {})

    def test_without_configuration(self):
        """strag's time over the other one's is inverted; there is one ratio if strag's own algorithm is the best."""
        table = ("**star**\n\n| size | first | auto | best | which | auto / best | tuned | auto / tuned | ran |\n"
                 "|---|---:|---:|---:|---|---:|---:|---:|---|\n"
                 "| 4 KiB | 9.0 | 2.0 | 1.0 | strag-ring | 2.000 (1.000 to 4.000) | 5.0 | 0.400 (0.250 to 0.500) | ring |\n"
                 "| 16 KiB | 9.0 | 2.0 | 1.0 | tuned | 1.250 | 1.0 | 1.250 | ring |\n")
        found = [case.found for case in pictures.read(table)[0][1]]
        self.assertEqual(found, [{"its choice": [2.5, 2.0, 4.0]}, {"its choice": [0.8] * 3, "its best": [0.8] * 3}])

    def test_points_have_names(self):
        """Also where a text has them in another order than the scenario today."""
        slow = scenarios.find("slow")
        networks = [point.make().describe() for point in slow.points]
        names = pictures.names_of(slow, networks[::-1] + ["gone"])
        self.assertEqual(names, [pictures.name_of(point) for point in slow.points][::-1] + ["gone"])
        self.assertEqual(names[1], "2, 2 times slower")


class Networks(unittest.TestCase):
    def test_star(self):
        """Two vectors leave through every port but one's share: 2 (q - 1) / q."""
        made = network.star(4, 100)
        per_byte = 8 / (100e6 * network.GOODPUT)
        self.assertAlmostEqual(made.bound_seconds(1000), 1500 * per_byte)
        self.assertEqual([port.name for port in made.route(0, 3)], ["h0:e0", "s0:p3"])

    def test_tree(self):
        made = network.parse("tree:(1,2)@0.05,3", 100)
        self.assertEqual([port.name for port in made.route(0, 2)],
                         ["h0:e0", "s1:u0", "s0:p1"])
        self.assertEqual(made.rank_host, [0, 1, 1, 2, 2, 2])

    def test_torus(self):
        """Half-way round four hosts: those at even places go up, the others down."""
        split, plus = network.Torus("4x4", 50), network.Torus("4x4", 50, "plus")
        self.assertEqual([port.name for port in split.route(0, 2)], ["h0:p0", "h1:p0"])
        self.assertEqual([port.name for port in split.route(1, 3)], ["h1:m0", "h0:m0"])
        self.assertEqual([port.name for port in plus.route(1, 3)], ["h1:p0", "h2:p0"])

    def test_passing(self):
        """Up from host 1: its own messages, and half-way round those of host 0; up from host 0:
        not those of host 3, which at an odd place go down."""
        made = network.Torus("4x2", 50)
        self.assertEqual(made.sources(made.ports["h1:p0"]), [0, 1])
        self.assertEqual(made.sources(made.ports["h0:p0"]), [0])

    def test_latency(self):
        self.assertEqual([network.microseconds(text) for text in ("0", "0.2ms", "200us", "1s")],
                         [0, 200, 200, 1000000])
        for text in ("", "2", "-1ms", "0.0001ms", "2s", "ms", "1.2.3ms"):
            with self.assertRaises(network.Refused):
                network.microseconds(text)

    def test_many_hosts_in_short(self):
        self.assertEqual(network.star(32, 10).describe(),
                         "tree 1,... (32 times): 32 hosts, 32 ranks, 10 Mbit/s")

    def test_refused(self):
        for text in ("star:", "star:0", "star:²", "tree:(2@,3)", "tree:2@1.2.3",
                     "tree:" + ",".join(["1"] * 65), "tree:1,(2", "torus:1x4", "torus:100x100", "ring:4"):
            with self.assertRaises(network.Refused):
                network.parse(text, 100)


unittest.main()
