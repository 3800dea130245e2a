#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# test/lint/layers.py finds what it looks for: each rule is broken once, in a small tree.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if ! python3 -c '' 2>/dev/null || ! command -v nm cc >/dev/null; then
    echo "skipped: python3, cc and nm are needed"
    exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 python3 - "$work" <<'PYTHON'
import os
import shutil
import subprocess
import sys

import layers

TREE = {
    "src/base/status.h": "int status(void);\n",
    "src/base/status.c": '#include "base/status.h"\n\nint status(void)\n{\n    return 0;\n}\n',
    "src/plan/plan.h": '#include "base/status.h"\n\nint plan(void);\n',
    "src/plan/plan.c": '#include "plan/plan.h"\n\nint plan(void)\n{\n    return status();\n}\n',
    "src/plan/show.c": '#include "plan/plan.h"\n\nint show(void)\n{\n    return plan();\n}\n',
    "src/model/cost.h": "int cost(void);\n",
    "src/run/engine.c": '#include "plan/plan.h"\n',
    "ompi_coll_strag/compat/compat.h": '#include "ompi/constants.h"\n#if OMPI_MAJOR_VERSION >= 5\n#endif\n',
    "ompi_coll_strag/user/log.h": "#include <stdio.h>\n",
    "ompi_coll_strag/user/log.c": '#include "log.h"\n#include "compat/compat.h"\n#include "run/engine.h"\n',
    "ompi_coll_strag/choice/plans.h": '#include "user/log.h"\n',
    "ompi_coll_strag/choice/table.h": "int table(void);\n",
    "ompi_coll_strag/wire/ucp/ucp.h": "",
    "ompi_coll_strag/wire/ucp/ucp.c": '#include "ucp.h"\n#include <ucp/api/ucp.h>\n',
    "tools/strag_tune.c": '#include "plan/plan.h"\n#include <mpi.h>\n',
    "tools/strag.c": "",
    "test/unit/test_plan.c": '#include "plan/plan.h"\n#include <cmocka.h>\n',
}
TREE["src/run/engine.h"] = "struct engine {\n" + 99 * "    int x;\n" + "};\n"
layers.EXCEPTIONS = {}
layers.CIRCLES = []
top = sys.argv[1] + "/tree"
checks = 0


def faults(changed, objects=()):
    """What is found in the tree with these files changed, and with objects of these."""
    shutil.rmtree(top, ignore_errors=True)
    for name, text in {**TREE, **changed}.items():
        os.makedirs(os.path.dirname(f"{top}/{name}"), exist_ok=True)
        with open(f"{top}/{name}", "w", encoding="ascii") as file:
            file.write(text)
    for name in objects:
        folder, file = os.path.split(name)
        os.makedirs(f"{top}/build/{folder}/.libs", exist_ok=True)
        subprocess.run(["cc", "-w", "-c", "-I", f"{top}/src", "-o", f"{top}/build/{folder}/.libs/libx_la-{file[:-1]}o",
                        f"{top}/{name}"], check=True)
    tree, count = layers.check(top, f"{top}/build")
    assert count == len(objects), (count, objects)
    return [f"{file}:{line}: {message}" for file, line, message in sorted(tree.faults)]


def expect(changed, *expected, objects=()):
    global checks
    found = faults(changed, objects)
    assert found == list(expected), f"found {found}, not {expected}"
    checks += 1


built = ["src/base/status.c", "src/plan/plan.c", "src/plan/show.c"]
expect({})
expect({}, objects=built)

# Includes, between folders.
expect({"src/base/status.c": '\n#include "plan/plan.h"\n'},
       "src/base/status.c:2: src/base may not include plan/plan.h of src/plan")
expect({"src/run/engine.c": '#  include "../model/cost.h"\n'},
       "src/run/engine.c:1: src/run may not include ../model/cost.h of src/model")
expect({"tools/strag.c": '#include "run/engine.h"\n'},
       "tools/strag.c:1: tools may not include run/engine.h of src/run")
expect({"test/unit/test_plan.c": '#include "../../ompi_coll_strag/user/log.h"\n'},
       "test/unit/test_plan.c:1: test/unit may not include ../../ompi_coll_strag/user/log.h of ompi_coll_strag/user")
expect({"src/extra/new.c": ""}, "src/extra/new.c:1: its folder is not in the table of layers.py")
expect({"src/plan/plan.c": '#include "plan/gone.h"\n'},
       "src/plan/plan.c:1: no file plan/gone.h, and not in the table of layers.py")
# Headers of others.
for name in ('"ompi/constants.h"', "<opal/util/info.h>"):
    expect({"src/plan/plan.c": f"#include {name}\n"},
           f"src/plan/plan.c:1: only ompi_coll_strag may include {name[1:-1]}")
expect({"tools/strag.c": "#include <mpi.h>\n"},
       "tools/strag.c:1: only " + ", ".join(next(may for pattern, may in layers.OTHERS if "mpi(" in pattern))
       + " may include mpi.h")
# Open MPI's versions.
expect({"ompi_coll_strag/user/log.c": "\n#if OMPI_MAJOR_VERSION > 4\n#endif\n"},
       "ompi_coll_strag/user/log.c:2: Open MPI's versions are distinguished in compat/ only")
# The component's rooms.
expect({"ompi_coll_strag/new.c": ""}, "ompi_coll_strag/new.c:1: its folder is not in the table of layers.py")
expect({"ompi_coll_strag/user/log.c": '#include "log.h"\n#include "choice/plans.h"\n'},
       "ompi_coll_strag/user/log.c:2: ompi_coll_strag/user may not include choice/plans.h of ompi_coll_strag/choice")
# Circles.
expect({"src/plan/show.h": '\n#include "plan/plan.h"\n', "src/plan/plan.h": '#include "plan/show.h"\n'},
       "src/plan/plan.h:1: a circle of includes: src/plan/plan.h, src/plan/show.h")
circle = {"src/plan/plan.c": "int show(void);\nint plan(void)\n{\n    return show();\n}\n"}
expect(circle, "src/plan/plan.c:1: a circle of calls: src/plan/plan, src/plan/show", objects=built)
circle_of_two = {"ompi_coll_strag/choice/given.c": "int b(void);\nint a(void)\n{\n    return b();\n}\n",
                 "ompi_coll_strag/choice/plans.c": "int a(void);\nint b(void)\n{\n    return a();\n}\n"}
expect(circle_of_two, "ompi_coll_strag/choice/given.c:1: a circle of calls: ompi_coll_strag/choice/given, ompi_coll_strag/choice/plans",
       objects=list(circle_of_two))
# Calls, between folders.
expect({"src/base/status.c": "int plan(void);\nint status(void)\n{\n    return plan();\n}\n"},
       "src/base/status.c:1: a circle of calls: src/base/status, src/plan/plan",
       "src/base/status.c:1: src/base may not call plan of src/plan", objects=built)
# A circle that is known, and one that is no more.
layers.CIRCLES = [{"src/plan/plan", "src/plan/show"}]
expect(circle, objects=built)
expect({}, "src/plan/plan.c:1: no circle of calls any more: remove it from layers.py", objects=built)
layers.CIRCLES = []
# Lengths.
expect({"ompi_coll_strag/choice/table.h": 250 * "\n"})
expect({"ompi_coll_strag/choice/table.h": 251 * "\n"},
       "ompi_coll_strag/choice/table.h:251: a header of the component above 250 lines")


def function(lines):
    return "static int f(int a,\n             int b)\n{\n" + (lines - 2) * "    a++;\n" + "}\n"


expect({"tools/strag.c": "#define X\n" + function(60) + function(60)})
expect({"tools/strag.c": "#define X\n" + function(61) + function(60)},
       "tools/strag.c:4: f has 61 lines, more than 60")
layers.EXCEPTIONS = {"tools/strag.c:f": "a test"}
expect({"tools/strag.c": function(61)})
expect({}, "tools/strag.c:1: an exception of layers.py that is not needed any more")
print(f"layers.sh: {checks} checks passed")
PYTHON
