# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by what measures in bench/.

# describe_machine FOLDER [MPIRUN]: what was measured on, in FOLDER/machine.txt, a line for each
# thing; bench/*.py put it into doc/results
describe_machine()
{
    {
        date -u +%FT%TZ
        uname -srm
        grep -m 1 'model name' /proc/cpuinfo || true
        echo "cores: $(nproc); load when it began: $(cut -d ' ' -f 1 /proc/loadavg)"
        "${2:-./strag-mpirun}" --version | head -n 1
    } > "$1/machine.txt"
}
