/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the inputs of a choice.
 */
#include "model/saved.h"

#include "algorithms/table.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/yaml.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX  ((size_t)64 << 20) /* bytes of a file */
#define RANKS_MAX (1 << 24)

static const double us = 1e-6;

/* The result of reading, and all that it points to. */
struct reading {
    struct strag_saved saved; /* the first member, since callers get its address */
    struct strag_state_record record;
    struct strag_state state;
    struct strag_topology *topology;
    struct strag_rules *rules;
    struct strag_text version, communicator, model_file, rules_file;
    double number[STRAG_MODEL_NUMBERS]; /* below 0 if not given */
    int rules_line, model_line;
    bool format; /* is the key there? */
};

/* ---- Values ---- */

static int read_size(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    char text[STRAG_YAML_VALUE_MAX];
    struct strag_error why;
    int status = strag_yaml_value(yaml, node, text);
    if (status == STRAG_OK && strag_parse_bytes(text, target, &why) != STRAG_OK)
        return strag_yaml_fail(yaml, node, "%s: %.160s", yaml->key, why.text);
    return status;
}

/* Microseconds. @param target  double *, seconds */
static int read_delay(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    double delay;
    int status = strag_yaml_real(yaml, node, &delay);
    if (status == STRAG_OK)
        *(double *)target = delay * us;
    return status;
}

/* Only version 2: topologies of other versions cannot be read. */
static int read_version(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    const char *text = strag_yaml_scalar(node);
    if (!text || strcmp(text, "2") != 0)
        return strag_yaml_fail(yaml, node,
                               "only version 2 is read; let the job write the file again");
    *(bool *)target = true;
    return STRAG_OK;
}

static int read_shared(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    static const char *const words[] = {"none", "hosts", "all", NULL};
    return strag_yaml_word(yaml, node, words, target);
}

static int read_reproducible(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    return strag_yaml_word(yaml, node, strag_reproducible_names, target);
}

/* @return the number of bytes; 0 if there are none, or if other characters than digits */
static size_t read_digits(const char *text, unsigned char *bytes)
{
    static const char digits[] = "0123456789abcdef";
    const size_t length = strlen(text);
    if (length % 2 || strspn(text, digits) < length)
        return 0;
    for (size_t i = 0; i < length / 2; i++)
        bytes[i] = (unsigned char)(16 * (strchr(digits, text[2 * i]) - digits) +
                                   (strchr(digits, text[2 * i + 1]) - digits));
    return length / 2;
}

/* @param target  struct strag_topology ** */
static int read_topology(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    struct strag_error why;
    const char *text = strag_yaml_scalar(node);
    unsigned char *bytes = malloc(text ? strlen(text) / 2 + 1 : 1);
    if (!bytes)
        return strag_source_memory(&yaml->source);
    const size_t size = text ? read_digits(text, bytes) : 0;
    const int status = size ? strag_topology_unpack(bytes, size, target, &why) : STRAG_ERR_ARGUMENT;
    free(bytes);
    if (status == STRAG_ERR_MEMORY)
        return strag_source_memory(&yaml->source);
    if (size == 0)
        return strag_yaml_fail(yaml, node, "topology: strag's hexadecimal digits are needed");
    return status == STRAG_OK ? STRAG_OK
                              : strag_yaml_fail(yaml, node, "topology: %.200s", why.text);
}

/* ---- Algorithms ---- */

/* @param target  const struct strag_algorithm **; NULL for "previous" */
static int read_algorithm(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    char text[STRAG_YAML_VALUE_MAX];
    struct strag_error why;
    int status = strag_yaml_value(yaml, node, text);
    if (status != STRAG_OK)
        return status;
    const struct strag_algorithm *found = strag_algorithm_find(text, &why);
    if (!found && strcmp(text, "previous") != 0)
        return strag_yaml_fail(yaml, node, "%s: %s, previous", yaml->key, why.text);
    *(const struct strag_algorithm **)target = found;
    return STRAG_OK;
}

static int read_entry(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    static const struct strag_yaml_key keys[] = {
        {"from", read_size, offsetof(struct strag_entry, from)},
        {"algorithm", read_algorithm, offsetof(struct strag_entry, algorithm)},
        {"blocks", strag_yaml_integer, offsetof(struct strag_entry, blocks)},
        {NULL, NULL, 0},
    };
    struct strag_table *table = target;
    if (table->entries == STRAG_TABLE_MAX)
        return strag_yaml_fail(yaml, node, "a table has %d sizes at most", STRAG_TABLE_MAX);
    struct strag_entry *entry = &table->entry[table->entries++];
    int status = strag_yaml_mapping(yaml, node, "size", keys, entry);
    const bool first = table->entries == 1;
    if (status == STRAG_OK && (first ? entry->from != 0 : entry->from <= entry[-1].from))
        return strag_yaml_fail(yaml, node, "sizes begin with 0 and ascend");
    return status;
}

static int read_table(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    return strag_yaml_list(yaml, node, "sizes", read_entry, target);
}

/* ---- The state, and shared processors ---- */

static int read_straggler(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    static const struct strag_yaml_key keys[] = {
        {"rank", strag_yaml_integer, offsetof(struct strag_straggler, rank)},
        {"delay", read_delay, offsetof(struct strag_straggler, delay)},
        {NULL, NULL, 0},
    };
    struct strag_state_record *record = target;
    struct strag_straggler straggler = {0, 0};
    int status = strag_yaml_mapping(yaml, node, "straggler", keys, &straggler);
    if (status == STRAG_OK && record->nstragglers == STRAG_STRAGGLERS_MAX)
        return strag_yaml_fail(yaml, node, "at most %d stragglers are accepted",
                               STRAG_STRAGGLERS_MAX);
    if (status == STRAG_OK)
        strag_state_add_straggler(record, straggler);
    return status;
}

static int read_stragglers(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    return strag_yaml_list(yaml, node, "stragglers", read_straggler, target);
}

static int read_slow(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    static const struct strag_yaml_key keys[] = {
        {"rank", strag_yaml_integer, offsetof(struct strag_slow, rank)},
        {"factor", strag_yaml_real, offsetof(struct strag_slow, factor)},
        {NULL, NULL, 0},
    };
    struct strag_state_record *record = target;
    struct strag_slow slow = {0, 0};
    int status = strag_yaml_mapping(yaml, node, "slow rank", keys, &slow);
    if (status == STRAG_OK && (slow.factor <= 1 || record->nslow == STRAG_SLOW_MAX))
        return strag_yaml_fail(yaml, node, "a factor above 1 is needed, of at most %d ranks",
                               STRAG_SLOW_MAX);
    if (status == STRAG_OK)
        strag_state_add_slow(record, slow.rank, slow.factor);
    return status;
}

static int read_slow_list(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    return strag_yaml_list(yaml, node, "slow ranks", read_slow, target);
}

static int read_oversubscribed(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    static const struct strag_yaml_key keys[] = {
        {"ranks", strag_yaml_integer, offsetof(struct strag_oversubscribed, n)},
        {"processors", strag_yaml_integer, offsetof(struct strag_oversubscribed, processors)},
        {"window", read_size, offsetof(struct strag_oversubscribed, window)},
        {NULL, NULL, 0},
    };
    struct strag_oversubscribed *oversubscribed = target;
    int status = strag_yaml_mapping(yaml, node, "oversubscribed", keys, oversubscribed);
    if (status == STRAG_OK &&
        (oversubscribed->n < 1 || oversubscribed->processors < 1 || oversubscribed->window < 1))
        return strag_yaml_fail(yaml, node, "'ranks', 'processors' and 'window' are needed, from 1");
    return status;
}

/* ---- The model ---- */

static int read_model(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    struct strag_yaml_key keys[STRAG_MODEL_NUMBERS + 1] = {{NULL, NULL, 0}};
    strag_numbers_keys(keys, offsetof(struct reading, number));
    return strag_yaml_mapping(yaml, node, "model", keys, target);
}

static int read_origin(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    const char *const words[] = {
        strag_origin_name(STRAG_FROM_DEFAULT), strag_origin_name(STRAG_FROM_MEASURED),
        strag_origin_name(STRAG_FROM_FILE), strag_origin_name(STRAG_FROM_USER), NULL};
    int found = 0;
    int status = strag_yaml_word(yaml, node, words, &found);
    if (status == STRAG_OK)
        ((enum strag_origin *)target)[strag_numbers_find(yaml->key)] = (enum strag_origin)found;
    return status;
}

static int read_origins(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    struct strag_yaml_key keys[STRAG_MODEL_NUMBERS + 1] = {{NULL, NULL, 0}};
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        keys[id] = (struct strag_yaml_key){strag_model_numbers[id].name, read_origin, 0};
    return strag_yaml_mapping(yaml, node, "model", keys, target);
}

/* ---- The file ---- */

#define AT(member) offsetof(struct reading, member)
static const struct strag_yaml_key file_keys[] = {
    {"strag-saved", read_version, AT(format)},
    {"version", strag_yaml_text, AT(version)},
    {"communicator", strag_yaml_text, AT(communicator)},
    {"ranks", strag_yaml_integer, AT(saved.circumstances.problem.n)},
    {"ports", strag_yaml_integer, AT(saved.circumstances.problem.ports)},
    {"minimum", read_size, AT(saved.circumstances.options.minimum)},
    {"strict", strag_yaml_bool, AT(saved.circumstances.options.strict)},
    {"quick", strag_yaml_bool, AT(saved.circumstances.options.quick)},
    {"short-plans", strag_yaml_bool, AT(saved.circumstances.options.short_plans)},
    {"reproducible", read_reproducible, AT(saved.reproducible)},
    {"shared-memory", read_shared, AT(saved.shared_memory)},
    {"written-once", strag_yaml_bool, AT(saved.model.model.written_once)},
    {"oversubscribed", read_oversubscribed, AT(saved.circumstances.oversubscribed)},
    {"stragglers", read_stragglers, AT(record)},
    {"slow", read_slow_list, AT(record)},
    {"pinned", read_algorithm, AT(saved.circumstances.pinned)},
    {"model", read_model, 0},
    {"origins", read_origins, AT(saved.model.origin)},
    {"model-file", strag_yaml_text, AT(model_file)},
    {"model-line", strag_yaml_integer, AT(model_line)},
    {"rules", strag_rules_yaml_sizes, AT(rules)},
    {"rules-file", strag_yaml_text, AT(rules_file)},
    {"rules-line", strag_yaml_integer, AT(rules_line)},
    {"table", read_table, AT(saved.table)},
    {"topology", read_topology, AT(topology)},
    {NULL, NULL, 0},
};
#undef AT

/* Check that separate keys agree. */
static int check_all(struct strag_yaml *yaml, const yaml_node_t *node,
                     const struct reading *reading)
{
    const struct strag_circumstances *rests = &reading->saved.circumstances;
    const struct strag_state_record *record = &reading->record;
    const int n = rests->problem.n;
    bool ranks = true;
    for (int i = 0; i < record->nstragglers; i++)
        ranks = ranks && record->straggler[i].rank < n;
    for (int i = 0; i < record->nslow; i++)
        ranks = ranks && record->slow[i].rank < n;
    if (!reading->format || n < 1 || n > RANKS_MAX || reading->saved.table.entries == 0)
        return strag_yaml_fail(yaml, node,
                               "'strag-saved: 2', 'ranks:' from 1 to %d and 'table:' "
                               "are expected",
                               RANKS_MAX);
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        if (reading->number[id] < 0)
            return strag_yaml_fail(yaml, node, "the model has no '%s'",
                                   strag_model_numbers[id].name);
    if (reading->rules && !reading->rules_file.text)
        return strag_yaml_fail(yaml, node, "'rules' need the key 'rules-file'");
    if (!ranks || (reading->topology && reading->topology->n != n) ||
        (rests->oversubscribed.n > 0 && rests->oversubscribed.n != n))
        return strag_yaml_fail(
            yaml, node,
            "there are %d 'ranks', and the stragglers, slow ranks, 'oversubscribed' or "
            "the topology have others",
            n);
    return STRAG_OK;
}

/* Set the pointers between the parts. */
static void join(struct reading *reading)
{
    struct strag_saved *saved = &reading->saved;
    struct strag_circumstances *rests = &saved->circumstances;
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        *strag_model_at(&saved->model.model, id) = reading->number[id];
    saved->model.line = reading->model_file.text ? reading->model_line : 0;
    saved->model.measured_error = -1;
    rests->model = saved->model.model;
    reading->state = strag_state_of(&reading->record);
    rests->problem.state = &reading->state;
    rests->problem.topology = reading->topology;
    rests->rules = reading->rules;
    saved->version = reading->version.text;
    saved->communicator = reading->communicator.text;
    saved->model_file = reading->model_file.text;
    saved->rules_file = reading->rules_file.text;
    saved->line = reading->rules ? reading->rules_line : 0;
}

static int read_file(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    struct reading *reading = target;
    int status = strag_yaml_mapping(yaml, node, "saved file", file_keys, reading);
    if (status == STRAG_OK)
        status = check_all(yaml, node, reading);
    if (status == STRAG_OK && reading->rules)
        status = strag_rules_set_source(
            reading->rules, reading->rules_file.text ? reading->rules_file.text : yaml->source.name,
            reading->rules_line, yaml->source.err);
    if (status == STRAG_OK)
        join(reading);
    return status;
}

int strag_saved_parse(const char *text, size_t length, const char *name,
                      const struct strag_saved **saved, struct strag_error *err)
{
    static const struct strag_yaml_format format = {
        read_file, "the file is empty; 'strag-saved: 2' is expected", false};
    const struct strag_source source = {name, err};
    struct reading *reading = calloc(1, sizeof *reading);
    if (!reading)
        return strag_source_memory(&source);
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        reading->number[id] = -1;
    int status = strag_yaml_read(&source, text, length, &format, reading);
    if (status == STRAG_OK)
        *saved = &reading->saved;
    else
        strag_saved_free(&reading->saved);
    return status;
}

int strag_saved_read(const char *file, const struct strag_saved **saved, struct strag_error *err)
{
    char *text = NULL;
    size_t length = 0;
    int status = strag_file_read(file, FILE_MAX, &text, &length, err);
    if (status == STRAG_OK)
        status = strag_saved_parse(text, length, file, saved, err);
    free(text);
    return status;
}

void strag_saved_free(const struct strag_saved *saved)
{
    struct reading *reading = (struct reading *)saved;
    if (!reading)
        return;
    strag_topology_free(reading->topology);
    strag_rules_free(reading->rules);
    free(reading->version.text);
    free(reading->communicator.text);
    free(reading->model_file.text);
    free(reading->rules_file.text);
    free(reading);
}
