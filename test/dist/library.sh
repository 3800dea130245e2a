#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The installed libstrag: its header and pkg-config are all that a program needs, it exports what the
# header declares and no more, every function does what the header says, and examples/library.c
# finds what the command finds.
set -eu
. "${srcdir:?run me by make check}/test/dist/common.sh"
: "${STRAG:?}"

own_folder library

root=$work/root
make -C "$builddir" install-libLTLIBRARIES install-includeHEADERS install-pkgconfigDATA \
    DESTDIR="$root" > "$work/log" 2>&1 || { cat "$work/log"; fail 'make install'; }
libdir=$root$(value libdir)
header=$root$(value includedir)/strag.h

# ---- What is installed ----

so=$libdir/libstrag.so.0
[ "$(objdump -p "$so" | awk '$1 == "SONAME" { print $2 }')" = libstrag.so.0 ] || fail 'the soname'
nm -D --defined-only "$so" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort > "$work/exported"
nm -D --defined-only "$so" | awk '$2 != "T" && $2 != "A"' > "$work/others"
[ ! -s "$work/others" ] || { cat "$work/others"; fail 'exported, but no function'; }
tr '\n' ' ' < "$header" | grep -oE '[ *]strag_[a-z_]+\([^()]*\);' | grep -oE 'strag_[a-z_]+\(' |
    tr -d '(' | sort > "$work/declared"
diff "$work/declared" "$work/exported" || fail 'not what strag.h declares (<) is exported (>)'
[ "$(wc -l < "$work/declared")" -ge 30 ] || fail 'few functions'
if nm -D --undefined-only "$so" | grep -wE 'exit|abort|printf|puts'; then
    fail 'the library ends the process, or prints'
fi

export PKG_CONFIG_PATH=$libdir/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
pkg=$(value PKG_CONFIG)
[ "$("$pkg" --modversion strag)" = "$(value PACKAGE_VERSION)" ] || fail 'the version of strag.pc'
"$pkg" --libs strag | grep -qx -- "-L$libdir -lstrag *" || fail "pkg-config --libs: $("$pkg" --libs strag)"

# ---- Programs that know nothing else ----

# build PROGRAM SOURCE
build()
{
    # shellcheck disable=SC2046,SC2086 # words
    $cc -Wall -Wextra -Wpedantic -Werror "$2" -o "$work/$1" $("$pkg" --cflags --libs strag) -lm ||
        fail "$2 does not build"
}
cc="$(value CC) $(value CFLAGS) $(value LDFLAGS)"
export LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
build functions "$srcdir/test/dist/library.c"
"$work/functions" "$work" > "$work/out" || { cat "$work/out"; fail 'test/dist/library.c'; }
[ "$(cat "$work/out")" = "libstrag $(value PACKAGE_VERSION)" ] || { cat "$work/out"; fail 'the version'; }
if command -v g++ > /dev/null; then
    printf '#include <strag.h>\nint main() { return strag_version() == nullptr; }\n' > "$work/plus.cc"
    # shellcheck disable=SC2046 # words
    g++ $(value CFLAGS) -Wall -Wextra -Werror "$work/plus.cc" -o "$work/plus" $("$pkg" --cflags --libs strag) ||
        fail 'a C++ program does not build'
    "$work/plus" || fail 'a C++ program'
fi

build library "$srcdir/examples/library.c"
layout=$srcdir/examples/oversubscribed.conf
"$work/library" "$layout" 2 > "$work/example" || { cat "$work/example"; fail 'examples/library.c'; }
name=$(sed -n '1s/^32 ranks on 16 hosts, 1 MiB: \([a-z-]*\), .*/\1/p' "$work/example")
[ -n "$name" ] || { head -n 1 "$work/example"; fail 'the first line'; }
options=(-n 32 --ranks-per-node 2 --layout "$layout")
"$STRAG" explain "${options[@]}" --bytes 1M --format json | grep -q "\"algorithm\":\"$name\"" ||
    fail "strag explain does not choose $name"
us=$("$STRAG" cost "$name" "${options[@]}" --bytes 1M --format csv |
    awk -F, 'NR == 2 { printf "%.1f", $4 * 1e6 }')
grep -q " $us us by the model" "$work/example" || { head -n 1 "$work/example"; fail "not $us us"; }
operations=$("$STRAG" plan "$name" "${options[@]}" --rank 0 --format json | grep -o '"id":' | wc -l)
[ "$(grep -c '^  round ' "$work/example")" = "$operations" ] || fail "not $operations operations"
if "$work/library" /nowhere > "$work/out" 2>&1; then
    fail 'a file that is not there'
fi
grep -q '/nowhere: ' "$work/out" || { cat "$work/out"; fail 'the reason'; }
echo "ok: $(wc -l < "$work/declared") functions, and the example: $name, $us us"
