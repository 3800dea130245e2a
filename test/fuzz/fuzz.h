/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fuzz target: LLVMFuzzerTestOneInput, and what fuzz_main.c needs to make up texts where there is
 * no libFuzzer.
 */
#ifndef STRAG_FUZZ_H
#define STRAG_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Of all targets that read YAML: what it is written with, and what it is not. */
#define FUZZ_YAML_WORDS                                                                            \
    "{", "}", "[", "]", ": ", "- ", "\n", "  ", "\"", "&a ", "*a", "---\n", "\xff", "#"

struct fuzz_target {
    const char *name; /* its texts are in test/fuzz/corpus/NAME */
    long cases;       /* how many texts fuzz_main.c makes up */
    const char *const *words;
    size_t nwords;
};

extern const struct fuzz_target fuzz_target;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
