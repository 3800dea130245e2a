/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzing the reader of topology.conf.
 */
#include "fuzz.h"
#include "layout_check.h"

static const char *const words[] = {
    "SwitchName=", "switchname=", "Switches=", "Nodes=",      "LinkSpeed=",
    "BlockName=",  "BlockSizes=", "RingName=", "s1",          "s2",
    "s[1-3]",      "n1",          "n[1-4]",    "n[01-16,20]", ",",
    "=",           " ",           " ",         "\n",          "\n",
    "\\\n",        "#",           "\"",        "\t",          "\r\n",
    "100",         "0",           "1e-3",      "4,8",         "[",
    "]",           "-",           "\xff",      "\xc3\xa9",    "n[1-99999999999999999999]",
};

const struct fuzz_target fuzz_target = {"layout_conf", 20000, words, sizeof words / sizeof *words};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_layout_reader(strag_layout_parse_conf, data, size);
    return 0;
}
