# SPDX-License-Identifier: BSD-3-Clause
# Compare two LAMMPS runs of melt.in: awk -v tolerance=1e-12 -f thermo.awk LOG LOG
# Every number of the two tables must agree within the tolerance, relative to its size. Prints step
# and energies side by side, and the largest difference; exit 1 where the tables differ.

function size(x)
{
    return x < 0 ? -x : x
}

FNR == 1 { run++; on = 0; row = 0 }
/^Loop time/ { on = 0 }
on {
    row++
    for (i = 1; i <= 6; i++)
        value[run, row, i] = $i
    columns[run] += NF
    rows[run] = row
}
$1 == "Step" { on = 1 }

END {
    if (run != 2 || rows[1] != 11 || rows[2] != 11 || columns[1] != 66 || columns[2] != 66) {
        print "not two tables of 11 rows and 6 columns"
        exit 1
    }
    for (row = 1; row <= 11; row++) {
        for (i = 1; i <= 6; i++) {
            a = value[1, row, i]
            difference = size(a - value[2, row, i])
            if (difference > tolerance * size(a))
                wrong++
            if (a != 0 && difference / size(a) > largest)
                largest = difference / size(a)
        }
        printf "%6d  %s  %s\n", value[1, row, 1], value[1, row, 5], value[2, row, 5]
    }
    printf "largest relative difference %.1e, allowed %.0e\n", largest, tolerance
    exit wrong > 0
}
