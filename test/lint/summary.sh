#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# doc/results.md and README.md say what bench/summary.py finds in the pages of doc/results, and it finds
# what is in two small pages. The lab's pictures are of these pages' tables, too.
set -eu
: "${srcdir:?run me by make check}"
if ! python3 -c '' 2>/dev/null; then
    echo "skipped: python3 is needed"
    exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/figures"

cp -r "$srcdir/doc/results" "$srcdir/README.md" "$work"
chmod -R u+w "$work"
python3 "$srcdir/bench/summary.py" "$work/results.md" "$work/README.md"
for file in doc/results.md README.md doc/figures/summary.svg; do
    cmp "$srcdir/$file" "$work/${file#doc/}" ||
        { echo "FAIL: $file is not what bench/summary.py makes of doc/results" >&2; exit 1; }
done
[ "$(wc -l <"$srcdir/README.md")" -le 110 ] || { echo "FAIL: README.md has more than 110 lines" >&2; exit 1; }
[ "$(wc -l <"$srcdir/doc/results.md")" -le 400 ] || { echo "FAIL: doc/results.md has more than 400 lines" >&2; exit 1; }

rm "$work/figures/summary.svg"
python3 "$srcdir/bench/lab/pictures.py" "$work/results"
for file in "$srcdir"/doc/figures/lab-*.svg "$work"/figures/lab-*.svg; do
    name=$(basename "$file")
    cmp "$srcdir/doc/figures/$name" "$work/figures/$name" ||
        { echo "FAIL: $name is not what bench/lab/pictures.py makes of doc/results" >&2; exit 1; }
    grep -q "](../figures/$name)" "$srcdir/doc/results/lab.md" ||
        { echo "FAIL: doc/results/lab.md does not show $name" >&2; exit 1; }
done

rm -r "$work"/results/*
cat >"$work/results/shared-memory.md" <<'END'
# Shared memory

    2026-11-22T21:48:51Z
    launches: 5

## auto, short vectors, against all of Open MPI's: 2 ranks

| size | strag us | stock us | stock is | stock / strag | lowest .. highest | stock / stock again |
|---:|---:|---:|---|---:|---:|---:|
| 4 B | 1.00 | 2.00 | sm | 2.000 | 2.000 .. 2.000 | 1.000 |
| 8 KiB | 1.00 | 0.90 | sm | 0.900 | 0.900 .. 0.900 | 1.000 |

Target: 0.97 at every size. Missed: 8 KiB (0.900).
END
cat >"$work/results/jobs.md" <<'END'
# Jobs

## Later calls

| ranks | size | strag ms | stock ms | strag / stock | stock again / stock |
|---:|---:|---:|---:|---:|---:|
| 32 | 8 B | 2 | 1 | **2.00** | 1.00 |
| 32 | 64 KiB | 1 | 2 | 0.50 | 1.00 |
END
cat >"$work/results/lab.md" <<'END'
# The lab

## Eight hosts on one switch

    launches: 4

4 MiB, lower bound 100.0 ms:

| contender | default | best | at | spread | best / bound | best / model | best / cost | stock | links |
|---|---:|---:|---|---:|---:|---:|---:|---:|---:|
| strag-auto | 100.0 | 100.0 | default | 0.0 % | 1.000 |  |  | 1.250 (1.200 to 1.300) |  |
| tuned | 200.0 | 200.0 | send | 0.0 % | 1.500 |  |  | 0.625 |  |
| tuned-recursive-doubling | 200.0 | 200.0 | send | 0.0 % | 1.500 |  |  | 0.625 |  |
| tuned-ring | 125.0 | 125.0 | send | 0.0 % | 1.500 |  |  | 1.000 |  |
| tuned-rabenseifner | 200.0 | 200.0 | send | 0.0 % | 1.500 |  |  | 0.625 |  |

## Eight ranks, one or two slow hosts

    foreign load: 0 to 45 % of the processors, load average 1.0 to 2.0

4 MiB, lower bound 100.0 ms:

| contender | default | best | at | spread | best / bound | best / model | best / cost | stock | links |
|---|---:|---:|---|---:|---:|---:|---:|---:|---:|
| strag-auto | 100.0 | 100.0 | default | 0.0 % | 1.000 |  |  | 1.500 |  |
| tuned | 300.0 | 150.0 | send | 0.0 % | 1.500 |  |  | 1.000 |  |

Missed:

- x2: strag-auto, 4 MiB: something
- x2: calibration: something else

## Eight hosts, one straggler, which strag has to detect

    launches: 5

1 MiB, lower bound 1700.0 ms, from the last arrival on:

| contender | default | best | at | spread | best / bound | best / model | best / cost | stock | links |
|---|---:|---:|---|---:|---:|---:|---:|---:|---:|
| strag-auto | 1708.8 | 1708.8 | default | 0.0 % | 1.000 |  |  | 9.000 |  |
| tuned-ring | 1800.0 | 1800.0 | default | 0.0 % | 1.000 |  |  | 1.000 |  |

1 MiB, 900.0 ms late, lower bound 880.6 ms, from the last arrival on:

| contender | default | best | at | spread | best / bound | best / model | best / cost | stock | links |
|---|---:|---:|---|---:|---:|---:|---:|---:|---:|
| strag-auto | 900.0 | 900.0 | default | 0.0 % | 1.000 |  |  | 2.000 (1.900 to 2.100) |  |
| tuned-ring | 1800.0 | 1800.0 | default | 0.0 % | 1.000 |  |  | 1.000 |  |

## Eight hosts, one is degraded

    launches: 5
    foreign load: 0 to 21 % of the processors, load average 1.0 to 2.0

| contender | all calls, s | before, ms | degraded, ms | finally, ms | noticed | after, ms | back |
|---|---:|---:|---:|---:|---:|---:|---:|
| strag-auto | 1 | 1 | 1 | 1 | 1 | 1 | 1 |
END
: >"$work/README.md"
python3 "$srcdir/bench/summary.py" "$work/results.md" "$work/README.md"
cat >"$work/expected" <<'END'
| median of all sizes and machines measured (lowest to highest) | |
| Open MPI's own choice, between hosts, takes | **2.50** times as long (2.00 to 3.00) |
| the fastest of its algorithms and settings that were measured takes | **1.25** times as long (0.90 to 2.00) |
| the worst loss: later calls, 4 to 64 ranks on 2 cores | strag takes **2.00** times as long |
END
diff <(grep '^| [A-Za-z]' "$work/README.md") "$work/expected"
grep -q '(and 1 that concern' "$work/results.md"
grep -q '^No site has sent in measurements yet' "$work/results.md"
mkdir "$work/results/clusters"
touch "$work/results/clusters/here.csv"
python3 "$srcdir/bench/summary.py" "$work/results.md" "$work/README.md"
grep -qxF -- '- [here](results/clusters/here.html), [its file](results/clusters/here.csv)' "$work/results.md"
grep -q "Of the 6 sections with ratios 3 have that many launches; fewer: \[Eight hosts on one switch\].*, \
\[Eight ranks, one or two slow hosts\].*, \[Later calls\].* More load next to a launch: \
\[Eight ranks, one or two slow hosts\].*, \[Eight hosts, one is degraded\][^,]*\. Elsewhere" \
    "$work/results.md" || { echo "FAIL: launches, and other load" >&2; exit 1; }
# One set, one colour: its best of eight hosts, and the slow one, of which fewer algorithms were measured.
grep -qF '| 8 identical hosts | 4 MiB | 2.00 | 1.25 |  |' "$work/results.md"
grep -qF '| one or two hosts with slow links | 4 MiB | 3.00 |  | 1.50 |' "$work/results.md"
grep -qF -- "- [Eight ranks, one or two slow hosts](results/lab.md#eight-ranks-one-or-two-slow-hosts): x2: strag-auto, 4 MiB: something" \
    "$work/results.md"
grep -qF -- '2-ranks): 8 KiB (0.900)' "$work/results.md"
cat >"$work/expected" <<'END'
| one or two hosts with slow links |  |  |  |  |  | 3.00 |
| one host, 2 ranks | 2.00 | 0.90 |  |  |  |  |
| one or two hosts with slow links |  |  |  |  |  | 1.50 |
| one or two ranks late, from the last arrival |  |  |  |  | 2.00 |  |
| later calls, 4 to 64 ranks on 2 cores: strag / stock | 0.50 .. **1.25** .. 2.00 | [jobs](results/jobs.md) |
- **[Shared memory](results/shared-memory.md)**: written by `bench/report.py` from `bench/shm.sh`, 2026-11-22
END
diff <(grep -e '^| one .* |.*|.*|.*|.*|.*|.*|$' -e '^| later' -e '^- \*\*\[Shared' "$work/results.md") "$work/expected"
