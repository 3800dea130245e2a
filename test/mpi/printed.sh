#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Commands run as README, the guide, strag(1) and strag-tune(1) print them: PROGRAM makes one call on two ranks, FILE is a
# plan, and sacct lists two jobs. Commands that other tests run are named below; there are no others.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"
command -v python3 > /dev/null || {
    echo 'skipped: no python3'
    exit 77
}

own_folder printed
top=$(cd "$srcdir" && pwd)
declare -A elsewhere=(
    [apt-get]=below [sudo]='below, and make' [autoreconf]=quickstart [mkdir]=quickstart [../configure]=dist/configure.sh [make]=dist/install.sh
    [export]=dist/slurm.sh [eval]=dist/slurm.sh [srun]=dist/slurm.sh [module]=dist/modules.sh [cc]=dist/library.sh
    [../bench/compare]=mpi/compare.sh [PYTHONPATH=PREFIX/share/strag/python]=dist/python.sh)
# Lines of a shell begin with a command, a path or a variable.
grep -hE '^ {4,}' "$top/README.md" "$top"/doc/guide/*.md | sed -E 's/^ +(\$ )?//' | while read -r first rest; do
    case $first in
        strag | mpirun | python3 | sacct | ../bench/lab/lab) echo "$first $rest" >> "$files/commands" ;;
        \#* | int | if | SwitchName=*) ;; # a comment, C, or a line of topology.conf
        */* | *=*) [ -n "${elsewhere[$first]-}" ] || fail "no test runs '$first $rest'" ;;
        *[!a-z-]*) ;;
        *) ! type "$first" > /dev/null 2>&1 || [ -n "${elsewhere[$first]-}" ] || fail "no test runs '$first $rest'" ;;
    esac
done
sed -n 's/^\.Dl //p' "$top/doc/strag.1" >> "$files/commands"
sed -e ':more' -e '/\\e$/{N;s/ *\\e\n */ /;b more' -e '}' "$top/doc/strag-tune.1" | grep '^mpirun ' >> "$files/commands"
# What README says to install is what quickstart installs.
packages=$(sed -n "/^packages_build='/,/'\$/{s/packages_build=//;s/'//g;p}" "$top/quickstart" | xargs)
for page in README.md doc/guide/install.md; do
    sed -n 's/^ *\(sudo \)*apt-get install //p' "$top/$page" | grep -qxF "$packages" || fail "$page installs other packages than $packages"
done

# The folder of Open MPI's own components is what both pages say.
words=$(sed -n 's/^ .*strag\/plugins:\(\$([^)]*)\).*/\1/p' "$top"/doc/guide/{install,slurm}.md | sort | uniq -c | sed 's/^ *2 //')
ompi_info()
{
    "${OMPI_INFO:-ompi_info}" "$@"
}
if ! without '[!4]*' 'the folder of its components, which need not be named'; then
    folder=$(eval "echo $words")
    [ -e "$folder/mca_coll_tuned.so" ] || fail "$words: $folder"
fi

grep -q "among $("$STRAG" list | wc -l) algorithms" "$top/README.md" || fail 'README has another number of algorithms'

mkdir "$files/build"
cd "$files/build"
ln -s "$top/bench" "$top/examples" "$top/models" ..
ln -s "$builddir/bench" .
cp "$top/examples/tree.yaml" topology.yaml
printf 'SwitchName=a Nodes=n[01-08]\nSwitchName=b Nodes=i02r13n[07-10]\nSwitchName=c Switches=a,b\n' > topology.conf
printf 'strag-rules: 1\nrules:\n  - sizes:\n      - {from: 0, algorithm: auto}\n' > rules.yaml
cp "$top/models/lumi-2025.model" model.yaml
python3 "$top/examples/plans.py" trivance 9 > FILE
export OMPI_MCA_coll_strag_verbose=1 SLURM_JOB_NODELIST='i02r13n[07-08]'

PATH=$(dirname "$STRAG"):$PATH
sacct()
{
    printf '%s\n' '1|n[01-08]' '2|n[01-04],i02r13n[07-10]'
}
# Its ranks are started by an agent whose parameters have other names from 5.0 on.
lab()
{
    if without '[!4]*' "the lab starts its ranks as Open MPI 4.1 does"; then return; fi
    python3 "$top/bench/lab/lab" "$@" --iterations 2 || [ $? = 77 ] # namespaces are not permitted here
}
# Each set of options once, on two ranks or as many as a plan is for; the machine is one host.
mpirun()
{
    local ranks=2 options=()
    while [ $# -gt 0 ]; do
        case $1,${2-} in
            -np,9) ranks=9 && shift 2 ;;
            -np,* | --map-by,*) shift 2 ;;
            --oversubscribe,*) shift ;;
            --mca,coll_strag_torus) options+=("$1" "$2" 1) && shift 3 ;;
            --mca,*) options+=("$1" "$2" "$3") && shift 3 ;;
            -x,*) options+=("$1" "$2") && shift 2 ;;
            *) break ;;
        esac
    done
    case $1 in
        strag-tune) set -- "$(dirname "$STRAG")/strag-tune" "${@:2}" --sizes 64,4K --seconds 0.02 ;;
        bench/allreduce) set -- "$builddir/$1" "${@:2}" --iterations 2 ;;
        *) set -- "$builddir/test/dist/sum" ;;
    esac
    [[ "${options[*]}" != *coll_strag_save* ]] || set -- "$programs/plans" --world ring # it makes long calls
    # Tests of their own launch these: report.sh, trace.sh, tune_model.sh, ucp.sh.
    if [ "${STRAG_TEST_FULL:-0}" != 1 ]; then
        case ${options[*]} in *_report* | *_trace* | *_rules* | *_model* | *_transport*) return ;; esac
    fi
    ! grep -qxF -- "${options[*]} $*" launched 2> /dev/null || return 0
    echo "${options[*]} $*" >> launched
    mpi "$ranks" "${options[@]}" "$@" > ran 2>&1 || { cat ran; return 1; }
    [[ "${options[*]}" != *'coll strag'* ]] || grep -q 'coll:strag: .*allreduce of' ran || { cat ran; return 1; }
    cat ran
}

while read -r command; do
    command=${command//\/etc\/slurm\//}
    command=${command/#..\/bench\/lab\/lab/lab}
    (eval "set -e; $command") > output 2>&1 < /dev/null ||
        { tail -n 20 output; fail "$command"; }
done < "$files/commands"
echo "ok: $(wc -l < "$files/commands") commands, $(wc -l < launched) kinds of jobs"
