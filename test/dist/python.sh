#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# src/api/strag.py: plans, proofs, costs and pictures are those of the command, and errors are libstrag's.
set -eu
. "${srcdir:?run me by make check}/test/dist/common.sh"
: "${STRAG:?}"
own_folder python

layout=$srcdir/examples/oversubscribed.conf
options=(-n 32 --ranks-per-node 2 --layout "$layout")
"$STRAG" plan ring -n 5 --format json > "$work/ring.json"
"$STRAG" plan swing --torus 4x2 --format text > "$work/swing.txt"
"$STRAG" cost ring "${options[@]}" --bytes 1K,1M --format csv > "$work/cost.csv"
"$STRAG" explain "${options[@]}" --bytes 1M --format json > "$work/explain.json"
"$STRAG" list > "$work/list"
sed '0,/recv_reduce/s//recv/' "$work/ring.json" > "$work/wrong.json"

export STRAG_LIBRARY=$builddir/src/api/.libs/libstrag.so.0 PYTHONDONTWRITEBYTECODE=1
cat > "$work/check.py" << 'END'
import csv, json, os, sys
import strag

work, layout, version = sys.argv[1:]
def text(name):
    return open(os.path.join(work, name)).read()
def fails(status, words, function, *arguments, **more):
    try:
        function(*arguments, **more)
    except strag.Error as error:
        assert error.status == status and words in str(error), (error.status, str(error))
    else:
        raise AssertionError("no error: " + words)

assert strag.version() == version
assert list(strag.algorithms()) == [line.split()[0] for line in text("list").splitlines()]
assert all(strag.algorithms().values())

five = strag.Allreduce(5)
assert five.show("ring", "json") == text("ring.json")
proof = five.verify("ring")
assert (proof.blocks, proof.rounds, proof.sent_max, proof.sent_total) == (5, 8, 1.6, 8.0)
plan = five.plan("ring", 3)
wanted = json.loads(text("ring.json"))["ranks"][3]["ops"]
assert (plan.blocks, plan.rounds, len(plan.operations)) == (5, 8, len(wanted))
for mine, theirs in zip(plan.operations, wanted):
    assert (mine.kind, mine.peer, mine.round, list(mine.waits)) == (
        theirs["kind"], theirs["peer"], theirs["round"], theirs.get("after", [])), (mine, theirs)

torus = strag.Layout.describe("torus", "4x2").fill()
assert (torus.ranks, torus.hosts) == (8, 8)
assert strag.Allreduce(topology=torus).show("swing") == text("swing.txt")

machine = strag.Layout.read(layout)
job = strag.Allreduce(topology=machine.fill(32, 2))
costs = [float(row["seconds"]) for row in csv.DictReader(text("cost.csv").splitlines())]
assert all(abs(mine / cost - 1) < 1e-4 for mine, cost in zip(job.cost("ring", [1 << 10, 1 << 20]), costs)) and len(costs) == 2
chosen = [entry.algorithm for entry in job.select() if entry.bytes <= 1 << 20][-1]
assert chosen == json.loads(text("explain.json"))["sizes"][0]["algorithm"], chosen
for size in -1, 1 << 64:
    try:
        five.cost("ring", [size])
    except OverflowError:
        continue
    raise AssertionError(f"{size} bytes")
for wrong in (1 << 32) + 4, None:
    try:
        strag.Allreduce(wrong)
    except (strag.ctypes.ArgumentError, AttributeError):
        continue
    raise AssertionError(f"{wrong} ranks")
assert strag.Topology(6, 4).hosts == 2 and machine.hosts == 16

slower = strag.Allreduce(4, alpha=1000, straggler=(1, 0.5), slow={2: 3}, blocks=4)
assert slower.cost("ring", [8])[0] > 0.5
fails(-1, "no-such", five.plan, "no-such", 0)
fails(-1, "", five.plan, "ring", 5)
fails(-7, "/nowhere", strag.Layout.read, "/nowhere")
fails(-1, "", strag.Layout.describe, "torus", "0x8")
fails(-1, "", strag.Allreduce, 4, nonsense=1)

given = strag.Given(os.path.join(work, "ring.json"))
assert given.ranks == 5 and given.verify().sent_max == 1.6 and given.plan(3) == plan
fails(-6, "", strag.Given(os.path.join(work, "wrong.json")).verify)
print("ok: libstrag", version, "from Python")
END
# As doc/guide/install.md prints it, from the folder of the source.
command=$(sed -n 's,^ *PYTHONPATH=PREFIX/share/strag/python,PYTHONPATH=$srcdir/src/api,p' "$srcdir/doc/guide/install.md")
eval "$command" | grep -qx '\[0\.[0-9e.-]*\]' || fail "$command"
PYTHONPATH=$srcdir/src/api python3 "$work/check.py" "$work" "$layout" "$(value PACKAGE_VERSION)" || fail 'src/api/strag.py'
