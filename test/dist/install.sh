#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# make install puts these files in place and no others, the installed component runs, its folder has
# one symbol and no libtool leftovers, and make uninstall removes everything.
set -eu
. "${srcdir:?run me by make check}/test/dist/common.sh"
: "${MPIRUN:?}" "${OMPI_INFO:?}"

# expect NAME FILE: FILE is what standard input says
expect()
{
    diff - "$2" || fail "$1: not as expected (<) but as found (>)"
}

own_folder install
cd "$builddir"

plugins=$(value plugindir)
hiding=$(value PMIX_HIDING) # where mpirun has its processes look for components instead
make install DESTDIR="$work/root" prefix=/usr/local > "$work/install.log" 2>&1 ||
    { cat "$work/install.log"; fail 'make install'; }

find "$work/root" ! -type d -printf '/%P\n' | sort > "$work/files"
{
    echo /usr/local/bin/strag
    echo /usr/local/bin/strag-tune
    echo /usr/local/include/strag.h
    echo /usr/local/lib/libstrag.la
    echo /usr/local/lib/libstrag.so
    echo /usr/local/lib/libstrag.so.0
    echo /usr/local/lib/libstrag.so.0.0.0
    echo /usr/local/lib/pkgconfig/strag.pc
    echo /usr/local/share/bash-completion/completions/strag
    echo /usr/local/share/doc/strag/CHANGELOG.md
    echo /usr/local/share/doc/strag/LICENSE
    echo /usr/local/share/doc/strag/README.md
    echo /usr/local/share/man/man1/strag-tune.1
    echo /usr/local/share/man/man7/coll_strag.7
    echo "/usr/local/share/modulefiles/strag/$(value PACKAGE_VERSION)"
    echo "/usr/local/share/modulefiles/strag-default/$(value PACKAGE_VERSION)"
    echo /usr/local/share/man/man1/strag.1
    for machine in fugaku leonardo lumi marenostrum5; do
        echo "/usr/local/share/strag/models/$machine-2025.model"
    done
    echo /usr/local/share/strag/python/strag.py
    echo "$plugins/mca_coll_strag.so"
    echo "$plugins/strag_cuda.so"
    if [ -n "$(value STRAG_KERNELS_COMMAND)" ]; then
        echo "$plugins/strag_cuda.kernels"
    fi
    if [ -n "$hiding" ] && [ "$plugins" = "$(value OMPI_PLUGINDIR)" ]; then
        echo "$hiding/mca_coll_strag.o"
        echo "$(value PMIX_CONFDIR)/pmix-mca-params-override.conf"
    fi
} | sort | expect 'installed files' "$work/files"

so=$work/root$plugins/mca_coll_strag.so
nm -D --defined-only "$so" | awk '{ print $3 }' > "$work/symbols"
echo mca_coll_strag_component | expect 'exported symbols' "$work/symbols"
"$work/root/usr/local/bin/strag" verify ring -n 5 | grep -q '^verified ring n=5 ' ||
    fail 'the installed strag does not verify'

# From where it is installed (Open MPI 4.1 needs its own folder in the list too, later ones PMIx's).
eval "$("$builddir/strag-mpirun" --print-env)"
installed=${OMPI_MCA_mca_base_component_path/#"$builddir/ompi_coll_strag/.libs"/"$work/root$plugins"}
[ "$installed" != "$OMPI_MCA_mca_base_component_path" ] || fail 'strag-mpirun --print-env'
export OMPI_MCA_mca_base_component_path=$installed
"$OMPI_INFO" --param coll strag --level 9 > "$work/parameters"
for name in enable priority verbose algorithm segment_size minimum_size; do
    grep -q "\"coll_strag_$name\"" "$work/parameters" || fail "ompi_info does not show $name"
done
# Open MPI 4.1.4's mpirun sometimes loses a help message.
for _ in 1 2 3 4 5; do
    OMPI_MCA_coll_strag_priority=100 OMPI_MCA_coll_strag_verbose=1 \
        OMPI_MCA_coll_strag_algorithm=nonsense OMPI_MCA_coll_strag_minimum_size=0 \
        "$MPIRUN" --oversubscribe -np 2 "$builddir/test/dist/sum" > "$work/run" 2>&1 ||
        { cat "$work/run"; fail 'mpirun'; }
    grep -q 'Data unpack would read past end' "$work/run" || break
done
grep -q '^sum 3$' "$work/run" || { cat "$work/run"; fail 'the sum of ranks 1 and 2 is not 3'; }
grep -Eq 'coll:strag: .*allreduce of .* bytes: [a-z-]+ \(auto' "$work/run" ||
    { cat "$work/run"; fail 'the installed component did not run'; }
grep -q 'coll_strag_algorithm = "nonsense": no such algorithm' "$work/run" ||
    { cat "$work/run"; fail 'the warning'; }

# The module of an installation in a folder of its own makes plain mpirun use it.
make -s print-module plugindir="$work/root$plugins" prefix=/usr/local > "$work/module"
grep -qx 'prepend-path PATH /usr/local/bin' "$work/module" || { cat "$work/module"; fail 'the module'; }
if grep -q '@\|%[A-Za-z_]*%' "$work/module"; then
    cat "$work/module"
    fail 'the module has words that were not replaced'
fi
(
    unset "${!OMPI_MCA_@}" "${!PMIX_MCA_@}"
    eval "$(sed -En 's/^(ap|pre)pend-path ((OMPI|PMIX)_MCA_[A-Za-z_]*) (.*)/\2=${\2:+$\2:}\4; export \2/p' "$work/module")"
    eval "$(sed -n 's/^setenv \([A-Za-z_]*\) \(.*\)/export \1=\2/p' "$srcdir/dist/modulefile-default.in")"
    OMPI_MCA_coll_strag_verbose=1 OMPI_MCA_coll_strag_minimum_size=0 \
        "$MPIRUN" --oversubscribe -np 2 "$builddir/test/dist/sum" > "$work/run" 2>&1
) || { cat "$work/run"; fail 'mpirun with the module'; }
grep -q 'coll:strag: .*allreduce of' "$work/run" || { cat "$work/run"; fail 'the module does not select strag'; }
grep -q 'component_path' "$work/root/usr/local/share/modulefiles/strag/$(value PACKAGE_VERSION)" &&
    [ "$plugins" = "$(value OMPI_PLUGINDIR)" ] && fail 'a path that Open MPI knows'

make uninstall DESTDIR="$work/root" prefix=/usr/local > "$work/uninstall.log" 2>&1 ||
    { cat "$work/uninstall.log"; fail 'make uninstall'; }
find "$work/root" ! -type d -printf '/%P\n' > "$work/left"
find "$work/root/usr/local" -type d -name '*strag*' -printf '/usr/local/%P\n' >> "$work/left"
: | expect 'left by make uninstall' "$work/left"
echo "ok: install, run, uninstall: $(wc -l < "$work/files") files, one symbol"
