/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a topology from a layout and the ranks' locations. It has the layout's switches and hosts
 * that have ranks below, and inside a host the known packages, NUMA domains and caches.
 */
#include "machine/layout.h"

#include "base/units.h"
#include "machine/layout_internal.h"

#include <stdlib.h>
#include <string.h>

enum { LOCAL_LEVELS = 3 };

/* From the host down. */
static const enum strag_level local_level[LOCAL_LEVELS] = {
    STRAG_LEVEL_PACKAGE,
    STRAG_LEVEL_NUMA,
    STRAG_LEVEL_CACHE,
};

/* A rank and its sort keys, in this order. */
struct located {
    int host;
    int local[LOCAL_LEVELS];
    int rank;
};

struct builder {
    const struct strag_layout *layout;
    int n;
    struct located *ranks;    /* in the order of the tree */
    int *switch_node;         /* [switch]: 0 if not needed; else its node, or 1 before it has one */
    struct strag_node *nodes; /* their names belong to the layout */
    int nnodes;
    size_t most; /* nodes */
};

static int compare_located(const void *a, const void *b)
{
    const struct located *x = a, *y = b;
    int order = strag_compare_int(&x->host, &y->host);
    for (int l = 0; l < LOCAL_LEVELS && order == 0; l++)
        order = strag_compare_int(&x->local[l], &y->local[l]);
    return order ? order : strag_compare_int(&x->rank, &y->rank);
}

/* The number of ranks from ranks[first] on that are on its host. */
static int on_host(const struct builder *builder, int first)
{
    int count = 1;
    while (first + count < builder->n &&
           builder->ranks[first + count].host == builder->ranks[first].host)
        count++;
    return count;
}

/* Drop levels that are unknown for a rank of the host, or equal for all. @return how many are left
 */
static int drop_levels(struct located *ranks, int count)
{
    int left = 0;
    for (int l = 0; l < LOCAL_LEVELS; l++) {
        bool known = true, same = true;
        for (int i = 0; i < count; i++) {
            known &= ranks[i].local[l] >= 0;
            same &= ranks[i].local[l] == ranks[0].local[l];
        }
        for (int i = 0; i < count && (!known || same); i++)
            ranks[i].local[l] = -1;
        left += known && !same;
    }
    return left;
}

static void sort_ranks(struct builder *builder, const struct strag_location *locations)
{
    for (int i = 0; i < builder->n; i++) {
        const struct strag_core *core = &locations[i].core;
        builder->ranks[i] =
            (struct located){locations[i].host, {core->package, core->numa, core->cache}, i};
    }
    qsort(builder->ranks, (size_t)builder->n, sizeof *builder->ranks, compare_located);
    for (int i = 0; i < builder->n;) {
        int count = on_host(builder, i);
        int levels = drop_levels(&builder->ranks[i], count);
        builder->most += 1 + (size_t)count * (1 + (size_t)levels);
        qsort(&builder->ranks[i], (size_t)count, sizeof *builder->ranks, compare_located);
        i += count;
    }
}

static int add_node(struct builder *builder, const struct strag_node *node)
{
    builder->nodes[builder->nnodes] = *node;
    return builder->nnodes++;
}

/* Add the root, and the switches above the hosts that have ranks. Parents come first, as in the
 * layout. */
static void add_switches(struct builder *builder)
{
    const struct strag_layout *layout = builder->layout;
    struct strag_node root = {.level = STRAG_LEVEL_NETWORK, .parent = -1, .rank = -1};
    root.position = -1;
    if (layout->network == STRAG_NETWORK_TREE) {
        root.name = layout->switches[0].name;
        root.uplink = layout->switches[0].uplink;
        for (int i = 0; i < builder->n; i++) {
            int at = layout->hosts[builder->ranks[i].host].at;
            while (at > 0 && !builder->switch_node[at]) {
                builder->switch_node[at] = 1;
                at = layout->switches[at].parent;
            }
        }
    }
    add_node(builder, &root);
    for (int i = 1; i < layout->nswitches; i++) {
        const struct strag_switch *from = &layout->switches[i];
        const struct strag_node node = {
            .level = STRAG_LEVEL_SWITCH,
            .parent = builder->switch_node[from->parent],
            .rank = -1,
            .position = -1,
            .uplink = from->uplink,
            .name = from->name,
        };
        if (builder->switch_node[i])
            builder->switch_node[i] = add_node(builder, &node);
    }
}

/* Add a host's levels and ranks. Ranks that are equal up to a level are adjacent. */
static void add_host(struct builder *builder, const struct located *ranks, int count)
{
    const struct strag_layout *layout = builder->layout;
    const struct strag_host *host = &layout->hosts[ranks[0].host];
    bool tree = layout->network == STRAG_NETWORK_TREE;
    struct strag_node node = {
        .level = STRAG_LEVEL_HOST,
        .parent = tree ? builder->switch_node[host->at] : 0,
        .rank = -1,
        .position = tree ? -1 : host->at,
        .uplink = host->uplink,
        .name = host->name,
    };
    int above[LOCAL_LEVELS + 1] = {add_node(builder, &node)};
    node = (struct strag_node){.rank = -1, .position = -1};
    for (int i = 0; i < count; i++) {
        bool same = i > 0; /* equal to the rank before, up to this level */
        for (int l = 0; l < LOCAL_LEVELS; l++) {
            same = same && ranks[i].local[l] == ranks[i - 1].local[l];
            if (same)
                continue;
            above[l + 1] = above[l];
            if (ranks[i].local[l] < 0)
                continue;
            node.level = (uint8_t)local_level[l];
            node.parent = above[l];
            above[l + 1] = add_node(builder, &node);
        }
        const struct strag_node leaf = {
            .parent = above[LOCAL_LEVELS], .rank = ranks[i].rank, .position = -1};
        add_node(builder, &leaf);
    }
}

static void add_nodes(struct builder *builder)
{
    add_switches(builder);
    for (int i = 0; i < builder->n;) {
        int count = on_host(builder, i);
        add_host(builder, &builder->ranks[i], count);
        i += count;
    }
}

static int check_locations(const struct strag_layout *layout,
                           const struct strag_location *locations, int n, struct strag_error *err)
{
    if (n < 1)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%d ranks; must be at least 1", n);
    for (int i = 0; i < n; i++) {
        if (locations[i].host < 0 || locations[i].host >= layout->nhosts)
            return strag_fail(err, STRAG_ERR_ARGUMENT,
                              "rank %d is on host %d; the layout has the hosts 0 to %d", i,
                              locations[i].host, layout->nhosts - 1);
    }
    return STRAG_OK;
}

int strag_layout_locate(const struct strag_layout *layout, const struct strag_location *locations,
                        int n, struct strag_topology **topology, struct strag_error *err)
{
    int status = check_locations(layout, locations, n, err);
    if (status != STRAG_OK)
        return status;
    struct builder builder = {.layout = layout, .n = n, .most = 1 + (size_t)layout->nswitches};
    bool tree = layout->network == STRAG_NETWORK_TREE;
    builder.ranks = calloc((size_t)n, sizeof *builder.ranks);
    builder.switch_node = calloc(builder.most, sizeof *builder.switch_node);
    if (builder.ranks && builder.switch_node) {
        sort_ranks(&builder, locations);
        builder.nodes = calloc(builder.most, sizeof *builder.nodes);
    }
    if (builder.nodes) {
        add_nodes(&builder);
        status = strag_topology_create(tree ? NULL : &layout->grid, builder.nodes, builder.nnodes,
                                       n, topology, err);
    } else {
        status =
            strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the locations of %d ranks", n);
    }
    free(builder.ranks);
    free(builder.switch_node);
    free(builder.nodes);
    return status;
}

/* ---- Filling a layout ---- */

/* The hosts in the order in which they are filled. */
struct choice {
    int count;
    int *host;
};

/* Fail for a host that is not in the layout. A flat layout names no hosts. */
static int no_host(const struct strag_layout *layout, const char *name, struct strag_error *err)
{
    const int last = layout->nhosts - 1;
    return strag_fail(err, STRAG_ERR_ARGUMENT, "host %s is not in the layout, which has %s%s%s%s%s",
                      strag_quoted(name).text, strag_units_count(last + 1, "host").text,
                      last < 0 ? "" : ", from ", last < 0 ? "" : layout->hosts[0].name,
                      last < 0 ? "" : " to ", last < 0 ? "" : layout->hosts[last].name);
}

static int find_hosts(const struct strag_layout *layout, char **names, struct choice *choice,
                      struct strag_names *index, bool *taken, struct strag_error *err)
{
    for (int i = 0; i < layout->nhosts; i++) {
        if (!strag_names_add(index, layout->hosts[i].name, i))
            return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the names of %d hosts",
                              layout->nhosts);
    }
    for (int i = 0; i < choice->count; i++) {
        const int host = strag_names_find(index, names[i]);
        if (host < 0)
            return no_host(layout, names[i], err);
        if (taken[host])
            return strag_fail(err, STRAG_ERR_ARGUMENT, "host %s is named twice",
                              strag_quoted(names[i]).text);
        taken[host] = true;
        choice->host[i] = host;
    }
    return STRAG_OK;
}

/* Choose the hosts of a list, or all hosts if it is NULL. */
static int choose(const struct strag_layout *layout, const char *hosts, struct choice *choice,
                  struct strag_error *err)
{
    char **names = NULL;
    struct strag_names index = {0};
    choice->count = layout->nhosts;
    int status = hosts ? strag_hosts_expand(hosts, &names, &choice->count, err) : STRAG_OK;
    if (status != STRAG_OK)
        return status;
    bool *taken = calloc((size_t)layout->nhosts + 1, sizeof *taken);
    choice->host = calloc((size_t)choice->count + 1, sizeof *choice->host);
    if (!taken || !choice->host)
        status = strag_fail(err, STRAG_ERR_MEMORY, "out of memory for a list of %d hosts",
                            choice->count);
    else if (hosts)
        status = find_hosts(layout, names, choice, &index, taken, err);
    for (int i = 0; status == STRAG_OK && !hosts && i < choice->count; i++)
        choice->host[i] = i;
    strag_hosts_free(names, hosts ? choice->count : 0);
    strag_names_free(&index);
    free(taken);
    return status;
}

static int ranks_of(const struct strag_host *host, int ranks_per_host)
{
    return host->ranks ? host->ranks : ranks_per_host;
}

/* @param[in,out] n  if 0, set to the number for which there is room */
static int count_ranks(const struct strag_layout *layout, const struct choice *choice,
                       int ranks_per_host, int *n, struct strag_error *err)
{
    int64_t room = 0;
    for (int i = 0; i < choice->count; i++)
        room += ranks_of(&layout->hosts[choice->host[i]], ranks_per_host);
    if (room == 0)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "the layout names no hosts: give the number of ranks, or the hosts");
    if (room > STRAG_LAYOUT_RANKS_MAX && *n == 0)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "the layout has %lld ranks; must be at most %d",
                          (long long)room, STRAG_LAYOUT_RANKS_MAX);
    if (*n > room)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "%d ranks do not fit: there is room for %lld on %s", *n, (long long)room,
                          strag_units_count(choice->count, "host").text);
    *n = *n ? *n : (int)room;
    return STRAG_OK;
}

/* Place ranks in order, host after host, or as the layout places them. */
static int fill(const struct strag_layout *layout, const struct choice *choice, int ranks_per_host,
                int n, struct strag_topology **topology, struct strag_error *err)
{
    struct strag_location *locations = calloc((size_t)n, sizeof *locations);
    if (!locations)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the locations of %d ranks", n);
    int on_this = 0; /* ranks on the current host */
    for (int rank = 0, i = 0; rank < n; rank++) {
        if (!layout->rank_host &&
            on_this++ == ranks_of(&layout->hosts[choice->host[i]], ranks_per_host)) {
            on_this = 1;
            i++;
        }
        int host = layout->rank_host ? layout->rank_host[rank] : choice->host[i];
        locations[rank] = (struct strag_location){host, {-1, -1, -1}};
    }
    int status = strag_layout_locate(layout, locations, n, topology, err);
    free(locations);
    return status;
}

int strag_layout_fill(const struct strag_layout *layout, int n, int ranks_per_host,
                      const char *hosts, struct strag_topology **topology, struct strag_error *err)
{
    if (n < 0 || ranks_per_host < 1)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "%d ranks, %d per host; 0 (all) or more and at least 1 are needed", n,
                          ranks_per_host);
    if (layout->rank_host && hosts)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "the layout places the ranks itself; hosts cannot be chosen");
    if (layout->rank_host && n > layout->nranks)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%d ranks; the layout places %d", n,
                          layout->nranks);
    struct choice choice = {0, NULL};
    int status = STRAG_OK;
    if (layout->rank_host) {
        n = n ? n : layout->nranks;
    } else {
        status = choose(layout, hosts, &choice, err);
        if (status == STRAG_OK)
            status = count_ranks(layout, &choice, ranks_per_host, &n, err);
    }
    if (status == STRAG_OK)
        status = fill(layout, &choice, ranks_per_host, n, topology, err);
    free(choice.host);
    return status;
}
