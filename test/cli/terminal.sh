#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What users who wait see at a terminal, and ^C: test/cli/terminal.py.
set -eu
. "$(dirname "$0")/common.bash"
needs_python fcntl pty termios

python3 "$here/terminal.py" "$STRAG"
