#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# strag-tune: it writes rules that the component then follows; merging; wrong usage.
# STRAG_TEST_FULL=1: more of them.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

folder=$builddir/tune-test.$$
output=$folder/output
rules=$folder/rules.yaml
mkdir "$folder"
trap 'rm -rf "$folder"' EXIT

# refused PATTERN RANKS OPTIONS...: it must fail with a message that matches
refused()
{
    local pattern=$1
    shift
    if mpi "$@" > "$output" 2>&1 || ! grep -Eq -- "$pattern" "$output"; then
        cat "$output"
        fail "not refused with '$pattern': mpirun -np $*"
    fi
}

tune=(--mca coll strag "$builddir/tools/strag-tune" --seconds 0.05)

# chosen BYTES: the choice of the file's first rule for a size
chosen()
{
    awk -v bytes="$1" '
        /- hosts:/ && ++rule > 1 { exit }
        /from:/ {
            gsub(/[{},]/, " ")
            if ($3 <= bytes)
                algorithm = $5
        }
        END { print algorithm }' "$rules"
}

for ranks in 3 ${STRAG_TEST_FULL:+2 5}; do
    rm -f "$rules"
    into_output "$ranks" "${tune[@]}" --sizes 4,4000,40000,1200000 --output "$rules"
    grep -q "ranks-per-host: $ranks\$" "$rules" || fail "no rule for $ranks ranks per host"
    into_output "$ranks" --mca coll strag --mca coll_strag_rules "$rules" --mca coll_strag_verbose 1 \
        "$programs/sizes"
    for bytes in 4 4000 40000 1200000; do
        algorithm=$(chosen "$bytes")
        if [ "$algorithm" = previous ]; then
            algorithm='previous component'
        fi
        class=1
        while [ $((2 * class)) -le "$bytes" ]; do
            class=$((2 * class))
        done
        if ! grep -Eq "MPI_COMM_WORLD .*allreduce of $class .. .* bytes: $algorithm( in [0-9]+ blocks?)? \
\(rule in $rules, line 4\)" "$output"; then
            cat "$rules" "$output"
            fail "$bytes bytes: not $algorithm"
        fi
    done
    echo "ok: np $ranks"
done

# The model alone, which the command and the component then use; and next to the rules.
into_output 4 "${tune[@]}" --model "$folder/own.yaml"
for number in local-alpha local-bandwidth reduce-bandwidth; do
    grep -Eq "^ +-? *$number: [0-9.]+ " "$folder/own.yaml" || { cat "$folder/own.yaml"; fail "no $number"; }
done
! grep -q ' bandwidth:' "$folder/own.yaml" || fail "a network's bandwidth on one host"
grep -q 'ranks: 4, hosts: 1}' "$folder/own.yaml" || fail "not what was measured on"
"$STRAG" explain -n 4 --ranks-per-node 4 --bytes 1M --model "$folder/own.yaml" > "$output"
grep -q "from $folder/own.yaml, line 4: local-alpha, local-bandwidth, reduce-bandwidth$" "$output" ||
    { cat "$output"; fail "the command does not use it"; }
into_output 2 --mca coll strag --mca coll_strag_model "$folder/own.yaml" --mca coll_strag_verbose 2 "$programs/sizes"
grep -Eq "MPI_COMM_WORLD .*: model: .*local-alpha [0-9.e+]+ us \(file $folder/own.yaml, line 4\)" "$output" ||
    { cat "$output"; fail "the component does not use it"; }
into_output 2 "${tune[@]}" --sizes 4 --output "$folder/next.yaml" --model
if [ ! -s "$folder/model.yaml" ] || [ ! -s "$folder/next.yaml" ]; then
    fail "not both files"
fi
echo "ok: the model"

# Other components are measured and shown, and no rule leads to them.
into_output 3 "${tune[@]}" --sizes 4,64K --components tuned,nonesuch,basic --output "$rules"
grep -Eq '# +bytes +previous .* direct +tuned +basic$' "$rules" || { cat "$rules"; fail "components"; }
! grep -Eq 'algorithm: (tuned|basic)' "$rules" || { cat "$rules"; fail "a rule for another component"; }
into_output 2 "${tune[@]}" --sizes 4 --components none --output "$rules"
grep -Eq '# +bytes +previous .* direct$' "$rules" || { cat "$rules"; fail "no components"; }
echo "ok: other components"

# Merging: other rules and all comments stay, strag-tune's own for the same job is replaced.
cat > "$rules" << 'END'
# mine
strag-rules: 1
rules:
# for two hosts
- hosts: 2
  sizes: [{from: 0, algorithm: ring}]
- hosts: 1
  ranks-per-host: 2
  # measured by strag-tune on a day; medians in microseconds:
  # old numbers
  sizes:
  - {from: 0, algorithm: circulant}
# for any
- sizes:
  - {from: 0, algorithm: auto}
END
into_output 2 "${tune[@]}" --sizes 4,64K --output "$rules" --merge
for line in '# mine' '# for two hosts' '- hosts: 2' '# for any'; do
    [ "$(grep -c -- "^$line\$" "$rules")" -eq 1 ] || { cat "$rules"; fail "'$line' is not there once"; }
done
[ "$(grep -c 'ranks-per-host: 2' "$rules")" -eq 1 ] || { cat "$rules"; fail "the old rule stayed"; }
! grep -q 'old numbers' "$rules" || fail "the old rule's comment stayed"
into_output 3 "${tune[@]}" --sizes 4,64K --output "$rules" --merge
[ "$(grep -c 'ranks-per-host:' "$rules")" -eq 2 ] || { cat "$rules"; fail "not two rules"; }
cp "$rules" "$folder/before"
into_output 3 "${tune[@]}" --sizes 4,64K --output "$rules" --merge
[ "$(wc -l < "$rules")" -eq "$(wc -l < "$folder/before")" ] || [ "$(grep -c from: "$rules")" -ne \
    "$(grep -c from: "$folder/before")" ] || fail "merging again changed the other lines"
[ "$(grep -c 'ranks-per-host:' "$rules")" -eq 2 ] || fail "merging again changed the number of rules"
into_output 3 --mca coll strag --mca coll_strag_rules "$rules" --mca coll_strag_verbose 1 "$programs/sizes"
grep -q 'MPI_COMM_WORLD .*(rule in .*, line 5)' "$output" || { cat "$rules" "$output"; fail "not followed"; }
# A rule for one network is the user's: it stays, behind the new one.
sed -i '0,/^  ranks-per-host: .*/s//&\n  network: torus/' "$rules"
into_output 3 "${tune[@]}" --sizes 4,64K --output "$rules" --merge
[ "$(grep -c 'network: torus' "$rules")" -eq 1 ] || { cat "$rules"; fail "the rule for a torus is gone"; }
[ "$(grep -c 'ranks-per-host:' "$rules")" -eq 3 ] || { cat "$rules"; fail "not three rules"; }
echo "ok: merging"

# Files that cannot be merged with stay as they are.
echo '{strag-rules: 1, rules: [{sizes: [{from: 0, algorithm: ring}]}]}' > "$rules"
cp "$rules" "$folder/before"
refused 'rules.yaml:1: only rules that begin with' 2 "${tune[@]}" --sizes 4 --output "$rules" --merge
cmp "$rules" "$folder/before"
echo 'hello' > "$rules"
refused 'rules.yaml:1: ' 2 "${tune[@]}" --sizes 4 --output "$rules" --merge

# Wrong usage
refused '--sizes: .*multiples of 4' 1 "${tune[@]}" --sizes 6
refused '--merge: needs --output' 1 "${tune[@]}" --merge
refused '^strag-tune: --nothing: unknown option; accepted: -s, --sizes, .*--version$' 1 "${tune[@]}" --nothing
refused '^strag-tune: -o needs a value' 1 "${tune[@]}" -o
refused 'coll/strag is not used' 2 "$builddir/tools/strag-tune" --sizes 4
refused 'coll/strag is not used.*2 ranks or more' 1 "${tune[@]}" --model "$folder/alone.yaml"
refused 'coll/strag is not used' 2 "$builddir/tools/strag-tune" --model "$folder/alone.yaml"
[ ! -e "$folder/alone.yaml" ] || fail "a model without strag, or of one rank"
refused 'coll/strag was not loaded' 2 --mca coll ^strag "$builddir/tools/strag-tune" --sizes 4
refused 'nowhere/rules: No such file' 2 "${tune[@]}" --sizes 4 --output "$folder/nowhere/rules"
refused 'nowhere/model: No such file' 2 "${tune[@]}" --model "$folder/nowhere/model"
# What one rank finds out ends all of them without MPI_Abort.
for options in "--output $folder" "--output $folder/nowhere/rules" "--output $rules --merge" "--model $folder/nowhere/model"; do
    status=0
    # shellcheck disable=SC2086 # words
    mpi 2 "${tune[@]}" --sizes 4 $options > "$output" 2>&1 || status=$?
    if [ "$status" -ne 2 ] || grep -q MPI_ABORT "$output" || [ "$(grep -c '^strag-tune: ' "$output")" -ne 1 ]; then
        cat "$output"
        fail "$options: exit status $status"
    fi
done
into_output 1 "${tune[@]}" --version
grep -Eq '^strag-tune [0-9]+\.[0-9]+' "$output" || fail "--version says nothing"
into_output 1 "${tune[@]}" --help
grep -q '^usage: mpirun' "$output" || fail "--help says nothing"
echo "ok: wrong use"
