#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The file that bench/compare writes, and others send in: its schema, and the check of a file.

    python3 bench/contributed.py FILE...      is each of them complete and well formed?

First come lines `# NAME: VALUE`, one for each name of ABOUT; then the names of COLUMNS; then a row for each test,
launch, size and contender. A refusal names the file's row and the column. Python 3 standard library only.
"""
import collections
import csv
import pathlib
import re
import statistics
import sys

LAUNCHES = 5  # of each test, at least: fewer show no spread
TESTS = {
    "blocking": "MPI_Allreduce",
    "nonblocking": "MPI_Iallreduce, waited for at once",
    "persistent": "MPI_Start of a persistent allreduce, waited for at once",
    "late": "MPI_Allreduce, for which the middle rank is late, about as long as a call takes; min_us to q3_us include the "
            "delay, the page's times and ratios do not",
    "slow": "MPI_Allreduce while a host's link is slowed down",
}

ABOUT = {
    "strag-comparison": "1, the version of this schema",
    "date": "when it began, UTC: 2026-11-27T10:00:00Z",
    "machine": "the processor of the host on which compare ran",
    "processors": "how many that host has",
    "kernel": "its kernel",
    "fabric": "the network: kind, speed, how hosts are joined",
    "openmpi": "Open MPI's version",
    "strag": "strag's version",
    "launcher": "the command that started the ranks",
    "environment": "parameters of Open MPI and UCX in the environment, or none",
    "from": "whom to ask, or not said",
}

Column = collections.namedtuple("Column", "name unit accepts meaning")
WHOLE, NUMBER = "a whole number of at least", "a number of at least"
MOST, SHORTEST = 1e15, 1e-3  # of any number; microseconds of a call
COLUMNS = (
    Column("test", "", tuple(TESTS), "what was called, and how"),
    Column("launch", "", (WHOLE, 1), "number of the launch"),
    Column("bytes", "bytes", (WHOLE, 4), "length of the vector"),
    Column("ranks", "", (WHOLE, 2), "ranks of the job"),
    Column("hosts", "", (WHOLE, 1), "hosts that have ranks"),
    Column("contender", "", r"[a-z0-9][a-z0-9_-]*", "strag, stock (what Open MPI runs by itself), stock-again (the "
           "same once more: the difference is noise), or an algorithm or component of Open MPI"),
    Column("delay_us", "microseconds", (NUMBER, 0), "by how much the middle rank is late in each call"),
    Column("samples", "", (WHOLE, 1), "timed calls"),
    Column("min_us", "microseconds", (NUMBER, 0), "of a call, of the slowest rank: the shortest"),
    Column("q1_us", "microseconds", (NUMBER, 0), "the first quartile"),
    Column("median_us", "microseconds", (NUMBER, 0), "the median"),
    Column("q3_us", "microseconds", (NUMBER, 0), "the third quartile"),
    Column("strag_calls", "", (WHOLE, 0), "calls that strag ran"),
    Column("delegated", "", (WHOLE, 0), "calls that strag left to the previous component"),
    Column("foreign_percent", "percent", (NUMBER, 0), "of the processors' time of the host on which compare ran: what "
           "other programs took just before or after the launch"),
)
FORMULA = re.compile(r",(?=[=+@])")
ALONE = ("strag", "stock-again")  # contenders that are not among those whose fastest is Open MPI's best


class Refused(Exception):
    """What is malformed, and where."""


def cell(row, column, text):
    """A cell's value, or Refused."""
    def refuse(accepted):
        unit = f" ({column.unit})" if column.unit else ""
        raise Refused(f"row {row}, column {column.name}: {text[:40]!r} is not {accepted}{unit}")
    if isinstance(column.accepts, str):
        return text if re.fullmatch(column.accepts, text) else refuse(f"a name like {column.accepts}")
    if column.name == "test":
        return text if text in column.accepts else refuse("one of " + ", ".join(column.accepts))
    kind, least = column.accepts
    try:
        value = int(text) if kind == WHOLE else float(text)
    except ValueError:
        return refuse(f"{kind} {least}")
    return value if least <= value < MOST else refuse(f"{kind} {least}" + (f", below {MOST:g}" if value >= MOST else ""))


class Comparison:
    """A file's content: about {name: text}, rows [{column: value}], each with its "row" in the file."""

    def __init__(self, about, rows):
        self.about, self.rows = about, rows
        self.times = {}  # {(test, bytes): {contender: {launch: median_us, from the last rank's arrival on}}}
        for number, row in enumerate(rows, 1):
            row.setdefault("row", number)
            own = self.times.setdefault((row["test"], row["bytes"]), {})
            own.setdefault(row["contender"], {})[row["launch"]] = row["median_us"] - row["delay_us"]

    def tests(self):
        return [test for test in TESTS if self.sizes(test)]

    def sizes(self, test):
        return sorted(size for own, size in self.times if own == test)

    def contenders(self, test):
        """Those that are measured at any size, in the order of the file."""
        return list(dict.fromkeys(name for (own, _), found in self.times.items() if own == test for name in found))

    def microseconds(self, test, size, contender):
        """The median over the launches."""
        return statistics.median(self.times[test, size][contender].values())

    def best(self, test, size):
        """The name of the fastest of Open MPI's that was measured, in the median over the launches."""
        names = [name for name in self.times[test, size] if name not in ALONE]
        return min(names, key=lambda name: self.microseconds(test, size, name))

    def ratios(self, test, size, over, under="strag"):
        """One contender's time over another's, in each launch that both have; sorted."""
        found = self.times[test, size]
        return sorted(time / found[under][launch] for launch, time in found[over].items() if found[under].get(launch))


def header(lines):
    """{name: text} of the lines before the columns' names."""
    about = {}
    for number, line in enumerate(lines, 1):
        match = re.fullmatch(r"# ([a-z-]+): (.*\S)", line)
        if not match or match[1] not in ABOUT:
            raise Refused(f"row {number}: '# NAME: VALUE' with one of {', '.join(ABOUT)} is expected")
        if not line.isprintable() or FORMULA.search(line):
            raise Refused(f"row {number}: neither control characters nor what a spreadsheet takes for a formula (=, + or "
                          "@ behind a comma) are accepted")
        about[match[1]] = match[2]
    for name, meaning in ABOUT.items():
        if name not in about:
            raise Refused(f"row {len(lines) + 1}: '# {name}: ' is missing: {meaning}")
    if about["strag-comparison"] != "1":
        raise Refused(f"strag-comparison: '{about['strag-comparison']}' is not 1, the version that this check knows")
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", about["date"]):
        raise Refused(f"date: '{about['date']}' is not like 2026-11-27T10:00:00Z")
    if not re.fullmatch(r"[1-9][0-9]{0,5}", about["processors"]):
        raise Refused(f"processors: '{about['processors']}' is not a number from 1 on")
    return about


def parse(text):
    """@return a Comparison whose cells are well formed"""
    lines = text.splitlines()
    begin = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    about = header(lines[:begin])
    names = [column.name for column in COLUMNS]
    try:
        table = list(csv.reader(lines[begin:]))
    except csv.Error as error:
        raise Refused(f"behind row {begin}: {error}") from error
    if not table or table[0] != names:
        found = table[0] if table else []
        wrong = next((name for name in names if name not in found), None)
        reason = f"column {wrong} is missing" if wrong else "the columns are expected in this order: " + ",".join(names)
        raise Refused(f"row {begin + 1}: {reason}")
    rows = []
    for number, cells in enumerate(table[1:], begin + 2):
        if len(cells) != len(names):
            raise Refused(f"row {number}: {len(cells)} columns, not {len(names)}")
        rows.append({"row": number, **{column.name: cell(number, column, text)
                                       for column, text in zip(COLUMNS, cells)}})
    if not rows:
        raise Refused(f"row {begin + 2}: there is no row")
    return Comparison(about, rows)


def check_row(row):
    """Do a row's cells agree?"""
    def refuse(column, reason):
        raise Refused(f"row {row['row']}, column {column}: {reason}")
    if not row["min_us"] <= row["q1_us"] <= row["median_us"] <= row["q3_us"]:
        refuse("median_us", "min_us, q1_us, median_us and q3_us do not ascend")
    if row["hosts"] > row["ranks"]:
        refuse("hosts", f"{row['hosts']} hosts, but {row['ranks']} ranks")
    if row["test"] != "late" and row["delay_us"]:
        refuse("delay_us", f"not 0, but the test is {row['test']}")
    if row["median_us"] - row["delay_us"] < SHORTEST:
        refuse("median_us", f"is not above {'delay_us' if row['delay_us'] else 0}")
    if row["contender"] != "strag" and row["strag_calls"] + row["delegated"]:
        refuse("strag_calls", f"strag took part in the calls of {row['contender']}")
    if row["foreign_percent"] > 100:
        refuse("foreign_percent", "is above 100")


def check(found, launches=LAUNCHES):
    """Refused unless a Comparison is one: rows agree, and no test lacks a launch or one of its sides."""
    seen = {}
    for row in found.rows:
        check_row(row)
        place = tuple(row[name] for name in ("test", "launch", "bytes", "contender"))
        if place in seen:
            raise Refused(f"row {row['row']}, column launch: the same as row {seen[place]}")
        seen[place] = row["row"]
        for name in ("ranks", "hosts"):
            if row[name] != found.rows[0][name]:
                raise Refused(f"row {row['row']}, column {name}: {row[name]}, but {found.rows[0][name]} in row "
                              f"{found.rows[0]['row']}")
    for row in found.rows:
        own = found.times[row["test"], row["bytes"]]
        missing = next((name for name in ("strag", "stock") if row["launch"] not in own.get(name, ())), None)
        if missing:
            raise Refused(f"row {row['row']}, column contender: its launch has {row['test']} calls of "
                          f"{row['bytes']} bytes, but not those of {missing}")
    for row in found.rows:
        made = len(found.times[row["test"], row["bytes"]][row["contender"]])
        if made < launches:
            raise Refused(f"row {row['row']}, column launch: {row['contender']} has {made} launches with {row['test']} "
                          f"calls of {row['bytes']} bytes; at least {launches} are needed")


def line_of(words):
    """Words as the lines of the first table may have them."""
    printable = "".join(letter if letter.isprintable() else " " for letter in str(words))
    return FORMULA.sub(", ", " ".join(printable.split())) or "unknown"


def write(path, found):
    """Write a Comparison."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        for name in ABOUT:
            file.write(f"# {name}: {line_of(found.about[name])}\n")
        rows = csv.DictWriter(file, [column.name for column in COLUMNS], extrasaction="ignore", lineterminator="\n")
        rows.writeheader()
        rows.writerows(found.rows)


def read(path):
    try:
        return parse(pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise Refused(error.strerror) from error
    except UnicodeDecodeError as error:
        raise Refused("is not text in UTF-8") from error


def schema():
    """The tables of doc/results/README.md."""
    yield "| line | what it says |"
    yield "|---|---|"
    yield from (f"| `# {name}:` | {meaning} |" for name, meaning in ABOUT.items())
    yield "\n| column | unit | what it says |"
    yield "|---|---|---|"
    yield from (f"| `{column.name}` | {column.unit} | {column.meaning} |" for column in COLUMNS)
    yield "\n| test | what is called |"
    yield "|---|---|"
    yield from (f"| `{name}` | {meaning} |" for name, meaning in TESTS.items())


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: contributed.py FILE...")
    if sys.argv[1:] == ["--schema"]:
        print("\n".join(schema()))
        return
    refused = 0
    for path in sys.argv[1:]:
        try:
            found = read(path)
            check(found)
            print(f"{path}: ok: {len(found.rows)} rows, {', '.join(found.tests())}")
        except Refused as reason:
            print(f"{path}: {reason}", file=sys.stderr)
            refused += 1
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
