#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The contract of plans and choices: contract.py STRAG GOLDEN-FOLDER [update]

plans.sha256    a hash of `strag plan ARGUMENTS --format json`, or that it is refused; without the
                version, the claim and the exact bounds, which stand before all else
explain.sha256  a hash of what every algorithm costs at every size by `strag explain ARGUMENTS`, to six
                digits, and the table of sizes at its end as it is printed

Both lists have the output of the time when they were written, so any difference is a change that
users see. Algorithms that were added later are not compared, unless they are chosen. With `update`
the lists are written again, for all algorithms of `strag list`. Reasons (why another algorithm is
slower, or refused) are not compared, nor are swing's numbers of blocks: it is compared as one.
"""
import concurrent.futures
import decimal
import hashlib
import json
import os
import re
import subprocess
import sys

SIZES = "32,1000,4K,30K,128K,1M,16M,512M"

SHAPES = [
    "-n 12 --ranks-per-node 3", "--torus 4x4", "--torus 3x5", "--torus 2x3x4", "--torus 4x2x4",
    "--torus 8x2 --ranks-per-node 2", "--mesh 4x3", "--tree 4,4,4,4", "--tree 2,3,1", "--tree ((2,2),(2,2),(2,2))",
    "--tree ((2,3),(4),((1,2),3))", "--tree 4@100,4@50,3@100"]
WITH_STRAGGLER = ["-n 12 --straggler 5 --delay 50", "-n 13 --straggler 0 --delay 50",
                  "--torus 4x4 --straggler 15 --delay 10", "--tree 4,4,4 --straggler 3 --delay 100"]
WITH_SLOW = ["-n 8 --slow 2:3", "-n 11 --slow 0:1.5,7:1.5", "--torus 4x4 --slow 5:2",
             "--tree 4,4,4 --slow 4:2", "-n 12 --ranks-per-node 2 --slow 3:4"]
OTHERS = ["--torus 4x4 --ports 1", "-n 9 --blocks 1", "-n 9 --blocks 1 --root 1", "-n 9 --blocks 9",
          "--torus 3x3 --ranks-per-node 3", "--hyperx 3x4", "--hammingmesh 2x2:2x2"]

TOPOLOGIES = [
    "-n 2", "-n 3", "-n 7", "-n 16", "-n 100", "-n 64 --ranks-per-node 4", "-n 12 --ranks-per-node 12",
    "-n 30 --ranks-per-node 5 --local-bandwidth 200", "--torus 4x4", "--torus 8x8", "--torus 3x5",
    "--torus 4x4x4", "--torus 2x3x5", "--torus 32", "--torus 8x4 --ranks-per-node 2",
    "--torus 4x4 --ports 1", "--mesh 5x3", "--mesh 8x8", "--hyperx 4x4", "--hyperx 8x8 --ties plus",
    "--hammingmesh 2x2:2x2", "--hammingmesh 4x2:2x3", "--tree 4,4,4,4", "--tree 2,3,1",
    "--tree ((2,2),(2,2),(2,2))", "--tree ((2,3),(4),((1,2),3))", "--tree 4@100,4@50,3@100",
    "--tree 8,8,8,8 --reduce-bandwidth 200", "--tree ((4,4)@200,(4,4)@100)",
    "-n 16 --straggler 3 --delay 20", "-n 17 --straggler 16 --delay 500",
    "--torus 4x4 --straggler 0 --delay 100", "--tree 4,4,4 --straggler 3 --delay 100",
    "-n 8 --slow 2:3", "-n 16 --slow 0:2,9:2", "--torus 4x4 --slow 5:3", "--tree 4,4,4 --slow 4:2",
    "-n 24 --ranks-per-node 2 --slow 6:1.5", "-n 10 --alpha 20 --bandwidth 10",
    "-n 24 --minimum 4K --alpha 3"]


def run(strag, arguments):
    """@return the command's output, or None where it refuses"""
    done = subprocess.run([strag, *arguments], capture_output=True, text=True)
    if done.returncode not in (0, 2):
        sys.exit(f"strag {' '.join(arguments)}: exit status {done.returncode}: {done.stderr}")
    return done.stdout if done.returncode == 0 else None


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plan(strag, arguments, _):
    out = run(strag, ["plan", *arguments.split(), "--format", "json"])
    if out is None:
        return "refused"
    body, heads = re.subn(r'^{"strag-plan":1,"claim":{[^}]*},("denominator":\d+,"numerators":[][0-9,]*,)?', "{",
                          out)
    return digest(body) if heads == 1 else "without a head"


def rounded(number):
    return str(decimal.Context(prec=6).create_decimal(repr(number)).normalize())


def explain(strag, arguments, known):
    arguments = ["explain", *arguments.split(), "--bytes", SIZES]
    out = run(strag, arguments)
    data = run(strag, arguments + ["--format", "json"])
    if out is None or data is None:
        return "refused"
    data = json.loads(data)
    lines = ["refused " + " ".join(sorted({r["algorithm"] for r in data["refused"]} & known))]
    for size in data["sizes"]:
        lines.append(f"{size['bytes']} {size['algorithm']}")
        least = {}  # they come in the order of their seconds
        latency = [c["seconds"] for c in size["candidates"] if c["algorithm"] == "swing-latency"]
        for c in size["candidates"]:
            # Fewer blocks that are the same as swing-latency are not compared.
            if c["algorithm"] == "swing" and [c["seconds"]] == latency:
                continue
            terms = ["seconds", "latency_seconds", "bytes_seconds", "idle_seconds", "busiest_link"]
            text = " ".join([str(c["rounds"]), str(c.get("blocks")), *(rounded(c[t]) for t in terms)])
            if c["algorithm"] == "swing":
                text = rounded(c["seconds"])
            least.setdefault(c["algorithm"], text)
        lines += [f"{name} {text}" for name, text in sorted(least.items()) if name in known]
    table = re.findall(r"^ *from (\S+) +(.+)$", out, re.M)
    table = [(start, re.sub(r"^swing, \d+ blocks?$", "swing", name)) for start, name in table]
    return digest("\n".join(lines)) + " | " + ", ".join(f"{start} {name}" for start, name in table)


def listed(strag):
    return [line.split()[0] for line in run(strag, ["list"]).splitlines()]


def plan_cases(names):
    late = [name for name in names if name in ("straggler-pipeline", "straggler-trees",
                                                 "straggler-direct", "stragglar", "broadcast-after")]
    uplinks = [name for name in names if name in ("optcc", "weighted", "flexreduce-pipelined", "torus-trees")]
    for name in names:
        state = " --straggler 1" if name in late else ""
        yield from (f"{name} -n {n}{state}" for n in range(2, 18))
        yield from (f"{name} {shape}{state}" for shape in SHAPES)
        yield from (f"{name} {shape}" for shape in OTHERS)
    yield from (f"{name} {shape}" for name in late for shape in WITH_STRAGGLER)
    yield from (f"{name} {shape}" for name in uplinks for shape in WITH_SLOW)
    yield from (f"swing {shape} --blocks {b}" for shape in SHAPES + [f"-n {n}" for n in range(2, 18)]
                for b in range(2, 129))


def main():
    strag, folder = sys.argv[1:3]
    update = sys.argv[3:] == ["update"]
    checks = different = 0
    for name, function, cases in (("plan", plan, plan_cases), ("explain", explain, lambda _: TOPOLOGIES)):
        path = os.path.join(folder, "plans.sha256" if name == "plan" else "explain.sha256")
        if update:
            names = listed(strag)
            wanted = [(case, None) for case in cases(names)]
        else:
            with open(path, encoding="ascii") as file:
                names = next(file).split(": ")[1].split()
                wanted = [tuple(line.rstrip("\n").split(": ", 1)) for line in file]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(lambda case: function(strag, case[0], set(names)), wanted))
        if update:
            # Of swing's numbers of blocks, those that it can have here.
            found, wanted = zip(*((text, case) for text, case in zip(found, wanted)
                                  if text != "refused" or not re.match("swing .*--blocks", case[0])))
            with open(path, "w", encoding="ascii") as file:
                file.write(f"# What strag {name} gives (test/cli/contract.py), of: {' '.join(names)}\n")
                file.writelines(f"{case}: {text}\n" for (case, _), text in zip(wanted, found))
        for (case, expected), text in zip(wanted, found):
            checks += 1
            if not update and text != expected:
                different += 1
                print(f"strag {name} {case}:\n    was {expected}\n    is  {text}")
    if different or not checks:
        sys.exit(f"contract: {different} of {checks} differ (STRAG_UPDATE=1 if that is meant)")
    print(f"contract: {checks} checks passed")


main()
