/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0's part of locality: from the names of hosts to a topology. In this order:
 *
 *     coll_strag_layout       a file, in which hosts are found by their names
 *     coll_strag_torus        a grid that the hosts fill, ordered by their lowest ranks
 *     SLURM_TOPOLOGY_ADDR     what the hosts say of themselves, if all do
 *     else                    hosts on one flat switch
 *
 * What is wrong with the first two is warned of once, and the hosts are on one flat switch.
 */
#include "coll_strag.h"

#include <stdlib.h>
#include <string.h>

enum { NAMED_MAX = 5 }; /* hosts that a warning names */

/* The hosts of a communicator, ordered by the lowest ranks of MPI_COMM_WORLD that are there. */
struct hosts {
    int n, count;
    int *of_rank;                            /* [rank]: host */
    const struct coll_strag_facts **first;   /* [host]: the facts of its first rank */
    const struct coll_strag_facts **by_name; /* [n], for making the others */
};

/* ---- Hosts ---- */

/* Facts are in one array, so that addresses order ranks. */
static int compare_ranks(const struct coll_strag_facts *a, const struct coll_strag_facts *b)
{
    if (a->world != b->world)
        return a->world < b->world ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int by_name(const void *a, const void *b)
{
    const struct coll_strag_facts *x = *(const struct coll_strag_facts *const *)a;
    const struct coll_strag_facts *y = *(const struct coll_strag_facts *const *)b;
    int order = strcmp(x->host, y->host);
    return order ? order : compare_ranks(x, y);
}

static int by_rank(const void *a, const void *b)
{
    return compare_ranks(*(const struct coll_strag_facts *const *)a,
                         *(const struct coll_strag_facts *const *)b);
}

static void hosts_free(struct hosts *hosts)
{
    free(hosts->of_rank);
    free(hosts->first);
    free(hosts->by_name);
}

/* @return false: out of memory */
static bool hosts_make(struct hosts *hosts, const struct coll_strag_facts *facts, int n)
{
    *hosts = (struct hosts){
        .n = n,
        .of_rank = malloc((size_t)n * sizeof *hosts->of_rank),
        .first = malloc((size_t)n * sizeof *hosts->first),
        .by_name = malloc((size_t)n * sizeof *hosts->by_name),
    };
    if (!hosts->of_rank || !hosts->first || !hosts->by_name)
        return false;
    for (int rank = 0; rank < n; rank++)
        hosts->by_name[rank] = &facts[rank];
    qsort(hosts->by_name, (size_t)n, sizeof *hosts->by_name, by_name);
    for (int i = 0; i < n; i++)
        if (i == 0 || strcmp(hosts->by_name[i]->host, hosts->by_name[i - 1]->host) != 0)
            hosts->first[hosts->count++] = hosts->by_name[i];
    qsort(hosts->first, (size_t)hosts->count, sizeof *hosts->first, by_rank);
    /* A host's first rank has the host's number; the others of its name follow it. */
    for (int host = 0; host < hosts->count; host++)
        hosts->of_rank[hosts->first[host] - facts] = host;
    for (int i = 1; i < n; i++)
        if (strcmp(hosts->by_name[i]->host, hosts->by_name[i - 1]->host) == 0)
            hosts->of_rank[hosts->by_name[i] - facts] =
                hosts->of_rank[hosts->by_name[i - 1] - facts];
    return true;
}

bool coll_strag_same_host(const char *a, const char *b)
{
    size_t x = strcspn(a, "."), y = strcspn(b, ".");
    if (strcmp(a, b) == 0)
        return true;
    /* One of them is short, and begins the other. */
    return x == y && strncmp(a, b, x) == 0 && (a[x] == '\0' || b[y] == '\0');
}

/* ---- A layout's hosts by name ---- */

static int compare_hosts(const void *a, const void *b)
{
    return strcmp((*(const struct strag_host *const *)a)->name,
                  (*(const struct strag_host *const *)b)->name);
}

/* The first of the sorted hosts whose name is not before this one. */
static int lower_bound(const struct strag_host *const *sorted, int count, const char *name)
{
    int low = 0;
    while (low < count) {
        int middle = low + (count - low) / 2;
        if (strcmp(sorted[middle]->name, name) < 0)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

enum { MISSING = -1, AMBIGUOUS = -2 };

/* @return index in the layout, MISSING, or AMBIGUOUS: short for several hosts of the layout */
static int find_host(const struct strag_layout *layout, const struct strag_host *const *sorted,
                     const char *name)
{
    char other[COLL_STRAG_HOST_MAX + 1];
    int count = layout->nhosts;
    size_t length = strcspn(name, ".");
    int at = lower_bound(sorted, count, name);
    if (at < count && strcmp(sorted[at]->name, name) == 0)
        return (int)(sorted[at] - layout->hosts);
    bool domain = name[length] == '.';
    snprintf(other, sizeof other, "%.*s%s", (int)length, name, domain ? "" : ".");
    at = lower_bound(sorted, count, other);
    if (at == count)
        return MISSING;
    if (domain) /* the layout has it without */
        return strcmp(sorted[at]->name, other) == 0 ? (int)(sorted[at] - layout->hosts) : MISSING;
    if (strncmp(sorted[at]->name, other, length + 1) != 0)
        return MISSING;
    if (at + 1 < count && strncmp(sorted[at + 1]->name, other, length + 1) == 0)
        return AMBIGUOUS;
    return (int)(sorted[at] - layout->hosts);
}

/* Names of hosts, as many as a message takes. */
struct names {
    char text[NAMED_MAX * (COLL_STRAG_HOST_MAX + 2) + 32];
    int count;
};

static void add_name(struct names *names, const char *name)
{
    size_t length = strlen(names->text);
    if (names->count++ < NAMED_MAX)
        snprintf(names->text + length, sizeof names->text - length, "%s%s", length ? ", " : "",
                 name);
}

static void describe(const struct names *names, const char *what, char *text, size_t size)
{
    size_t length = strlen(text);
    if (names->count == 0)
        return;
    snprintf(text + length, size - length, "%s%s%s", length ? "\n  " : "", what, names->text);
    length = strlen(text);
    if (names->count > NAMED_MAX)
        snprintf(text + length, size - length, " and %d more", names->count - NAMED_MAX);
}

/*
 * Find all hosts in a layout.
 *
 * @param[out] found  [host]: index in the layout's hosts
 * @param why         gets a text where some are missing, or two are the same one
 * @return STRAG_OK, STRAG_ERR_ARGUMENT (see why), STRAG_ERR_MEMORY
 */
static int find_hosts(const struct strag_layout *layout, const struct hosts *hosts, int *found,
                      char *why, size_t size)
{
    struct names missing = {"", 0}, doubled = {"", 0};
    const struct strag_host **sorted = malloc(((size_t)layout->nhosts + 1) * sizeof *sorted);
    bool *taken = calloc((size_t)layout->nhosts + 1, sizeof *taken);
    int status = sorted && taken ? STRAG_OK : STRAG_ERR_MEMORY;
    for (int i = 0; status == STRAG_OK && i < layout->nhosts; i++)
        sorted[i] = &layout->hosts[i];
    if (status == STRAG_OK)
        qsort(sorted, (size_t)layout->nhosts, sizeof *sorted, compare_hosts);
    for (int host = 0; status == STRAG_OK && host < hosts->count; host++) {
        const char *name = hosts->first[host]->host;
        found[host] = find_host(layout, sorted, name);
        if (found[host] == MISSING)
            add_name(&missing, name);
        else if (found[host] == AMBIGUOUS || taken[found[host]])
            add_name(&doubled, name);
        else
            taken[found[host]] = true;
    }
    free(sorted);
    free(taken);
    describe(&missing, "these hosts of the job are not in it: ", why, size);
    describe(&doubled, "these hosts of the job cannot be told apart there: ", why, size);
    return status == STRAG_OK && missing.count + doubled.count > 0 ? STRAG_ERR_ARGUMENT : status;
}

/* ---- Topologies ---- */

/* @param found  [host]: index in the layout's hosts; NULL: the same */
static struct strag_topology *place(const struct strag_layout *layout, const struct hosts *hosts,
                                    const struct coll_strag_facts *facts, const int *found,
                                    struct strag_error *err)
{
    struct strag_topology *topology = NULL;
    struct strag_location *places = malloc((size_t)hosts->n * sizeof *places);
    if (!places) {
        strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the places of %d ranks", hosts->n);
        return NULL;
    }
    for (int rank = 0; rank < hosts->n; rank++) {
        int host = hosts->of_rank[rank];
        places[rank] = (struct strag_location){found ? found[host] : host, facts[rank].core};
    }
    (void)strag_layout_locate(layout, places, hosts->n, &topology, err);
    free(places);
    return topology;
}

static struct strag_topology *place_flat(const struct hosts *hosts,
                                         const struct coll_strag_facts *facts)
{
    struct strag_error err;
    struct strag_layout *layout;
    if (strag_layout_flat(hosts->count, &layout, &err) != STRAG_OK)
        return NULL;
    for (int host = 0; host < hosts->count; host++) {
        char *name = strdup(hosts->first[host]->host);
        if (name) {
            free(layout->hosts[host].name);
            layout->hosts[host].name = name;
        }
    }
    struct strag_topology *topology = place(layout, hosts, facts, NULL, &err);
    strag_layout_free(layout);
    return topology;
}

/* By the names of the hosts. @param why  gets what is wrong */
static struct strag_topology *place_by_name(const struct strag_layout *layout,
                                            const struct hosts *hosts,
                                            const struct coll_strag_facts *facts, char *why,
                                            size_t size)
{
    struct strag_error err = {"out of memory"};
    struct strag_topology *topology = NULL;
    int *found = malloc((size_t)hosts->count * sizeof *found);
    int status = found ? find_hosts(layout, hosts, found, why, size) : STRAG_ERR_MEMORY;
    if (status == STRAG_OK)
        topology = place(layout, hosts, facts, found, &err);
    if (!topology && why[0] == '\0')
        snprintf(why, size, "%s", err.text);
    free(found);
    return topology;
}

/* By the ranks of MPI_COMM_WORLD, where a coordinates file numbers them. */
static struct strag_topology *place_by_rank(const struct strag_layout *layout,
                                            const struct coll_strag_facts *facts, int n, char *why,
                                            size_t size)
{
    struct strag_error err = {"out of memory"};
    struct strag_topology *topology = NULL;
    struct strag_location *places = malloc((size_t)n * sizeof *places);
    int missing = -1;
    for (int rank = 0; places && rank < n; rank++) {
        int world = facts[rank].world;
        if (world < layout->nranks)
            places[rank] = (struct strag_location){layout->rank_host[world], facts[rank].core};
        else
            missing = world;
    }
    if (missing >= 0)
        snprintf(err.text, sizeof err.text, "rank %d is not in it", missing);
    else if (places)
        (void)strag_layout_locate(layout, places, n, &topology, &err);
    if (!topology)
        snprintf(why, size, "%s", err.text);
    free(places);
    return topology;
}

/* ---- Where the layout comes from ---- */

/* The file of coll_strag_layout, read once. @return NULL: it is of no use, and that was said */
static const struct strag_layout *read_layout(void)
{
    mca_coll_strag_component_t *component = &mca_coll_strag_component;
    struct strag_error err;
    pthread_mutex_lock(&component->files_lock);
    if (!component->layout_read) {
        component->layout_read = true;
        if (strag_layout_read(component->layout_file, &component->layout, &err) != STRAG_OK)
            coll_strag_warn(COLL_STRAG_WARN_LAYOUT, component->layout_file, err.text);
    }
    const struct strag_layout *layout = component->layout;
    pthread_mutex_unlock(&component->files_lock);
    return layout;
}

static struct strag_topology *from_file(const struct hosts *hosts,
                                        const struct coll_strag_facts *facts)
{
    char why[2 * sizeof(struct names) + sizeof(struct strag_error)] = "";
    const struct strag_layout *layout = read_layout();
    if (!layout)
        return NULL;
    struct strag_topology *topology = layout->rank_host
                                          ? place_by_rank(layout, facts, hosts->n, why, sizeof why)
                                          : place_by_name(layout, hosts, facts, why, sizeof why);
    if (!topology)
        coll_strag_warn(COLL_STRAG_WARN_LAYOUT, mca_coll_strag_component.layout_file, why);
    return topology;
}

/* The grid is filled by all hosts of the job. A communicator on some of them does not know where
 * in the grid they are: it is flat, without a word. */
static struct strag_topology *from_grid(ompi_communicator_t *comm, const struct hosts *hosts,
                                        const struct coll_strag_facts *facts)
{
    struct strag_error err;
    struct strag_topology *topology = NULL;
    const struct strag_layout *grid = mca_coll_strag_component.grid;
    if (hosts->count == grid->nhosts)
        topology = place(grid, hosts, facts, NULL, &err);
    else if (hosts->count < grid->nhosts &&
             ompi_comm_size(comm) < ompi_comm_size(&ompi_mpi_comm_world.comm))
        return NULL;
    else
        snprintf(err.text, sizeof err.text, "it has %d positions, and the job has %d hosts",
                 grid->nhosts, hosts->count);
    if (!topology)
        coll_strag_warn(COLL_STRAG_WARN_TORUS, mca_coll_strag_component.torus_text, err.text);
    return topology;
}

static struct strag_topology *from_addresses(ompi_communicator_t *comm, const struct hosts *hosts,
                                             const struct coll_strag_facts *facts)
{
    struct strag_error err;
    char why[2 * sizeof(struct names) + sizeof(struct strag_error)] = "";
    struct strag_layout *layout = NULL;
    struct strag_topology *topology = NULL;
    struct strag_address *addresses = malloc((size_t)hosts->count * sizeof *addresses);
    bool all = addresses != NULL;
    for (int host = 0; all && host < hosts->count; host++) {
        addresses[host] =
            (struct strag_address){hosts->first[host]->host, hosts->first[host]->address};
        all = addresses[host].address[0] != '\0';
    }
    if (all) {
        if (strag_layout_from_addresses(addresses, hosts->count, &layout, &err) != STRAG_OK)
            snprintf(why, sizeof why, "%s", err.text);
        else
            topology = place_by_name(layout, hosts, facts, why, sizeof why);
    }
    if (why[0])
        coll_strag_tell("coll:strag: %s: SLURM_TOPOLOGY_ADDR is of no use: %s", comm->c_name, why);
    strag_layout_free(layout);
    free(addresses);
    return topology;
}

struct strag_topology *coll_strag_place(ompi_communicator_t *comm,
                                        const struct coll_strag_facts *facts)
{
    struct hosts hosts;
    struct strag_topology *topology = NULL;
    if (hosts_make(&hosts, facts, ompi_comm_size(comm))) {
        if (mca_coll_strag_component.layout_file[0])
            topology = from_file(&hosts, facts);
        else if (mca_coll_strag_component.grid)
            topology = from_grid(comm, &hosts, facts);
        else
            topology = from_addresses(comm, &hosts, facts);
        if (!topology)
            topology = place_flat(&hosts, facts);
    }
    hosts_free(&hosts);
    return topology;
}

void coll_strag_files_free(void)
{
    mca_coll_strag_component_t *component = &mca_coll_strag_component;
    strag_layout_free(component->grid);
    strag_layout_free(component->layout);
    strag_rules_free(component->rules);
    component->grid = component->layout = NULL;
    component->rules = NULL;
    component->layout_read = component->rules_read = false;
}
