#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `strag explain` names at every size what the job runs, in as many blocks: with --saved FILE, what
# coll_strag_save wrote, and from the machine alone, since both begin with the same numbers. With and
# without shared memory, with shared processors, on made-up hosts, with a layout, on tori, with a slow
# host, a straggler, rules, a model file. And which communicators are saved. The file has the first
# decision, so nothing is learnt here from the calls that follow it. STRAG_TEST_FULL=1: more of them.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

own_folder save
saved=$files/saved.yaml

# run RANKS OPTIONS-AND-PROGRAM...: it must succeed; its output goes to a file
run()
{
    rm -f "$saved"
    if ! mpi "$1" --mca coll strag --mca coll_strag_learn 0 --mca coll_strag_watch_size 1G \
        --mca coll_strag_verbose 1 --mca coll_strag_save "${save_as:-$saved}" "${@:2}" \
        > "$output" 2>&1; then
        cat "$output"
        fail "mpirun -np $*"
    fi
}

# What the job ran, and what the command says of the file: lines "BYTES WHAT". Before strag is set
# up, short vectors are left to others: the longest is first.
ran()
{
    sed -nE 's/.* MPI_COMM_WORLD .*: allreduce of ([0-9]+) \.\. [0-9]+ bytes: (previous component|[a-z-]+( in [0-9]+ blocks?)?) \(.*/\1 \2/p' \
        "$output" | sed -E 's/^2048 /4000 /; s/^32768 /40000 /; s/^1048576 /1200000 /' |
        sort -n
}

# explained OPTION...: from the table of `strag explain`
explained()
{
    "$STRAG" explain "$@" --bytes 4,4000,40000,1200000 > "$files/explain" ||
        fail "strag explain $*: $(cat "$files/explain")"
    awk '
        function bytes(text,   unit) {
            unit = index("KMGT", substr(text, length(text)))
            return unit ? substr(text, 1, length(text) - 1) * 1024 ^ unit : text + 0
        }
        $1 == "from" {
            from[++entries] = bytes($2)
            sub(/^ *from [^ ]+ +(the )?/, "")
            sub(/, /, " in ")
            sub(/ 1 blocks$/, " 1 block")
            what[entries] = $0
        }
        END {
            sizes = split("4 4000 40000 1200000", size, " ")
            for (s = 1; s <= sizes; s++) {
                for (e = entries; from[e] > size[s] + 0; e--);
                print size[s], what[e]
            }
        }' "$files/explain"
}

# same WHO OPTION...: the command says with these options what ran
same()
{
    local who=$1
    shift
    explained "$@" > "$files/explained"
    if [ "$(wc -l < "$files/ran")" -ne 4 ] || ! cmp -s "$files/ran" "$files/explained"; then
        cat "$output" "$saved" "$files/explain"
        diff "$files/ran" "$files/explained" || true
        fail "$who: the command does not say what ran: strag explain $*"
    fi
}

# [machine=OPTIONS] agrees WHAT RANKS OPTIONS-AND-PROGRAM...: the command says what ran, from what the job
# saved, and, where OPTIONS describe the machine, without it
jobs=0 described=0
agrees()
{
    local what=$1
    shift
    run "$@"
    ran > "$files/ran"
    if [ -n "${machine:-}" ]; then
        # shellcheck disable=SC2086 # options
        same "$what, np $1" $machine --minimum auto
        described=$((described + 1))
    fi
    same "$what, np $1" --saved "$saved"
    jobs=$((jobs + 1))
    echo "ok: $what, np $1${machine:+, $machine}: $(tr '\n' ';' < "$files/ran")"
}

# ---- On one host ----

# A rank on each core, or more, which share the cores. (The command does not know of hardware threads.)
sizes=("$programs/sizes" --descending 1)
cores=$("$STRAG" topology --hwloc | sed -n 's/^read       hwloc: 1 host, \([0-9]*\) cores*$/\1/p')
for ranks in 2 ${STRAG_TEST_FULL:+3 16} 6; do
    here="--hwloc -n $ranks" bound=(--bind-to none)
    if [ "$ranks" -le "$cores" ]; then
        bound=(--map-by core:OVERSUBSCRIBE --bind-to core:overload-allowed)
    elif [ "$(nproc)" -ne "$cores" ]; then
        here=
    fi
    machine=$here agrees 'shared memory' "$ranks" "${bound[@]}" "${sizes[@]}"
done
agrees 'no shared memory, a minimum' 4 --mca coll_strag_shared_memory 0 --mca coll_strag_minimum_size 100 "${sizes[@]}"
grep -q '^minimum: 100$' "$saved" || fail "the minimum is not in the file"
grep -q '^strict: true$' "$saved" || fail "a minimum that the user sets has exceptions"
cp "$saved" "$files/flat.yaml"
# As with a core for each rank, by the model alone.
if ! without '[!4]*' "ranks yield wherever there are more of them than cores"; then
    machine='--tree 4' agrees 'ranks that do not yield' 4 --mca mpi_yield_when_idle 0 "${sizes[@]}"
    grep -q '^oversubscribed:' "$saved" && fail "oversubscribed without shared memory"
fi
agrees mapping 3 --mca coll_strag_reproducible mapping "${sizes[@]}"
grep -q '^reproducible: mapping$' "$saved" || fail "the mapping is not said to decide"
grep -q '^quick: true$' "$saved" || fail "verbose lines change the table"
agrees ranks 3 --mca coll_strag_reproducible 1 "${sizes[@]}"
grep -q '^reproducible: ranks$' "$saved" || fail "the ranks are not said to decide"
! grep -q '^topology:' "$saved" || fail "a topology that must not count"
agrees pinned 3 --mca coll_strag_algorithm bine "${sizes[@]}"
agrees stragglers 7 --mca coll_strag_straggler 3:9000,5:20000 --mca coll_strag_shared_memory 0 "${sizes[@]}"
grep -A 2 '^stragglers:$' "$saved" | tr -d '\n' | grep -q '^stragglers:  - {rank: 5, delay: 20000}  - {rank: 3, delay: 9000}$' ||
    fail "the stragglers are not in the file"

cat > "$files/rules.yaml" << 'END'
strag-rules: 1
rules:
  - hosts: 2
    sizes: [{from: 0, algorithm: ring}]
  - ranks: 4
    sizes:
      - {from: 0, algorithm: previous}
      - {from: 3K, algorithm: direct, blocks: 2}
      - {from: 64K, algorithm: auto}
END
agrees rules 4 --mca coll_strag_rules "$files/rules.yaml" "${sizes[@]}"
grep -q "^by the rule in line 5 of $files/rules.yaml" "$files/explain" || fail "not by the rule"
if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
    sed 's/direct, blocks: 2/ring, blocks: 8/' "$files/rules.yaml" > "$files/bad-rules.yaml"
    agrees 'rules of no use' 4 --mca coll_strag_rules "$files/bad-rules.yaml" "${sizes[@]}"
fi
cat > "$files/model.yaml" << 'END'
strag-models: 1
models:
  - {name: other, hosts: "nowhere*", alpha: 1e6}
  - {name: here, transport: pml, local-alpha: 300, local-bandwidth: 0.5}
END
agrees 'a model file' 4 --mca coll_strag_shared_memory 0 --mca coll_strag_model "$files/model.yaml" \
    --mca coll_strag_local_bandwidth 2 "${sizes[@]}"
grep -q "from $files/model.yaml, line 4: local-alpha; user: local-bandwidth" "$files/explain" ||
    fail "where the numbers are from"
grep -q '^  local-bandwidth: 2 ' "$saved" || fail "the user's number does not go before the file's"

# ---- On made-up hosts ----

if can_make_hosts; then
    cat > "$files/topology.conf" << 'END'
SwitchName=s0 Nodes=n[0-1]
SwitchName=s1 Nodes=n[2-3]
SwitchName=top Switches=s[0-1]
END
    hosts=n0,n1,n2,n3,n4,n5,n6,n7
    for ranks in ${STRAG_TEST_FULL:+3 8}; do
        machine="-n $ranks" agrees 'hosts' "$ranks" "$on_hosts" 1 "$hosts" "${sizes[@]}"
    done
    machine='--tree 2,2,1' agrees 'uneven hosts' 5 "$on_hosts" 2 n0,n1,n2 "${sizes[@]}"
    machine='-n 4 --alpha 40 --bandwidth 1' agrees 'numbers of the user' 4 --mca coll_strag_alpha 40 \
        --mca coll_strag_bandwidth 1 "$on_hosts" 1 "$hosts" "${sizes[@]}"
    layout=(--mca coll_strag_layout "$files/topology.conf")
    described_by="--layout $files/topology.conf"
    machine="$described_by --ranks-per-node 2" agrees 'a layout' 8 "${layout[@]}" "$on_hosts" 2 \
        n0,n1,n2,n3 "${sizes[@]}"
    "$STRAG" topology --saved "$saved" | grep -q 'host n3: ' || fail "the hosts have no names"
    machine="$described_by --slow 2:1.7" agrees 'a slow host' 4 "${layout[@]}" \
        --mca coll_strag_slowdown n2:1.7 "$on_hosts" 1 n0,n1,n2,n3 "${sizes[@]}"
    grep -q '{rank: 2, factor: 1.7}' "$saved" || fail "the slow host is not in the file"
    machine='--torus 2x2 --ranks-per-node 2' agrees 'a torus' 8 --mca coll_strag_torus 2x2 "$on_hosts" 2 \
        n0,n1,n2,n3 "${sizes[@]}"
    agrees 'a straggler on hosts, interleaved' 5 "${layout[@]}" --mca coll_strag_straggler 3 "$on_hosts" 1 \
        n0,n1,n2 "${sizes[@]}"
    cat > "$files/hosts.yaml" << 'END'
strag-models: 1
models:
  - {name: wrong, hosts: "n[0-2]", alpha: 1e6}
  - {name: right, hosts: "m*,n[0-9]", alpha: 45, bandwidth: 0.1}
END
    agrees 'a model for hosts' 4 "${layout[@]}" --mca coll_strag_model "$files/hosts.yaml" \
        "$on_hosts" 1 n0,n1,n2,n3 "${sizes[@]}"
    grep -q "^alpha = 45 us, overhead = 9 us, bandwidth = 0.1 Gbit/s.*; from .*, line 4: alpha, bandwidth$" \
        "$files/explain" || fail "not the model of these hosts"
else
    echo "skipped: made-up hosts (unshare --uts is not allowed)"
fi
echo "the command says what runs in $jobs of $jobs jobs, in $described of $described from the machine alone"

# ---- Which communicators ----

# Without %c the largest that the job's rank 0 decides for; with it each under its name.
run 4 "${sizes[@]}" --how halves
grep -q '^communicator: "MPI_COMM_WORLD"$' "$saved" || fail "not the largest communicator"
save_as=$files/of-%c.yaml run 4 "${sizes[@]}" --how halves
for name in MPI_COMM_WORLD the-duplicate the-duplicate-of-rank-2; do
    "$STRAG" explain --saved "$files/of-$name.yaml" --bytes 1M > "$files/explain" ||
        fail "no file for $name"
done
grep -q '^ranks: 2$' "$files/of-the-duplicate-of-rank-2.yaml" || fail "not the half"
[ ! -e "$saved" ] || fail "a file of the other name, too"
save_as=$files/nowhere/x.yaml run 4 "${sizes[@]}"
[ "$(grep -c 'cannot write this file (coll_strag_save)' "$output")" -eq 1 ] ||
    { cat "$output"; fail "not one warning of a file that cannot be written"; }
grep -q "$files/nowhere/x.yaml" "$output"
echo "ok: which communicators"

# ---- Two at once ----

# The first communicator's file is closed a second after the second one, which is larger, begins to
# be saved: that has to wait.
run 3 -x "$(preloading "$programs/.libs/slow_fclose.so")" -x SLOW_FCLOSE=2000 "$programs/savers"
"$STRAG" explain --saved "$saved" --bytes 1M > "$files/explain" ||
    { cat "$saved"; fail "two communicators were saved into one file"; }
grep -q '^ranks: 3$' "$saved" || fail "not the larger communicator"
echo "ok: two at once"

# ---- A table of another strag ----

sed -i 's/algorithm: ring/algorithm: bine/' "$files/flat.yaml"
if "$STRAG" explain --saved "$files/flat.yaml" --bytes 1M > "$files/explain" 2> "$output"; then
    fail "another table is not noticed"
fi
grep -q '^but the job ran:$' "$files/explain" || fail "it does not say what the job ran"
grep -q "^strag explain: --saved: the job's table, by strag .*, is not this strag's" "$output" ||
    fail "no message of another table"
echo "ok: another table"
