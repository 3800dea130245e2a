#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# bench/compare: launches with and without strag, a CSV that agrees with the table and the sentence, a
# picture that is one, and what it says of numbers that are known.
set -eu
: "${srcdir:?run me by make check}" "${builddir:?}"

fail()
{
    echo "FAIL: $*"
    exit 1
}

work=$(mktemp -d "$builddir/mpi-compare.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$builddir"

"$srcdir/bench/compare" --sizes 64,4K --seconds 0.05 --launches 2 --output "$work" -- \
    --oversubscribe -np 2 --mca pml ob1 > "$work/out" 2> "$work/err" || { cat "$work/err"; fail 'compare'; }
grep -q '^With 2 ranks here strag is .*\.$' "$work/out" || { cat "$work/out"; fail 'the sentence'; }
python3 - "$srcdir" "$work" << 'END'
import csv, importlib.machinery, importlib.util, re, sys, xml.dom.minidom
source, work = sys.argv[1:]
sys.dont_write_bytecode = True
sys.path.insert(0, source + "/bench")
loader = importlib.machinery.SourceFileLoader("compare", source + "/bench/compare")
compare = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare", loader))
loader.exec_module(compare)

rows = list(csv.DictReader(open(work + "/compare.csv")))
assert [row["bytes"] for row in rows] == ["64", "4096"], rows
for row in rows:
    assert row["ranks"] == "2" and row["launches"] == "2", row
    # On a busy machine a ratio may be less than the four places that the file has.
    assert 0 <= float(row["lowest"]) <= float(row["ratio"]) <= float(row["highest"]), row
    assert float(row["stock_us"]) > 0 and float(row["strag_us"]) > 0, row
    assert re.search(rf"^ *{compare.section.size_text(int(row['bytes']))} +{float(row['stock_us']):.2f} ",
                     open(work + "/out").read(), re.M), row
svg = xml.dom.minidom.parse(work + "/compare.svg")
assert len(svg.getElementsByTagName("circle")) == 2
assert any("-np 2" in text.firstChild.data for text in svg.getElementsByTagName("text"))

K = 1024
found = {8: [1.2, 1.1, 1.3], K: [1.0, 1.5, 0.9], 2 * K: [2.0, 3.0, 2.5], 4 * K: [1.5, 1.6, 1.4],
         8 * K: [0.8, 0.9, 0.7]}
said = compare.sentence(found, 64)
assert said == ("With 64 ranks here strag is faster at 8 B (1.20 times as fast) and 2 KiB to 4 KiB "
                "(1.50 to 2.50 times as fast); slower at 8 KiB (0.80 times as fast); as fast as stock "
                "Open MPI at 1 KiB."), said
said = compare.sentence({8: [1.01, 1.02], 16: [0.99, 0.98]}, 2)
assert said == "With 2 ranks here strag is nowhere faster; as fast as stock Open MPI at 8 B to 16 B.", said
assert compare.doubt(found) == ("Launches differ by more than half at 1 KiB: something else runs here; "
                                "try more of them, or another time."), compare.doubt(found)
assert compare.doubt({8: [1.4, 1.0]}) == ""
print("ok: the files agree, and known numbers are reported as they are")
END

# refused TEXT ARGUMENT...
refused()
{
    local text=$1
    shift
    if "$srcdir/bench/compare" "$@" > "$work/out" 2>&1; then
        fail "compare $* succeeds"
    fi
    grep -q "$text" "$work/out" || { cat "$work/out"; fail "no '$text'"; }
}
refused 'make bench/allreduce' --program "$work/nothing" -- -np 2
refused 'at least 1' --launches 0 -- -np 2
refused 'this failed: .*--no-such-option' --output "$work" --sizes 8 --seconds 0.01 -- --no-such-option
echo 'ok: errors are reported'
