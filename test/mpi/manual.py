#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The component's reference is the same everywhere: manual.py JSON OMPI-INFO PAGE LINES GUIDE

JSON is what `strag params --format json` writes, OMPI-INFO what `ompi_info --parsable` does, PAGE the
source of coll_strag(7), LINES the verbose lines of a job, GUIDE doc/guide/parameters.md, which has
every parameter in its own words.
"""
import json
import re
import sys

TYPES = {"switch": "bool", "integer": "string", "text": "string"}
faults = 0


def check(good, message):
    global faults
    if not good:
        faults += 1
        print("FAIL:", message)


def read(file):
    with open(file, encoding="utf-8") as stream:
        return stream.read()


def of_ompi_info(text, kind):
    """@return {name: {what: value}}"""
    found = {}
    for line in text.splitlines():
        match = re.match(rf"mca:coll:strag:{kind}:(\w+):([\w-]+):(.*)", line)
        if match:
            found.setdefault(match[1], {})[match[2]] = match[3].replace("\\:", ":").strip('"')
    return found


def check_parameters(reference, info):
    known = of_ompi_info(info, "param")
    check(len(reference) >= 30, f"only {len(reference)} parameters")
    for parameter in reference:
        name = parameter["name"]
        has = known.pop(name, None)
        check(has is not None, f"ompi_info has no {name}")
        if not has:
            continue
        for what, value in (("value", parameter["default"]), ("type", TYPES[parameter["type"]]),
                            ("level", str(parameter["level"])), ("help", parameter["help"])):
            check(has[what] == value, f"{name}: {what} is '{has[what]}' in ompi_info, not '{value}'")
    # Open MPI itself adds the versions of every component.
    others = [name for name in known if not name.endswith("_version")]
    check(not others, f"only ompi_info has {others}")


def check_variables(reference, info):
    known = of_ompi_info(info, "pvar")
    check(len(reference) >= 16, f"only {len(reference)} variables")
    for variable in reference:
        has = known.pop(variable["name"], None)
        check(has and has["help"] == variable["help"], f"ompi_info has {has} for {variable['name']}")
        of = "counter" if variable["of"] == "process" else "generic"
        check(has and has["class"] == of, f"{variable['name']} is not a {of}")
    check(not known, f"only ompi_info has {list(known)}")


def check_page(reference, page):
    lines = [line.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")
             for line in page.splitlines()]
    rows = ([(row["name"], row["help"]) for row in reference["parameters"] + reference["variables"]]
            + [(row["form"], row["meaning"]) for row in reference["verbose"]])
    for name, text in rows:
        check(f".Cm {name}" in lines, f"coll_strag(7) has no {name}")
        check(text in lines, f"coll_strag(7) has no '{text}'")
    keys = page.split(".Sh INFO KEYS")[1].split(".Sh ")[0]
    check(re.findall(r"^\.Cm (\w+)$", keys, re.M)
          == [row["name"] for row in reference["parameters"] if row["info_key"]], "the info keys of the page")


def check_lines(reference, text):
    """Every verbose line of a job has a form that the reference lists."""
    forms = [re.compile(re.sub(r"[A-Z]{2,}", ".+", re.escape(row["form"])) + "$") for row in reference]
    seen = set()
    for line in text.splitlines():
        match = re.match(r"(?:\[[^]]*\] )?coll:strag: .* \(cid \w+, \d+ ranks\): (.*)", line)
        if not match:
            continue
        fits = [form.pattern for form in forms if form.match(match[1])]
        check(fits, f"a verbose line that the reference does not list: {line}")
        seen.update(fits)
    check(len(seen) >= 4, f"only {seen} were seen:\n{text}")


def check_guide(reference, guide):
    for row in reference:
        name = row["name"]
        short = name.replace("coll_strag", "", 1)  # `coll_strag_alpha`, `_bandwidth`
        check(f"`{name}`" in guide or f"`{short}`" in guide, f"doc/guide/parameters.md has no {name}")
    keys = guide.split("## Info keys")[1].split("\n## ")[0]
    for row in reference:
        check(not row["info_key"] or f"`{row['name']}`" in keys, f"the guide's info keys: no {row['name']}")


def main():
    reference = json.loads(read(sys.argv[1]))
    info = read(sys.argv[2])
    check_parameters(reference["parameters"], info)
    check_variables(reference["variables"], info)
    check_page(reference, read(sys.argv[3]))
    check_lines(reference["verbose"], read(sys.argv[4]))
    check_guide(reference["parameters"], read(sys.argv[5]))
    if not faults:
        print(f"ok: {len(reference['parameters'])} parameters, {len(reference['variables'])} variables, "
              f"{len(reference['verbose'])} forms of verbose lines")
    sys.exit(faults > 0)


main()
