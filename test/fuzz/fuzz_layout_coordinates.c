/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzing the reader of coordinates files.
 */
#include "fuzz.h"
#include "layout_check.h"

static const char *const words[] = {
    "torus 4x4\n",
    "mesh 2x2x2\n",
    "hyperx 8x8\n",
    "hammingmesh 2x2:2x2\n",
    "n1: 0 0\n",
    "n2: 1 0\n",
    "0: 0 0\n",
    "1: 1 0\n",
    "2: 0 1\n",
    "n3: 3 3 3\n",
    ":",
    " ",
    "\n",
    "#",
    "0",
    "1",
    "7",
    "2147483647",
    "2147483646 0",
    "-1",
    "a",
    "\t",
    "\r\n",
    "\xff",
    "1 1 1 1 1 1 1 1",
};

const struct fuzz_target fuzz_target = {"layout_coordinates", 20000, words,
                                        sizeof words / sizeof *words};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_layout_reader(strag_layout_parse_coordinates, data, size);
    return 0;
}
