/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the inputs of a choice.
 */
#include "model/saved.h"

#include "base/parse.h"
#include "base/text.h"

#include <stdlib.h>

static const char *yes_or_no(bool value)
{
    return value ? "true" : "false";
}

static void write_text(FILE *stream, const char *key, const char *text)
{
    if (!text || !text[0])
        return;
    fprintf(stream, "%s: ", key);
    strag_json_string(text, stream);
    putc('\n', stream);
}

static void write_oversubscribed(const struct strag_oversubscribed *oversubscribed, FILE *stream)
{
    if (oversubscribed->n > 0)
        fprintf(stream, "oversubscribed: {ranks: %d, processors: %d, window: %zu}\n",
                oversubscribed->n, oversubscribed->processors, oversubscribed->window);
}

static void write_state(const struct strag_state *state, FILE *stream)
{
    char text[32];
    if (state && state->nstragglers > 0)
        fputs("stragglers:\n", stream);
    for (int i = 0; state && i < state->nstragglers; i++)
        fprintf(stream, "  - {rank: %d, delay: %s}\n", state->straggler[i].rank,
                strag_real_text(state->straggler[i].delay, 1e-6, text));
    if (!state || state->nslow == 0)
        return;
    fputs("slow:\n", stream);
    for (int i = 0; i < state->nslow; i++)
        fprintf(stream, "  - {rank: %d, factor: %s}\n", state->slow[i].rank,
                strag_real_text(state->slow[i].factor, 1, text));
}

static void write_model(const struct strag_saved *saved, FILE *stream)
{
    const struct strag_sourced_model *model = &saved->model;
    const char *separator = "";
    fputs("model:\n", stream);
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++) {
        fputs("  ", stream);
        strag_numbers_write(stream, id, strag_model_value(&model->model, id));
        fprintf(stream, "  # %s\n", strag_model_numbers[id].unit);
    }
    fputs("origins: {", stream);
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++) {
        if (model->origin[id] == STRAG_FROM_DEFAULT)
            continue;
        fprintf(stream, "%s%s: %s", separator, strag_model_numbers[id].name,
                strag_origin_name(model->origin[id]));
        separator = ", ";
    }
    fputs("}\n", stream);
    if (model->line == 0)
        return;
    write_text(stream, "model-file", saved->model_file);
    fprintf(stream, "model-line: %d\n", model->line);
}

static void write_table(const struct strag_table *table, FILE *stream)
{
    fputs("table:\n", stream);
    for (int e = 0; e < table->entries; e++) {
        const struct strag_entry *entry = &table->entry[e];
        fprintf(stream, "  - {from: %zu, algorithm: %s", entry->from,
                entry->algorithm ? entry->algorithm->name : "previous");
        if (entry->blocks)
            fprintf(stream, ", blocks: %d", entry->blocks);
        fputs("}\n", stream);
    }
}

static void write_rules(const struct strag_saved *saved, FILE *stream)
{
    if (saved->line == 0)
        return;
    fputs("rules:\n", stream);
    strag_rules_write_sizes(saved->circumstances.rules, saved->line, stream, 2);
    write_text(stream, "rules-file", saved->rules_file);
    fprintf(stream, "rules-line: %d\n", saved->line);
}

/* If out of memory, write text that is refused when it is read. @return whether there was memory */
static bool write_topology(const struct strag_topology *topology, FILE *stream)
{
    void *bytes = NULL;
    size_t size = 0;
    const int status = strag_topology_pack(topology, &bytes, &size, NULL);
    fputs(status == STRAG_OK ? "topology: " : "topology: out of memory", stream);
    for (size_t i = 0; i < size; i++)
        fprintf(stream, "%02x", ((const unsigned char *)bytes)[i]);
    putc('\n', stream);
    free(bytes);
    return status == STRAG_OK;
}

bool strag_saved_write(const struct strag_saved *saved, FILE *stream)
{
    static const char *const shared[] = {"none", "hosts", "all"};
    const struct strag_circumstances *rests = &saved->circumstances;
    fputs(
        "# What strag chose, and all that it rests on: strag explain --saved FILE --bytes 1K..16M\n"
        "strag-saved: 2\n",
        stream);
    write_text(stream, "version", saved->version);
    write_text(stream, "communicator", saved->communicator);
    fprintf(stream, "ranks: %d\nports: %d\nminimum: %zu\nstrict: %s\n", rests->problem.n,
            rests->problem.ports, rests->options.minimum, yes_or_no(rests->options.strict));
    fprintf(stream, "quick: %s\nshort-plans: %s\nreproducible: %s\nshared-memory: %s\n",
            yes_or_no(rests->options.quick), yes_or_no(rests->options.short_plans),
            strag_reproducible_names[saved->reproducible], shared[saved->shared_memory]);
    if (rests->model.written_once)
        fputs("written-once: true\n", stream);
    write_oversubscribed(&rests->oversubscribed, stream);
    write_state(rests->problem.state, stream);
    if (rests->pinned)
        fprintf(stream, "pinned: %s\n", rests->pinned->name);
    write_model(saved, stream);
    write_rules(saved, stream);
    write_table(&saved->table, stream);
    return (!rests->problem.topology || write_topology(rests->problem.topology, stream)) &&
           !ferror(stream);
}
