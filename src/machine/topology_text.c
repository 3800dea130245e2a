/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/topology_text.h"

#include "base/parse.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define RANKS_MAX (1 << 20)

static const double gbit = 1e9 / 8; /* bytes per second */

static const char *const levels[] = {
    [STRAG_LEVEL_RANK] = "rank",       [STRAG_LEVEL_CACHE] = "cache",
    [STRAG_LEVEL_NUMA] = "numa",       [STRAG_LEVEL_PACKAGE] = "package",
    [STRAG_LEVEL_HOST] = "host",       [STRAG_LEVEL_SWITCH] = "switch",
    [STRAG_LEVEL_NETWORK] = "network", NULL,
};

/* ---- Writing ---- */

static void write_list(FILE *stream, int indent, const char *key, int count, const int *list)
{
    fprintf(stream, "%*s%s: [", indent, "", key);
    for (int i = 0; i < count; i++)
        fprintf(stream, "%s%d", i ? ", " : "", list[i]);
    fputs("]\n", stream);
}

static void write_grid(const struct strag_grid *grid, FILE *stream, int indent)
{
    write_list(stream, indent, "size", grid->dims, grid->size);
    if (grid->network == STRAG_NETWORK_HAMMINGMESH)
        write_list(stream, indent, "board", grid->dims, grid->board);
    if (grid->network != STRAG_NETWORK_TORUS)
        return;
    fprintf(stream, "%*swrap: [", indent, "");
    for (int d = 0; d < grid->dims; d++)
        fprintf(stream, "%s%s", d ? ", " : "", grid->wrap[d] ? "true" : "false");
    fputs("]\n", stream);
}

/* Does the node belong to the entry of the leaf before it? */
static bool is_same(const struct strag_node *leaf, const struct strag_node *node)
{
    return leaf->level == STRAG_LEVEL_RANK && node->level == STRAG_LEVEL_RANK &&
           leaf->parent == node->parent && leaf->uplink == node->uplink;
}

/* "0..3,7": the ranks of leaves side by side. */
static void write_ranks(const struct strag_node *leaves, int count, FILE *stream)
{
    fputs(", ranks: \"", stream);
    for (int i = 0, next; i < count; i = next) {
        next = i + 1;
        while (next < count && leaves[next].rank == leaves[next - 1].rank + 1)
            next++;
        fprintf(stream, "%s%d", i ? "," : "", leaves[i].rank);
        if (next > i + 1)
            fprintf(stream, "..%d", leaves[next - 1].rank);
    }
    putc('"', stream);
}

static void write_node(const struct strag_node *node, int identical, FILE *stream, int indent)
{
    char text[32];
    fprintf(stream, "%*s- {level: %s", indent, "", levels[node->level]);
    if (node->parent >= 0)
        fprintf(stream, ", parent: %d", node->parent);
    if (node->name && node->name[0]) {
        fputs(", name: ", stream);
        strag_json_string(node->name, stream);
    }
    if (node->position >= 0)
        fprintf(stream, ", position: %d", node->position);
    if (node->uplink > 0)
        fprintf(stream, ", uplink: %s", strag_real_text(node->uplink, gbit, text));
    if (node->level == STRAG_LEVEL_RANK)
        write_ranks(node, identical, stream);
    fputs("}\n", stream);
}

void strag_topology_write(const struct strag_topology *topology, FILE *stream, int indent)
{
    fprintf(stream, "%*snetwork: %s\n", indent, "", strag_network_words[topology->network]);
    if (topology->network != STRAG_NETWORK_TREE)
        write_grid(&topology->grid, stream, indent);
    fprintf(stream, "%*snodes:\n", indent, "");
    for (int i = 0, next; i < topology->nnodes; i = next) {
        const struct strag_node *node = &topology->nodes[i];
        next = i + 1;
        while (next < topology->nnodes && is_same(node, &topology->nodes[next]))
            next++;
        write_node(node, next - i, stream, indent + 2);
    }
}

/* ---- Reading ---- */

struct reading {
    int network;
    struct strag_grid grid;
    int sizes, boards, wraps; /* how many of them were given */
    struct strag_node *nodes;
    int count, room, n;
};

/* One entry: a node, or leaves. */
struct entry {
    int level, parent, position;
    double uplink;
    struct strag_text name;
    struct strag_interval *ranks;
    int intervals;
};

static int read_network(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    return strag_yaml_word(yaml, node, strag_network_words, target);
}

static int read_level(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    return strag_yaml_word(yaml, node, levels, target);
}

/* A list of at most STRAG_DIMS_MAX, of which the next is item[count]. */
struct dims {
    int *item, *count;
};

static int read_dim(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    const struct dims *dims = target;
    if (*dims->count == STRAG_DIMS_MAX)
        return strag_yaml_fail(yaml, node, "%s: at most %d dimensions", yaml->key, STRAG_DIMS_MAX);
    return strag_yaml_integer(yaml, node, &dims->item[(*dims->count)++]);
}

static int read_size(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    struct reading *reading = target;
    struct dims dims = {reading->grid.size, &reading->sizes};
    return strag_yaml_list(yaml, node, "sizes", read_dim, &dims);
}

static int read_board(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    struct reading *reading = target;
    struct dims dims = {reading->grid.board, &reading->boards};
    return strag_yaml_list(yaml, node, "sizes", read_dim, &dims);
}

static int read_one_wrap(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    struct reading *reading = target;
    if (reading->wraps == STRAG_DIMS_MAX)
        return strag_yaml_fail(yaml, node, "wrap: at most %d dimensions", STRAG_DIMS_MAX);
    return strag_yaml_bool(yaml, node, &reading->grid.wrap[reading->wraps++]);
}

static int read_wrap(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    return strag_yaml_list(yaml, node, "true or false", read_one_wrap, target);
}

static int read_uplink(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    double uplink;
    int status = strag_yaml_real(yaml, node, &uplink);
    if (status == STRAG_OK)
        *(double *)target = uplink * gbit;
    return status;
}

static int read_ranks(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    struct entry *entry = target;
    struct strag_error why;
    const char *text = strag_yaml_scalar(node);
    int status =
        text ? strag_parse_intervals(text, 0, RANKS_MAX - 1, &entry->ranks, &entry->intervals, &why)
             : STRAG_ERR_ARGUMENT;
    if (status == STRAG_ERR_MEMORY)
        return strag_source_memory(&yaml->source);
    if (status != STRAG_OK)
        return strag_yaml_fail_value(yaml, node, "ranks like 0..3,7");
    return STRAG_OK;
}

/* @return STRAG_OK or STRAG_ERR_MEMORY */
static int add_node(struct strag_yaml *yaml, const struct entry *entry, int rank,
                    struct reading *reading)
{
    if (!strag_array_grow(&reading->nodes, &reading->room, reading->count + 1,
                          sizeof *reading->nodes))
        return strag_source_memory(&yaml->source);
    reading->nodes[reading->count++] = (struct strag_node){
        .level = (uint8_t)entry->level,
        .parent = entry->parent,
        .position = entry->position,
        .rank = rank,
        .uplink = entry->uplink,
        .name = entry->name.text,
    };
    return STRAG_OK;
}

static int add_leaves(struct strag_yaml *yaml, const yaml_node_t *node, const struct entry *entry,
                      struct reading *reading)
{
    int status = STRAG_OK;
    for (int i = 0; i < entry->intervals; i++) {
        const struct strag_interval ranks = entry->ranks[i];
        if (ranks.last - ranks.first >= RANKS_MAX - reading->n)
            return strag_yaml_fail(yaml, node, "more than %d ranks", RANKS_MAX);
        reading->n += ranks.last - ranks.first + 1;
        for (int rank = ranks.first; status == STRAG_OK && rank <= ranks.last; rank++)
            status = add_node(yaml, entry, rank, reading);
    }
    return status;
}

static int read_node(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    static const struct strag_yaml_key keys[] = {
        {"level", read_level, offsetof(struct entry, level)},
        {"parent", strag_yaml_integer, offsetof(struct entry, parent)},
        {"name", strag_yaml_text, offsetof(struct entry, name)},
        {"position", strag_yaml_integer, offsetof(struct entry, position)},
        {"uplink", read_uplink, offsetof(struct entry, uplink)},
        {"ranks", read_ranks, 0},
        {NULL, NULL, 0},
    };
    struct entry entry = {.level = -1, .parent = -1, .position = -1};
    int status = strag_yaml_mapping(yaml, node, "node", keys, &entry);
    const bool leaves = entry.level == STRAG_LEVEL_RANK;
    if (status == STRAG_OK && (entry.level < 0 || leaves != (entry.intervals > 0)))
        status =
            strag_yaml_fail(yaml, node, "'level' is needed, and 'ranks' with level: rank only");
    if (status == STRAG_OK && leaves && entry.name.text)
        status = strag_yaml_fail(yaml, node, "ranks have no name");
    if (status == STRAG_OK)
        status =
            leaves ? add_leaves(yaml, node, &entry, target) : add_node(yaml, &entry, -1, target);
    if (status != STRAG_OK)
        free(entry.name.text);
    free(entry.ranks);
    return status;
}

static int read_nodes(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    return strag_yaml_list(yaml, node, "nodes", read_node, target);
}

/* The grid's members fit together. @return STRAG_OK or STRAG_ERR_ARGUMENT */
static int check_grid(struct strag_yaml *yaml, const yaml_node_t *node, struct reading *reading)
{
    const int dims = reading->sizes;
    const bool torus = reading->network == STRAG_NETWORK_TORUS;
    const bool mesh = reading->network == STRAG_NETWORK_HAMMINGMESH;
    if (reading->network == STRAG_NETWORK_TREE && dims == 0 && reading->wraps == 0 &&
        reading->boards == 0)
        return STRAG_OK;
    if (reading->network == STRAG_NETWORK_TREE || dims == 0 ||
        reading->wraps != (torus ? dims : 0) || reading->boards != (mesh ? dims : 0))
        return strag_yaml_fail(yaml, node,
                               "a grid needs 'size', a torus as many of 'wrap', a hammingmesh of "
                               "'board'; a tree has none of them");
    reading->grid.network = (enum strag_network)reading->network;
    reading->grid.dims = dims;
    return STRAG_OK;
}

static int make_topology(struct strag_yaml *yaml, const yaml_node_t *node, struct reading *reading,
                         struct strag_topology **topology)
{
    struct strag_error why;
    int status = check_grid(yaml, node, reading);
    if (status != STRAG_OK)
        return status;
    status = strag_topology_create(reading->network == STRAG_NETWORK_TREE ? NULL : &reading->grid,
                                   reading->nodes, reading->count, reading->n, topology, &why);
    if (status == STRAG_ERR_MEMORY)
        return strag_source_memory(&yaml->source);
    return status == STRAG_OK ? STRAG_OK : strag_yaml_fail(yaml, node, "%.200s", why.text);
}

int strag_topology_yaml(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    static const struct strag_yaml_key keys[] = {
        {"network", read_network, offsetof(struct reading, network)},
        {"size", read_size, 0},
        {"wrap", read_wrap, 0},
        {"board", read_board, 0},
        {"nodes", read_nodes, 0},
        {NULL, NULL, 0},
    };
    struct reading reading = {.network = STRAG_NETWORK_TREE};
    int status = strag_yaml_mapping(yaml, node, "topology", keys, &reading);
    if (status == STRAG_OK)
        status = make_topology(yaml, node, &reading, target);
    for (int i = 0; i < reading.count; i++)
        free(reading.nodes[i].name);
    free(reading.nodes);
    return status;
}
