# SPDX-License-Identifier: BSD-3-Clause
"""Files such as doc/results.md have one section per generator; each replaces its own section only."""
import pathlib

TITLE = """\
# Results

Each section is written by a program in bench/ from its measurements or computations, not by hand.
"""


def marks(name):
    return f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"


def get(path, name):
    """The section's text; "" if there is none."""
    path = pathlib.Path(path)
    begin, end = marks(name)
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    return old.partition(begin)[2].partition(end)[0]


def size_text(size):
    """64 KiB"""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def put(path, name, text):
    """Replace the section, or append it. The file is created if it does not exist."""
    path = pathlib.Path(path)
    begin, end = marks(name)
    old = path.read_text(encoding="utf-8") if path.exists() else TITLE
    section = f"{begin}\n{text.strip()}\n\n{end}"
    before, found, rest = old.partition(begin)
    if found:
        new = before + section + rest.partition(end)[2]
    else:
        new = f"{old.rstrip()}\n\n{section}"
    path.write_text(new, encoding="utf-8")
