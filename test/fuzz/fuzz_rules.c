/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzing the reader of rules files.
 */
#include "fuzz.h"
#include "layout_check.h"

#include "model/rules.h"

static const char *const words[] = {
    "strag-rules: 1\n",
    "rules:\n",
    "  - hosts: 4..8\n",
    "    ranks-per-host: 2\n",
    "    ranks: 8\n",
    "    network: torus\n",
    "    sizes:\n",
    "      - {from: 0, algorithm: previous}\n",
    "      - {from: 16K, algorithm: ring}\n",
    "      - {from: 1M, algorithm: auto}\n",
    "0",
    "1..",
    "..",
    "blocks: ",
    "16K",
    FUZZ_YAML_WORDS,
};

const struct fuzz_target fuzz_target = {"rules", 20000, words, sizeof words / sizeof *words};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct strag_error err = {""};
    struct strag_rules *rules = NULL;
    int status = strag_rules_parse((const char *)data, size, "FILE", &rules, &err);
    if (status == STRAG_OK) {
        check(rules != NULL, "no rules");
        strag_rules_free(rules);
        return 0;
    }
    check(!rules, "a result in spite of a refusal");
    check_message(status, &err, "FILE:");
    return 0;
}
