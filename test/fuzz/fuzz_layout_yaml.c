/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzing the reader of topology.yaml.
 */
#include "fuzz.h"
#include "layout_check.h"

#include <string.h>

static const char *const words[] = {
    "- topology: t\n",
    "  cluster_default: true\n",
    "  tree:\n",
    "    switches:\n",
    "      - switch: s1\n",
    "        children: s[1-2]\n",
    "        nodes: n[1-4]\n",
    "        gbit: 100\n",
    "  block:\n",
    "    block_sizes: [4, 8]\n",
    "    blocks:\n",
    "      - block: b1\n",
    "  flat: true\n",
    "  torus3d:\n",
    "    toruses:\n",
    "      - name: p\n",
    "        dims: {x: 2, y: 2, z: 1}\n",
    "        regions:\n",
    "        - {anchor: {x: 0, y: 0, z: 0}, dims: {x: 1, y: 1, z: 1}, nodes: n1}\n",
    "  ring:\n",
    "    rings:\n",
    "      - ring: r\n",
    "---\n",
    "...\n",
    "&a ",
    "*a",
    "{",
    "}",
    "[",
    "]",
    ": ",
    "- ",
    "\n",
    "  ",
    "\"",
    "|\n",
    "? ",
    "!!str ",
    "%YAML 1.1\n",
    "\xff",
    "#",
};

const struct fuzz_target fuzz_target = {"layout_yaml", 20000, words, sizeof words / sizeof *words};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct strag_error err = {""};
    struct strag_layout *layout = NULL;
    int status = strag_layout_parse_yaml((const char *)data, size, "FILE", &layout, &err);
    check_layout(status, layout, &err);
    if (status != STRAG_OK)
        check(strncmp(err.text, "FILE:", 5) == 0, "a message without FILE:");
    layout = NULL;
    status = strag_layout_parse((const char *)data, size, "FILE", &layout, &err);
    check_layout(status, layout, &err);
    return 0;
}
