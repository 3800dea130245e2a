# SPDX-License-Identifier: BSD-3-Clause
def picture_of(made):
    if "ranks" in made:
        return Plan(made)
    if "costs" in made:
        return Costs(made)
    return Tree(made) if made["network"] == "tree" else Grid(made)


def main():
    with open(0, encoding="utf-8", errors="surrogateescape") as given:
        picture = picture_of(json.load(given, object_hook=read_op))
    with open(1, "w", encoding="utf-8", errors="surrogateescape") as out:
        out.writelines(picture.draw())
        out.write("</svg>\n")


try:
    main()
except OSError as error:
    sys.exit(f"strag: the output could not be written: {error.strerror}")
except KeyboardInterrupt:
    sys.exit(1)
