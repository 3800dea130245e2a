#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Layers, as doc/architecture.md draws them: layers.py SOURCE-FOLDER [BUILD-FOLDER]

Checks who includes whom, that nobody includes or calls in a circle, and that headers and functions
stay short. Prints FILE:LINE: MESSAGE for everything that is wrong; exit status 1 if there is any.
Calls are read from the object files in BUILD-FOLDER. An exception that no longer applies is wrong,
too: the tables below only say what is true.
"""
import collections
import os
import re
import subprocess
import sys

# ---- The tables ----

# Whose headers a folder's files may include, besides those of their own folder. A file belongs to
# the longest of these names that it starts with.
SRC = ["src/base", "src/machine", "src/plan", "src/algorithms", "src/model", "src/run", "src/shm",
       "src/detect", "src/learn", "src/report", "src/manual"]
MAY_INCLUDE = {
    "src/api/strag.h": [],
    "src/base": ["src/api/strag.h"],
    "src/machine": ["src/base"],
    "src/plan": ["src/base", "src/machine"],
    "src/algorithms": ["src/base", "src/machine", "src/plan"],
    "src/model": ["src/base", "src/machine", "src/plan", "src/algorithms"],
    "src/run": ["src/base", "src/machine", "src/plan"],
    "src/shm": ["src/base", "src/machine", "src/plan", "src/run"],
    "src/detect": ["src/base", "src/machine", "src/plan", "src/algorithms", "src/model"],
    "src/learn": ["src/base", "src/machine", "src/plan", "src/algorithms", "src/model", "src/detect"],
    "src/report": ["src/base", "src/machine", "src/plan", "src/algorithms", "src/model", "src/run", "src/detect",
                   "src/learn"],
    "src/manual": ["src/base", "src/algorithms", "src/model"],
    "src/api": SRC,
    "cuda": ["src/base", "src/run"],
    "tools": ["src/base", "src/machine", "src/plan", "src/algorithms", "src/model", "src/manual"],
    "examples": ["src/api/strag.h"],
    "bench": ["src/base"],
    "bench/lab": ["src/base", "bench"],
    "bench/scale": ["src/base", "src/machine", "src/plan", "src/algorithms", "src/model", "src/detect", "src/learn"],
    "test/cli": SRC,
    "test/cuda": SRC + ["cuda", "test/unit"],
    "test/dist": ["src/api/strag.h"],
    "test/fuzz": SRC + ["tools"],
    "test/gpu": SRC + ["cuda", "test/cuda"],
    "test/limit.c": [],
    "test/mpi": SRC + ["test/cuda"],
    "test/queue": SRC + ["test/unit"],
    "test/mpi/failing.c": ["ompi_coll_strag/compat", "test/mpi"],  # it stands between the component and Open MPI
    "test/mpi/arrivals_error.c": SRC[:],  # it takes last_arrival.c apart
    "test/mpi/stand_in_hcoll.c": ["ompi_coll_strag/compat"],  # a component itself
    "test/sim": SRC,
    "test/unit": SRC + ["tools"],
}

# The component's rooms, from the bottom up: a room may use those before it.
COMPONENT = "ompi_coll_strag"
ROOMS = ["compat", "user", "mpi", "wire", "facts", "choice", "watch", "stuck", "shared", "collect",
         "setup", "call"]
COMPONENT_ROOMS = [f"{COMPONENT}/{room}" for room in ROOMS]
for place, room in enumerate(COMPONENT_ROOMS):
    MAY_INCLUDE[room] = SRC + ["cuda"] + COMPONENT_ROOMS[:place]
for tester in ("test/queue", "test/mpi/arrivals_error.c"):
    MAY_INCLUDE[tester] += COMPONENT_ROOMS

# Headers of others, and who may include them: folders, or files.
OTHERS = [
    (r"(ompi|opal|orte|pmix|ompi_config|opal_config)[./].*", ["ompi_coll_strag"]),
    (r"mpi(-ext)?\.h", ["ompi_coll_strag/compat", "tools/strag_tune.c",
                        "tools/tune_model.c", "tools/tune_model.h", "bench", "test/dist", "test/gpu",
                        "test/mpi", "test/sim"]),
    (r"smpi/.*|simgrid/.*", ["test/sim"]),
    (r"uc[ptsm]/.*", ["ompi_coll_strag", "test/cuda/ucp"]),
    (r"hwloc.*", ["src/machine", "test/mpi", "test/unit"]),
    (r"yaml\.h", ["src/machine", "src/model"]),
    (r"jansson\.h", ["src/plan"]),
    (r"cmocka\.h", ["test"]),
    (r"cuda.*\.h", ["test/cuda"]),
]
GENERATED = ["config.h", "tools/draw_script.h"]

# Open MPI's versions are distinguished only here, and where a program calls by a name that 4.1 lacks.
VERSIONS = re.compile(r"\b(OMPI|OPAL)_(MAJOR|MINOR|RELEASE)_VERSION\b")
MAY_TELL_VERSIONS = ["ompi_coll_strag/compat", "bench/common.h", "test"]

HEADER_MOST = 250  # lines of a header of the component
FUNCTION_MOST = 60  # lines of a function's body

# What breaks one of the rules for versions, headers or functions, and why it may.
EXCEPTIONS = {
    "test/unit/test_rules.c:refused": "a table of texts and their errors",
    "test/unit/test_layout_errors.c:yaml": "a table of texts and their errors",
}

# Files that call each other in a circle.
CIRCLES = []

# Where a quoted header is looked for, after the folder of the file that includes it.
SEARCHED = ["src", "tools", "test/unit", "cuda", "test/cuda", "ompi_coll_strag", "ompi_coll_strag/compat/include"]

# ---- The checks ----


class Tree:
    """The code below a folder, and what was found wrong with it."""

    def __init__(self, top):
        self.top = top
        self.lines = {}
        self.includes = {}  # file: [(line, name, the file of this tree that it is, or None)]
        self.faults = []
        self.excused = set()
        for folder in ("src", COMPONENT, "cuda", "tools", "bench", "test", "examples"):
            for path, _, names in os.walk(os.path.join(top, folder)):
                for name in names:
                    if name.endswith((".c", ".h")):
                        file = os.path.relpath(os.path.join(path, name), top)
                        with open(os.path.join(top, file), encoding="utf-8") as source:
                            self.lines[file] = source.read().split("\n")
        for file, lines in self.lines.items():
            self.includes[file] = []
            for number, line in enumerate(lines, 1):
                match = re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', line)
                if match:
                    self.includes[file].append((number, match[1], self.find(file, match[1])))

    def find(self, file, name):
        for folder in [os.path.dirname(file)] + SEARCHED:
            path = os.path.normpath(os.path.join(folder, name))
            if path in self.lines:
                return path
        return None

    def fault(self, file, line, message, excuse=None):
        if excuse in EXCEPTIONS:
            self.excused.add(excuse)
        else:
            self.faults.append((file, line, message))


def below(file, names):
    return any(file == name or file.startswith(name + "/") for name in names)


def folder_of(file):
    return max((name for name in MAY_INCLUDE if below(file, [name])), key=len, default=None)


def check_folders(tree):
    for file, includes in tree.includes.items():
        folder = folder_of(file)
        if not folder:
            tree.fault(file, 1, "its folder is not in the table of layers.py")
            continue
        for line, name, target in includes:
            if target:
                other = folder_of(target)
                if other not in (folder, *MAY_INCLUDE[folder]):
                    tree.fault(file, line, f"{folder} may not include {name} of {other}")
                continue
            rule = next((may for pattern, may in OTHERS if re.fullmatch(pattern, name)), None)
            if rule is not None and not below(file, rule):
                tree.fault(file, line, f"only {', '.join(rule)} may include {name}")
            if rule is None and '"' in tree.lines[file][line - 1] and name not in GENERATED:
                tree.fault(file, line, f"no file {name}, and not in the table of layers.py")


def check_headers(tree):
    for file in tree.includes:
        if below(file, [COMPONENT]) and file.endswith(".h") and len(tree.lines[file]) - 1 > HEADER_MOST:
            tree.fault(file, HEADER_MOST + 1, f"a header of the component above {HEADER_MOST} lines", file)


def check_versions(tree):
    for file, lines in tree.lines.items():
        if not below(file, MAY_TELL_VERSIONS):
            for number, line in enumerate(lines, 1):
                if VERSIONS.search(line):
                    tree.fault(file, number, "Open MPI's versions are distinguished in compat/ only", file)


def functions(lines):
    """@return [(name, first line, length)] of code as clang-format lays it out: { and } at the left"""
    found = []
    start = 0
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line.startswith("}") and start:
            head = start - 1
            while head > 1 and not re.match(r"(#|\}|$)|.*[;/]$", lines[head - 2]):
                head -= 1
            name = re.search(r"TEST\((\w+)|(\w+)\(", " ".join(lines[head - 1:start - 1]))
            found.append((name[1] or name[2] if name else "?", start, number - start + 1))
            start = 0
    return found


def check_functions(tree):
    for file, lines in tree.lines.items():
        for name, start, length in functions(lines):
            if length > FUNCTION_MOST:
                tree.fault(file, start, f"{name} has {length} lines, more than {FUNCTION_MOST}",
                           f"{file}:{name}")


def circles(graph):
    """@return the sets of nodes that reach each other, of two or more (Tarjan's algorithm)"""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            circle = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(circle) > 1:
                found.append(set(circle))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def check_include_circles(tree):
    graph = {file: {target for _, _, target in includes if target}
             for file, includes in tree.includes.items()}
    for circle in circles(graph):
        file = min(circle)
        line = next(line for line, _, target in tree.includes[file] if target in circle)
        tree.fault(file, line, "a circle of includes: " + ", ".join(sorted(circle)))


def symbols(top, build, folder):
    """@return ({symbol: file that defines it}, {file: symbols that it needs}), of the objects' files
    without their ending"""
    defined, needed, sources = {}, collections.defaultdict(set), {}
    for path, _, names in os.walk(os.path.join(build, folder)):
        source = os.path.relpath(path, build).replace("/.libs", "")
        for name in names:
            file = os.path.join(source, re.sub(r"^\w+-", "", name[:-2]))  # Automake's, of the target
            if name.endswith(".o") and os.path.exists(os.path.join(top, file + ".c")):
                sources[os.path.join(path, name)] = file
    if not sources:
        return defined, needed
    nm = subprocess.run(["nm", "-P", "-A", *sources], check=True, capture_output=True, text=True)
    for path, symbol, kind in (line.split()[:3] for line in nm.stdout.splitlines()):
        file = sources[path[:-1]]
        if kind == "U":
            needed[file].add(symbol)
        elif kind.isupper() and symbol != "main":
            defined[symbol] = file
    return defined, needed


def check_calls(tree, build):
    checked = 0
    met = []
    for area in ("src", COMPONENT, "cuda", "tools", "bench"):
        defined, needed = symbols(tree.top, build, area)
        graph = {file: set() for file in {*defined.values(), *needed}}
        checked += len(graph)
        for file in sorted(needed):
            for symbol in sorted(needed[file] & defined.keys()):
                other = defined[symbol]
                graph[file].add(other)
                here, there = folder_of(file), folder_of(other)
                if there not in (here, *MAY_INCLUDE[here]):
                    tree.fault(file + ".c", 1, f"{here} may not call {symbol} of {there}")
        for circle in circles(graph):
            known = next((known for known in CIRCLES if circle <= known), None)
            met.append(known)
            if not known:
                tree.fault(min(circle) + ".c", 1, "a circle of calls: " + ", ".join(sorted(circle)))
        for known in CIRCLES:
            if graph and below(min(known), [area]) and known not in met:
                tree.fault(min(known) + ".c", 1, "no circle of calls any more: remove it from layers.py")
    return checked


def check(top, build=None):
    """@return (the tree with its faults, the number of object files)"""
    tree = Tree(top)
    check_folders(tree)
    check_headers(tree)
    check_versions(tree)
    check_functions(tree)
    check_include_circles(tree)
    objects = check_calls(tree, build) if build else 0
    for excuse in sorted(set(EXCEPTIONS) - tree.excused):
        tree.fault(excuse.split(":")[0], 1, "an exception of layers.py that is not needed any more")
    return tree, objects


def main():
    tree, objects = check(*sys.argv[1:])
    for file, line, message in sorted(tree.faults):
        print(f"{file}:{line}: {message}")
    print(f"layers: {len(tree.lines)} files, {objects} object files, {len(tree.faults)} faults"
          + ("" if objects else "; not built, so calls were not checked"))
    sys.exit(1 if tree.faults or not tree.lines else 0)


if __name__ == "__main__":
    main()
