#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `make check` on a busy machine: loaded.sh [PROCESSES [MAKE-ARGUMENT...]], in the build folder. Next to that
# many processes that compute all the time (20) every test passes, only later. They end with this script.
set -eu
processes=${1:-20}
shift $(($# > 0))
busy=()
trap 'kill "${busy[@]}"' EXIT
for ((i = 0; i < processes; i++)); do
    setpriv --pdeathsig KILL sh -c 'while :; do :; done' &
    busy+=($!)
done
make check "$@"
