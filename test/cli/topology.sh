#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# strag topology: what was read and where ranks are, for every kind of description, with the examples;
# wrong and contradictory TOPOLOGY and STATE options.
set -eu
. "$(dirname "$0")/common.bash"

examples=$(cd "$here/../../examples" && pwd)

# shows LINE: the output has this line.
shows() {
    checks=$((checks + 1))
    grep -qxF -- "$1" "$work/out" || fail "no line '$1' in: $(<"$work/out")"
}

# counts JOB ARGUMENT...: of the third line, such as '24 ranks on 4 hosts, 6 on each'.
counts() {
    local job=$1
    shift
    succeeds topology "$@"
    equal "job of $*" "$(sed -n 's/^job  *//p' "$work/out")" "$job"
}

# ---- Options ----

counts '8 ranks on 8 hosts, 1 on each' -n 8
shows 'read       one switch'
shows 'box        none: a tree has no dimensions'
shows 'level      host        8'
counts '8 ranks on 3 hosts, not the same number on each' -n 8 --ranks-per-node 3
shows '  host: ranks 6-7'
counts '1 rank on 1 host, 1 on each' -n 1

counts '32 ranks on 32 hosts, 1 on each' --torus 4x4x2
shows 'read       torus 4x4x2: 32 hosts, 32 positions'
shows 'network    torus 4x4x2; wraps in all dimensions'
shows 'box        4x4x2 from (0,0,0); wraps in all dimensions'
shows '  host (3,2,1): rank 27'
counts '48 ranks on 16 hosts, 3 on each' --mesh 4x4 --ranks-per-node 3
shows 'network    mesh 4x4'
shows 'box        4x4 from (0,0); does not wrap'
shows '  host (1,2): ranks 27-29'
counts '4096 ranks on 4096 hosts, 1 on each' --hyperx 64x64 -n 4096
shows '  4096 hosts, (0,0) to (63,63): ranks 0-4095, 1 on each'
counts '48 ranks on 48 hosts, 1 on each' --hammingmesh 2x2:3x4
shows 'network    HammingMesh 6x8 of boards 2x2'
counts '8 ranks on 8 hosts, 1 on each' --torus 8

counts '5 ranks on 2 hosts, not the same number on each' --tree 2,3
shows 'read       tree 2,3: 2 hosts, 1 switch'
counts '4 ranks on 2 hosts, 2 on each' --tree 2,2 --ranks-per-node 2 -n 4
counts '9 ranks on 3 hosts, 3 on each' --tree '((3@50,3@100)@200,3)'
shows 'level      switch      1, uplinks 200 Gbit/s'
shows 'level      host        3, uplinks 50 to 100 Gbit/s'
shows '  switch, 200 Gbit/s: ranks 0-5'
shows '    host 1, 100 Gbit/s: ranks 3-5'
shows '  host 2: ranks 6-8'

# The machine: as many ranks as it has cores, or fewer, on one host.
succeeds topology --hwloc
cores=$(sed -n 's/^read       hwloc: 1 host, \([0-9]*\) cores*$/\1/p' "$work/out")
[ "${cores:-0}" -ge 1 ] || fail "hwloc: $(<"$work/out")"
cp "$work/out" "$work/with"
succeeds topology
cmp "$work/with" "$work/out" || fail "topology alone: $(<"$work/out")"
shows "level      rank        $cores"
counts '1 rank on 1 host, 1 on each' --hwloc -n 1
counts "$((cores + 1)) ranks on 1 host, $((cores + 1)) on each" --hwloc -n $((cores + 1))
equal 'levels of more ranks than cores' "$(grep -cE '^level +(numa|cache|package)' "$work/out")" 0
succeeds topology --hwloc --format json
grep -q "^{\"topology\":\"hwloc\".*\"layout\":{\"hosts\":1,\"cores\":$cores},\"n\":$cores," \
    "$work/out" || fail "hwloc as JSON: $(<"$work/out")"
# A machine in a file: two packages of two cores.
cat >"$work/machine.xml" <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
 <object type="Machine" os_index="0" cpuset="0xf" complete_cpuset="0xf" allowed_cpuset="0xf"
   nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
  <object type="NUMANode" os_index="0" cpuset="0xf" complete_cpuset="0xf" nodeset="0x1"
    complete_nodeset="0x1" gp_index="2" local_memory="1073741824"/>
  <object type="Package" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1"
    complete_nodeset="0x1" gp_index="3">
   <object type="Core" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1"
     complete_nodeset="0x1" gp_index="5">
    <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1"
      complete_nodeset="0x1" gp_index="9"/>
   </object>
   <object type="Core" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1"
     complete_nodeset="0x1" gp_index="6">
    <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1"
      complete_nodeset="0x1" gp_index="10"/>
   </object>
  </object>
  <object type="Package" os_index="1" cpuset="0xc" complete_cpuset="0xc" nodeset="0x1"
    complete_nodeset="0x1" gp_index="4">
   <object type="Core" os_index="2" cpuset="0x4" complete_cpuset="0x4" nodeset="0x1"
     complete_nodeset="0x1" gp_index="7">
    <object type="PU" os_index="2" cpuset="0x4" complete_cpuset="0x4" nodeset="0x1"
      complete_nodeset="0x1" gp_index="11"/>
   </object>
   <object type="Core" os_index="3" cpuset="0x8" complete_cpuset="0x8" nodeset="0x1"
     complete_nodeset="0x1" gp_index="8">
    <object type="PU" os_index="3" cpuset="0x8" complete_cpuset="0x8" nodeset="0x1"
      complete_nodeset="0x1" gp_index="12"/>
   </object>
  </object>
 </object>
</topology>
XML
counts '4 ranks on 1 host, 4 on each' --hwloc "$work/machine.xml"
# Also if SIGCHLD is ignored, as the process that starts strag may have it.
trap '' CHLD
counts '4 ranks on 1 host, 4 on each' --hwloc "$work/machine.xml"
trap - CHLD
shows 'level      package     2'
shows '    package: ranks 0-1'
shows '    package: ranks 2-3'
succeeds explain --hwloc "$work/machine.xml" --bytes 1K
grep -qx "n = 4, hwloc $work/machine.xml, 1 host, 4 ranks on each" "$work/out" || fail "explain: $(<"$work/out")"
# With the numbers of a job there: two ranks take 79 us for 1 MiB by ring, not 22 us by doubling.
succeeds explain --hwloc "$work/machine.xml" -n 2 --bytes 1M
grep -q '^1M: ring, 79.44 us$' "$work/out" || fail "explain on a host: $(<"$work/out")"
succeeds explain --hwloc "$work/machine.xml" -n 9 --bytes 1K
grep -q '^9 ranks share 4 processors: ' "$work/out" || fail "more ranks than cores: $(<"$work/out")"
counts '3 ranks on 1 host, 3 on each' -n 3 "--hwloc=$work/machine.xml"
shows '    rank 2'

# ---- Files ----

# example FILE HOSTS READ LINE: ranks, one per host, and a line more.
example() {
    counts "$2 ranks on $2 hosts, 1 on each" --layout "$examples/$1"
    shows "read       layout $examples/$1: $2 hosts, $3"
    shows "$4"
}
example fat-tree.conf 64 '11 switches' 'level      switch      10'
shows '    switch leaf3: ranks 16-23'
shows '      8 hosts, node017 to node024: ranks 16-23, 1 on each'
example oversubscribed.conf 16 '3 switches' 'level      switch      2, uplinks 100 to 400 Gbit/s'
shows '  switch new, 400 Gbit/s: ranks 4-15'
shows '    host gpu21: rank 12'
example block.conf 72 '4 switches' '  switch rack2: ranks 18-35'
example tree.yaml 32 '7 switches' '  switch hall1, 400 Gbit/s: ranks 0-23'
shows '    host login2: rank 31'
example block.yaml 16 '4 switches' '  switch b4: ranks 12-15'
example torus3d.yaml 32 '32 positions' 'network    torus 4x4x2; wraps in all dimensions'
shows '  host node19 at (2,0,1): rank 18'
example torus.coordinates 64 '64 positions' 'network    torus 8x8; wraps in all dimensions'
shows '  64 hosts, r1n01 to r2n32: ranks 0-63, 1 on each'
example hammingmesh.coordinates 12 '16 positions' 'box        none: the hosts leave gaps in the grid'
example hyperx.coordinates 16 '16 positions' 'box        4x4 from (0,0)'
counts '16 ranks on 8 hosts, 2 on each' --layout "$examples/ranks.coordinates"
shows 'network    mesh 2x2x2'
shows '  host (1,0,1): ranks 5,13'
# These are all of them.
described=$(find "$examples" -name '*.conf' -o -name '*.yaml' -o -name '*.coordinates' | wc -l)
equal 'examples' "$described" 10

# Slurm's manual has such a file; a flat one does not name its hosts.
printf -- '---\n- topology: a\n  cluster_default: True\n  flat: True\n- topology: b\n  cluster_default: False\n  tree:\n    switches:\n    - switch: s\n      nodes: n[1-4]\n' >"$work/flat.yaml"
counts '4 ranks on 4 hosts, 1 on each' --layout "$work/flat.yaml" -n 4
counts '6 ranks on 3 hosts, 2 on each' --layout "$work/flat.yaml" --hosts 'x[1-3]' --ranks-per-node 2
shows '  host x3: ranks 4-5'

# Names tell groups.
counts '6 ranks on 6 hosts, 1 on each' --layout 'names:r{rack:1}{}-ib' --hosts 'r[11-12,21,23,31-32]-ib'
shows '  switch r2: ranks 2-3'
shows '    host r23-ib: rank 3'

# A file may describe more hosts than the job has: the first hosts, or those that are listed, in order.
counts '20 ranks on 5 hosts, 4 on each' --layout "$examples/fat-tree.conf" --ranks-per-node 4 -n 20
shows 'level      host        5'
counts '3 ranks on 3 hosts, 1 on each' --layout "$examples/oversubscribed.conf" \
    --hosts 'gpu[23,06],gpu01'
shows '    host gpu23: rank 0'
shows '    host gpu06: rank 1'
counts '6 ranks on 3 hosts, 2 on each' --layout "$examples/torus.coordinates" \
    --hosts 'r1n[01-03]' --ranks-per-node 2
shows 'box        3x1 from (0,0); does not wrap'
# A part of a torus: one row of it, all around.
counts '8 ranks on 8 hosts, 1 on each' --layout "$examples/torus.coordinates" --hosts 'r2n[01-08]'
shows 'box        8x1 from (0,4); wraps in dimension 0'
# Different numbers of ranks in a box.
counts '3 ranks on 2 hosts, not the same number on each' --layout "$examples/torus.coordinates" \
    --hosts 'r1n[01-02]' --ranks-per-node 2 -n 3
shows 'box        none: the hosts have different numbers of ranks'

# Interleaved ranks.
{
    echo 'torus 2x2'
    for ((rank = 0; rank < 16; rank++)); do echo "$rank: $((rank % 2)) $((rank / 2 % 2))"; done
} >"$work/interleaved"
counts '16 ranks on 4 hosts, 4 on each' --layout "$work/interleaved"
shows '  host (1,0): ranks 1-13 by 4'

# JSON has every rank.
if python3 -c 'import json' 2>/dev/null; then
    succeeds topology --layout "$examples/fat-tree.conf" --ranks-per-node 2 --format json
    python3 - "$work/out" <<'PYTHON' || fail "JSON of fat-tree.conf"
import json
import sys
top = json.load(open(sys.argv[1], encoding="utf-8"))
hosts = [node for node in top["nodes"] if node["level"] == "host"]
assert (top["network"], top["n"], top["hosts"], top["ranks_per_host"]) == ("tree", 128, 64, 2)
assert top["layout"] == {"hosts": 64, "switches": 11} and top["box"] is None
assert [h["ranks"] for h in sorted(hosts, key=lambda h: h["name"])] == \
    [[r, r + 1] for r in range(0, 128, 2)]
by_id = {node["id"]: node for node in top["nodes"]}
leaf = by_id[hosts[0]["parent"]]
assert leaf["name"] == "leaf1" and leaf["ranks"] == list(range(16)), leaf
PYTHON
    succeeds topology --mesh 3x2 --format json
    python3 - "$work/out" <<'PYTHON' || fail "JSON of a mesh"
import json
import sys
top = json.load(open(sys.argv[1], encoding="utf-8"))
assert top["dims"] == [3, 2] and top["wrap"] == [False, False]
assert top["box"] == {"dims": [3, 2], "first": [0, 0], "wrap": [False, False], "ranks_per_host": 1}
assert [n["at"] for n in top["nodes"] if n["level"] == "host"] == \
    [[x, y] for y in range(2) for x in range(3)]
PYTHON
    checks=$((checks + 2))
fi

# ---- Wrong use ----

kinds='--torus, --mesh, --hyperx, --hammingmesh, --tree, --layout, --saved, --hwloc'
refuses "strag plan: --torus and --tree contradict each other; give one of $kinds" \
    plan ring --torus 2x2 --tree 2,2
refuses "strag topology: --mesh and --hwloc contradict each other; give one of $kinds" \
    topology --mesh 2x2 --hwloc
refuses "strag topology: --torus: '4xx' is not a grid; 1 to 8 sizes with x between them are, like\
 8x8x4" topology --torus 4xx
refuses "strag topology: --hammingmesh: '2x2' is not a HammingMesh; the sizes of a board and as many\
 numbers of boards are, like 2x2:16x16" topology --hammingmesh 2x2
refuses "strag topology: --tree: '(2,3', at 'the end': ranks per host between commas are needed,\
 brackets around those on one switch, like 2,3 or ((2,3),4@50)@100" topology --tree '(2,3'
refuses 'strag topology: --torus needs a value: --torus DIMS' topology --torus
refuses "strag topology: --layout: $work/none: cannot be opened: No such file or directory" \
    topology --layout "$work/none"
printf 'SwitchName=s1 Nodes=n[1-4]\nSwitchName=s2 Modes=n[5-8]\n' >"$work/wrong.conf"
gives 2 cost ring --layout "$work/wrong.conf" --bytes 32
equal 'lines for a wrong file' "$(wc -l <"$work/err")" 1
grep -q "^strag cost: --layout: .*wrong.conf:2: the key 'Modes' is not known;" "$work/err" ||
    grep -q "^strag cost: --layout: .*wrong.conf:2: the key Modes is not known;" "$work/err" ||
    fail "a wrong file: $(<"$work/err")"
refuses "strag topology: --hwloc: $work/none: cannot be opened: No such file or directory" \
    topology --hwloc "$work/none"

refuses 'strag plan: --torus 8x8 has 64 hosts, -n 60 does not fit; give -n 64 or omit it, or give'\
' --ranks-per-node or --hosts' plan ring --torus 8x8 -n 60
refuses 'strag plan: --torus 8x8 has 64 hosts with 128 ranks, -n 64 does not fit; give -n 128 or'\
' omit it' plan ring --torus 8x8 --ranks-per-node 2 -n 64
refuses 'strag cost: --tree 2,3 has 2 hosts with 5 ranks, -n 4 does not fit; give -n 5 or'\
' omit it' cost ring --tree 2,3 -n 4 --bytes 32
refuses 'strag verify: --torus 2x2 has 4 hosts, -n 5 does not fit; give -n 4 or omit it, or give'\
' --ranks-per-node or --hosts' verify ring --torus 2x2 -n 5
refuses 'strag topology: --tree 2,3 already gives the number of ranks of each host; omit --ranks-per-node 2' \
    topology --tree 2,3 --ranks-per-node 2
refuses 'strag topology: 65 ranks do not fit: there is room for 64 on 64 hosts' \
    topology --layout "$examples/fat-tree.conf" -n 65
refuses "strag topology: --hwloc is one host; -n, not --ranks-per-node, says how many of its cores have a\
 rank: up to $cores" topology --hwloc --ranks-per-node 1
refuses "strag plan: --hosts needs a topology; add one of $kinds" \
    plan ring -n 4 --hosts 'n[1-4]'
refuses 'strag topology: --layout: names tell the groups of hosts; say which: --hosts LIST' \
    topology --layout names:xname
refuses "strag topology: --layout: host n1: its name is not like 'x{cabinet}c{chassis}s{}b{}n{}', so that its\
 group is not known" topology --layout names:xname --hosts n1
refuses 'strag topology: host x1 is not in the layout, which has 64 hosts, from node001 to node064' \
    topology --layout "$examples/fat-tree.conf" --hosts 'x[1-2]'
refuses 'strag topology: host node007 is named twice' \
    topology --layout "$examples/fat-tree.conf" --hosts 'node[005-007],node007'
refuses "strag plan: --ports: '0' is not an integer from 1 to 65536" plan ring -n 4 --ports 0
refuses "strag plan: --ports: '5' is not an integer from 1 to 4, two for each dimension" \
    plan bucket --torus 4x4 --ports 5
refuses "strag plan: --ranks-per-node: '0' is not an integer from 1 to 16777216" \
    plan ring -n 4 --ranks-per-node 0

refuses 'strag cost: --delay needs --straggler R, the rank that is late' \
    cost ring -n 8 --bytes 32 --delay 5
refuses 'strag cost: --straggler: rank 8 does not exist; with 8 ranks it must be 0 to 7' \
    cost ring -n 8 --bytes 32 --straggler 8
refuses "strag cost: --straggler: '-1' is not an integer from 0 to 16777215" \
    cost ring -n 8 --bytes 32 --straggler -1
refuses "strag cost: --delay: '-5' is not a number of microseconds from 0 to 1e+12" \
    cost ring -n 8 --bytes 32 --straggler 1 --delay -5
for value in 3 3,5 ''; do
    refuses "strag cost: --slow: '${value%,*}' is not R:FACTOR, like 3:2 or 3:1.5,5:4" \
        cost ring -n 8 --bytes 32 --slow "$value"
done
refuses "strag cost: --slow: '0.5' is not a number from 1 to 1e+09" \
    cost ring -n 8 --bytes 32 --slow 3:0.5
refuses "strag cost: --slow: 'x' is not an integer from 0 to 16777215" \
    cost ring -n 8 --bytes 32 --slow x:2
refuses 'strag cost: --slow: rank 3 is named twice; name it once' \
    cost ring -n 8 --bytes 32 --slow 3:2,4:2,3:1.5
refuses 'strag cost: --slow: rank 9 does not exist; with 8 ranks it must be 0 to 7' \
    cost ring -n 8 --bytes 32 --slow 3:2,9:4
# A list of n: refused where a rank that is named does not exist.
gives 2 verify ring -n 4,3 --slow 3:2
equal 'verify with a slow rank' "$(<"$work/err")" \
    'strag verify: --slow: rank 3 does not exist; with 3 ranks it must be 0 to 2'

summary
