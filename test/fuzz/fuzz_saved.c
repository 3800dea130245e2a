/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzing the reader of what jobs save: what it reads is written and read back the same, and a
 * choice can be made of it.
 */
#include "fuzz.h"
#include "layout_check.h"

#include "model/saved.h"

#include <stdlib.h>
#include <string.h>

static const char *const words[] = {
    "strag-saved: 2\n",
    "ranks: 4\n",
    "minimum: 8192\n",
    "quick: true\n",
    "shared-memory: all\n",
    "oversubscribed: {ranks: 4, processors: 2, window: 524288}\n",
    "stragglers: [{rank: 3, delay: 200}]\n",
    "slow: [{rank: 2, factor: 1.7}]\n",
    "pinned: ring\n",
    ("model: {alpha: 1, local-alpha: 1, overhead: 0, bandwidth: 1, injection-bandwidth: 0, "
     "local-bandwidth: 1, link-latency: 0, "
     "hop-latency: 0, reduce-bandwidth: 0}\n"),
    "origins: {alpha: user}\n",
    "model-file: \"m.yaml\"\n",
    "model-line: 3\n",
    "rules: [{from: 0, algorithm: ring}]\n",
    "rules-line: 4\n",
    "table: [{from: 0, algorithm: previous}]\n",
    "topology: d7a4d19a0504060000010c03030700020102020000010100030202050100050000000200026e30\n",
    "1e-5",
    FUZZ_YAML_WORDS,
};

const struct fuzz_target fuzz_target = {"saved", 10000, words, sizeof words / sizeof *words};

static void check_written(const struct strag_saved *saved)
{
    const struct strag_saved *again = NULL;
    struct strag_error err = {""};
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    check(stream && strag_saved_write(saved, stream) && fclose(stream) == 0, "not written");
    check(strag_saved_parse(text, length, "FILE", &again, &err) == STRAG_OK, err.text);
    check(strag_table_is_same(&saved->table, &again->table), "another table is read back");
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        check(strag_model_value(&saved->model.model, id) ==
                  strag_model_value(&again->model.model, id),
              "another model is read back");
    strag_saved_free(again);
    free(text);
}

/* With more ranks choosing takes long. */
static void check_choice(const struct strag_saved *saved)
{
    struct strag_choice choice;
    if (saved->circumstances.problem.n > 8)
        return;
    strag_choose(&saved->circumstances, &choice);
    check(choice.table.entries >= 1 && choice.table.entry[0].from == 0, "no table");
    strag_selection_free(choice.selection);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct strag_error err = {""};
    const struct strag_saved *saved = NULL;
    int status = strag_saved_parse((const char *)data, size, "FILE", &saved, &err);
    if (status == STRAG_OK) {
        check(saved != NULL, "nothing is read");
        check_written(saved);
        check_choice(saved);
        strag_saved_free(saved);
        return 0;
    }
    check(!saved, "a result in spite of a refusal");
    check_message(status, &err, "FILE:");
    return 0;
}
