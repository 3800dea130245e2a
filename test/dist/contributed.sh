#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# bench/contributed.py: a good file passes and makes a page, malformed ones are refused by row and column; doc/results
# states its schema, and all files there pass. bench/busy.py: a launch next to other load is made again.
set -eu
. "${srcdir:?run me by make check}/test/dist/common.sh"
own_folder contributed
bench=$srcdir/bench
export PYTHONDONTWRITEBYTECODE=1

python3 - "$bench" "$work" << 'END'
import sys
bench, work = sys.argv[1:]
sys.path.insert(0, bench)
import busy, comparison_page, contributed

def row(launch, contender, size, median, test="blocking", delay=0):
    ours = contender == "strag"
    return {"test": test, "launch": launch, "bytes": size, "ranks": 8, "hosts": 2, "contender": contender,
            "delay_us": delay, "samples": 12, "min_us": median / 2, "q1_us": median, "median_us": median,
            "q3_us": 2 * median, "strag_calls": 12 * ours, "delegated": 0, "foreign_percent": 30 if launch == 5 else 1}

times = {"stock": 3.0, "strag": 1.0, "stock-again": 3.0, "tuned-ring": 2.0}
rows = [row(launch, name, size, time * launch + 7 * (test == "late"), test, 7 * (test == "late")) for launch in range(1, 6)
        for test in ("blocking", "late") for size in (64, 4096) for name, time in times.items()]
rows += [row(launch, name, 64, 1.0, "persistent") for launch in range(1, 6) for name in ("stock", "strag")]
about = {name: "text" for name in contributed.ABOUT}
about.update({"strag-comparison": 1, "date": "2026-11-27T10:00:00Z", "fabric": "1 < 2 & so on", "processors": 2, "launcher": "srun a,=b\x1b"})
made = contributed.Comparison(about, rows)
contributed.check(made)
contributed.write(work + "/good.csv", made)
found = contributed.read(work + "/good.csv")
assert [found.tests(), found.sizes("late")] == [["blocking", "persistent", "late"], [64, 4096]]
assert found.best("blocking", 64) == "tuned-ring" and found.best("persistent", 64) == "stock"
for test in ("blocking", "late"): # a delay is not part of a time
    assert found.ratios(test, 64, "tuned-ring") == [2.0] * 5, found.ratios(test, 64, "tuned-ring")
assert found.microseconds("blocking", 64, "stock") == 9.0
assert found.about["launcher"] == "srun a, =b"
page = comparison_page.page(found, "me@here")
assert page.count("<svg") == 3 and "1 &lt; 2 &amp; so on" in page and "me@here" in page
assert "Next to 1 of 5 launches" in page and "up to 30 %" in page, "the load"
assert not any(word in page for word in ("<script", "<link", "src=", "href=", "@import", "url(")), "not self-contained"

assert (busy.most(2), busy.most(8)) == (20, 12.5)
busy.most = lambda: 20 # whatever this machine has
calls, loads = [], [0.5, 0.1, 0.4, 0.3]
kept = busy.quietest(lambda: calls.append(len(calls)) or len(calls), 2, 0, lambda _: loads.pop(0))
assert kept == (2, 40.0) and len(calls) == 3, (kept, calls)
loads = [0.1, 0.2]
assert busy.quietest(lambda: "once", 2, 0, lambda _: loads.pop(0)) == ("once", 20.0)
END

python3 "$bench/contributed.py" "$work/good.csv" | grep -qx "$work/good.csv: ok: 90 rows, blocking, persistent, late" ||
    fail 'a good file'

python3 - "$bench" "$work" << 'END'
import re, sys
bench, work = sys.argv[1:]
sys.path.insert(0, bench)
import contributed

good = open(work + "/good.csv").read().splitlines()
first = next(number for number, line in enumerate(good) if line.startswith("blocking"))
row = first + 1

def refused(pattern, new, wanted, at=None):
    """Lines that match are replaced, or removed where `new` is None; `at`: only that one"""
    lines = [re.sub(pattern, new or "", line) if at in (None, number) else line for number, line in enumerate(good)]
    if new is None:
        lines = [line for line in good if not re.search(pattern, line)]
    assert lines != good, pattern
    try:
        contributed.check(contributed.parse("\n".join(lines)))
    except contributed.Refused as reason:
        assert wanted in str(reason) and "\n" not in str(reason), (wanted, str(reason))
    else:
        raise AssertionError("accepted: " + pattern)

refused("^# fabric.*", "# fabrik: x", "row 6: '# NAME: VALUE' with one of strag-comparison, date")
refused("^# fabric", None, f"row {row - 2}: '# fabric: ' is missing")
refused("1$", "2", "strag-comparison: '2' is not 1", 0)
refused("^# date.*", "# date: yesterday", "date: 'yesterday' is not like")
refused("^# processors.*", "# processors: many", "processors: 'many' is not a number from 1 on")
refused("^# from.*", "# from: x,=HYPERLINK(1)", "neither control characters nor what a spreadsheet takes for a formula")
refused("^# from.*", "# from: \x1b[2J", "neither control characters nor what a spreadsheet takes for a formula")
refused(",64,", ",64" + 200000 * "0" + ",", "field larger than field limit", first)
refused(",64,", ",64" + 20 * "0" + ",", "is not a whole number of at least 4, below 1e+15 (bytes)", first)
refused(",64,", ",\x1b,", f"row {row}, column bytes: '\\x1b' is not a whole number", first)
refused(",median_us", ",median_ms", f"row {row - 1}: column median_us is missing")
refused("^test,launch", "launch,test", "the columns are expected in this order: test,launch,")
refused(",[^,]*$", "", f"row {row}: 14 columns, not 15", first)
refused("^blocking", "blokking", f"row {row}, column test: 'blokking' is not one of blocking, nonblocking", first)
refused(",64,", ",64K,", f"row {row}, column bytes: '64K' is not a whole number of at least 4 (bytes)", first)
refused(",stock,", ",Stock!,", f"row {row}, column contender: 'Stock!' is not a name like", first)
refused(",3.0,", ",nan,", f"row {row}, column q1_us: 'nan' is not a number of at least 0 (microseconds)", first)
refused(",1.5,", ",99,", f"row {row}, column median_us: min_us, q1_us, median_us and q3_us do not ascend", first)
refused(",8,2,", ",8,9,", f"row {row}, column hosts: 9 hosts, but 8 ranks", first)
refused(",stock,0,", ",stock,5,", f"row {row}, column delay_us: not 0, but the test is blocking", first)
refused(",0,0,([0-9]*)$", r",4,0,\1", f"row {row}, column strag_calls: strag took part in the calls of stock", first)
refused("[0-9]*$", "101", f"row {row}, column foreign_percent: is above 100", first)
refused(",8,2,", ",9,2,", f"row {row + 1}, column ranks: 9, but 8 in row {row}", row)
refused("$", "\n" + good[first], f"row {row + 1}, column launch: the same as row {row}", first)
refused("^blocking,3,64,8,2,strag,", None, "column contender: its launch has blocking calls of 64 bytes, but not those of strag")
refused("^blocking,5,", None, f"row {row}, column launch: stock has 4 launches with blocking calls of 64 bytes; at least 5 are")
refused("^[a-z]+,[0-9].*", None, f"row {row}: there is no row")
open(work + "/bad.csv", "w").write("\n".join(good).replace(",64,", ",64K,", 1))
END
if python3 "$bench/contributed.py" "$work/good.csv" "$work/bad.csv" > "$work/out" 2> "$work/err"; then
    fail 'a malformed file is accepted'
fi
grep -q "^$work/bad.csv: row [0-9]*, column bytes: '64K' is not" "$work/err" || { cat "$work/err"; fail 'the reason'; }
grep -q "^$work/good.csv: ok" "$work/out" || fail 'the other file is not checked'
if python3 "$bench/contributed.py" "$work/nowhere.csv" 2> "$work/err"; then
    fail 'a file that does not exist'
fi
grep -q 'nowhere.csv: No such file' "$work/err" || { cat "$work/err"; fail 'the reason'; }
echo 'ok: malformed files are refused'

sed -n '/^<!-- schema: begin/,/^<!-- schema: end/p' "$srcdir/doc/results/README.md" | sed '1,2d;$d' | sed '$d' > "$work/stated"
python3 "$bench/contributed.py" --schema | diff "$work/stated" - || fail 'doc/results/README.md has another schema'
for file in "$srcdir"/doc/results/clusters/*.csv; do
    [ ! -e "$file" ] || python3 "$bench/contributed.py" "$file" || fail "$file"
done

# A launch's rows get the column, after those of earlier launches; if it fails, these stay.
add=(python3 "$bench/busy.py" "$work/rows.csv" sh -c)
for number in 1 2; do
    "${add[@]}" "printf 'a,b\n$number,x\n' >> '$work/rows.csv'" 2> "$work/err"
done
sed 's/,[0-9.]*$/,P/' "$work/rows.csv" | diff - <(printf '%s\n' a,b,foreign_percent 1,x,P 2,x,P) || fail 'busy.py'
if "${add[@]}" 'exit 3'; then fail 'busy.py succeeds'; else [ $? -eq 3 ] || fail 'the status'; fi
[ "$(wc -l < "$work/rows.csv")" -eq 3 ] || fail 'rows are lost'
echo 'ok: the schema is stated; rows have the load'
