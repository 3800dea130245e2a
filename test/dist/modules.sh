#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The module files, by environment-modules and by Lmod, whichever is here: loading strag selects nothing
# and keeps the site's paths, strag-default selects it, unloading leaves everything as it was, and the
# Open MPI that was loaded when configure ran is needed.
set -eu
. "${srcdir:?run me by make check}/test/dist/common.sh"

own_folder modules
shopt -s extglob
version=$(value PACKAGE_VERSION)
mkdir -p "$work/files/strag" "$work/files/strag-default" "$work/files/openmpi"
make -s -C "$builddir" print-module plugindir=/opt/strag/plugins OMPI_MODULE=openmpi/9 > "$work/files/strag/$version"
sed "s/%PACKAGE_VERSION%/$version/g" "$srcdir/dist/modulefile-default.in" > "$work/files/strag-default/$version"
printf '#%%Module1.0\n' > "$work/files/openmpi/9"

# said WORDS...: what these module commands leave in a shell's environment
said()
{
    local command
    (
        unset LOADEDMODULES _LMFILES_ "${!OMPI_MCA_@}" "${!PMIX_MCA_@}"
        export MODULEPATH=$work/files OMPI_MCA_mca_base_component_path=/site
        for command in "$@"; do
            # shellcheck disable=SC2086 # words
            eval "$("${tool[@]}" bash $command 2>> "$work/errors")"
        done
        echo "selected ${OMPI_MCA_coll_strag_priority-no} path $OMPI_MCA_mca_base_component_path loaded ${LOADEDMODULES-}"
    )
}

# expect TEXT COMMAND...
expect()
{
    local text=$1 found
    shift
    : > "$work/errors"
    found=$(said "$@")
    # shellcheck disable=SC2053 # a pattern
    [[ $found == $text ]] || { cat "$work/errors"; fail "${tool[*]}: $*: $found"; }
}

# Folders that the system searches anyway must not come before those of other modules.
make -s -C "$builddir" print-module plugindir=/usr/lib64/openmpi/lib/openmpi bindir=/usr/bin mandir=/usr/share/man \
    libdir=/usr/lib64 > "$work/system"
! grep -E '^prepend-path .* /usr/(bin|share/man|lib64(/pkgconfig)?)$' "$work/system" || fail "the system's folders"
grep -q '^prepend-path OMPI_MCA_mca_base_component_path /usr/lib64/openmpi/lib/openmpi$' "$work/system" || fail 'the plug-in'

tried=
for modulecmd in /usr/lib/*/modulecmd.tcl /usr/share/lmod/lmod/libexec/lmod ${STRAG_LMOD:-}; do
    [ -x "$modulecmd" ] || continue
    tool=("$modulecmd")
    # Newer environment-modules load what is needed, others refuse to go on without it.
    expect 'selected no path /* loaded @(|*openmpi/9*)' 'load strag'
    grep -qi 'openmpi/9' "$work/errors" || { cat "$work/errors"; fail 'nothing says that openmpi/9 is needed'; }
    expect 'selected no path /opt/strag/plugins:/site* loaded openmpi/9:strag/*' 'load openmpi/9' 'load strag'
    expect 'selected 100 path /opt/strag/plugins:/site* loaded openmpi/9:strag*' 'load openmpi/9' 'load strag-default'
    expect 'selected no path /site loaded *' 'load openmpi/9' 'load strag-default' 'unload strag-default' 'unload strag'
    tried+=" $modulecmd"
done
[ -n "$tried" ] || skip 'neither environment-modules nor Lmod'
echo "ok:$tried"
