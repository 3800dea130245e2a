#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Where ranks are, and which files count: layouts, tori, SLURM_TOPOLOGY_ADDR, rules (layout.c).
#
# Several hosts are made on one machine by giving each process a host name of its own (unshare
# --uts), several packages by letting hwloc make them up (HWLOC_SYNTHETIC). What strag says of a
# communicator is compared with what layout.c finds out by itself. STRAG_TEST_FULL=1: more of them.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

need_hosts
own_folder layout

# run RANKS OPTIONS-AND-PROGRAM...: it must succeed; its output goes to a file: what it prints, then what
# strag logs, since mpirun may put a piece of the one into a line of the other
run()
{
    local ranks=$1 status=0
    shift
    mpi "$ranks" --mca coll strag --mca coll_strag_verbose "${VERBOSE:-2}" "$@" \
        > "$output" 2> "$files/log" || status=$?
    cat "$files/log" >> "$output"
    if [ "$status" -ne 0 ]; then
        cat "$output"
        fail "mpirun -np $ranks $*"
    fi
}

# has PATTERN: a line of the last run matches
has()
{
    if ! grep -Eq -- "$1" "$output"; then
        cat "$output"
        fail "no line matches '$1'"
    fi
}

# count WANTED PATTERN: this many lines of the last run match
count()
{
    local lines
    lines=$(grep -Ec -- "$2" "$output" || true)
    if [ "$lines" -ne "$1" ]; then
        cat "$output"
        fail "$lines lines match '$2', not $1"
    fi
}

# warned PATTERN RANKS OPTIONS...: one warning, which says that
warned()
{
    local pattern=$1
    shift
    run "$@"
    count 1 'coll/strag (cannot use|ignores)|coll_strag_algorithm names'
    has "$pattern"
}

# agrees: every communicator's topology as strag says it is as layout.c says it is
agrees()
{
    if ! awk '
        function number(text, what) {
            return match(text, "[0-9]+ " what) ? substr(text, RSTART, RLENGTH) + 0 : 0
        }
        /layout: [a-z0-9]+: hosts/ { said[$2 " " ++mine[$2]] = $4 + 0 " " $7 }
        /coll:strag: .*: topology: / {
            sub(/.*coll:strag: /, "")
            name = ($1 == "MPI_COMM_WORLD" ? "world" : $1) ":"
            heard[name " " ++theirs[name]] = number($0, "hosts?") " " \
                number($0, "packages?") + number($0, "NUMA domains?") + number($0, "caches?")
        }
        END {
            for (name in heard) {
                found = 0
                split(name, part, " ")
                for (other in said) {
                    split(other, its, " ")
                    if (its[1] == part[1] && said[other] == heard[name]) {
                        delete said[other]
                        found = 1
                        break
                    }
                }
                if (!found) {
                    print "strag says of " part[1] " (hosts, inner nodes) " heard[name]
                    bad = 1
                }
                seen++
            }
            exit bad || seen < 4
        }' "$output"; then
        cat "$output"
        fail "strag and hwloc do not agree"
    fi
}

# ---- Levels: mappings and machines ----

# Communicators of the first 2 to 5 ranks stand for jobs of as many.
numbers=(6)
if [ "${STRAG_TEST_FULL:-0}" = 1 ]; then
    numbers=(2 3 4 5 6 7 8 9)
fi
bound='--map-by core:OVERSUBSCRIBE --bind-to core:overload-allowed'
packages='pack:2 [numa] core:1 pu:1'
for ranks in "${numbers[@]}"; do
    for machine in '' "$packages" '[numa] pack:1 l3:2 core:1 pu:1'; do
        for mapping in "$bound" '--bind-to none'; do
            case ${STRAG_TEST_FULL:-0},$machine,$mapping in
                0,,"$bound" | 0,?*,*none) continue ;; # those that find nothing new
            esac
            made_up=()
            if [ -n "$machine" ]; then
                made_up=(env -u HWLOC_COMPONENTS "HWLOC_SYNTHETIC=$machine" HWLOC_THISSYSTEM=1)
            fi
            # shellcheck disable=SC2086 # options
            if ! ${naps[@]+"${naps[@]}"} "$builddir/test/limit" "$mpi_limit" ${made_up[@]+"${made_up[@]}"} "$STRAG_MPIRUN" \
                ${component_options[@]+"${component_options[@]}"} \
                -np "$ranks" --allow-run-as-root --oversubscribe $mapping --mca coll strag \
                --mca coll_strag_verbose 2 "$programs/layout" > "$output" 2>&1 < /dev/null; then
                cat "$output"
                fail "-np $ranks $mapping on '$machine'"
            fi
            agrees
            if [ "$machine $mapping" = "$packages $bound" ] && [ "$ranks" -ge 4 ]; then
                has 'layout: world: hosts 1, inner nodes 2' # there are two levels to agree on
                has "MPI_COMM_WORLD .*topology: tree, 1 host, 2 [A-Za-z ]*s, $ranks ranks, $ranks per host"
            fi
        done
    done
    echo "ok: levels, np $ranks"
done

# Hosts: interleaved, and in blocks
for ranks in "${numbers[@]}"; do
    run "$ranks" "$on_hosts" 1 b,a "$programs/layout"
    agrees
    (
        unset HWLOC_COMPONENTS # or hwloc ignores the made-up machine
        export "HWLOC_SYNTHETIC=$packages" HWLOC_THISSYSTEM=1
        # shellcheck disable=SC2086 # options
        run "$ranks" $bound "$on_hosts" 4 n0,n1 "$programs/layout"
    ) || exit 1
    agrees
    if [ "$ranks" -eq 8 ]; then
        has 'MPI_COMM_WORLD .*topology: tree, 2 hosts, 4 [A-Za-z ]*s, 8 ranks, 4 per host'
    fi
    echo "ok: hosts, np $ranks"
done

# ---- Layout files ----

cat > "$files/topology.conf" << 'END'
SwitchName=s0 Nodes=n[0-1]
SwitchName=s1 Nodes=n[2-3]
SwitchName=top Switches=s[0-1]
END
hosts=n0,n1,n2,n3
run 8 --mca coll_strag_layout "$files/topology.conf" "$on_hosts" 1 $hosts "$programs/layout"
has 'MPI_COMM_WORLD .*: topology: tree, 2 switches, 4 hosts, 8 ranks, 2 per host'
has ' first2 .*: topology: tree, 2 hosts, 2 ranks, 1 per host'
has ' first4 .*: topology: tree, 2 switches, 4 hosts, 4 ranks, 1 per host'
has ' half .*: topology: tree, 2 hosts, 4 ranks, 2 per host'
has ' dup .*: topology: tree, 2 switches, 4 hosts'
count 0 'cannot use|coll/strag ignores'
echo "ok: layout files"

# Rank 0's file counts: the others have another one, none, or nonsense.
mkdir "$files"/n0 "$files"/n1 "$files"/n2 "$files"/n3
cp "$files/topology.conf" "$files/n0/layout"
echo 'SwitchName=s0 Nodes=n[0-3]' > "$files/n1/layout"
echo '(((' > "$files/n2/layout"
FOLDERS=$files run 4 --mca coll_strag_layout layout "$on_hosts" 1 $hosts "$programs/layout"
has 'MPI_COMM_WORLD .*: topology: tree, 2 switches, 4 hosts, 4 ranks, 1 per host'
count 0 'MPI_COMM_WORLD .*: topology: tree, 4 hosts'
echo "ok: files that differ"

# One warning for each file, whatever the number of communicators; and all is flat. (test_placement has the
# other ways in which hosts do not fit.)
flat='MPI_COMM_WORLD .*: topology: tree, [0-9]+ hosts, 4 ranks, 1 per host'
warned '/nowhere: .*No such file' 4 --mca coll_strag_layout "$files/nowhere" \
    "$on_hosts" 1 $hosts "$programs/sizes"
has "$flat"
warned 'not in it: x, y$' 4 --mca coll_strag_layout "$files/topology.conf" \
    "$on_hosts" 1 n0,x,n1,y "$programs/sizes"
has "$flat"
echo "ok: warnings of layout files"

# ---- Tori, and what hosts say of themselves ----

run 4 --mca coll_strag_torus 2x2 "$on_hosts" 1 $hosts "$programs/layout"
has 'MPI_COMM_WORLD .*: topology: torus 2x2.*, box 2x2, 4 hosts'
has ' reversed .*: topology: torus 2x2.*, box 2x2, 4 hosts'
has ' half .*: topology: torus 2x2.*, box 1x2, 2 hosts' # known from MPI_COMM_WORLD's
warned 'it has 6 positions, and the job has 4 hosts' 4 --mca coll_strag_torus 3x2 \
    "$on_hosts" 1 $hosts "$programs/sizes"
has "$flat"
run 4 --mca coll_strag_torus 2x2 --mca coll_strag_layout "$files/topology.conf" \
    "$on_hosts" 1 $hosts "$programs/layout"
has 'MPI_COMM_WORLD .*: topology: tree, 2 switches'
ADDRESSES=top.s1. run 4 "$on_hosts" 1 $hosts "$programs/layout"
has 'MPI_COMM_WORLD .*: topology: tree, .*4 hosts'
count 0 'SLURM_TOPOLOGY_ADDR is ignored'
echo "ok: tori and addresses"

run 4 --mca coll_strag_layout 'names:r{rack}n{}' "$on_hosts" 1 r1n1,r1n2,r2n1,r2n2 "$programs/layout"
has 'MPI_COMM_WORLD .*: topology: tree, 2 switches, 4 hosts'
echo "ok: names of hosts"
# Slingshot's hosts say where they are, unless Slurm does.
for ((host = 0; host < 4; host++)); do
    mkdir -p "$files/etc/n$host/cray"
    echo "x1000c$((host / 2))s0b0n$host" > "$files/etc/n$host/cray/xname"
done
if unshare --mount mount -t overlay overlay /etc -o "lowerdir=$files/etc/n0:/etc" 2> /dev/null; then
    ETC=$files/etc run 4 "$on_hosts" 1 $hosts "$programs/layout"
    has 'MPI_COMM_WORLD .*: topology: tree, 2 switches, 4 hosts'
    ETC=$files/etc ADDRESSES=top.s1. run 4 "$on_hosts" 1 $hosts "$programs/layout"
    count 0 'topology: tree, 2 switches'
    echo "ok: xnames"
fi

# A pinned algorithm runs where it can be planned, else the previous component after one warning.
pinned=()
for algorithm in "${algorithms[@]}"; do
    if "$STRAG" plan "$algorithm" --torus 3x2 --rank 0 > "$output" 2>&1; then
        pinned+=("$algorithm")
    fi
done
# all_run LINES OPTIONS...: the pinned ones, on the whole job in sizes of three classes. With a layout a
# communicator's first calls are not delegated: they bring the shortest one's line, before there is a name.
all_run()
{
    local lines=$1
    shift
    run 6 --mca coll_strag_minimum_size 0 "$@" "$on_hosts" 1 a,b,c,d,e,f "$programs/layout" \
        --algorithms "$(IFS=,; echo "${pinned[*]}")"
    for algorithm in "${pinned[@]}"; do
        count "$lines" " $algorithm on world .*: $algorithm( in [0-9]+ blocks?)? \\(pinned by coll_strag_algorithm\\)"
    done
}
all_run 2 --mca coll_strag_torus 3x2
pinned=(flexreduce-pipelined flexreduce-direct optcc weighted straggler-pipeline straggler-trees straggler-direct
    stragglar broadcast-after)
all_run 3 --mca coll_strag_slowdown b:2 --mca coll_strag_straggler 3
pinned=(torus-trees)
all_run 2 --mca coll_strag_torus 3x2 --mca coll_strag_slowdown b:2
warned 'bucket needs one rank per host' 6 --mca coll_strag_torus 3x1 \
    --mca coll_strag_algorithm bucket "$on_hosts" 1 a,b,c "$programs/sizes"
has 'MPI_COMM_WORLD .*: previous component \(the algorithm cannot be planned here\)'
has '^sizes: calls 0, delegated 24'
echo "ok: pinned algorithms"

# ---- Rules ----

cat > "$files/rules.yaml" << 'END'
strag-rules: 1
rules:
  - hosts: 2
    ranks-per-host: 2
    sizes:
      - {from: 0, algorithm: circulant}
      - {from: 1M, algorithm: ring}
  - hosts: 4
    sizes:
      - {from: 0, algorithm: previous}
      - {from: 32K, algorithm: recursive-halving}
END
rules=(--mca coll_strag_rules "$files/rules.yaml")
run 4 "${rules[@]}" "$on_hosts" 2 n0,n1 "$programs/layout"
has 'MPI_COMM_WORLD .*: allreduce of 4 .. 7 bytes: circulant \(rule in .*rules.yaml, line 3\)'
has 'MPI_COMM_WORLD .*: allreduce of 1048576 .. .* bytes: ring \(rule in .*rules.yaml, line 3\)'
has ' half .*: allreduce of 1048576 .. .* bytes: [a-z-]*( in [0-9]+ blocks?)? \(auto'
run 4 "${rules[@]}" "$on_hosts" 1 $hosts "$programs/sizes"
has 'MPI_COMM_WORLD .*: allreduce of 4 .. 7 bytes: previous component \(rule in .*, line 8\)'
has 'MPI_COMM_WORLD .*: allreduce of 32768 .. 65535 bytes: recursive-halving \(rule in .*, line 8\)'
has '^sizes: calls 12, delegated 12'
sed -i 's/circulant/circulent/' "$files/rules.yaml"
warned "rules.yaml:6: no algorithm 'circulent' \(nearest: circulant\); accepted: previous, auto, recursive-doubling" 4 "${rules[@]}" \
    "$on_hosts" 2 n0,n1 "$programs/sizes"
has 'MPI_COMM_WORLD .*: allreduce of 1048576 .. .* bytes: [a-z-]*( in [0-9]+ blocks?)? \(auto: modelled [0-9.]+ [mu]?s, next best [a-z-]+ [0-9.]+ [mu]?s\)'
count 0 '[0-9]e[+-][0-9]'
echo "ok: rules"
