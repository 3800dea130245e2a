# SPDX-License-Identifier: BSD-3-Clause
"""doc/results.md has a section per generator; each replaces its own and leaves the others."""
import pathlib

TITLE = """\
# Results

Written by the programs in bench/ from the files that they measured or computed, a section each;
nothing is edited by hand.
"""


def put(path, name, text):
    """Replace the section, or append it. The file is made if it is not there."""
    path = pathlib.Path(path)
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    old = path.read_text(encoding="utf-8") if path.exists() else TITLE
    section = f"{begin}\n{text.strip()}\n\n{end}"
    before, found, rest = old.partition(begin)
    if found:
        new = before + section + rest.partition(end)[2]
    else:
        new = f"{old.rstrip()}\n\n{section}"
    path.write_text(new, encoding="utf-8")
