#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# LAMMPS, a molecular dynamics program: the same melt over stock Open MPI and over strag.
#
# Two ranks: every digit is the same, since a sum of two has only one order. More ranks: another
# order of summation may change last digits, which the motion propagates, so energies, temperature
# and pressure are compared with a relative tolerance of 1e-12 (15 digits are printed). The pair
# distribution consists of whole numbers: the same digits at every number of ranks.
set -eu
: "${srcdir:?run me by make check}"
. "$srcdir/test/app/common.sh"

need lmp lammps
own_folder lammps
cd "$files"

# thermo LOG: the table that LAMMPS prints
thermo()
{
    awk '/^Loop time/ { on = 0 } on { print } $1 == "Step" { on = 1 }' "$1"
}

compare()
{
    awk -v tolerance=1e-12 -f "$srcdir/test/app/thermo.awk" "$@" > compared
}

# melt FOLDER RANKS OPTIONS...
melt()
{
    local folder=$1 ranks=$2
    mkdir "$folder"
    shift 2
    job "$folder" "$ranks" "$@" lmp -in "$srcdir/test/app/melt.in" -screen none
    thermo "$folder/log.lammps" > "$folder/thermo"
}

for ranks in 2 ${app_ranks/#2 /}; do
    melt "stock-$ranks" "$ranks"
    must_be_stock "stock-$ranks/output"
    for algorithm in $(algorithms_for "$ranks"); do
        run=$algorithm-$ranks
        # shellcheck disable=SC2046 # options are words
        melt "$run" "$ranks" $(strag_options "$algorithm")
        must_be_strag "$run/output" "$algorithm"
        grep -q 'coll:strag: .*allreduce of 65536 .. 131071 bytes' "$run/output" ||
            fail "$run: the 80 kB vectors did not come by strag"
        if [ "$ranks" -eq 2 ]; then
            cmp "stock-$ranks/thermo" "$run/thermo" || fail "$run: energies differ from stock"
            cmp "stock-$ranks/slabs.out" "$run/slabs.out" || fail "$run: slabs differ from stock"
        fi
        compare "stock-$ranks/log.lammps" "$run/log.lammps" ||
            { cat compared; fail "$run: energies differ from stock"; }
        cmp "stock-$ranks/pairs.out" "$run/pairs.out" || fail "$run: pairs differ from stock"
        echo "ok: LAMMPS, $ranks ranks, $algorithm: $(tail -n 1 compared)"
    done
done

# The comparison detects a difference in the eleventh digit, and a missing row.
awk 'NF == 6 && $1 == 40 { $5 = sprintf("%.15e", $5 * 1.00000000001) } { print }' stock-2/log.lammps > off
if compare stock-2/log.lammps off; then
    fail 'the comparison accepts a wrong energy'
fi
grep -v '^  *40 ' stock-2/log.lammps > short
if compare stock-2/log.lammps short; then
    fail 'the comparison accepts a missing row'
fi
compare stock-2/log.lammps stock-2/log.lammps || fail 'the comparison refuses equal runs'
