#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A new algorithm is one file, one row and one line: the example of src/algorithms/README.md is added to a
# copy of src/, proved by the command, and tested by unit tests that go over the table. What is as it
# was is taken from the build. STRAG_TEST_FULL=1: more of them.
set -eu
. "${srcdir:?run me by make check}/test/dist/common.sh"
own_folder example

# ---- One file, one row, one line ----

document=$srcdir/src/algorithms/README.md
cp -r "$srcdir/src" "$work/src"
chmod -R u+w "$work/src"
# said WORDS: what stands between backquotes behind them in the document
said()
{
    sed -n "s/^.*$1 \`\([^\`]*\)\`.*/\1/p" "$document" | sed q
}
file=$(said 'the file')
row=$(said 'the row')
line=$(said 'the line')
case $file,$row,$line in
    src/*.c,row\(*\)\ \\,src/*.c\ \\) ;;
    *) fail "$document names no file, row and line: '$file' '$row' '$line'" ;;
esac
awk '/^```$/ { inside = 0 } inside; /^```c$/ { inside = 1 }' "$document" > "$work/$file"

# after PATTERN FILE LINE: a line behind the first one that matches
after()
{
    new=$3 awk -v pattern="$1" '{ print } !done && $0 ~ pattern { print ENVIRON["new"]; done = 1 }' \
        "$srcdir/$2" > "$work/$2"
}
after '^    row[(]' src/algorithms/table.c "    $row"
after '^\tsrc/algorithms/' src/local.mk "	$line"
for changed in src/algorithms/table.c src/local.mk; do
    [ "$(diff "$srcdir/$changed" "$work/$changed" | grep -c '^[<>]')" = 1 ] || fail "not one line in $changed"
done
if command -v clang-format > /dev/null; then
    clang-format --style="file:$srcdir/.clang-format" --dry-run -Werror "$work/$file" ||
        fail 'the example is laid out in another way'
fi

# ---- Build ----

# The sources as src/local.mk lists them; of those that are not as in the tree the object is made.
cat > "$work/Makefile" << 'END'
include src/local.mk
all: ; @echo $(filter %.c,$(src_libstrag_la_SOURCES))
END
cc="$(value CC) $(value CFLAGS) $(value LDFLAGS)"
warnings=$(value AM_CFLAGS)
libraries="$(value src_libstrag_la_LIBADD) $(value LIBS)"
objects=()
made=()
for source in $(make -s -C "$work"); do
    name=$(basename "$source" .c)
    object=$builddir/$(dirname "$source")/.libs/src_libstrag_la-$name.o
    if ! cmp -s "$work/$source" "$srcdir/$source"; then
        made+=("$source")
        object=$work/$name.o
        # shellcheck disable=SC2086 # words
        $cc $warnings -Werror -I"$work/src" -c -o "$object" "$work/$source" ||
            fail "$source"
    fi
    objects+=("$object")
done
[ "${made[*]}" = "$file src/algorithms/table.c" ] || fail "made again: ${made[*]}"

# linked PROGRAM OBJECT...: with the copy's library
linked()
{
    local program=$1
    shift
    # shellcheck disable=SC2086 # words
    $cc -o "$work/$program" "$@" "${objects[@]}" $libraries || fail "$program"
}

# shellcheck disable=SC2046 # words
linked strag $(value strag_program_sources | tr ' ' '\n' | sed -n "s,^\(.*\)\.c$,$builddir/\1.o,p")

# ---- Try ----

strag=$work/strag
name=$(basename "$file" .c)
"$strag" verify "$name" -n 1..64 > "$work/out" || { tail -n 3 "$work/out"; fail 'verify'; }
[ "$(grep -c "^verified $name n=" "$work/out")" = 64 ] || { head -n 3 "$work/out"; fail 'verify'; }
[ "$("$strag" list | wc -l)" = $(("$("$builddir/tools/strag" list | wc -l)" + 1)) ] || fail 'one more in the list'
"$strag" list --format wide | grep -q "^$name  *rounds 2(n-1) " || fail 'strag list'
# 14 rounds of 1 us and 1 ns per byte.
"$strag" cost all -n 8 --bandwidth 8 --reduce-bandwidth 0 --bytes 1000 --format csv 2> /dev/null | grep -q "^$name,8,1000,2.8e-05" ||
    fail "$("$strag" cost "$name" -n 8 --bandwidth 8 --reduce-bandwidth 0 --bytes 1000 --format csv)"
echo "ok: $name is listed, proved and priced"

if [ -f "$builddir/test/unit/test_plan.o" ]; then
    libraries="$(value unit_ldflags) $builddir/test/unit/.libs/libunit.a $libraries $(value CMOCKA_LIBS)"
    for test in plan engine ${STRAG_TEST_FULL:+cost mutation failure memory in_order clocks straggler}; do
        linked "test_$test" "$builddir/test/unit/test_$test.o"
        (cd "$work" && STRAG_CASES_MOST=100 "./test_$test" > output 2>&1) ||
            { tail -n 20 "$work/output"; fail "test_$test"; }
        echo "ok: test_$test"
    done
fi
