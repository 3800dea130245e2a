/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzing the reader of model files: what it reads is written and read back as the same numbers.
 */
#include "fuzz.h"
#include "layout_check.h"

#include "model/model_file.h"

#include <stdlib.h>
#include <string.h>

static const char *const words[] = {
    "strag-models: 1\n",
    "models:\n",
    "  - name: lab\n",
    "    hosts: n[0-9]*,login?\n",
    "    transport: pml\n",
    "    transport: any\n",
    "    alpha: 45\n",
    "    local-alpha: 0.4\n",
    "    bandwidth: 0.1\n",
    "    local-bandwidth: 160\n",
    "    link-latency: 0\n",
    "    hop-latency: 1e9\n",
    "    reduce-bandwidth: 160\n",
    "    measured: {date: 2026-11-22, error: 0.03, ranks: 8, hosts: 4}\n",
    "0",
    "1e-5",
    FUZZ_YAML_WORDS,
};

const struct fuzz_target fuzz_target = {"models", 20000, words, sizeof words / sizeof *words};

static void check_written(const struct strag_models *models)
{
    struct strag_models *again = NULL;
    struct strag_error err = {""};
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    check(stream && strag_models_write(models, stream) && fclose(stream) == 0, "not written");
    check(length > (size_t)1 << 20 ||
              strag_models_parse(text, length, "FILE", &again, &err) == STRAG_OK,
          err.text);
    check(!again || models->count == again->count, "not as many are read back");
    for (int m = 0; again && m < models->count; m++) {
        for (int id = 0; id < STRAG_MODEL_NUMBERS; id++) {
            const double a = models->entry[m].value[id], b = again->entry[m].value[id];
            check(a <= b && a >= b, "other numbers are read back");
        }
    }
    strag_models_free(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct strag_machine_kind kind = {NULL, STRAG_OVER_PML, true};
    struct strag_error err = {""};
    struct strag_models *models = NULL;
    int status = strag_models_parse((const char *)data, size, "FILE", &models, &err);
    if (status == STRAG_OK) {
        check(models != NULL, "no models");
        (void)strag_models_find(models, &kind);
        check_written(models);
        strag_models_free(models);
        return 0;
    }
    check(!models, "a result in spite of a refusal");
    check_message(status, &err, "FILE:");
    return 0;
}
