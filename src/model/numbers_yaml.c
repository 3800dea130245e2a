/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/numbers_yaml.h"

#include <string.h>

int strag_numbers_find(const char *key)
{
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        if (strcmp(strag_model_numbers[id].name, key) == 0)
            return id;
    return -1;
}

static int read_number(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    char text[STRAG_YAML_VALUE_MAX];
    struct strag_error why;
    int status = strag_yaml_value(yaml, node, text);
    if (status == STRAG_OK &&
        strag_model_number_parse(strag_numbers_find(yaml->key), text, target, &why) != STRAG_OK)
        return strag_yaml_fail(yaml, node, "%s: %.160s", yaml->key, why.text);
    return status;
}

void strag_numbers_keys(struct strag_yaml_key *keys, size_t offset)
{
    for (size_t id = 0; id < STRAG_MODEL_NUMBERS; id++)
        keys[id] = (struct strag_yaml_key){strag_model_numbers[id].name, read_number,
                                           offset + id * sizeof(double)};
}

void strag_numbers_write(FILE *stream, int id, double value)
{
    char text[32];
    fprintf(stream, "%s: %s", strag_model_numbers[id].name,
            strag_model_number_text(id, value, text));
}
