#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The lab's own test: 77, "skipped", where namespaces or shaped links are not permitted.
set -eu
python3 "${srcdir:?}/bench/lab/test_results.py"
exec python3 "${srcdir:?}/bench/lab/lab" --build "${builddir:?}" check
