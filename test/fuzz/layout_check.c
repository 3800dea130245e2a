/* SPDX-License-Identifier: BSD-3-Clause */
#include "layout_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Larger layouts are not made into a topology: that takes time and finds nothing more. */
enum { RANKS_MAX = 2000 };

void check(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

void check_message(int status, const struct strag_error *err, const char *prefix)
{
    check(status == STRAG_ERR_ARGUMENT, "another status than STRAG_ERR_ARGUMENT");
    check(memchr(err->text, '\0', sizeof err->text) != NULL, "an unfinished message");
    check(strlen(err->text) > 10, "no message");
    check(strncmp(err->text, prefix, strlen(prefix)) == 0, "a message that begins otherwise");
    for (const char *c = err->text; *c; c++)
        check((unsigned char)*c >= ' ' && *c != 0x7f, "a message with control characters");
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int compare_integers(const void *a, const void *b)
{
    int left = *(const int *)a, right = *(const int *)b;
    return left < right ? -1 : left > right;
}

static void check_hosts(const struct strag_layout *layout)
{
    size_t count = (size_t)layout->nhosts;
    char **names = calloc(count + 1, sizeof *names);
    int *at = calloc(count + 1, sizeof *at);
    check(names && at, "no memory");
    for (size_t i = 0; i < count; i++) {
        check(layout->hosts[i].name && *layout->hosts[i].name, "a host without a name");
        check(layout->hosts[i].at >= 0, "a host nowhere");
        check(layout->hosts[i].uplink >= 0 && layout->hosts[i].ranks >= 0, "a host below zero");
        names[i] = layout->hosts[i].name;
        at[i] = layout->hosts[i].at;
    }
    qsort(names, count, sizeof *names, compare_names);
    qsort(at, count, sizeof *at, compare_integers);
    for (size_t i = 1; i < count; i++) {
        check(strcmp(names[i - 1], names[i]) != 0, "two hosts of one name");
        check(layout->network == STRAG_NETWORK_TREE || at[i - 1] != at[i],
              "two hosts at one position");
    }
    free(names);
    free(at);
}

static void check_tree(const struct strag_layout *layout)
{
    check(layout->nswitches >= 1 && layout->switches[0].parent == -1, "no root");
    for (int i = 1; i < layout->nswitches; i++) {
        check(layout->switches[i].parent >= 0 && layout->switches[i].parent < i,
              "a switch before its parent");
        check(layout->switches[i].uplink >= 0, "an uplink below zero");
    }
    for (int i = 0; i < layout->nhosts; i++)
        check(layout->hosts[i].at < layout->nswitches, "a host on no switch");
}

static void check_grid(const struct strag_layout *layout)
{
    const struct strag_grid *grid = &layout->grid;
    int64_t positions = 1;
    check(grid->network == layout->network, "a grid of another network");
    check(grid->dims >= 1 && grid->dims <= STRAG_DIMS_MAX, "a wrong number of dimensions");
    check(layout->nswitches == 0, "switches on a grid");
    for (int d = 0; d < grid->dims; d++) {
        check(grid->size[d] >= 1, "an empty dimension");
        positions *= grid->size[d];
        check(positions <= INT32_MAX, "too many positions");
        check(grid->network != STRAG_NETWORK_HAMMINGMESH ||
                  (grid->board[d] >= 1 && grid->size[d] % grid->board[d] == 0),
              "boards that do not fill the grid");
    }
    for (int i = 0; i < layout->nhosts; i++)
        check(layout->hosts[i].at < positions, "a host outside of the grid");
}

static void check_topology(const struct strag_layout *layout)
{
    int64_t ranks = 0;
    for (int i = 0; i < layout->nhosts; i++)
        ranks += layout->hosts[i].ranks ? layout->hosts[i].ranks : 2;
    for (int i = 0; i < layout->nranks; i++)
        check(layout->rank_host[i] >= 0 && layout->rank_host[i] < layout->nhosts,
              "a rank on no host");
    if (ranks > RANKS_MAX)
        return;
    struct strag_error err = {""};
    struct strag_topology *topology = NULL;
    int status = strag_layout_fill(layout, 0, 2, NULL, &topology, &err);
    if (ranks == 0) {
        check_message(status, &err, "");
        return;
    }
    check(status == STRAG_OK, err.text);
    check(topology->n == (layout->nranks ? layout->nranks : ranks), "other ranks");
    check(topology->hosts == layout->nhosts, "other hosts");
    strag_topology_free(topology);
}

void check_layout(int status, struct strag_layout *layout, const struct strag_error *err)
{
    if (status != STRAG_OK) {
        check(!layout, "a result in spite of a refusal");
        check_message(status, err, "");
        for (const char *c = err->text; *c; c++)
            check(*c > 0, "a message of a reader with more than ASCII");
        return;
    }
    check(layout != NULL, "no layout");
    check_hosts(layout);
    if (layout->network == STRAG_NETWORK_TREE)
        check_tree(layout);
    else
        check_grid(layout);
    check_topology(layout);
    strag_layout_free(layout);
}

void check_layout_reader(layout_reader *read, const uint8_t *data, size_t size)
{
    struct strag_error err = {""};
    struct strag_layout *layout = NULL;
    int status = read((const char *)data, size, "FILE", &layout, &err);
    check_layout(status, layout, &err);
    if (status != STRAG_OK)
        check(strncmp(err.text, "FILE:", 5) == 0, "a message without FILE:");
    layout = NULL;
    status = strag_layout_parse((const char *)data, size, "FILE", &layout, &err);
    check_layout(status, layout, &err);
}
