#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# bench/compare: a short run writes a page and a file that passes its check, and known numbers are reported as they are.
# A failure names what failed.
set -eu
. "$(dirname "$0")/common.sh"
own_folder compare
cd "$builddir"
export PYTHONDONTWRITEBYTECODE=1
compare=$(cd "$srcdir" && pwd)/bench/compare
options=(--oversubscribe ${component_options[@]+"${component_options[@]}"} --mca pml ob1)

# sm runs here, han does not on one host, and there is no component nothing.
${naps[@]+"${naps[@]}"} "$compare" --sizes 64,4KiB --minutes 0.02 --again 0 --components sm,han,nothing --fabric 'shared memory' --output "$files" \
    -- "${options[@]}" -np 3 > "$output" 2>&1 || { cat "$output"; fail 'compare'; }
python3 "$srcdir/bench/contributed.py" "$files/comparison.csv" || fail 'what compare writes does not pass its check'
grep -q '^3 ranks on 1 host$' "$output" || { cat "$output"; fail 'the ranks'; }
lines 6 '^  Against (what Open MPI runs by itself|the fastest of Open MPI.s that was measured) strag is .*\.$'
components=sm
! without '[6-9]*' 'coll/sm' || components=
python3 - "$srcdir" "$files" $components << 'END'
import html.parser, re, sys
source, work, *components = sys.argv[1:]
sys.path.insert(0, source + "/bench")
import contributed, verdict

found = contributed.read(work + "/comparison.csv")
assert found.tests() == ["blocking", "nonblocking", "persistent", "late"]
tuned = {"tuned-recursive-doubling", "tuned-ring", "tuned-rabenseifner"}
for test in ("blocking", "late"):
    assert set(found.contenders(test)) == {"strag", "stock", "stock-again", *components} | tuned, found.contenders(test)
assert set(found.contenders("persistent")) == {"strag", "stock", "stock-again"}
for row in found.rows:
    assert row["bytes"] in (64, 4096) and row["ranks"] == 3 and row["hosts"] == 1 and row["samples"] >= 12, row
    assert (row["delay_us"] > 0) == (row["test"] == "late") and row["min_us"] >= row["delay_us"], row
assert found.about["fabric"] == "shared memory" and found.about["openmpi"].startswith("mpirun (Open MPI) ")
assert re.fullmatch(r"strag \d.*", found.about["strag"]) and " -np 3" in found.about["launcher"]

class Page(html.parser.HTMLParser):
    """Does every element end, in order, and does none name another file?"""
    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []
    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        assert not {name for name, _ in attributes} & {"src", "href", "xlink:href"}, attributes
        if tag != "meta":
            self.open.append(tag)
    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())

page, text = Page(), open(work + "/comparison.html", encoding="utf-8").read()
page.feed(text)
assert not page.open and page.seen.count("svg") == 4 and "script" not in page.seen and "link" not in page.seen
assert page.seen.count("circle") == 2 * (2 + 1 + 1 + 2) and "strag is faster" in text

K = 1024
found = {8: [1.2, 1.1, 1.3], K: [1.0, 1.5, 0.9], 2 * K: [2.0, 3.0, 2.5], 4 * K: [1.5, 1.6, 1.4],
         8 * K: [0.8, 0.9, 0.7]}
said = verdict.sentence(found, "X")
assert said == ("Against X strag is faster at 8 B (1.20 times as fast) and 2 KiB to 4 KiB (1.50 to 2.50 times as fast); "
                "slower at 8 KiB (0.80 times as fast); as fast at 1 KiB."), said
said = verdict.sentence({8: [1.01, 1.02], 16: [0.99, 0.98]}, "X")
assert said == "Against X strag is nowhere faster; as fast at 8 B to 16 B.", said
assert verdict.scattered(found) == "1 KiB", verdict.scattered(found)
assert verdict.scattered({8: [1.4, 1.0]}) == ""
print("ok: the files agree, and known numbers are reported as they are")
END
cp "$files/comparison.html" "$files/first.html"
"$compare" --page "$files/comparison.csv" --output "$files/new/folder" > "$output" || fail 'compare --page'
cmp "$files/first.html" "$files/new/folder/comparison.html" || fail 'compare --page draws another page'

# A slow host: its launches are between the two commands.
${naps[@]+"${naps[@]}"} "$compare" --sizes 64 --minutes 0.01 --again 0 --launches 1 --tests blocking --components '' --output "$files" \
    --slow "touch '$files/slowed'" --restore "rm '$files/slowed' && touch '$files/restored'" \
    -- "${options[@]}" -np 2 > "$output" 2>&1 || { cat "$output"; fail 'compare --slow'; }
[ -e "$files/restored" ] || fail 'the host is not restored'
grep -q '^slow,1,64,2,1,strag,' "$files/comparison.csv" || fail 'no calls with a slow host'
lines 1 '^1 launch; at least 5 are needed to send the file in\.$'

# refused PATTERN ARGUMENT...: the last line but what was said
refused()
{
    local pattern=$1
    shift
    if "$compare" --sizes 64 --minutes 0.01 --again 0 --tests blocking --output "$files" "$@" > "$output" 2>&1; then
        fail "compare $* succeeds"
    fi
    grep -Eq -- "$pattern" "$output" || { cat "$output"; fail "no '$pattern'"; }
}
# says STATUS LINE: an mpirun that says this and ends
says()
{
    printf '#!/bin/sh\necho one; echo "%s"\nexit %s\n' "$2" "$1" > "$files/mpirun"
    chmod +x "$files/mpirun"
}
refused 'make bench/allreduce' --program "$files/nothing" -- -np 2
refused '--launches: at least 1' --launches 0 -- -np 2
refused "--sizes: '64,' is not like" --sizes 64, -- -np 2
refused "--sizes: '8..4' is not like" --sizes 8..4 -- -np 2
refused '--sizes: each must be named once' --sizes 4K,4KiB -- -np 2
refused '--components: each must be named once' --components sm,sm -- -np 2
refused "^compare: --output $files/first.html: File exists; a folder" --output "$files/first.html" -- -np 2
refused "^compare: --output /proc/nothing: .*; a folder" --output /proc/nothing -- -np 2
refused '--slow and --restore need each other' --slow true -- -np 2
refused '--tests: blocking, and any of' --tests late -- -np 2
refused '^compare: nowhere: no such command; --mpirun names' --mpirun nowhere -- -np 2
says 3 'no slots'
refused '^compare: mpirun ended with exit status 3\. It said in the end:$' --mpirun "$files/mpirun" -- -np 2
lines 1 '^    no slots$'
says 2 'allreduce: --check: wrong results'
refused '^compare: the benchmark found a wrong result' --mpirun "$files/mpirun" -- -np 2
says 0 ''
refused '^compare: .*mpirun succeeded, but rank 0 wrote nothing to ' --mpirun "$files/mpirun" -- -np 2
printf '#!/bin/sh\n[ "$1" = --version ] || exec sleep 100\n' > "$files/mpirun"
refused '^compare: .*mpirun did not end within 0\.2 seconds' --limit 0.2 --mpirun "$files/mpirun" -- -np 2
mkdir "$files/ended"
sed -i 's/exec sleep 100/exec sh -c "touch started; exec sleep 100"/' "$files/mpirun"
(cd "$files/ended" && exec "$compare" --program "$builddir/bench/allreduce" --again 0 --mpirun "$files/mpirun" -- -np 2 2> "$output") &
until [ -e "$files/ended/started" ]; do sleep 0.1; done
kill -TERM $!
status=0
wait $! || status=$?
[ "$status,$(ls "$files/ended")" = 143,started ] || fail "SIGTERM: status $status, files $(ls "$files/ended")"
refused '^compare: Open MPI did not load strag' -- "${options[@]}" --mca coll ^strag -np 2
refused '^compare: strag ran other calls than it was to run, as its counters say' -- "${options[@]}" --mca coll_strag_enable 0 -np 2
refused '^compare: it ran with 1 rank$' -- "${options[@]}" -np 1
sed 's/,64,/,64K,/' "$files/comparison.csv" > "$files/bad.csv"
refused "^compare: .*bad.csv: row [0-9]+, column bytes: '64K' is not" --page "$files/bad.csv"
refused '^compare: --slow ended with exit status 4: exit 4$' --slow 'exit 4' --restore true --launches 1 -- "${options[@]}" -np 2
echo 'ok: errors name what failed'
