#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Files that texts name: references.py SOURCE-FOLDER

A file named in a document, a script or a comment has to exist: its path from the top or from the
folder of the text, or the end of such a path. What a document's link goes to, file and section, has
to exist, too. Prints FILE:LINE: MESSAGE for each that does not;
exit status 1 if there is any.
"""
import os
import re
import sys

FOLDERS = ["bench", "cuda", "debian", "dist", "doc", "examples", "m4", "ompi_coll_strag", "src", "test", "tools"]
# What is read, and what of it is not: what autoreconf makes, input of the fuzzers, what commands
# shall print, and the two tests that name files of trees of their own.
TEXT = (".1", ".ac", ".am", ".awk", ".bash", ".c", ".cu", ".h", ".m4", ".md", ".mk", ".py", ".sh", ".txt", "quickstart")
NOT_READ = ("aclocal.m4", "m4/l", "test/fuzz/corpus", "test/cli/golden", "test/lint/layers.sh", "test/lint/references.sh")
# Files of other projects, files that are made, and the example that src/algorithms/README.md writes.
OTHERS = re.compile(r"(ompi|opal)/.*|((ompi_|opal_)?config|hwloc|mpi|ucp)\.h|"
                    r"(straggler|optcc)\.md|packages/.*|[A-Z]+\.[ch]|.*\bchain\.c|tools/draw_script\.h|.*/\.libs/.*")

PATH = re.compile(r"(?<![\w./*$}{)<-])(?:%s)/[\w./-]*\w\.(?:1|ac|am|awk|bash|c|conf|coordinates|cu|h|in|json|m4|md|mk|py|"
                  r"sh|svg|txt|yaml)\b(?![*-]|\.\w)" % "|".join(FOLDERS))
NAME = re.compile(r"(?<![\w./*$}{)<%-])\w[\w/-]*\.(?:awk|bash|c|cu|h|m4|md|mk|py|sh)\b(?![*-]|\.\w)")
COMMENT = {
    (".c", ".cu", ".h"): re.compile(r'"(?:\\.|[^"\\\n])*"|(/\*.*?\*/|//[^\n]*)', re.S),
    (".py",): re.compile(r'(#[^\n]*|""".*?""")', re.S),
    (".ac", ".am", ".awk", ".bash", ".m4", ".mk", ".sh", "quickstart"): re.compile(r"(?<!\S)(#[^\n]*)"),
    (".1", ".md", ".txt"): re.compile(r"(.+)", re.S),
}


def files(top):
    """Paths of the source files, from the top."""
    yield from (name for name in os.listdir(top) if os.path.isfile(os.path.join(top, name)))
    for folder in FOLDERS:
        for where, folders, names in os.walk(os.path.join(top, folder)):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            yield from (os.path.relpath(os.path.join(where, name), top) for name in names)


def named(name, text):
    """Positions and names of the files that a text names: paths anywhere, names in comments."""
    for match in PATH.finditer(text):
        yield match.start(), match.group()
    for endings, comment in COMMENT.items():
        if name.endswith(endings):
            for part in comment.finditer(text):
                for match in NAME.finditer(part.group(1) or ""):
                    yield part.start(1) + match.start(), match.group()


def sections(path):
    """What links to a document's sections may end with."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```", "", file.read(), flags=re.S | re.M)
    for title in re.findall(r"^#+ (.*)$", text, re.M):
        yield re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", title).lower()).strip().replace(" ", "-")


def dead_links(top, name, text):
    """(line, message) of every link that goes nowhere."""
    for match in re.finditer(r"\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)", text):
        path = os.path.join(top, os.path.dirname(name), match[1]) if match[1] else os.path.join(top, name)
        line = text.count("\n", 0, match.start()) + 1
        if not os.path.exists(path):
            yield line, f"no file {match[1]}"
        elif match[2] and path.endswith(".md") and match[2] not in sections(path):
            yield line, f"no section #{match[2]} in {match[1] or name}"


def check(top):
    """(file, line, message) of every file that is named and does not exist; the number examined."""
    every = sorted(files(top))
    ends = {path[start:] for path in every for start in [0] + [i + 1 for i, c in enumerate(path) if c == "/"]}
    faults, count = set(), 0
    for name in every:
        if not name.endswith(TEXT) or name.startswith(NOT_READ):
            continue
        with open(os.path.join(top, name), encoding="utf-8", errors="replace") as file:
            text = file.read()
        for position, reference in named(name, text):
            count += 1
            here = os.path.normpath(os.path.join(os.path.dirname(name), reference))
            if not {reference, here} & ends and not OTHERS.fullmatch(reference):
                faults.add((name, text.count("\n", 0, position) + 1, f"no file {reference}"))
        if name.endswith(".md"):
            faults.update((name, line, message) for line, message in dead_links(top, name, text))
    return sorted(faults), count


if __name__ == "__main__":
    found, examined = check(sys.argv[1])
    for path, line, message in found:
        print(f"{path}:{line}: {message}")
    print(f"references.py: {examined} names of files, {len(found)} of files that do not exist")
    sys.exit(1 if found else 0)
