#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Vectors of 2^31 - 1 elements and of more than 2 GiB (huge.c); skipped where memory is short.
set -eu
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

status=0
mpi 2 --mca coll strag "$programs/huge" || status=$?
exit "$status"
