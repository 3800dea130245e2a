#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Words that only the authors know: words.py [--list] SOURCE-FOLDER [FILE...]

Counts in code, messages and documents the expressions of the table below, which have a plainer
word each, also across the lines of a comment or of a string. Prints FILE:LINE for those of which
there are more than the limit, with --list for all, then the counts; exit status 1 if there are more
than a limit. Lower a limit whenever the count is lower.
"""
import os
import re
import sys

FOLDERS = ["src", "ompi_coll_strag", "cuda", "tools", "bench", "test", "doc", "README.md", "CONTRIBUTING.md"]
TEXT = (".1", ".7", ".am", ".awk", ".bash", ".c", ".cu", ".h", ".in", ".md", ".mk", ".py", ".sh", ".txt", ".yaml",
        "bench/compare", "bench/lab/lab")
# What measurements printed, input of the fuzzers, hashes of plans, and this table.
NOT_READ = ("doc/results/", "doc/figures/", "test/fuzz/corpus/", "test/lint/words")

# What to look for, what to write instead, and the most there may be. An expression's blanks stand for any white space.
WORDS = [
    ("where X, Y", r"(?:[.!?:;,] |/\* |\b(?:and|but|so|that|since|because|or|than|also|even|as|only) |(?-i:^(?=W)))where\b[^.;:,?()/|\x22]+,",
     "if, when", 24),
    ("so many", r"\bso (?:many|much)\b(?! (?:that|as))", "this many, N", 0),
    ("is over", r"\b(?:is|are|was|were|be) over\b(?! [a-z0-9]+ [a-z])", "is done, has ended", 0),
    ("under way", r"\bunder way\b", "in flight, pending", 0),
    ("alike", r"\balike\b", "identical, the same on every rank", 0),
    ("looked at", r"\blooked at\b", "examined, sampled", 1),
    ("what is wrong", r"\bwhat is (?:wrong|known|wanted)\b", "name the thing", 3),
    ("told", r"(?:\b|_)(?:un)?told(?:\b|_)", "configured, given", 0),
    ("whoever", r"\bwhoever comes last\b", "the last rank to arrive", 0),
    ("patience, regime", r"(?:patien(?:ce|t)|regime)", "wait limit, mode", 0),
    ("crowd", r"crowd", "oversubscribed", 0),
    ("desk", r"desk(?!top)", "mailbox", 0),
    ("heritage", r"heritage", "shared setup", 0),
    ("noted", r"(?:\b|_)noted(?:\b|_)", "recorded", 0),
    ("beside", r"\bbeside\b", "next to, with", 0),
    ("anew", r"\banew\b", "again", 0),
    ("dear", r"\bdear(?:er|est|ly)?\b", "expensive, slow", 0),
    ("thought to", r"\bthought to\b", "estimated at", 0),
    ("given plans", r"\bgiven plans?\b", "user plans", 0),
    ("offers", r"\boffers\b", "candidates", 0),
    ("heats", r"\bheats\b", "(gone)", 0),
    ("of strag's", r"\bof (?:ours|strag's)\b", "handled by strag", 1),
    ("are possible", r"\b(?:are|is) possible\b", "must be ... to ...", 1),
    ("at the end of each line", r"\buses what stands at the end\b", "ignored; the value used is shown last", 0),
]


def files(top):
    """Paths of the files to read, from the top."""
    for folder in FOLDERS:
        if os.path.isfile(os.path.join(top, folder)):
            yield folder
        for where, folders, names in os.walk(os.path.join(top, folder)):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = os.path.relpath(os.path.join(where, name), top)
                if path.endswith(TEXT) and not path.startswith(NOT_READ):
                    yield path


def blanked(text):
    """The text, of the same length, with blanks for what is between the words of a comment or string."""
    return re.sub(r'(?:\\n)?"[ \t]*\n[ \t]*"|\n[ \t]*(?:\*|//|#|\.\\"|>)[ \t]', lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def main(arguments):
    every = "--list" in arguments
    arguments = [argument for argument in arguments if argument != "--list"]
    top, only = arguments[0], arguments[1:]
    texts = {}
    for name in only or files(top):
        with open(os.path.join(top, name), encoding="utf-8", errors="replace") as file:
            texts[name] = blanked(file.read())
    over = False
    for name, expression, instead, limit in WORDS:
        pattern = re.compile(expression.replace(" ", r"\s+"), re.I | re.M)
        found = [(path, text.count("\n", 0, match.start()) + 1, " ".join(match.group().split()).lstrip(".,;:!?/* "))
                 for path, text in texts.items() for match in pattern.finditer(text)]
        for path, line, what in found if every or len(found) > limit else []:
            print(f"{path}:{line}: {what}: {instead}")
        over = over or len(found) > limit
        print(f"words.py: {name}: {len(found)}, at most {limit}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
