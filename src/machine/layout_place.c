/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks placed on a layout give a topology: the layout's switches and hosts that have ranks below,
 * and inside a host the packages, NUMA domains and caches that its ranks know.
 */
#include "machine/layout.h"

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

/* A rank, with what its place is sorted by. */
struct seat {
    int host, rank;
    int local[LOCAL_LEVELS];
};

struct placing {
    const struct strag_layout *layout;
    int n;
    struct seat *seats;       /* in the order of the tree */
    int *switch_node;         /* [switch]: 0: not needed; else its node, or 1 before it has one */
    struct strag_node *nodes; /* names are the layout's */
    int nnodes;
    size_t most; /* nodes there can be */
};

static int compare_seats(const void *a, const void *b)
{
    const struct seat *left = a, *right = b;
    if (left->host != right->host)
        return left->host < right->host ? -1 : 1;
    for (int l = 0; l < LOCAL_LEVELS; l++) {
        if (left->local[l] != right->local[l])
            return left->local[l] < right->local[l] ? -1 : 1;
    }
    return left->rank < right->rank ? -1 : left->rank > right->rank;
}

/* How many ranks, from `seat` on, are on the same host. */
static int on_host(const struct placing *placing, int seat)
{
    int count = 1;
    while (seat + count < placing->n &&
           placing->seats[seat + count].host == placing->seats[seat].host)
        count++;
    return count;
}

/* Levels that not all ranks of a host know, or that do not tell them apart, are forgotten.
 * @return how many are left */
static int forget_levels(struct seat *seats, int count)
{
    int left = 0;
    for (int l = 0; l < LOCAL_LEVELS; l++) {
        bool known = true, same = true;
        for (int i = 0; i < count; i++) {
            known &= seats[i].local[l] >= 0;
            same &= seats[i].local[l] == seats[0].local[l];
        }
        for (int i = 0; i < count && (!known || same); i++)
            seats[i].local[l] = -1;
        left += known && !same;
    }
    return left;
}

static void sort_seats(struct placing *placing, const struct strag_place *places)
{
    for (int i = 0; i < placing->n; i++) {
        const struct strag_core *core = &places[i].core;
        placing->seats[i] =
            (struct seat){places[i].host, i, {core->package, core->numa, core->cache}};
    }
    qsort(placing->seats, (size_t)placing->n, sizeof *placing->seats, compare_seats);
    for (int i = 0; i < placing->n;) {
        int count = on_host(placing, i);
        int levels = forget_levels(&placing->seats[i], count);
        placing->most += 1 + (size_t)count * (1 + (size_t)levels);
        qsort(&placing->seats[i], (size_t)count, sizeof *placing->seats, compare_seats);
        i += count;
    }
}

static int add_node(struct placing *placing, const struct strag_node *node)
{
    placing->nodes[placing->nnodes] = *node;
    return placing->nnodes++;
}

/* The root, and the switches above the hosts that have ranks. Parents come first, as in the
 * layout. */
static void add_switches(struct placing *placing)
{
    const struct strag_layout *layout = placing->layout;
    struct strag_node root = {.level = STRAG_LEVEL_NETWORK, .parent = -1, .rank = -1};
    root.position = -1;
    if (layout->network == STRAG_NETWORK_TREE) {
        root.name = layout->switches[0].name;
        for (int i = 0; i < placing->n; i++) {
            int at = layout->hosts[placing->seats[i].host].at;
            while (at > 0 && !placing->switch_node[at]) {
                placing->switch_node[at] = 1;
                at = layout->switches[at].parent;
            }
        }
    }
    add_node(placing, &root);
    for (int i = 1; i < layout->nswitches; i++) {
        const struct strag_switch *from = &layout->switches[i];
        const struct strag_node node = {
            .level = STRAG_LEVEL_SWITCH,
            .parent = placing->switch_node[from->parent],
            .rank = -1,
            .position = -1,
            .uplink = from->uplink,
            .name = from->name,
        };
        if (placing->switch_node[i])
            placing->switch_node[i] = add_node(placing, &node);
    }
}

/* A host's levels and ranks. Seats that are alike up to a level are side by side. */
static void add_host(struct placing *placing, const struct seat *seats, int count)
{
    const struct strag_layout *layout = placing->layout;
    const struct strag_host *host = &layout->hosts[seats[0].host];
    bool tree = layout->network == STRAG_NETWORK_TREE;
    struct strag_node node = {
        .level = STRAG_LEVEL_HOST,
        .parent = tree ? placing->switch_node[host->at] : 0,
        .rank = -1,
        .position = tree ? -1 : host->at,
        .uplink = host->uplink,
        .name = host->name,
    };
    int above[LOCAL_LEVELS + 1] = {add_node(placing, &node)};
    node = (struct strag_node){.rank = -1, .position = -1};
    for (int i = 0; i < count; i++) {
        bool same = i > 0; /* as the seat before, up to this level */
        for (int l = 0; l < LOCAL_LEVELS; l++) {
            same = same && seats[i].local[l] == seats[i - 1].local[l];
            if (same)
                continue;
            above[l + 1] = above[l];
            if (seats[i].local[l] < 0)
                continue;
            node.level = (uint8_t)local_level[l];
            node.parent = above[l];
            above[l + 1] = add_node(placing, &node);
        }
        const struct strag_node leaf = {
            .parent = above[LOCAL_LEVELS], .rank = seats[i].rank, .position = -1};
        add_node(placing, &leaf);
    }
}

static void add_nodes(struct placing *placing)
{
    add_switches(placing);
    for (int i = 0; i < placing->n;) {
        int count = on_host(placing, i);
        add_host(placing, &placing->seats[i], count);
        i += count;
    }
}

static int check_places(const struct strag_layout *layout, const struct strag_place *places, int n,
                        struct strag_error *err)
{
    if (n < 1)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%d ranks; at least 1 is needed", n);
    for (int i = 0; i < n; i++) {
        if (places[i].host < 0 || places[i].host >= layout->nhosts)
            return strag_fail(err, STRAG_ERR_ARGUMENT,
                              "rank %d is on host %d; the layout has the hosts 0 to %d", i,
                              places[i].host, layout->nhosts - 1);
    }
    return STRAG_OK;
}

int strag_layout_place(const struct strag_layout *layout, const struct strag_place *places, int n,
                       struct strag_topology **topology, struct strag_error *err)
{
    int status = check_places(layout, places, n, err);
    if (status != STRAG_OK)
        return status;
    struct placing placing = {.layout = layout, .n = n, .most = 1 + (size_t)layout->nswitches};
    bool tree = layout->network == STRAG_NETWORK_TREE;
    placing.seats = calloc((size_t)n, sizeof *placing.seats);
    placing.switch_node = calloc(placing.most, sizeof *placing.switch_node);
    if (placing.seats && placing.switch_node) {
        sort_seats(&placing, places);
        placing.nodes = calloc(placing.most, sizeof *placing.nodes);
    }
    if (placing.nodes) {
        add_nodes(&placing);
        status = strag_topology_create(tree ? NULL : &layout->grid, placing.nodes, placing.nnodes,
                                       n, topology, err);
    } else {
        status = strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the places of %d ranks", n);
    }
    free(placing.seats);
    free(placing.switch_node);
    free(placing.nodes);
    return status;
}

/* ---- Filling a layout ---- */

/* Hosts in the order in which they are filled. */
struct choice {
    int count;
    int *host;
};

/* Find the hosts. @param taken  zero on entry, [layout's host] */
static int find_hosts(const struct strag_layout *layout, char **names, struct choice *choice,
                      bool *taken, struct strag_names *index, struct strag_error *err)
{
    for (int i = 0; i < layout->nhosts; i++) {
        if (!strag_names_add(index, layout->hosts[i].name, i))
            return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the names of %d hosts",
                              layout->nhosts);
    }
    for (int i = 0; i < choice->count; i++) {
        int host = strag_names_find(index, names[i]);
        if (host < 0)
            return strag_fail(err, STRAG_ERR_ARGUMENT, "host %s is not in the layout",
                              strag_quoted(names[i]).text);
        if (taken[host])
            return strag_fail(err, STRAG_ERR_ARGUMENT, "host %s is named twice",
                              strag_quoted(names[i]).text);
        taken[host] = true;
        choice->host[i] = host;
    }
    return STRAG_OK;
}

static int choose_named(const struct strag_layout *layout, const char *hosts, struct choice *choice,
                        struct strag_error *err)
{
    char **names = NULL;
    struct strag_names index = {0};
    int status = strag_hosts_expand(hosts, &names, &choice->count, err);
    if (status != STRAG_OK)
        return status;
    bool *taken = calloc((size_t)layout->nhosts + 1, sizeof *taken);
    choice->host = calloc((size_t)choice->count, sizeof *choice->host);
    if (!taken || !choice->host)
        status = strag_fail(err, STRAG_ERR_MEMORY, "out of memory for a list of %d hosts",
                            choice->count);
    else
        status = find_hosts(layout, names, choice, taken, &index, err);
    strag_hosts_free(names, choice->count);
    strag_names_free(&index);
    free(taken);
    return status;
}

static int choose_all(const struct strag_layout *layout, struct choice *choice,
                      struct strag_error *err)
{
    choice->count = layout->nhosts;
    choice->host = calloc((size_t)layout->nhosts + 1, sizeof *choice->host);
    if (!choice->host)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for a list of %d hosts",
                          choice->count);
    for (int i = 0; i < layout->nhosts; i++)
        choice->host[i] = i;
    return STRAG_OK;
}

static int ranks_of(const struct strag_host *host, int ranks_per_host)
{
    return host->ranks ? host->ranks : ranks_per_host;
}

/* Ranks in order, host after host. @param n  on entry 0: all */
static int fill(const struct strag_layout *layout, const struct choice *choice, int ranks_per_host,
                int *n, struct strag_place **places, struct strag_error *err)
{
    int64_t room = 0;
    for (int i = 0; i < choice->count; i++)
        room += ranks_of(&layout->hosts[choice->host[i]], ranks_per_host);
    if (room == 0)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "the layout has no hosts");
    if (room > INT32_MAX && *n == 0)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "the layout has %lld ranks; at most %d are "
                          "possible",
                          (long long)room, INT32_MAX);
    if (*n > room)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "%d ranks do not fit: %d hosts have room for %lld", *n, choice->count,
                          (long long)room);
    *n = *n ? *n : (int)room;
    *places = calloc((size_t)*n, sizeof **places);
    if (!*places)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the places of %d ranks", *n);
    for (int i = 0, rank = 0; i < choice->count && rank < *n; i++) {
        int host = choice->host[i];
        for (int r = ranks_of(&layout->hosts[host], ranks_per_host); r > 0 && rank < *n; r--)
            (*places)[rank++] = (struct strag_place){host, {-1, -1, -1}};
    }
    return STRAG_OK;
}

/* As the file places the ranks. */
static int fill_as_placed(const struct strag_layout *layout, const char *hosts, int *n,
                          struct strag_place **places, struct strag_error *err)
{
    if (hosts)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "the layout places the ranks itself; hosts cannot be chosen");
    if (*n > layout->nranks)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%d ranks; the layout places %d", *n,
                          layout->nranks);
    *n = *n ? *n : layout->nranks;
    *places = calloc((size_t)*n, sizeof **places);
    if (!*places)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the places of %d ranks", *n);
    for (int rank = 0; rank < *n; rank++)
        (*places)[rank] = (struct strag_place){layout->rank_host[rank], {-1, -1, -1}};
    return STRAG_OK;
}

int strag_layout_fill(const struct strag_layout *layout, int n, int ranks_per_host,
                      const char *hosts, struct strag_topology **topology, struct strag_error *err)
{
    if (n < 0 || ranks_per_host < 1)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "%d ranks, %d per host; 0 (all) or more and at least 1 are needed", n,
                          ranks_per_host);
    struct choice choice = {0, NULL};
    struct strag_place *places = NULL;
    int status = STRAG_OK;
    if (layout->rank_host)
        status = fill_as_placed(layout, hosts, &n, &places, err);
    else if (hosts)
        status = choose_named(layout, hosts, &choice, err);
    else
        status = choose_all(layout, &choice, err);
    if (status == STRAG_OK && !layout->rank_host)
        status = fill(layout, &choice, ranks_per_host, &n, &places, err);
    if (status == STRAG_OK)
        status = strag_layout_place(layout, places, n, topology, err);
    free(choice.host);
    free(places);
    return status;
}
