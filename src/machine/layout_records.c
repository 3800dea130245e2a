/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switches and blocks of Slurm's files, in any order, and the tree or ring that they make.
 */
#include "machine/layout_internal.h"

#include <stdlib.h>
#include <string.h>

void strag_record_free(struct strag_record *record)
{
    free(record->name.text);
    free(record->children.text);
    free(record->nodes.text);
}

int strag_records_add(struct strag_records *records, const struct strag_source *source,
                      struct strag_record *record)
{
    if (records->count >= STRAG_LAYOUT_MAX) {
        int line = record->name.line;
        strag_record_free(record);
        return strag_source_fail(source, line, "more than %d switches", STRAG_LAYOUT_MAX);
    }
    if (!strag_array_grow(&records->list, &records->room, records->count + 1,
                          sizeof *records->list)) {
        strag_record_free(record);
        return strag_source_memory(source);
    }
    records->list[records->count++] = *record;
    return STRAG_OK;
}

void strag_records_free(struct strag_records *records)
{
    for (int i = 0; i < records->count; i++)
        strag_record_free(&records->list[i]);
    free(records->list);
    *records = (struct strag_records){.what = records->what};
}

int strag_block_sizes_add(const struct strag_source *source, int line,
                          struct strag_block_sizes *sizes, int size)
{
    sizes->first = sizes->first ? sizes->first : size;
    int times = size / sizes->first;
    if (size % sizes->first != 0 || (times & (times - 1)) != 0 || size <= sizes->last)
        return strag_source_fail(source, line,
                                 "block size %d: sizes ascend, each a power of two times the "
                                 "first, like 4,8,32",
                                 size);
    sizes->last = size;
    return STRAG_OK;
}

/* ---- Trees ---- */

int strag_draft_named_switch(struct strag_draft *draft, const struct strag_text *name,
                             double uplink)
{
    int status = strag_source_name(&draft->source, name->line, name->text);
    return status == STRAG_OK ? strag_draft_switch(draft, name->text, name->line, -1, uplink)
                              : status;
}

/* Make the switch with this name a child of `parent`. */
static int join(struct strag_draft *draft, int parent, const char *name, int line)
{
    struct strag_switch *switches = draft->layout->switches;
    int child = strag_names_find(&draft->switches, name);
    if (child < 0)
        return strag_source_fail(&draft->source, line,
                                 "switch %s has the child %s, which no line describes",
                                 strag_quoted(switches[parent].name).text, strag_quoted(name).text);
    int before = switches[child].parent;
    if (before == parent)
        return strag_source_fail(&draft->source, line, "switch %s is named twice",
                                 strag_quoted(name).text);
    if (before >= 0)
        return strag_source_fail(&draft->source, line,
                                 "switch %s is below %s already (line %d); switches must form a "
                                 "tree, so name one of several parents only",
                                 strag_quoted(name).text, strag_quoted(switches[before].name).text,
                                 switches[before].line);
    switches[child].parent = parent;
    return STRAG_OK;
}

/* Add the hosts of a list, or join its switches. */
static int add_list(struct strag_draft *draft, const struct strag_text *list, int at, int step,
                    bool switches)
{
    char **names = NULL;
    int count = 0;
    int status = strag_source_hosts(&draft->source, list->line, list->text, &names, &count);
    for (int i = 0; i < count && status == STRAG_OK; i++)
        status = switches ? join(draft, at, names[i], list->line)
                          : strag_draft_host(draft, names[i], list->line, at + i * step);
    strag_hosts_free(names, count);
    return status;
}

int strag_draft_hosts(struct strag_draft *draft, const struct strag_text *list, int at, int step)
{
    return add_list(draft, list, at, step, false);
}

static int fill_tree(struct strag_draft *draft, void *from)
{
    const struct strag_records *records = from;
    int status = STRAG_OK;
    for (int i = 0; i < records->count && status == STRAG_OK; i++)
        status = strag_draft_named_switch(draft, &records->list[i].name, records->list[i].uplink);
    for (int i = 0; i < records->count && status == STRAG_OK; i++) {
        const struct strag_record *record = &records->list[i];
        if (record->children.text && record->nodes.text)
            status = strag_source_fail(&draft->source, record->nodes.line,
                                       "switch %s has both child switches and nodes; one of them "
                                       "is accepted",
                                       strag_quoted(record->name.text).text);
        else if (record->children.text)
            status = add_list(draft, &record->children, i, 0, true);
        else if (record->nodes.text)
            status = strag_draft_hosts(draft, &record->nodes, i, 0);
    }
    return status;
}

/* ---- Rings ---- */

static int fill_ring(struct strag_draft *draft, void *from)
{
    const struct strag_record *record = from;
    struct strag_grid *grid = &draft->layout->grid;
    const struct strag_text *name = &record->name;
    int status = strag_source_name(&draft->source, name->line, name->text);
    if (status == STRAG_OK && !record->nodes.text)
        return strag_source_fail(&draft->source, name->line, "ring %s has no nodes",
                                 strag_quoted(name->text).text);
    if (status == STRAG_OK)
        status = strag_draft_hosts(draft, &record->nodes, 0, 1);
    grid->dims = 1;
    grid->size[0] = draft->layout->nhosts;
    grid->wrap[0] = true;
    return status;
}

/* If there are several rings, each is a switch of a tree. */
int strag_records_build(struct strag_records *records, const struct strag_source *source,
                        struct strag_layout **layout)
{
    if (records->count == 1 && strcmp(records->what, "ring") == 0)
        return strag_layout_build(source, STRAG_NETWORK_TORUS, fill_ring, records->list, layout);
    return strag_layout_build(source, STRAG_NETWORK_TREE, fill_tree, records, layout);
}
