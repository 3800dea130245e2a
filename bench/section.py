# SPDX-License-Identifier: BSD-3-Clause
"""Pages of doc/results, one per generator, and the generators' sections of other documents."""
import pathlib
import re


def size_text(size):
    """64 KiB"""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def sizes_of(text):
    """The sizes of a list, as the benchmarks read it: 4,100,2K,1MiB; 64K..16M are powers of two. ValueError: it is not
    one."""
    def number(word):
        digits, unit = re.fullmatch(r"(\d+) ?(?:([KMG])(?:iB)?|B?)", word).groups() if word else ("", None)
        return int(digits) << {None: 0, "K": 10, "M": 20, "G": 30}[unit]
    found = []
    for item in text.split(","):
        low, _, high = item.partition("..")
        try:
            size, last = number(low), number(high or low)
        except AttributeError as error:
            raise ValueError(item) from error
        if not 1 <= size <= last:
            raise ValueError(item)
        while size <= last:
            found.append(size)
            size *= 2
    return found


def write(folder, name, text):
    """Write a page of the folder, which is made if it does not exist."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(text.strip() + "\n", encoding="utf-8")


def read(folder, name):
    """The text of a page; "" if there is none."""
    path = pathlib.Path(folder) / f"{name}.md"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def put(path, name, text):
    """Replace the section between its two marks in a document, or append it."""
    path = pathlib.Path(path)
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    section = f"{begin}\n{text.strip()}\n\n{end}"
    before, found, rest = old.partition(begin)
    if found:
        new = before + section + rest.partition(end)[2]
    else:
        new = f"{old.rstrip()}\n\n{section}"
    path.write_text(new, encoding="utf-8")
