/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds a layout: checks that names are unique and positions are taken once, and sorts switches.
 */
#include "machine/layout_internal.h"

#include "base/parse.h"

#include <stdlib.h>
#include <string.h>

/* ---- Hosts and switches ---- */

int strag_source_name(const struct strag_source *source, int line, const char *name)
{
    size_t length = strlen(name);
    if (length == 0)
        return strag_source_fail(source, line, "an empty name; hosts and switches need names");
    if (length > STRAG_NAME_MAX)
        return strag_source_fail(source, line, "the name '%s' is longer than %d bytes",
                                 strag_quote(name, length).text, STRAG_NAME_MAX);
    bool round = false; /* inside parentheses, since coordinates may be names */
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)name[i];
        round = c == '(' || (round && c != ')');
        if (c <= ' ' || c == 0x7f || strchr("[]{}\"\\", c) || (c == ',' && !round))
            return strag_source_fail(
                source, line,
                "'%s' is not a name; names have no blanks, commas, brackets, quotes or backslashes",
                strag_quote(name, length).text);
    }
    return STRAG_OK;
}

int strag_source_gbit(const struct strag_source *source, int line, const char *text,
                      double *bytes_per_second)
{
    double gbit;
    if (strag_parse_real(text, 1e-6, 1e9, NULL, &gbit, NULL) != STRAG_OK)
        return strag_source_fail(source, line, "'%s' is not a bandwidth; Gbit/s from 1e-6 to 1e9",
                                 strag_quoted(text).text);
    *bytes_per_second = gbit * 1e9 / 8;
    return STRAG_OK;
}

/* @param before  the line of this name's first use; -1 if there is none */
static int check_new(const struct strag_draft *draft, const struct strag_names *names,
                     const char *what, const char *name, int before, int line)
{
    if (names->count >= STRAG_LAYOUT_MAX)
        return strag_source_fail(&draft->source, line, "more than %d %ss", STRAG_LAYOUT_MAX, what);
    if (before < 0)
        return STRAG_OK;
    if (before == 0 || before == line)
        return strag_source_fail(&draft->source, line, "%s %s is named twice", what,
                                 strag_quoted(name).text);
    return strag_source_fail(&draft->source, line,
                             "%s %s is in line %d already; it can be in one place only", what,
                             strag_quoted(name).text, before);
}

/* Index a copy of a name. @param before  as for check_new */
static int add_name(struct strag_draft *draft, struct strag_names *names, const char *what,
                    const char *name, int index, int before, int line, char **copy)
{
    int status = check_new(draft, names, what, name, before, line);
    if (status != STRAG_OK)
        return status;
    *copy = strag_text_copy(name, strlen(name));
    if (*copy && strag_names_add(names, *copy, index))
        return STRAG_OK;
    free(*copy);
    return strag_source_memory(&draft->source);
}

int strag_draft_host(struct strag_draft *draft, const char *name, int line, int at)
{
    struct strag_layout *layout = draft->layout;
    struct strag_host host = {.at = at, .line = line};
    int status = strag_source_name(&draft->source, line, name);
    int before = strag_names_find(&draft->hosts, name);
    if (status == STRAG_OK &&
        !strag_array_grow(&layout->hosts, &draft->hosts_room, layout->nhosts + 1, sizeof host))
        return strag_source_memory(&draft->source);
    if (status == STRAG_OK)
        status = add_name(draft, &draft->hosts, "host", name, layout->nhosts,
                          before < 0 ? -1 : layout->hosts[before].line, line, &host.name);
    if (status == STRAG_OK)
        layout->hosts[layout->nhosts++] = host;
    return status;
}

int strag_draft_switch(struct strag_draft *draft, const char *name, int line, int parent,
                       double uplink)
{
    struct strag_layout *layout = draft->layout;
    struct strag_switch added = {.parent = parent, .line = line, .uplink = uplink};
    int status = STRAG_OK;
    int before = name ? strag_names_find(&draft->switches, name) : -1;
    if (layout->nswitches >= STRAG_LAYOUT_MAX)
        return strag_source_fail(&draft->source, line, "more than %d switches", STRAG_LAYOUT_MAX);
    if (!strag_array_grow(&layout->switches, &draft->switches_room, layout->nswitches + 1,
                          sizeof added))
        return strag_source_memory(&draft->source);
    if (name)
        status = add_name(draft, &draft->switches, "switch", name, layout->nswitches,
                          before < 0 ? -1 : layout->switches[before].line, line, &added.name);
    if (status == STRAG_OK)
        layout->switches[layout->nswitches++] = added;
    return status;
}

/* ---- Trees ---- */

/* Ensure that there is one root: a new one joins several roots, or hosts without a switch. */
static int join_roots(struct strag_draft *draft)
{
    struct strag_layout *layout = draft->layout;
    int roots = 0;
    for (int i = 0; i < layout->nswitches; i++)
        roots += layout->switches[i].parent < 0;
    bool outside = false; /* a host without switch */
    for (int i = 0; i < layout->nhosts; i++)
        outside |= layout->hosts[i].at < 0;
    if (roots == 1 && !outside) {
        if (layout->nswitches == 1)
            layout->switches[0].uplink = 0; /* it has no parent, and joins hosts, not groups */
        return STRAG_OK;
    }
    if (roots == 0 && layout->nswitches > 0) /* cycles only, which sort_switches finds */
        return STRAG_OK;

    int status = strag_draft_switch(draft, NULL, 0, -1, 0);
    if (status != STRAG_OK)
        return status;
    const int root = layout->nswitches - 1;
    for (int i = 0; i < root; i++) {
        if (layout->switches[i].parent < 0)
            layout->switches[i].parent = root;
    }
    for (int i = 0; i < layout->nhosts; i++) {
        if (layout->hosts[i].at < 0)
            layout->hosts[i].at = root;
    }
    return STRAG_OK;
}

/* Name the first switch of a cycle. `start` is in it or below it. */
static int fail_cycle(struct strag_draft *draft, int start)
{
    const struct strag_switch *switches = draft->layout->switches;
    int in = start;
    for (int i = 0; i < draft->layout->nswitches; i++)
        in = switches[in].parent;
    int first = in;
    for (int other = switches[in].parent; other != in; other = switches[other].parent)
        first = other < first ? other : first;
    in = first;
    return strag_source_fail(&draft->source, switches[in].line,
                             "switch %s is below itself; switches must form a tree",
                             switches[in].name ? strag_quoted(switches[in].name).text : "");
}

/* Find every switch's depth (the root's is 1) and index. @return a switch in or below a cycle, or
 * -1 */
static int find_depths(const struct strag_layout *layout, struct strag_pair *depths)
{
    const struct strag_switch *switches = layout->switches;
    for (int i = 0; i < layout->nswitches; i++)
        depths[i] = (struct strag_pair){0, i};
    for (int i = 0; i < layout->nswitches; i++) {
        int depth = 0, at = i;
        for (; at >= 0 && !depths[at].first; at = switches[at].parent) {
            if (++depth > layout->nswitches)
                return i;
        }
        depth += at >= 0 ? depths[at].first : 0;
        for (at = i; at >= 0 && !depths[at].first; at = switches[at].parent)
            depths[at].first = depth--;
    }
    return -1;
}

/* Sort the switches level by level: parents first. @param number  scratch: a switch's new index */
static void renumber(struct strag_layout *layout, struct strag_pair *depths, int *number,
                     struct strag_switch *sorted)
{
    int n = layout->nswitches;
    qsort(depths, (size_t)n, sizeof *depths, strag_compare_pair);
    for (int i = 0; i < n; i++)
        number[depths[i].second] = i;
    for (int i = 0; i < n; i++) {
        sorted[i] = layout->switches[depths[i].second];
        if (i > 0)
            sorted[i].parent = number[sorted[i].parent];
    }
    for (int i = 0; i < layout->nhosts; i++)
        layout->hosts[i].at = number[layout->hosts[i].at];
    memcpy(layout->switches, sorted, (size_t)n * sizeof *sorted);
}

static int sort_switches(struct strag_draft *draft)
{
    struct strag_layout *layout = draft->layout;
    size_t n = (size_t)layout->nswitches;
    struct strag_pair *depths = calloc(n, sizeof *depths);
    int *number = calloc(n, sizeof *number);
    struct strag_switch *sorted = calloc(n, sizeof *sorted);
    int status = STRAG_OK, cyclic = -1;
    if (!depths || !number || !sorted)
        status = strag_source_memory(&draft->source);
    else if ((cyclic = find_depths(layout, depths)) >= 0)
        status = fail_cycle(draft, cyclic);
    else
        renumber(layout, depths, number, sorted);
    free(depths);
    free(number);
    free(sorted);
    return status;
}

/* ---- Grids ---- */

/* Refuse the first host in the file whose position is taken already. */
static int check_positions(const struct strag_draft *draft)
{
    const struct strag_layout *layout = draft->layout;
    struct strag_pair *taken = calloc((size_t)layout->nhosts + 1, sizeof *taken);
    if (!taken)
        return strag_source_memory(&draft->source);
    int first = -1, second = layout->nhosts;
    for (int i = 0; i < layout->nhosts; i++)
        taken[i] = (struct strag_pair){layout->hosts[i].at, i};
    qsort(taken, (size_t)layout->nhosts, sizeof *taken, strag_compare_pair);
    for (int i = 1; i < layout->nhosts; i++) {
        if (taken[i].first == taken[i - 1].first && taken[i].second < second) {
            first = taken[i - 1].second;
            second = taken[i].second;
        }
    }
    free(taken);
    if (first < 0)
        return STRAG_OK;
    return strag_source_fail(&draft->source, layout->hosts[second].line,
                             "hosts %s and %s are at the same position; one host each is needed",
                             strag_quoted(layout->hosts[first].name).text,
                             strag_quoted(layout->hosts[second].name).text);
}

/* ---- The layout ---- */

int strag_layout_build(const struct strag_source *source, enum strag_network network,
                       strag_draft_filler *fill, void *from, struct strag_layout **layout)
{
    struct strag_draft draft = {.source = *source, .layout = calloc(1, sizeof *draft.layout)};
    if (!draft.layout)
        return strag_source_memory(source);
    draft.layout->network = draft.layout->grid.network = network;
    int status = fill(&draft, from);
    if (status == STRAG_OK)
        status = network == STRAG_NETWORK_TREE ? join_roots(&draft) : check_positions(&draft);
    if (status == STRAG_OK && network == STRAG_NETWORK_TREE)
        status = sort_switches(&draft);
    if (status == STRAG_OK)
        *layout = draft.layout;
    else
        strag_layout_free(draft.layout);
    strag_names_free(&draft.hosts);
    strag_names_free(&draft.switches);
    return status;
}

/* ---- Built layouts ---- */

void strag_layout_free(struct strag_layout *layout)
{
    if (!layout)
        return;
    for (int i = 0; i < layout->nswitches; i++)
        free(layout->switches[i].name);
    for (int i = 0; i < layout->nhosts; i++)
        free(layout->hosts[i].name);
    free(layout->switches);
    free(layout->hosts);
    free(layout->rank_host);
    free(layout);
}

bool strag_layout_is_flat(const struct strag_layout *layout)
{
    return layout->nhosts == 0 && layout->nswitches == 1 && !layout->switches[0].name;
}
