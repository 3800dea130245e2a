/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/numbers.h"

#include "base/parse.h"
#include "base/units.h"
#include "base/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT_US   "us", 1e-6
#define UNIT_NS   "ns", 1e-9
#define UNIT_GBIT "Gbit/s", 1e9 / 8
#define NUMBER(WITH, ID, member, name, unit, least, what, standard)                                \
    [STRAG_MODEL_##                                                                                \
        ID] = {name, #member, what, UNIT_##unit, least, offsetof(struct strag_model, member)},
const struct strag_model_number strag_model_numbers[STRAG_MODEL_NUMBERS] = {
    STRAG_MODEL_NUMBERS_LIST(NUMBER, )};

double *strag_model_at(struct strag_model *model, int id)
{
    void *member = (char *)model + strag_model_numbers[id].offset;
    return member;
}

double strag_model_value(const struct strag_model *model, int id)
{
    const void *member = (const char *)model + strag_model_numbers[id].offset;
    return *(const double *)member;
}

int strag_model_number_parse(int id, const char *text, double *value, struct strag_error *err)
{
    const struct strag_model_number *number = &strag_model_numbers[id];
    double read;
    int status =
        strag_parse_real(text, number->least, STRAG_MODEL_NUMBER_MOST, number->unit, &read, err);
    if (status == STRAG_OK)
        *value = read * number->scale;
    return status;
}

/* ---- In YAML files ---- */

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
            strag_real_text(value, strag_model_numbers[id].scale, text));
}

/* ---- Origins ---- */

const char *strag_origin_name(enum strag_origin origin)
{
    static const char *const names[STRAG_ORIGINS] = {
        [STRAG_FROM_DEFAULT] = "default",
        [STRAG_FROM_MEASURED] = "measured",
        [STRAG_FROM_FILE] = "file",
        [STRAG_FROM_USER] = "user",
    };
    return names[origin];
}

struct strag_sourced_model strag_model_sourced(const struct strag_model *model)
{
    return (struct strag_sourced_model){.model = *model, .measured_error = -1};
}

bool strag_model_set(struct strag_sourced_model *sourced, int id, double value,
                     enum strag_origin origin)
{
    if (origin < sourced->origin[id])
        return false;
    char text[32];
    snprintf(text, sizeof text, "%.9g", value / strag_model_numbers[id].scale);
    *strag_model_at(&sourced->model, id) = strtod(text, NULL) * strag_model_numbers[id].scale;
    sourced->origin[id] = origin;
    if (id == STRAG_MODEL_ALPHA && sourced->origin[STRAG_MODEL_OVERHEAD] == STRAG_FROM_DEFAULT)
        (void)strag_model_set(sourced, STRAG_MODEL_OVERHEAD,
                              STRAG_MODEL_OVERHEAD_SHARE * sourced->model.alpha,
                              STRAG_FROM_DEFAULT);
    return true;
}

static void add_origin(char *text, size_t size, const struct strag_sourced_model *sourced, int id,
                       const char *file)
{
    const enum strag_origin origin = sourced->origin[id];
    strag_append(text, size, " (%s", strag_origin_name(origin));
    if (origin == STRAG_FROM_FILE && file)
        strag_append(text, size, " %s, line %d", file, sourced->line);
    if (origin == STRAG_FROM_MEASURED && sourced->measured_error >= 0)
        strag_append(text, size, ", off by %s", strag_units_share(sourced->measured_error).text);
    strag_append(text, size, ")");
}

const char *strag_model_sources(const struct strag_sourced_model *sourced, const char *file,
                                char *text, size_t size)
{
    text[0] = '\0';
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++) {
        const struct strag_model_number *number = &strag_model_numbers[id];
        const double value = strag_model_value(&sourced->model, id) / number->scale;
        strag_append(text, size, "%s%s %.4g %s", id ? ", " : "", number->name, value, number->unit);
        add_origin(text, size, sourced, id, file);
    }
    return text;
}
