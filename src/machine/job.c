/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/job.h"

#include "base/units.h"
#include "machine/layout_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED_MAX = 5 }; /* hosts named in a message */

/* The hosts of a job, ordered by their lowest ranks. */
struct hosts {
    int count;
    int *of_rank;                             /* [rank]: host */
    const struct strag_rank_location **first; /* [host]: its lowest rank */
};

/* ---- Hosts ---- */

static int compare_ranks(const void *a, const void *b)
{
    const struct strag_rank_location *x = *(const struct strag_rank_location *const *)a;
    const struct strag_rank_location *y = *(const struct strag_rank_location *const *)b;
    return x->world != y->world ? (x->world > y->world) - (x->world < y->world) : (x > y) - (x < y);
}

static void hosts_free(struct hosts *hosts)
{
    free(hosts->of_rank);
    free(hosts->first);
}

/* @return false if out of memory; call hosts_free in this case, too */
static bool hosts_make(const struct strag_job *job, struct hosts *hosts)
{
    const size_t n = (size_t)job->n;
    struct strag_names names = {0};
    *hosts = (struct hosts){
        .of_rank = malloc(n * sizeof *hosts->of_rank),
        .first = malloc(n * sizeof *hosts->first),
    };
    bool good = hosts->of_rank && hosts->first;
    for (size_t i = 0; good && i < n; i++)
        hosts->first[i] = &job->ranks[i];
    if (good)
        qsort(hosts->first, n, sizeof *hosts->first, compare_ranks);
    for (size_t i = 0; good && i < n; i++) {
        const struct strag_rank_location *rank = hosts->first[i];
        int host = strag_names_find(&names, rank->host);
        if (host < 0) {
            host = hosts->count++;
            hosts->first[host] = rank;
            good = strag_names_add(&names, rank->host, host);
        }
        hosts->of_rank[rank - job->ranks] = host;
    }
    strag_names_free(&names);
    return good;
}

bool strag_same_host_name(const char *a, const char *b)
{
    size_t x = strcspn(a, "."), y = strcspn(b, ".");
    if (strcmp(a, b) == 0)
        return true;
    /* One has no domain, and the other begins with the same name. */
    return x == y && strncmp(a, b, x) == 0 && (a[x] == '\0' || b[y] == '\0');
}

/* ---- A layout's hosts by name ---- */

static int compare_hosts(const void *a, const void *b)
{
    return strcmp((*(const struct strag_host *const *)a)->name,
                  (*(const struct strag_host *const *)b)->name);
}

/* The first sorted host whose name is not less than this one. */
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

/* @return index in the layout, MISSING, or AMBIGUOUS for the short name of several hosts */
static int find_host(const struct strag_layout *layout, const struct strag_host *const *sorted,
                     const char *name)
{
    char other[STRAG_HOST_MAX + 1];
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
    if (domain) /* the layout's name has no domain */
        return strcmp(sorted[at]->name, other) == 0 ? (int)(sorted[at] - layout->hosts) : MISSING;
    if (strncmp(sorted[at]->name, other, length + 1) != 0)
        return MISSING;
    if (at + 1 < count && strncmp(sorted[at + 1]->name, other, length + 1) == 0)
        return AMBIGUOUS;
    return (int)(sorted[at] - layout->hosts);
}

/* Names of hosts for a message. */
struct names {
    char text[NAMED_MAX * (STRAG_HOST_MAX + 2) + 32];
    int count;
};

static void add_name(struct names *names, const char *name)
{
    if (names->count++ < NAMED_MAX)
        strag_append(names->text, sizeof names->text, "%s%s", names->text[0] ? ", " : "", name);
}

static void describe(const struct names *names, const char *what, struct strag_error *why)
{
    if (names->count > 0)
        strag_append(why->text, sizeof why->text, "%s%s%s", why->text[0] ? "\n  " : "", what,
                     names->text);
    if (names->count > NAMED_MAX)
        strag_append(why->text, sizeof why->text, " and %d more", names->count - NAMED_MAX);
}

/* @param[out] found  [host]: index in the layout's hosts
 * @return STRAG_OK, STRAG_ERR_ARGUMENT if some are missing or two are the same, or
 * STRAG_ERR_MEMORY */
static int find_hosts(const struct strag_layout *layout, const struct hosts *hosts, int *found,
                      struct strag_error *why)
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
    describe(&missing, "these hosts of the job are not in it: ", why);
    describe(&doubled, "these hosts of the job cannot be distinguished there: ", why);
    return missing.count + doubled.count > 0 ? STRAG_ERR_ARGUMENT : status;
}

/* ---- Topologies ---- */

/* @param host_of  [rank]: index in the job's hosts; NULL to use the layout's ranks
 * @param found    [host]: index in the layout's hosts; NULL if it is the same */
static int place(const struct strag_layout *layout, const struct strag_job *job, const int *host_of,
                 const int *found, struct strag_topology **topology, struct strag_error *why)
{
    int status = STRAG_OK;
    struct strag_location *locations = malloc((size_t)job->n * sizeof *locations);
    if (!locations)
        return STRAG_ERR_MEMORY;
    for (int rank = 0; rank < job->n && status == STRAG_OK; rank++) {
        int world = job->ranks[rank].world, host = 0;
        if (host_of)
            host = found ? found[host_of[rank]] : host_of[rank];
        else if (world < layout->nranks)
            host = layout->rank_host[world];
        else
            status = strag_fail(why, STRAG_ERR_ARGUMENT, "rank %d is not in it", world);
        if (status == STRAG_OK)
            locations[rank] = (struct strag_location){host, job->ranks[rank].core};
    }
    if (status == STRAG_OK)
        status = strag_layout_locate(layout, locations, job->n, topology, why);
    free(locations);
    return status;
}

static int place_by_name(const struct strag_layout *layout, const struct strag_job *job,
                         const struct hosts *hosts, struct strag_topology **topology,
                         struct strag_error *why)
{
    int *found = malloc((size_t)hosts->count * sizeof *found);
    int status = found ? find_hosts(layout, hosts, found, why) : STRAG_ERR_MEMORY;
    if (status == STRAG_OK)
        status = place(layout, job, hosts->of_rank, found, topology, why);
    free(found);
    return status;
}

/* Place a job whose hosts fill a grid. The positions of a part of the hosts are unknown: no error.
 */
static int place_on_grid(const struct strag_job *job, const struct hosts *hosts,
                         struct strag_topology **topology, struct strag_error *why)
{
    const struct strag_layout *grid = job->layout;
    if (hosts->count == grid->nhosts)
        return place(grid, job, hosts->of_rank, NULL, topology, why);
    if (hosts->count < grid->nhosts && job->part)
        return STRAG_OK;
    return strag_fail(why, STRAG_ERR_ARGUMENT, "it has %s, and the job has %s",
                      strag_units_count(grid->nhosts, "position").text,
                      strag_units_count(hosts->count, "host").text);
}

static int place_by_addresses(const struct strag_job *job, const struct hosts *hosts,
                              struct strag_topology **topology, struct strag_error *why)
{
    struct strag_layout *layout = NULL;
    struct strag_address *addresses = malloc((size_t)hosts->count * sizeof *addresses);
    int status = addresses ? STRAG_OK : STRAG_ERR_MEMORY, said = 0;
    for (int host = 0; addresses && host < hosts->count; host++) {
        const struct strag_rank_location *first = hosts->first[host];
        addresses[host] = (struct strag_address){first->host, first->address};
        said += first->address[0] != '\0';
    }
    if (said == hosts->count)
        status = strag_layout_from_addresses(addresses, hosts->count, &layout, why);
    if (layout)
        status = place_by_name(layout, job, hosts, topology, why);
    strag_layout_free(layout);
    free(addresses);
    return status;
}

static int place_by_pattern(const struct strag_job *job, const struct hosts *hosts,
                            struct strag_topology **topology, struct strag_error *why)
{
    struct strag_layout *layout = NULL;
    const char **names = malloc((size_t)hosts->count * sizeof *names);
    if (!names)
        return STRAG_ERR_MEMORY;
    for (int host = 0; host < hosts->count; host++)
        names[host] = hosts->first[host]->host;
    int status = strag_layout_from_names(job->pattern, names, hosts->count, &layout, why);
    if (status == STRAG_OK)
        status = place_by_name(layout, job, hosts, topology, why);
    strag_layout_free(layout);
    free(names);
    return status;
}

/* Place all hosts on one switch; the layout borrows the hosts' names. */
static int place_flat(const struct strag_job *job, const struct hosts *hosts,
                      struct strag_topology **topology, struct strag_error *why)
{
    struct strag_switch root = {.parent = -1};
    struct strag_layout layout = {.nswitches = 1, .switches = &root, .nhosts = hosts->count};
    layout.hosts = calloc((size_t)hosts->count, sizeof *layout.hosts);
    if (!layout.hosts)
        return STRAG_ERR_MEMORY;
    for (int host = 0; host < hosts->count; host++)
        layout.hosts[host].name = (char *)(uintptr_t)hosts->first[host]->host;
    int status = place(&layout, job, hosts->of_rank, NULL, topology, why);
    free(layout.hosts);
    return status;
}

int strag_job_topology(const struct strag_job *job, struct strag_topology **topology,
                       struct strag_error *why)
{
    struct strag_topology *made = NULL;
    struct hosts hosts;
    why->text[0] = '\0';
    int status = hosts_make(job, &hosts) ? STRAG_OK : STRAG_ERR_MEMORY;
    bool flat = job->source == STRAG_JOB_ON_FILE && strag_layout_is_flat(job->layout);
    if (status == STRAG_OK && job->source == STRAG_JOB_ON_FILE && !flat)
        status = job->layout->rank_host ? place(job->layout, job, NULL, NULL, &made, why)
                                        : place_by_name(job->layout, job, &hosts, &made, why);
    else if (status == STRAG_OK && job->source == STRAG_JOB_ON_GRID)
        status = place_on_grid(job, &hosts, &made, why);
    else if (status == STRAG_OK && job->source == STRAG_JOB_BY_ADDRESSES)
        status = place_by_addresses(job, &hosts, &made, why);
    else if (status == STRAG_OK && job->source == STRAG_JOB_BY_NAMES)
        status = place_by_pattern(job, &hosts, &made, why);
    if (!made && status != STRAG_ERR_MEMORY) {
        struct strag_error err;
        status = place_flat(job, &hosts, &made, &err);
    }
    hosts_free(&hosts);
    if (!made)
        return strag_fail(why, STRAG_ERR_MEMORY, "out of memory for the locations of %d ranks",
                          job->n);
    *topology = made;
    return STRAG_OK;
}
