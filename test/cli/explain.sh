#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# strag explain: the fastest algorithm of `strag cost` at every size, why the others are slower, the
# table of sizes, and rules files.
set -eu
. "$(dirname "$0")/common.bash"

# says LINE: the output has this line, with any blanks.
says() {
    checks=$((checks + 1))
    [ "$work/squeezed" -nt "$work/out" ] || tr -s ' ' <"$work/out" | sed 's/^ //' >"$work/squeezed"
    grep -qxF -- "$1" "$work/squeezed" ||
        fail "no line '$1' in: $(<"$work/out")"
}

# The table at the end, in one line: "0 ring 1K bucket".
table() {
    sed -n 's/^ *from \([0-9KMGT]*\) */\1 /p' "$work/out" | tr '\n' ' ' | sed 's/ $//'
}

# ---- By hand: 1 us and 1 byte per ns ----

# n = 4 on a switch: doubling 2 (1 us + s), circulant and halving 4 us + 3/2 s, ring 6 us + 3/2 s.
# With one step that halves, one that swaps and one that gathers, swing in 2 blocks takes 3 us + 3/2 s.
# Doubling is faster up to 2 us + 2 s = 3 us + 3/2 s, s = 2000; of equal ones that whose bytes go to
# neighbours is chosen: swing-latency.
succeeds explain -n 4 --bandwidth 8 --reduce-bandwidth 0 --bytes 2000,2001,4000,8K
# Ring may be 2 % slower: 0.98 (6 us + 3/2 s) = 3 us + 3/2 s, s = 96000.
case $(table) in
'0 swing-latency 2001 swing, 2 blocks 9600'[01]' ring') ;;
*) fail "table of 4: $(table)" ;;
esac
says '2000: swing-latency, 6.000 us'
says 'swing-latency 2 rounds, latency 2.000 us, bytes 4.000 us'
says 'torus-doubling 6.000 us, 1.00x: as fast by the model'
says 'circulant 7.000 us, 1.17x: more rounds, 4 against 2: latency 4.000 us against 2.000 us'
says 'ring 9.000 us, 1.50x: more rounds, 6 against 2: latency 6.000 us against 2.000 us'
says '2001: swing, 6.001 us'
says 'swing 2 blocks, 3 rounds, latency 3.000 us, bytes 3.001 us'
says '4000: swing, 9.000 us'
says 'recursive-halving 10.00 us, 1.11x: more rounds, 4 against 3: latency 4.000 us against 3.000 us'
says '8K: swing, 15.29 us'
says 'recursive-doubling 18.38 us, 1.20x: more bytes on the busiest link, 2 vectors against 1.5:'\
' 16.38 us against 12.29 us'

# n = 9, where posting takes as long as half of a latency: bine-latency, with a folded rank, 5 us + 5 s;
# circulant 8 us + 16/9 s, at 3 us / (5 - 16/9) = 931 ns, or a little more, as it sends more of it far.
# Ring, all to neighbours, may be 2 % slower than 8 us + 16/9 s: 0.98 (16 us + 16/9 s) at s = 216000, or
# sooner, for the same reason.
succeeds explain -n 9 --bandwidth 8 --reduce-bandwidth 0 --overhead 0.5 --bytes 32,1M
equal 'table of 9' "$(table)" '0 bine-latency 952 circulant 137886 ring'
says 'circulant 1872 us, 1.00x: faster by the model, but by less than its error; the other one suffers'\
' least from stragglers'

# On 4x4 with all ports Swing's partners are neighbours: each step takes 1.4 us. None of the 4 halves:
# 5.6 us + s; one, two, three of them: 7 us + s 5/8, 8.4 us + s/2, 9.8 us + s 15/32. As fast at
# 1.4 us / (3/8, 1/8, 1/32) = 3733.3, 11200, 44800 ns. Bucket takes 12 times 1.4 us and s 15/32.
# (Direct sends its messages for nothing here, and takes less for the shortest.)
succeeds explain --torus 4x4 --bandwidth 8 --reduce-bandwidth 0 --overhead 0 --bytes 3733,3734,1M
case $(table) in
'0 direct'*' 1799 swing-latency 3734 swing, 8 blocks 11201 swing, 16 blocks 44801 swing, 32 blocks') ;;
*) fail "table of 4x4: $(table)" ;;
esac
says 'bucket 4 ports, 508.3 us, 1.01x: more rounds, 12 against 7: latency 16.80 us against 9.800 us'

# A straggler: for doubling of 3 ranks rank 2 is not needed in the first round; ring waits from the
# start. All else is idle: 50 us less the 1 us + 1000 ns of that round. Of equally fast algorithms the
# one for a straggler is chosen; it is idle for 50 us less 2 us + 1000 ns.
succeeds explain -n 3 --bandwidth 8 --reduce-bandwidth 0 --bytes 1000 --straggler 2 --delay 50
says 'rank 2 is 50 us late'
says 'broadcast-after 4 rounds, latency 4.000 us, bytes 3.000 us, idle 47.00 us'
says 'recursive-doubling 54.00 us, 1.00x: as fast by the model'
# Ring: 50 us, and 4 rounds of 1 us and a third of the vector.
says 'ring 55.33 us, 1.02x: waits for the straggler: 50.00 us idle against 47.00 us'

# ---- Against strag cost: the best of each column, at every size ----

for topology in '--tree 8,8,8,8' '--torus 4x4 --slow 5:3' '-n 24 --straggler 23 --delay 100'; do
    # shellcheck disable=SC2086
    succeeds explain $topology --bytes 32..1G
    sed -n 's/^\([0-9]*[KMG]*\): \([a-z-]*\), .*/\1 \2/p' "$work/out" >"$work/chosen"
    equal "sizes of $topology" "$(wc -l <"$work/chosen")" 26
    # shellcheck disable=SC2086
    "$STRAG" cost all $topology --bytes 32..1G --format csv 2>/dev/null | awk -F , '
        function text(bytes,   unit) {
            for (unit = 0; bytes >= 1024; unit++) bytes /= 1024
            return bytes substr("KMG", unit, unit > 0)
        }
        NR > 1 {
            if (!($3 in least)) size[++sizes] = $3
            if (!($3 in least) || $5 < least[$3] * (1 - 1e-9)) { least[$3] = $5; name[$3] = $1 }
        }
        END { for (s = 1; s <= sizes; s++) print text(size[s]), name[size[s]] }' >"$work/least"
    diff "$work/least" "$work/chosen" >"$work/diff" || fail "$topology: $(<"$work/diff")"
    checks=$((checks + 26))
    # The table at the end agrees.
    awk 'function bytes(text,   unit) {
            unit = index("KMGT", substr(text, length(text)))
            return unit ? substr(text, 1, length(text) - 1) * 1024 ^ unit : text + 0
        }
        FNR == NR { if ($1 == "from") { sub(",", "", $3); from[++entries] = bytes($2); algorithm[entries] = $3 }; next }
        {
            for (e = entries; from[e] > bytes($1); e--);
            if (algorithm[e] != $2) { print $1, $2, "but the table has", algorithm[e]; exit 1 }
        }' "$work/out" "$work/chosen" >"$work/diff" || fail "$topology: $(<"$work/diff")"
done

# What cannot be planned is listed with the reason, and not compared.
succeeds explain --torus 2x2 --ranks-per-node 2 --bytes 1K
says 'not possible here:'
says 'bucket bucket needs one rank per host, not 2'
equal 'bucket elsewhere' "$(grep -c bucket "$work/out")" 1

# ---- --minimum and --rules ----

# The previous component is modelled as doubling. Short vectors are delegated to it unless something is 1.2
# times as fast. Swing's 3 us, two overheads for the odd rank in one round, and 5 x, x = 80 ps a byte, never
# are: 1.2 times its 3.4 us is more than 4 us + 4 x. Flexreduce's 2 us and 6 times two overheads, 4.4 us +
# 8/5 x, are from 1.2 (4.4 us + 8/5 x) = 4 us + 4 x on: 7693 bytes, or a little more for what goes far.
succeeds explain -n 5 --reduce-bandwidth 0 --bytes 1700,7700,8K --minimum 8K
equal 'table with a minimum' "$(table)" \
    '0 the previous component 7728 flexreduce 1086228 ring'
says '1700: the previous component; of these swing-latency, 4.080 us'
says '7700: the previous component; of these flexreduce, 5.386 us'
says 'by the model, with --minimum 8K:'

# As a job has it.
minimum() {
    succeeds explain "$@" --minimum auto --bytes 1K
    sed -n 's/^by the model, with --minimum \(.*\):$/\1/p' "$work/out"
}
equal 'minimum between hosts' "$(minimum -n 4)" 64K
equal 'minimum where alpha is given' "$(minimum --tree 2,2 --alpha 3)" 8K
equal 'minimum on one host' "$(minimum --tree 4)" ''

cat >"$work/rules.yaml" <<'YAML'
strag-rules: 1
rules:
  - hosts: 4
    sizes:
      - {from: 0, algorithm: ring}
  - ranks: 16
    network: torus
    sizes:
      - {from: 0, algorithm: previous}
      - {from: 1K, algorithm: circulant}
      - {from: 1M, algorithm: auto}
YAML
succeeds explain --torus 4x4 --reduce-bandwidth 0 --bytes 32,1K,1M --rules "$work/rules.yaml"
equal 'table of the rule' "$(table)" '0 the previous component 1K circulant 1M swing, 32 blocks'
says "by the rule in line 6 of $work/rules.yaml:"
says '1K: circulant, 14.55 us'
says "recursive-doubling 1 port, 6.728 us, 0.46x: faster by the model; the rule in line 6 of $work/rules.yaml names circulant"
succeeds explain -n 4 --bytes 32 --rules "$work/rules.yaml"
says "by the rule in line 3 of $work/rules.yaml:"
equal 'table of the first rule' "$(table)" '0 ring'
# Ring would be taken if it were within the model's error, and it is far from that: the rule is the reason.
equal 'reasons of the model' "$(grep -c 'less than its error' "$work/out" || true)" 0
equal 'reasons of the rule' "$(grep -c "x: faster by the model; the rule in line 3 of $work/rules.yaml names ring$" "$work/out")" \
    "$(grep -c ' us, 0\.[0-9]*x: ' "$work/out")"
succeeds explain -n 5 --bytes 32 --rules "$work/rules.yaml"
says "by the model; no rule of $work/rules.yaml holds:"

# A rule has the number of blocks, too: fewer than the best.
printf 'strag-rules: 1\nrules:\n- sizes:\n  - {from: 0, algorithm: swing, blocks: 16}\n' >"$work/blocks.yaml"
succeeds explain --torus 4x4 --reduce-bandwidth 0 --bytes 1M --rules "$work/blocks.yaml"
equal 'table of the rule with blocks' "$(table)" '0 swing, 16 blocks'
says 'swing 16 blocks, 4 ports, 6 rounds, latency 15.60 us, bytes 41.94 us'
sed 's/16/5/' "$work/blocks.yaml" >"$work/no-form.yaml"
refuses "strag explain: --rules: $work/no-form.yaml:3: swing cannot run here: swing cuts the vector of 16\
 ranks into 8, 16, 32 or 64 blocks, not 5" \
    explain --torus 4x4 --bytes 1M --rules "$work/no-form.yaml"

# Plans of a rule: which of them a job uses, and what runs in the place of the others.
"$STRAG" plan ring -n 3 --format json > "$work/three.json"
sed 's/"kind":"recv_reduce"/"kind":"recv"/' "$work/three.json" > "$work/wrong.json"
cat > "$work/plans.yaml" << 'YAML'
strag-rules: 1
rules:
  - sizes:
      - {from: 0, plan: none.json, algorithm: ring}
      - {from: 1K, plan: three.json, algorithm: circulant}
      - {from: 1M, plan: wrong.json}
YAML
succeeds explain -n 3 --bytes 32 --rules "$work/plans.yaml"
says "from 0 plan $work/none.json: cannot be opened: No such file or directory; ring runs in its place"
says "from 1K plan $work/three.json, in the place of circulant; its time: strag cost --plan $work/three.json"
grep -q "^    from 1M  *plan $work/wrong.json: .*; .* runs in its place$" "$work/out" || fail "$(< "$work/out")"
succeeds explain -n 4 --bytes 32 --rules "$work/plans.yaml"
says "from 1K plan $work/three.json: it is for 3 ranks; circulant runs in its place"
succeeds explain -n 4 --bytes 32 --rules "$work/plans.yaml" --format json
grep -qF '{"from":1024,"file":"'"$work/three.json"'","refused":"'"$work/three.json"': it is for 3 ranks"}' "$work/out" ||
    fail "$(< "$work/out")"

# ---- Bounds ----

# Theorems 1 and 6: 12/7 and 12/6.5 vectors, each of 1000 us; and 8/5.
succeeds explain -n 5 --slow 2:1.5 --bandwidth 8 --reduce-bandwidth 0 --alpha 0 --bytes 1000000
says 'lower bound 1714 us: 1.00x; if each link carries one flow at a time 1846 us: 0.93x'
succeeds explain -n 5 --bandwidth 8 --reduce-bandwidth 0 --alpha 0 --bytes 1000000
says 'lower bound 1600 us: 1.00x'

# ---- What goes between groups of hosts ----

# 3, 3, 1 and 1 hosts on the switches of one spine, and 1 on another's. A ring's 16/9 vectors for each pair of
# neighbours leave a switch 5 times and a spine twice.
here='node[001-003,010-012,020,030,040]'
layout="$(dirname "$0")/../../examples/fat-tree.conf"
succeeds explain --layout "$layout" --hosts "$here" --bytes 1M
says 'vectors sent between 2 groups 5 groups 9 hosts '
says 'at least 2 8 16 '
says 'ring 3.556 1.78x 8.889 1.11x 16 1.00x'
says 'hierarchical-doubling 2 1.00x 8 1.00x 16 1.00x'
if python3 -c 'import json' 2>/dev/null; then
    succeeds explain --layout "$layout" --hosts "$here" --ranks-per-node 4 --bytes 64M --format json
    python3 - "$work/out" <<'PYTHON' || fail 'JSON of what goes between groups'
import json
import sys
sent = {c["algorithm"]: c["sent"] for c in json.load(open(sys.argv[1], encoding="utf-8"))["sizes"][0]["candidates"]}
assert all([(level["groups"], level["least"]) for level in levels] == [(2, 2), (5, 8), (9, 16)]
           for levels in sent.values()), sent
assert all(level["vectors"] >= level["least"] * (1 - 1e-9) for levels in sent.values() for level in levels), sent
assert abs(sent["ring"][1]["vectors"] - 5 * 2 * 35 / 36) < 1e-6, sent["ring"]
PYTHON
    # The same for many jobs, as sacct lists them.
    printf '%s\n' "123|$here" '124|None assigned' '125.batch  node[001-016]  ' '126|node001' >"$work/jobs"
    python3 "$(dirname "$0")/../../bench/allocations" --strag "$STRAG" --layout "$layout" --bytes 1M "$work/jobs" \
        >"$work/jobs.csv" 2>"$work/summary"
    equal 'a ring over groups, by jobs' "$(cut -d , -f 1-4,6,7 "$work/jobs.csv" | grep ,ring,)" \
        "123,9,2,ring,3.55556,1.7778
125.batch,16,2,ring,3.75,1.8750"
    grep -q '^2 jobs in several groups' "$work/summary" || fail "the summary: $(<"$work/summary")"
    grep -qE '^ring +1\.78 +1\.88 ' "$work/summary" || fail "the summary: $(<"$work/summary")"
    printf '%s\n' '127|node065' '128 node[001-003,0+' >>"$work/jobs"
    python3 "$(dirname "$0")/../../bench/allocations" --strag "$STRAG" --layout "$layout" --bytes 1M "$work/jobs" \
        >"$work/more.csv" 2>"$work/summary" && fail 'a job that is not in the layout'
    grep -q '^job 127: strag explain: host node065 is not in the layout' "$work/summary" || fail "$(<"$work/summary")"
    grep -q '^job 128: its list of hosts is cut off' "$work/summary" || fail "$(<"$work/summary")"
    equal 'jobs next to one that failed' "$(cat "$work/more.csv")" "$(cat "$work/jobs.csv")"
    checks=$((checks + 6))
fi
# On one host, and without --hosts, there is nothing to say.
succeeds explain --layout "$layout" --hosts node001 --ranks-per-node 4 --bytes 1M
equal 'levels of one host' "$(grep -c 'sent between' "$work/out")" 0
succeeds explain --layout "$layout" --bytes 1M
equal 'levels without --hosts' "$(grep -c 'sent between' "$work/out")" 0

# ---- JSON ----

if python3 -c 'import json' 2>/dev/null; then
    succeeds explain --torus 4x4 --reduce-bandwidth 0 --bytes 32,1M --rules "$work/rules.yaml" --format json
    python3 - "$work/out" "$work/rules.yaml" "$(symmetric | wc -l)" <<'PYTHON' || fail 'JSON of explain'
import json
import sys
out = json.load(open(sys.argv[1], encoding="utf-8"))
assert out["rules"] == {"file": sys.argv[2], "line": 6}
assert [r["algorithm"] for r in out["refused"]] == [
    "flexreduce", "flexreduce-pipelined", "flexreduce-direct", "blueconnect"], out["refused"]
assert out["table"] == [{"from": 0, "algorithm": None}, {"from": 1024, "algorithm": "circulant"},
                        {"from": 2**20, "algorithm": "swing", "blocks": 32}], out["table"]
short, long = out["sizes"]
assert short["algorithm"] is None and long["algorithm"] == "swing"
for size in out["sizes"]:
    times = [c["seconds"] for c in size["candidates"]]  # but for 4 refused
    assert len(times) == int(sys.argv[3]) - 4 and times == sorted(times)
    for c in size["candidates"]:
        parts = c["latency_seconds"] + c["bytes_seconds"] + c["idle_seconds"]
        assert abs(parts / c["seconds"] - 1) < 1e-6, c
        assert abs(c["ratio"] - c["seconds"] / times[0]) < 1e-6 * c["ratio"], c
        assert ("reason" in c) == (c is not size["candidates"][0])
best = long["candidates"][0]
assert (best["algorithm"], best["blocks"], best["rounds"]) == ("swing", 32, 7)
assert best["busiest_link"] == 0.46875
PYTHON
    checks=$((checks + 1))
fi

# ---- Wrong use ----

refuses "strag explain: --rules: $work/none: cannot be opened: No such file or directory" \
    explain -n 4 --bytes 32 --rules "$work/none"
sed 's/circulant/circular/' "$work/rules.yaml" >"$work/wrong.yaml"
refuses "strag explain: --rules: $work/wrong.yaml:10: no algorithm 'circular' (nearest: circulant); accepted: previous,\
 auto, $(algorithms | tr '\n' ',' | sed 's/,$//; s/,/, /g')" \
    explain -n 4 --bytes 32 --rules "$work/wrong.yaml"
# A rule that matches, with an algorithm that cannot be planned here.
printf 'strag-rules: 1\nrules:\n  - sizes:\n      - {from: 0, algorithm: bucket}\n' >"$work/bucket.yaml"
gives 2 explain --torus 2x2 --ranks-per-node 2 --bytes 32 --rules "$work/bucket.yaml"
equal 'lines about bucket' "$(wc -l <"$work/err")" 1
grep -q '^strag explain: --rules: .*bucket needs one rank per host, not 2' "$work/err" ||
    fail "a rule that cannot hold: $(<"$work/err")"
refuses 'strag explain: --bytes is missing; usage: strag explain -n RANKS [TOPOLOGY] [STATE] [MODEL]'\
' --bytes LIST [--blocks M] [--minimum SIZE|auto] [--rules FILE] [--exhaustive] [--format text|json]'\
    explain -n 4

# ---- --model ----

cat >"$work/model.yaml" <<'YAML'
strag-models: 1
models:
  - {name: gpu, hosts: "g*", alpha: 2}
  - {name: rest, hosts: "n[0-2]", transport: ucp, alpha: 45, bandwidth: 0.1}
YAML
printf 'SwitchName=s Nodes=n[0-2]\n' >"$work/n.conf"
printf 'SwitchName=s Nodes=n[0-3]\n' >"$work/other.conf"
succeeds explain --layout "$work/n.conf" --bytes 1M --model "$work/model.yaml"
says "alpha = 45 us, overhead = 9 us, bandwidth = 0.1 Gbit/s, reducing = 160 Gbit/s; from $work/model.yaml, line 4: alpha, bandwidth"
succeeds explain --layout "$work/n.conf" --bytes 1M --model "$work/model.yaml" --alpha 3
says "alpha = 3 us, overhead = 0.6 us, bandwidth = 0.1 Gbit/s, reducing = 160 Gbit/s; from $work/model.yaml, line 4: bandwidth"
succeeds cost -n 3 --bytes 1M --model "$work/model.yaml" --format json
grep -q '"alpha_us":2,.*"model":{"file":".*model.yaml","line":3},"origins":{"alpha":"file"}' "$work/out" ||
    fail "what is not known fits: $(<"$work/out")"
refuses "strag explain: --model: $work/model.yaml has no model for these hosts; it has: gpu (line 3, hosts g*), rest\
 (line 4, hosts n[0-2], transport ucp)" \
    explain --layout "$work/other.conf" --bytes 1M --model "$work/model.yaml"
refuses "strag explain: --model: $work/none: cannot be opened: No such file or directory" \
    explain -n 4 --bytes 32 --model "$work/none"
sed 's/alpha: 45/beta: 45/' "$work/model.yaml" >"$work/wrong.yaml"
refuses "strag cost: --model: $work/wrong.yaml:4: a model has no key 'beta'; it has name, hosts, transport, measured,\
 alpha, local-alpha, overhead, bandwidth, injection-bandwidth, local-bandwidth, link-latency, hop-latency, reduce-bandwidth" \
    cost -n 4 --bytes 32 --model "$work/wrong.yaml"

# ---- --saved ----

cat >"$work/saved.yaml" <<'YAML'
strag-saved: 2
version: "0.1.0"
communicator: "MPI_COMM_WORLD"
ranks: 4
shared-memory: all
quick: true
short-plans: true
oversubscribed: {ranks: 4, processors: 2, window: 524288}
model: {alpha: 1, local-alpha: 0.4, overhead: 0, bandwidth: 100, injection-bandwidth: 0, local-bandwidth: 160, link-latency: 0, hop-latency: 0,
        reduce-bandwidth: 160}
origins: {local-alpha: user}
table: [{from: 0, algorithm: direct, blocks: 1}]
topology: d7a4d19a0504060000010c03030700020102020000010100030202050100050000000200026e30
YAML
succeeds explain --saved "$work/saved.yaml" --bytes 1K
says "n = 4, saved $work/saved.yaml, 1 host, 4 ranks on each"
says 'alpha = 1 us, overhead = 0 us, bandwidth = 100 Gbit/s, within a host alpha = 0.4 us, bandwidth = 160 Gbit/s, reducing = 160 Gbit/s;'\
' user: local-alpha'
says '1K: direct in 1 block, 2.861 us'
says '4 ranks share 2 processors: by what messages cost there, which the model does not know:'
succeeds verify direct --saved "$work/saved.yaml" --blocks 1
says 'verified direct n=4 blocks=1 rounds=6 sent-max=3xS sent-total=6xS reduce-max=3'
succeeds topology --saved "$work/saved.yaml"
says 'host n0: ranks 0-3'
refuses 'strag explain: --saved already has the settings of the job; omit --alpha' \
    explain --saved "$work/saved.yaml" --bytes 1K --alpha 3
refuses 'strag explain: --saved already has the settings of the job; omit --blocks' \
    explain --saved "$work/saved.yaml" --bytes 1K --blocks 4
refuses 'strag explain: --torus and --saved contradict each other; give one of --torus, --mesh, --hyperx, --hammingmesh,'\
' --tree, --layout, --saved, --hwloc' explain --saved "$work/saved.yaml" --bytes 1K --torus 2x2
refuses "strag plan: --saved: $work/model.yaml:1: a saved file has no key 'strag-models'; it has strag-saved, version,\
 communicator, ranks, ports, minimum, strict, quick, short-plans, reproducible, shared-memory, written-once, oversubscribed, stragglers, slow,\
 pinned, model, origins, model-file, model-line, rules, rules-file, rules-line, table, topology" \
    plan ring --saved "$work/model.yaml"
sed 's/table: .*/table: [{from: 0, algorithm: ring}]/' "$work/saved.yaml" >"$work/another.yaml"
sed 's/^strag-saved: 2/strag-saved: 1/' "$work/saved.yaml" >"$work/old.yaml"
refuses "strag topology: --saved: $work/old.yaml:1: only version 2 is read; let the job write the file again" \
    topology --saved "$work/old.yaml"
gives 1 explain --saved "$work/another.yaml" --bytes 1K
grep -q "^strag explain: --saved: the job's table, by strag 0.1.0, is not this strag's" "$work/err" ||
    fail "another table: $(<"$work/err")"
says 'but the job ran:'

summary
