#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The HPC Challenge benchmark (HPL, PTRANS, RandomAccess, FFT): its own checks must pass over strag, and
# its residuals and norms have the same digits as over stock Open MPI. (It reduces counts, maxima and
# times over all ranks; times are not compared. RandomAccess may lose up to 1 % of its updates, and ends
# early when its time has passed, on a busy machine over stock Open MPI too, so its counts of errors and of
# updates are not compared.)
set -eu
: "${srcdir:?run me by make check}"
. "$srcdir/test/app/common.sh"
results='^(CommWorldProcs|Success|HPL_N|HPL_RnormI|HPL_Anorm1|HPL_AnormI|HPL_Xnorm1|HPL_XnormI'
results+='|HPL_BnormI|PTRANS_n|PTRANS_residual|MPIRandomAccess_N'
results+='|MPIFFT_N|MPIFFT_maxErr)='

need hpcc hpcc
own_folder hpcc
cd "$files"

# challenge FOLDER RANKS OPTIONS...
challenge()
{
    local folder=$1 ranks=$2 rows=1
    mkdir "$folder"
    shift 2
    if [ $((ranks % 4)) -eq 0 ]; then
        rows=2
    fi
    sed "s/@P@/$rows  /; s/@Q@/$((ranks / rows))  /" "$srcdir/test/app/hpccinf.in" \
        > "$folder/hpccinf.txt"
    job "$folder" "$ranks" "$@" hpcc
    grep -E "$results" "$folder/hpccoutf.txt" > "$folder/results"
    [ "$(wc -l < "$folder/results")" -eq 14 ] || fail "$folder: results are missing"
    grep -q '^Success=1$' "$folder/results" || fail "$folder: hpcc does not say Success=1"
    # five runs of PTRANS (hpcc omits their CPU lines when the clock did not tick), one of HPL
    [ "$(grep -Ec '^WALL.*PASSED|\.\.\. PASSED$' "$folder/hpccoutf.txt")" -eq 6 ] ||
        fail "$folder: not all residual checks passed"
    # RandomAccess: two of all ranks together, two of one rank alone
    [ "$(grep -c 'errors in .* locations (passed)' "$folder/hpccoutf.txt")" -eq 4 ] ||
        fail "$folder: not all of RandomAccess passed"
    if grep -n 'FAILED' "$folder/hpccoutf.txt"; then
        fail "$folder: a residual check failed"
    fi
}

# Three ranks are LAMMPS's (lammps.sh).
for ranks in ${app_ranks#3 }; do
    challenge "stock-$ranks" "$ranks"
    must_be_stock "stock-$ranks/output"
    for algorithm in $(algorithms_for "$ranks"); do
        run=$algorithm-$ranks
        # shellcheck disable=SC2046 # options are words
        challenge "$run" "$ranks" $(strag_options "$algorithm")
        must_be_strag "$run/output" "$algorithm"
        diff "stock-$ranks/results" "$run/results" || fail "$run: results differ from stock"
        echo "ok: hpcc, $ranks ranks, $algorithm: $(grep HPL_RnormI "$run/results")"
    done
done
