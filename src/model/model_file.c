/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and writes model files, and finds the model that fits.
 */
#include "model/model_file.h"

#include "base/c_locale.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/yaml.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX   ((size_t)1 << 20) /* bytes of a model file */
#define MODELS_MAX 1024              /* a limit because few bytes can give many by aliases */
#define LIST_MAX   4096              /* bytes of a list of patterns */

static const char *const transports[] = {
    [STRAG_OVER_ANY] = "any",
    [STRAG_OVER_PML] = "pml",
    [STRAG_OVER_UCP] = "ucp",
    NULL,
};

/* ---- Reading ---- */

/* Words for messages and for files that are written: printable ASCII without quotes. */
static int read_words(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    const char *value = strag_yaml_scalar(node);
    bool good = value && *value && strlen(value) < LIST_MAX;
    for (const char *c = value; good && *c; c++)
        good = *c >= ' ' && *c <= '~' && *c != '"' && *c != '\\';
    if (!good)
        return strag_yaml_fail_value(yaml, node, "text in printable ASCII without \" and \\");
    char *copy = strag_text_copy(value, strlen(value));
    if (!copy)
        return strag_source_memory(&yaml->source);
    *(char **)target = copy;
    return STRAG_OK;
}

static int read_transport(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    return strag_yaml_word(yaml, node, transports, target);
}

static int read_date(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    char text[STRAG_YAML_VALUE_MAX];
    int status = strag_yaml_value(yaml, node, text);
    if (status != STRAG_OK)
        return status;
    if (strlen(text) != strlen("2026-11-22") || strspn(text, "0123456789-") != strlen(text))
        return strag_yaml_fail(yaml, node, "date: YYYY-MM-DD is accepted, not '%s'", text);
    memcpy(target, text, strlen(text) + 1);
    return STRAG_OK;
}

static int read_measured(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    static const struct strag_yaml_key keys[] = {
        {"date", read_date, offsetof(struct strag_model_entry, date)},
        {"error", strag_yaml_real, offsetof(struct strag_model_entry, error)},
        {"ranks", strag_yaml_integer, offsetof(struct strag_model_entry, ranks)},
        {"hosts", strag_yaml_integer, offsetof(struct strag_model_entry, hosts_measured)},
        {NULL, NULL, 0},
    };
    return strag_yaml_mapping(yaml, node, "measured", keys, target);
}

static int read_model(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    enum { OWN = 4 };
    static const struct strag_yaml_key own[OWN] = {
        {"name", read_words, offsetof(struct strag_model_entry, name)},
        {"hosts", read_words, offsetof(struct strag_model_entry, hosts)},
        {"transport", read_transport, offsetof(struct strag_model_entry, transport)},
        {"measured", read_measured, 0},
    };
    struct strag_yaml_key keys[OWN + STRAG_MODEL_NUMBERS + 1] = {{NULL, NULL, 0}};
    struct strag_models *models = target;
    if (models->count == MODELS_MAX)
        return strag_yaml_fail(yaml, node, "more than %d models", MODELS_MAX);
    if (!strag_array_grow(&models->entry, &models->room, models->count + 1, sizeof *models->entry))
        return strag_source_memory(&yaml->source);
    struct strag_model_entry *entry = &models->entry[models->count++];
    *entry = (struct strag_model_entry){.line = strag_yaml_line(node), .error = -1};
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        entry->value[id] = -1;
    memcpy(keys, own, sizeof own);
    strag_numbers_keys(keys + OWN, offsetof(struct strag_model_entry, value));
    return strag_yaml_mapping(yaml, node, "model", keys, entry);
}

static int read_models(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    ((struct strag_models *)target)->listed = true;
    return strag_yaml_list(yaml, node, "models", read_model, target);
}

#define EXPECTED "'strag-models: 1' and 'models:' are expected"

static int read_file(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    static const struct strag_yaml_key keys[] = {
        {"strag-models", strag_yaml_version, offsetof(struct strag_models, version)},
        {"models", read_models, 0},
        {NULL, NULL, 0},
    };
    struct strag_models *models = target;
    int status = strag_yaml_mapping(yaml, node, "model file", keys, models);
    if (status == STRAG_OK && (!models->version || !models->listed))
        return strag_yaml_fail(yaml, node, EXPECTED);
    return status;
}

int strag_models_parse(const char *text, size_t length, const char *name,
                       struct strag_models **models, struct strag_error *err)
{
    static const struct strag_yaml_format format = {read_file, "the file is empty; " EXPECTED,
                                                    true};
    const struct strag_source source = {name, err};
    struct strag_models *made = calloc(1, sizeof *made);
    if (made)
        made->file = strag_text_copy(name, strlen(name));
    int status = made && made->file ? strag_yaml_read(&source, text, length, &format, made)
                                    : strag_source_memory(&source);
    if (status == STRAG_OK)
        *models = made;
    else
        strag_models_free(made);
    return status;
}

int strag_models_read(const char *file, struct strag_models **models, struct strag_error *err)
{
    char *text = NULL;
    size_t length = 0;
    int status = strag_file_read(file, FILE_MAX, &text, &length, err);
    if (status == STRAG_OK)
        status = strag_models_parse(text, length, file, models, err);
    free(text);
    return status;
}

void strag_models_free(struct strag_models *models)
{
    if (!models)
        return;
    for (int m = 0; m < models->count; m++) {
        free(models->entry[m].name);
        free(models->entry[m].hosts);
    }
    free(models->entry);
    free(models->file);
    free(models);
}

/* ---- Finding ---- */

/* Does one of the patterns between commas match? */
static bool matches(const char *patterns, const char *name)
{
    char one[LIST_MAX];
    for (const char *at = patterns; *at; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        memcpy(one, at, length);
        one[length] = '\0';
        at += length;
        if (fnmatch(one, name, 0) == 0)
            return true;
    }
    return false;
}

static bool fits_hosts(const char *patterns, const struct strag_machine_kind *kind)
{
    const struct strag_topology *topology = kind->topology;
    bool all = topology || kind->lenient;
    for (int i = 0; all && topology && i < topology->nnodes; i++) {
        const struct strag_node *node = &topology->nodes[i];
        if (node->level == STRAG_LEVEL_HOST)
            all = node->name ? matches(patterns, node->name) : kind->lenient;
    }
    return all;
}

static bool fits(const struct strag_model_entry *entry, const struct strag_machine_kind *kind)
{
    if (entry->transport != STRAG_OVER_ANY && entry->transport != (int)kind->transport &&
        !(kind->transport == STRAG_OVER_ANY && kind->lenient))
        return false;
    return !entry->hosts || fits_hosts(entry->hosts, kind);
}

const struct strag_model_entry *strag_models_find(const struct strag_models *models,
                                                  const struct strag_machine_kind *kind)
{
    for (int m = 0; m < models->count; m++)
        if (fits(&models->entry[m], kind))
            return &models->entry[m];
    return NULL;
}

void strag_models_use(const struct strag_model_entry *entry, struct strag_sourced_model *model)
{
    model->line = entry->line;
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        if (entry->value[id] >= 0)
            strag_model_set(model, id, entry->value[id], STRAG_FROM_FILE);
}

const char *strag_models_list(const struct strag_models *models, char *text, size_t size)
{
    text[0] = '\0';
    for (int m = 0; m < models->count; m++) {
        const struct strag_model_entry *entry = &models->entry[m];
        strag_append(text, size, "%s%s (line %d", m ? ", " : "",
                     entry->name ? entry->name : "one without a name", entry->line);
        if (entry->hosts)
            strag_append(text, size, ", hosts %s", entry->hosts);
        if (entry->transport != STRAG_OVER_ANY)
            strag_append(text, size, ", transport %s", transports[entry->transport]);
        strag_append(text, size, ")");
    }
    return text;
}

/* ---- Writing ---- */

/* Begin a line of an entry; its first line has the dash. */
static void begin_line(FILE *stream, bool *first)
{
    fputs(*first ? "  - " : "    ", stream);
    *first = false;
}

static void write_measured(const struct strag_model_entry *entry, FILE *stream)
{
    const char *comma = "";
    fputs("measured: {", stream);
    if (entry->date[0]) {
        fprintf(stream, "date: %s", entry->date);
        comma = ", ";
    }
    if (entry->error >= 0) {
        const locale_t before = strag_c_locale_enter();
        fprintf(stream, "%serror: %.2g", comma, entry->error);
        strag_c_locale_leave(before);
        comma = ", ";
    }
    if (entry->ranks > 0) {
        fprintf(stream, "%sranks: %d", comma, entry->ranks);
        comma = ", ";
    }
    if (entry->hosts_measured > 0)
        fprintf(stream, "%shosts: %d", comma, entry->hosts_measured);
    fputs("}\n", stream);
}

static void write_entry(const struct strag_model_entry *entry, FILE *stream)
{
    bool first = true;
    if (entry->name) {
        begin_line(stream, &first);
        fprintf(stream, "name: \"%s\"\n", entry->name);
    }
    if (entry->hosts) {
        begin_line(stream, &first);
        fprintf(stream, "hosts: \"%s\"\n", entry->hosts);
    }
    begin_line(stream, &first);
    fprintf(stream, "transport: %s\n", transports[entry->transport]);
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++) {
        if (entry->value[id] < 0)
            continue;
        begin_line(stream, &first);
        strag_numbers_write(stream, id, entry->value[id]);
        fprintf(stream, "  # %s\n", strag_model_numbers[id].unit);
    }
    if (entry->date[0] || entry->error >= 0 || entry->ranks > 0 || entry->hosts_measured > 0) {
        begin_line(stream, &first);
        write_measured(entry, stream);
    }
}

bool strag_models_write(const struct strag_models *models, FILE *stream)
{
    fputs("# How fast the machine is: mpirun --mca coll_strag_model FILE, strag explain --model "
          "FILE\nstrag-models: 1\nmodels:\n",
          stream);
    for (int m = 0; m < models->count; m++)
        write_entry(&models->entry[m], stream);
    if (models->count == 0)
        fputs("  []\n", stream);
    return !ferror(stream);
}
