/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slurm's topology.yaml: a list of topologies, each a tree, blocks, rings, tori, or flat. Keys of
 * Slurm that a layout does not need are skipped; any other key is an error. `gbit` of a switch or
 * block, which Slurm does not have, corresponds to LinkSpeed in topology.conf.
 */
#include "machine/layout_internal.h"

#include "base/yaml.h"

#include <stdlib.h>
#include <string.h>

/* A part of a torus, or all of it: hosts from `anchor` on, x fastest. */
struct region {
    int anchor[3], size[3];
    struct strag_text nodes;
};

struct torus {
    struct strag_text name;
    int size[3];
    int line, count, room;
    int nodes_line; /* of the hosts of the whole torus, its only region; 0 if regions are listed */
    struct region *regions;
};

/* A topology; exactly one of the kinds is given. */
struct description {
    struct strag_text name;
    bool by_default;
    int line, kinds;
    bool flat;
    struct strag_records records; /* switches, blocks or rings */
    int ntoruses, toruses_room;
    struct torus *toruses;
};

struct file {
    struct strag_source source;
    struct description chosen; /* the default one, else the first */
    struct strag_names names;
    int count, room;
    char **texts; /* to which `names` points */
};

static void free_torus(struct torus *torus)
{
    for (int i = 0; i < torus->count; i++)
        free(torus->regions[i].nodes.text);
    free(torus->regions);
    free(torus->name.text);
}

static void free_description(struct description *description)
{
    for (int i = 0; i < description->ntoruses; i++)
        free_torus(&description->toruses[i]);
    free(description->toruses);
    strag_records_free(&description->records);
    free(description->name.text);
}

/* ---- Switches, blocks, rings ---- */

static int read_gbit(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    const char *value = strag_yaml_scalar(node);
    if (!value)
        return strag_yaml_fail_value(yaml, node, "a number of Gbit/s");
    return strag_source_gbit(&yaml->source, strag_yaml_line(node), value, target);
}

static const struct strag_yaml_key switch_keys[] = {
    {"switch", strag_yaml_text, offsetof(struct strag_record, name)},
    {"children", strag_yaml_text, offsetof(struct strag_record, children)},
    {"nodes", strag_yaml_text, offsetof(struct strag_record, nodes)},
    {"gbit", read_gbit, offsetof(struct strag_record, uplink)},
    {NULL, NULL, 0},
};

static const struct strag_yaml_key block_keys[] = {
    {"block", strag_yaml_text, offsetof(struct strag_record, name)},
    {"nodes", strag_yaml_text, offsetof(struct strag_record, nodes)},
    {"gbit", read_gbit, offsetof(struct strag_record, uplink)},
    {NULL, NULL, 0},
};

static const struct strag_yaml_key ring_keys[] = {
    {"ring", strag_yaml_text, offsetof(struct strag_record, name)},
    {"nodes", strag_yaml_text, offsetof(struct strag_record, nodes)},
    {NULL, NULL, 0},
};

/* A list of one kind of records. */
struct list {
    const char *plural;
    const struct strag_yaml_key *keys;
    struct strag_records *records;
};

static int read_record(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    const struct list *list = target;
    const char *what = list->records->what;
    struct strag_record record = {.name.line = strag_yaml_line(node)};
    int status = strag_yaml_mapping(yaml, node, what, list->keys, &record);
    if (status == STRAG_OK && !record.name.text)
        status =
            strag_yaml_fail(yaml, node, "a %s without a name; the key %s gives it", what, what);
    if (status == STRAG_OK)
        return strag_records_add(list->records, &yaml->source, &record);
    strag_record_free(&record);
    return status;
}

/* Read records; the current key is their kind. */
static int read_records(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    struct list kinds[] = {{"switches", switch_keys, target},
                           {"blocks", block_keys, target},
                           {"rings", ring_keys, target}};
    struct list *list = kinds;
    while (strcmp(list->plural, yaml->key) != 0)
        list++;
    list->records->what = list->keys[0].name;
    return strag_yaml_list(yaml, node, list->plural, read_record, list);
}

static int read_size(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    int size;
    int status = strag_yaml_integer(yaml, node, &size);
    if (status == STRAG_OK && size == 0)
        return strag_yaml_fail(yaml, node, "a block size of 0; must be at least 1");
    return status == STRAG_OK
               ? strag_block_sizes_add(&yaml->source, strag_yaml_line(node), target, size)
               : status;
}

/* Block sizes are only checked: Slurm allocates by them, but they do not describe the network. */
static int read_sizes(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    (void)target;
    struct strag_block_sizes sizes = {0, 0};
    return strag_yaml_list(yaml, node, "block sizes", read_size, &sizes);
}

/* ---- Tori ---- */

static const struct strag_yaml_key triple_keys[] = {
    {"x", strag_yaml_integer, 0},
    {"y", strag_yaml_integer, sizeof(int)},
    {"z", strag_yaml_integer, 2 * sizeof(int)},
    {NULL, NULL, 0},
};

static int read_triple(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    return strag_yaml_mapping(yaml, node, "triple of x, y, z", triple_keys, target);
}

static const struct strag_yaml_key region_keys[] = {
    {"anchor", read_triple, offsetof(struct region, anchor)},
    {"dims", read_triple, offsetof(struct region, size)},
    {"nodes", strag_yaml_text, offsetof(struct region, nodes)},
    {NULL, NULL, 0},
};

static struct region *new_region(struct torus *torus, int line)
{
    if (!strag_array_grow(&torus->regions, &torus->room, torus->count + 1, sizeof *torus->regions))
        return NULL;
    struct region *region = &torus->regions[torus->count++];
    *region = (struct region){.nodes.line = line};
    return region;
}

static int read_region(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    struct region *region = new_region(target, strag_yaml_line(node));
    if (!region)
        return strag_source_memory(&yaml->source);
    int status = strag_yaml_mapping(yaml, node, "region", region_keys, region);
    if (status == STRAG_OK && !region->nodes.text)
        return strag_source_fail(&yaml->source, region->nodes.line, "a region without nodes");
    return status;
}

static int read_torus_nodes(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    struct torus *torus = target;
    torus->nodes_line = strag_yaml_line(node);
    struct region *region = new_region(torus, torus->nodes_line);
    return region ? strag_yaml_text(yaml, node, &region->nodes)
                  : strag_source_memory(&yaml->source);
}

static int read_regions(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    return strag_yaml_list(yaml, node, "regions", read_region, target);
}

static const struct strag_yaml_key torus_keys[] = {
    {"name", strag_yaml_text, offsetof(struct torus, name)},
    {"dims", read_triple, offsetof(struct torus, size)},
    {"nodes", read_torus_nodes, 0},
    {"regions", read_regions, 0},
    {"placements", strag_yaml_skip, 0},
    {NULL, NULL, 0},
};

/* Check that the sizes are within Slurm's limits, and that nothing is missing. */
static int check_torus(struct strag_yaml *yaml, struct torus *torus)
{
    int64_t product = 1;
    if (!torus->name.text)
        return strag_source_fail(&yaml->source, torus->line, "a torus without a name");
    for (int d = 0; d < 3; d++) {
        if (torus->size[d] < 1 || torus->size[d] > UINT16_MAX)
            return strag_source_fail(&yaml->source, torus->line,
                                     "torus %s: its dims need x, y and z from 1 to %d",
                                     strag_quoted(torus->name.text).text, UINT16_MAX);
        product *= torus->size[d];
    }
    if (product > STRAG_POSITIONS_MAX)
        return strag_source_fail(&yaml->source, torus->line, "torus %s has more than %d positions",
                                 strag_quoted(torus->name.text).text, STRAG_POSITIONS_MAX);
    if (torus->nodes_line && torus->count > 1)
        return strag_source_fail(&yaml->source, torus->nodes_line,
                                 "both nodes and regions; one of them is accepted");
    if (torus->nodes_line)
        memcpy(torus->regions[0].size, torus->size, sizeof torus->size);
    if (torus->count == 0)
        return strag_source_fail(&yaml->source, torus->line,
                                 "torus %s has no hosts; nodes or regions are needed",
                                 strag_quoted(torus->name.text).text);
    return STRAG_OK;
}

static int read_torus(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    struct description *description = target;
    if (!strag_array_grow(&description->toruses, &description->toruses_room,
                          description->ntoruses + 1, sizeof *description->toruses))
        return strag_source_memory(&yaml->source);
    struct torus *torus = &description->toruses[description->ntoruses++];
    *torus = (struct torus){.line = strag_yaml_line(node)};
    int status = strag_yaml_mapping(yaml, node, "torus", torus_keys, torus);
    return status == STRAG_OK ? check_torus(yaml, torus) : status;
}

static int read_toruses(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    return strag_yaml_list(yaml, node, "tori", read_torus, target);
}

/* ---- Topologies ---- */

/* Read a kind of topology, given by the current key. */
static int read_kind(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    static const struct {
        const char *key, *what;
        struct strag_yaml_key keys[3];
    } kinds[] = {
        {"tree", "tree", {{"switches", read_records, offsetof(struct description, records)}}},
        {"block",
         "block topology",
         {{"blocks", read_records, offsetof(struct description, records)},
          {"block_sizes", read_sizes, 0}}},
        {"ring", "ring topology", {{"rings", read_records, offsetof(struct description, records)}}},
        {"torus3d", "torus3d topology", {{"toruses", read_toruses, 0}}},
    };
    struct description *description = target;
    int kind = 0;
    while (strcmp(kinds[kind].key, yaml->key) != 0)
        kind++;
    description->kinds++;
    return strag_yaml_mapping(yaml, node, kinds[kind].what, kinds[kind].keys, description);
}

/* true, or a mapping of options */
static int read_flat(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    static const struct strag_yaml_key keys[] = {
        {"alpha_step_rank", strag_yaml_skip, 0},
        {NULL, NULL, 0},
    };
    struct description *description = target;
    description->flat = true;
    int status = node->type == YAML_MAPPING_NODE
                     ? strag_yaml_mapping(yaml, node, "flat topology", keys, target)
                     : strag_yaml_bool(yaml, node, &description->flat);
    description->kinds += description->flat;
    return status;
}

static const struct strag_yaml_key topology_keys[] = {
    {"topology", strag_yaml_text, offsetof(struct description, name)},
    {"cluster_default", strag_yaml_bool, offsetof(struct description, by_default)},
    {"tree", read_kind, 0},
    {"block", read_kind, 0},
    {"ring", read_kind, 0},
    {"torus3d", read_kind, 0},
    {"flat", read_flat, 0},
    {NULL, NULL, 0},
};

static int check_topology(const struct strag_yaml *yaml, const struct description *description)
{
    if (!description->name.text)
        return strag_source_fail(&yaml->source, description->line,
                                 "a topology without a name; the key topology gives it");
    if (description->kinds != 1)
        return strag_source_fail(&yaml->source, description->line,
                                 "topology %s needs exactly one of tree, block, ring, torus3d and "
                                 "flat",
                                 strag_quoted(description->name.text).text);
    if (!description->flat && description->records.count == 0 && description->ntoruses == 0)
        return strag_source_fail(&yaml->source, description->line, "topology %s is empty",
                                 strag_quoted(description->name.text).text);
    return STRAG_OK;
}

/* Check that no other topology has the name, and take it over. */
static int add_name(struct strag_yaml *yaml, struct file *file, struct strag_text *name)
{
    if (strag_names_find(&file->names, name->text) >= 0)
        return strag_source_fail(&yaml->source, name->line, "a second topology with the name %s",
                                 strag_quoted(name->text).text);
    if (!strag_array_grow(&file->texts, &file->room, file->count + 1, sizeof *file->texts) ||
        !strag_names_add(&file->names, name->text, file->count))
        return strag_source_memory(&yaml->source);
    file->texts[file->count++] = name->text;
    name->text = NULL;
    return STRAG_OK;
}

static int read_topology(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    struct file *file = target;
    struct description description = {.line = strag_yaml_line(node)};
    int status = strag_yaml_mapping(yaml, node, "topology", topology_keys, &description);
    if (status == STRAG_OK)
        status = check_topology(yaml, &description);
    if (status == STRAG_OK)
        status = add_name(yaml, file, &description.name);
    bool better = file->count == 1 || (description.by_default && !file->chosen.by_default);
    if (status == STRAG_OK && better) {
        free_description(&file->chosen);
        file->chosen = description;
    } else {
        free_description(&description);
    }
    return status;
}

static int read_topologies(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    int line = strag_yaml_line(node);
    int status = strag_yaml_list(yaml, node, "topologies", read_topology, target);
    if (status == STRAG_OK && ((struct file *)target)->count == 0)
        return strag_source_fail(&yaml->source, line, "no topology is described");
    return status;
}

/* ---- From a description to a layout ---- */

static int add_region(struct strag_draft *draft, const struct torus *torus,
                      const struct region *region)
{
    struct strag_layout *layout = draft->layout;
    int first = layout->nhosts, line = region->nodes.line;
    int64_t product = 1;
    for (int d = 0; d < 3; d++) {
        if (region->size[d] < 1 || (int64_t)region->anchor[d] + region->size[d] > torus->size[d])
            return strag_source_fail(&draft->source, line,
                                     "the region is empty or outside of the torus of %dx%dx%d",
                                     torus->size[0], torus->size[1], torus->size[2]);
        product *= region->size[d];
    }
    int status = strag_draft_hosts(draft, &region->nodes, 0, 0);
    if (status != STRAG_OK)
        return status;
    int hosts = layout->nhosts - first;
    if (hosts != product)
        return strag_source_fail(&draft->source, line, "%d hosts for the %dx%dx%d positions", hosts,
                                 region->size[0], region->size[1], region->size[2]);
    for (int i = 0; i < hosts; i++) {
        int x = region->anchor[0] + i % region->size[0];
        int y = region->anchor[1] + i / region->size[0] % region->size[1];
        int z = region->anchor[2] + i / region->size[0] / region->size[1];
        layout->hosts[first + i].at = x + torus->size[0] * (y + torus->size[1] * z);
    }
    return STRAG_OK;
}

static int fill_torus(struct strag_draft *draft, void *from)
{
    const struct torus *torus = from;
    struct strag_grid *grid = &draft->layout->grid;
    int status = STRAG_OK;
    grid->dims = 3;
    for (int d = 0; d < 3; d++) {
        grid->size[d] = torus->size[d];
        grid->wrap[d] = true;
    }
    for (int i = 0; i < torus->count && status == STRAG_OK; i++)
        status = add_region(draft, torus, &torus->regions[i]);
    return status;
}

/* Of several tori, each becomes a switch: its links are lost, but its hosts stay close. */
static int fill_toruses(struct strag_draft *draft, void *from)
{
    const struct description *description = from;
    int status = STRAG_OK;
    for (int i = 0; i < description->ntoruses && status == STRAG_OK; i++) {
        const struct torus *torus = &description->toruses[i];
        status = strag_draft_named_switch(draft, &torus->name, 0);
        for (int r = 0; r < torus->count && status == STRAG_OK; r++)
            status = strag_draft_hosts(draft, &torus->regions[r].nodes, i, 0);
    }
    return status;
}

static int build(struct description *description, const struct strag_source *source,
                 struct strag_layout **layout)
{
    if (description->ntoruses == 1)
        return strag_layout_build(source, STRAG_NETWORK_TORUS, fill_torus, description->toruses,
                                  layout);
    if (description->ntoruses)
        return strag_layout_build(source, STRAG_NETWORK_TREE, fill_toruses, description, layout);
    return strag_records_build(&description->records, source, layout);
}

int strag_layout_parse_yaml(const char *text, size_t length, const char *name,
                            struct strag_layout **layout, struct strag_error *err)
{
    struct file file = {.source = {name, err}};
    static const struct strag_yaml_format format = {read_topologies, "nothing is described", false};
    int status = strag_source_text(&file.source, &text, &length);
    if (status == STRAG_OK)
        status = strag_yaml_read(&file.source, text, length, &format, &file);
    if (status == STRAG_OK)
        status = build(&file.chosen, &file.source, layout);
    free_description(&file.chosen);
    for (int i = 0; i < file.count; i++)
        free(file.texts[i]);
    free(file.texts);
    strag_names_free(&file.names);
    return status;
}
