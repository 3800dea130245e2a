#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Hosts' links are probed while a job runs (links.c); the hosts are names, as in layout.sh.
set -eu
. "${srcdir:-.}/test/mpi/common.sh"

need_hosts

strag=(--mca coll strag --mca coll_strag_window 4)

must 3 "${strag[@]}" "$on_hosts" 1 - "$programs/links"
must 6 "${strag[@]}" "$on_hosts" 2 - "$programs/links"
must 4 "${strag[@]}" --mca coll_strag_straggler none "$on_hosts" 1 - "$programs/links"
must 4 "${strag[@]}" --mca coll_strag_slowdown none "$on_hosts" 1 - "$programs/links" --expect none
must 4 "${strag[@]}" "$on_hosts" 2 - "$programs/links" --expect none # two hosts
must 3 "${strag[@]}" --mca coll_strag_algorithm ring "$on_hosts" 1 - "$programs/links" --expect none
