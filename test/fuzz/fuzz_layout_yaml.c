/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzing the reader of topology.yaml.
 */
#include "fuzz.h"
#include "layout_check.h"

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
    "...\n",
    "|\n",
    "? ",
    "!!str ",
    "%YAML 1.1\n",
    FUZZ_YAML_WORDS,
};

const struct fuzz_target fuzz_target = {"layout_yaml", 20000, words, sizeof words / sizeof *words};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_layout_reader(strag_layout_parse_yaml, data, size);
    return 0;
}
