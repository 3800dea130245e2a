/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts' own addresses, SLURM_TOPOLOGY_ADDR: the switches from the top down and the host,
 * "s0.s1.n7" (nothing between two dots if a level has no switch), or coordinates in a torus,
 * "pod1:1:0:2.n7".
 */
#include "machine/layout_internal.h"

#include <stdlib.h>
#include <string.h>

struct addresses {
    struct strag_source source;
    const struct strag_address *list;
    int count;
};

static int fail_address(const struct addresses *all, int i, const char *what)
{
    return strag_source_fail(&all->source, 0, "host %s: its address '%s' %s",
                             strag_quoted(all->list[i].host).text,
                             strag_quoted(all->list[i].address).text, what);
}

/* @return where the host's name, whole or up to its first dot, begins at the end of the address;
 * the address's length if it does not end with the name */
static size_t host_begin(const struct strag_address *address)
{
    size_t length = strlen(address->address), whole = strlen(address->host);
    size_t names[] = {whole, strcspn(address->host, ".")};
    for (int i = 0; i < 2; i++) {
        if (names[i] == 0 || names[i] > length)
            continue;
        size_t begin = length - names[i];
        if (memcmp(address->address + begin, address->host, names[i]) == 0 &&
            (begin == 0 || address->address[begin - 1] == '.'))
            return begin;
    }
    return length;
}

/* ---- Trees ---- */

/*
 * Find the switch with a name, or add it. If several switches lead to a host, Slurm puts all of
 * them into one name, "s[4-7]".
 *
 * @param[in,out] parent  the switch above; on return the switch found
 */
static int find_switch(const struct addresses *all, int i, struct strag_draft *draft,
                       const char *name, size_t length, int *parent)
{
    if (length > STRAG_NAME_MAX)
        return fail_address(all, i, "has a switch with a name of more than 255 bytes");
    char copy[STRAG_NAME_MAX + 1];
    memcpy(copy, name, length);
    copy[length] = '\0';
    int known = strag_names_find(&draft->switches, copy), status = STRAG_OK;
    if (known < 0) {
        known = draft->layout->nswitches;
        status = strag_draft_switch(draft, copy, 0, *parent, 0);
    } else if (draft->layout->switches[known].parent != *parent) {
        status = fail_address(all, i, "puts a switch elsewhere than other addresses do");
    }
    *parent = known;
    return status;
}

static int add_path(const struct addresses *all, int i, struct strag_draft *draft)
{
    const struct strag_address *address = &all->list[i];
    size_t length = host_begin(address);
    if (address->address[length] == '\0')
        return fail_address(all, i, "does not end with the host's name, like s0.s1.n7");
    int at = -1;
    for (size_t begin = 0; begin < length;) {
        size_t end = strcspn(address->address + begin, "."); /* at most at length - 1 */
        int status = STRAG_OK;
        if (end)
            status = find_switch(all, i, draft, address->address + begin, end, &at);
        if (status != STRAG_OK)
            return status;
        begin += end + 1;
    }
    return strag_draft_host(draft, address->host, 0, at);
}

static int fill_tree(struct strag_draft *draft, void *from)
{
    const struct addresses *all = from;
    int status = STRAG_OK;
    for (int i = 0; i < all->count && status == STRAG_OK; i++)
        status = add_path(all, i, draft);
    return status;
}

/* ---- Grids ---- */

/* "pod1:1:0:2.n7" or "torus:1:0:2". @return the dimensions; 0 if it has another form */
static int read_coordinates(const struct strag_address *address, size_t *name, int *at)
{
    const char *text = address->address;
    size_t length = host_begin(address);
    length -= length && text[length] ? 1 : 0; /* the dot */
    *name = strcspn(text, ":");
    const char *end = text + length;
    int dims = 0;
    for (text += *name; text < end;) {
        int64_t value;
        text++; /* the colon */
        if (!strag_next_number(&text, end, INT32_MAX - 1, &value) || dims == STRAG_DIMS_MAX ||
            (text < end && *text != ':'))
            return 0;
        at[dims++] = (int)value;
    }
    return dims;
}

/* Read the coordinates of all hosts, which must be in one torus. @param[out] at  [host][dims] */
static int read_all(const struct addresses *all, int *at, int *dims)
{
    const char *first = all->list[0].address;
    size_t first_name = strcspn(first, ":");
    *dims = 0;
    for (int i = 0; i < all->count; i++) {
        const char *address = all->list[i].address;
        size_t name = 0;
        int found[STRAG_DIMS_MAX];
        int now = read_coordinates(&all->list[i], &name, found);
        if (now == 0)
            return fail_address(all, i, "is not like pod1:1:0:2.n7, with this host's name or none");
        if (i > 0 && now != *dims)
            return fail_address(all, i, "has more or fewer coordinates than others");
        if (name != first_name || memcmp(address, first, name) != 0)
            return fail_address(all, i, "is in another torus than other hosts");
        *dims = now;
        for (int d = 0; d < now; d++)
            at[(size_t)i * (size_t)now + (size_t)d] = found[d];
    }
    return STRAG_OK;
}

static int fill_grid(struct strag_draft *draft, void *from)
{
    const struct addresses *all = from;
    struct strag_grid *grid = &draft->layout->grid;
    int low[STRAG_DIMS_MAX];
    int *at = calloc((size_t)all->count * STRAG_DIMS_MAX, sizeof *at);
    int status = at ? read_all(all, at, &grid->dims) : strag_source_memory(&all->source);
    if (status == STRAG_OK)
        status = strag_source_contain(&all->source, at, all->count, grid, low);
    for (int i = 0; i < all->count && status == STRAG_OK; i++)
        status = strag_draft_host(draft, all->list[i].host, 0,
                                  strag_grid_position(grid, at + (size_t)i * (size_t)grid->dims));
    free(at);
    return status;
}

int strag_layout_from_addresses(const struct strag_address *addresses, int count,
                                struct strag_layout **layout, struct strag_error *err)
{
    struct addresses all = {{NULL, err}, addresses, count};
    if (count < 1 || count > STRAG_LAYOUT_MAX)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%d addresses; 1 to %d are accepted", count,
                          STRAG_LAYOUT_MAX);
    if (strchr(addresses[0].address, ':'))
        return strag_layout_build(&all.source, STRAG_NETWORK_TORUS, fill_grid, &all, layout);
    return strag_layout_build(&all.source, STRAG_NETWORK_TREE, fill_tree, &all, layout);
}
