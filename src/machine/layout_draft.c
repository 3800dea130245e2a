/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layout that is being made: names that come once, switches in order, positions taken once.
 */
#include "machine/layout_internal.h"

#include <stdlib.h>
#include <string.h>

void *strag_array_grow(void *old, int *room, int need, size_t element)
{
    if (old && need <= *room)
        return old;
    int more = *room < 8 ? 8 : *room;
    while (more < need)
        more = more > INT32_MAX / 2 ? INT32_MAX : 2 * more;
    void *array = realloc(old, (size_t)more * element);
    if (array)
        *room = more;
    return array;
}

/* ---- Names: open addressing, at most half full ---- */

/* FNV-1a */
static uint64_t hash(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return h ^ h >> 32;
}

/* Where the name is, or would be. There is a free slot. */
static struct strag_names_slot *slot(const struct strag_names *names, const char *name)
{
    uint64_t mask = (uint64_t)names->room - 1;
    uint64_t i = hash(name) & mask;
    while (names->slots[i].name && strcmp(names->slots[i].name, name) != 0)
        i = (i + 1) & mask;
    return &names->slots[i];
}

int strag_names_find(const struct strag_names *names, const char *name)
{
    if (names->room == 0)
        return -1;
    const struct strag_names_slot *found = slot(names, name);
    return found->name ? found->value : -1;
}

static bool widen(struct strag_names *names)
{
    struct strag_names wider = {.room = names->room ? 2 * names->room : 64, .count = names->count};
    wider.slots = calloc((size_t)wider.room, sizeof *wider.slots);
    if (!wider.slots)
        return false;
    for (int i = 0; i < names->room; i++) {
        if (names->slots[i].name)
            *slot(&wider, names->slots[i].name) = names->slots[i];
    }
    free(names->slots);
    *names = wider;
    return true;
}

bool strag_names_add(struct strag_names *names, const char *name, int value)
{
    if (2 * (names->count + 1) > names->room && !widen(names))
        return false;
    *slot(names, name) = (struct strag_names_slot){name, value};
    names->count++;
    return true;
}

void strag_names_free(struct strag_names *names)
{
    free(names->slots);
    *names = (struct strag_names){0};
}

/* ---- Hosts and switches ---- */

int strag_draft_start(struct strag_draft *draft, const struct strag_source *source,
                      enum strag_network network)
{
    *draft = (struct strag_draft){.source = *source};
    draft->layout = calloc(1, sizeof *draft->layout);
    if (!draft->layout)
        return strag_source_memory(source);
    draft->layout->network = network;
    draft->layout->grid.network = network;
    return STRAG_OK;
}

void strag_draft_free(struct strag_draft *draft)
{
    strag_layout_free(draft->layout);
    free(draft->host_line);
    free(draft->switch_line);
    strag_names_free(&draft->hosts);
    strag_names_free(&draft->switches);
    *draft = (struct strag_draft){0};
}

/* Is there no room for one more? */
static int check_new(struct strag_draft *draft, const struct strag_names *names, const char *what,
                     const char *name, const int *lines, int line)
{
    if (names->count >= STRAG_LAYOUT_MAX)
        return strag_source_fail(&draft->source, line, "more than %d %ss", STRAG_LAYOUT_MAX, what);
    int before = strag_names_find(names, name);
    if (before < 0)
        return STRAG_OK;
    if (lines[before] == 0 || lines[before] == line)
        return strag_source_fail(&draft->source, line, "%s %s is named twice", what,
                                 strag_quoted(name).text);
    return strag_source_fail(&draft->source, line,
                             "%s %s is in line %d already; it can be in one place only", what,
                             strag_quoted(name).text, lines[before]);
}

static bool room_for_host(struct strag_draft *draft)
{
    struct strag_layout *layout = draft->layout;
    struct strag_host *hosts = strag_array_grow(layout->hosts, &draft->hosts_room,
                                                layout->nhosts + 1, sizeof *layout->hosts);
    layout->hosts = hosts ? hosts : layout->hosts;
    int *lines = strag_array_grow(draft->host_line, &draft->host_lines_room, layout->nhosts + 1,
                                  sizeof *draft->host_line);
    draft->host_line = lines ? lines : draft->host_line;
    return hosts && lines;
}

int strag_draft_host(struct strag_draft *draft, char *name, int line, int at)
{
    struct strag_layout *layout = draft->layout;
    int status = name ? check_new(draft, &draft->hosts, "host", name, draft->host_line, line)
                      : strag_source_memory(&draft->source);
    if (status == STRAG_OK &&
        (!room_for_host(draft) || !strag_names_add(&draft->hosts, name, layout->nhosts)))
        status = strag_source_memory(&draft->source);
    if (status != STRAG_OK) {
        free(name);
        return status;
    }
    draft->host_line[layout->nhosts] = line;
    layout->hosts[layout->nhosts++] = (struct strag_host){.name = name, .at = at};
    return STRAG_OK;
}

static bool room_for_switch(struct strag_draft *draft)
{
    struct strag_layout *layout = draft->layout;
    struct strag_switch *switches = strag_array_grow(
        layout->switches, &draft->switches_room, layout->nswitches + 1, sizeof *layout->switches);
    layout->switches = switches ? switches : layout->switches;
    int *lines = strag_array_grow(draft->switch_line, &draft->switch_lines_room,
                                  layout->nswitches + 1, sizeof *draft->switch_line);
    draft->switch_line = lines ? lines : draft->switch_line;
    return switches && lines;
}

int strag_draft_switch(struct strag_draft *draft, char *name, int line, double uplink)
{
    struct strag_layout *layout = draft->layout;
    int status = STRAG_OK;
    if (name)
        status = check_new(draft, &draft->switches, "switch", name, draft->switch_line, line);
    else if (layout->nswitches >= STRAG_LAYOUT_MAX)
        status = strag_source_fail(&draft->source, line, "more than %d switches", STRAG_LAYOUT_MAX);
    if (status == STRAG_OK &&
        (!room_for_switch(draft) ||
         (name && !strag_names_add(&draft->switches, name, layout->nswitches))))
        status = strag_source_memory(&draft->source);
    if (status != STRAG_OK) {
        free(name);
        return status;
    }
    draft->switch_line[layout->nswitches] = line;
    layout->switches[layout->nswitches++] =
        (struct strag_switch){.name = name, .parent = -1, .uplink = uplink};
    return STRAG_OK;
}

/* ---- Trees ---- */

/* The one root, or a new one that joins several. @param[out] root  its index */
static int join_roots(struct strag_draft *draft, int *root)
{
    struct strag_layout *layout = draft->layout;
    int roots = 0;
    for (int i = 0; i < layout->nswitches; i++) {
        if (layout->switches[i].parent < 0) {
            roots++;
            *root = i;
        }
    }
    bool outside = false; /* a host without switch */
    for (int i = 0; i < layout->nhosts; i++)
        outside |= layout->hosts[i].at < 0;
    if (roots == 1 && !outside) {
        layout->switches[*root].uplink = 0; /* to where? */
        return STRAG_OK;
    }
    if (roots == 0 && layout->nswitches > 0) /* circles only, which order_switches finds */
        return STRAG_OK;

    int status = strag_draft_switch(draft, NULL, 0, 0);
    if (status != STRAG_OK)
        return status;
    *root = layout->nswitches - 1;
    for (int i = 0; i < *root; i++) {
        if (layout->switches[i].parent < 0)
            layout->switches[i].parent = *root;
    }
    for (int i = 0; i < layout->nhosts; i++) {
        if (layout->hosts[i].at < 0)
            layout->hosts[i].at = *root;
    }
    return STRAG_OK;
}

/* Name a circle's first switch in the file. `start` is in one or below one. */
static int fail_circle(struct strag_draft *draft, int start)
{
    const struct strag_switch *switches = draft->layout->switches;
    int in = start;
    for (int i = 0; i < draft->layout->nswitches; i++)
        in = switches[in].parent;
    int first = in;
    for (int other = switches[in].parent; other != in; other = switches[other].parent)
        first = other < first ? other : first;
    in = first;
    return strag_source_fail(&draft->source, draft->switch_line[in],
                             "switch %s is below itself; switches must form a tree",
                             switches[in].name ? strag_quoted(switches[in].name).text : "");
}

/*
 * The order in which parents come first, level by level.
 *
 * @param root   -1: none
 * @param order  [new index]: old index
 * @param first  scratch: every switch's first child
 * @param next   scratch: its next sibling
 * @return how many are reached from the root; the others are in or below circles
 */
static int order_switches(const struct strag_layout *layout, int root, int *order, int *first,
                          int *next)
{
    int n = layout->nswitches, used = 0;
    for (int i = 0; i < n; i++)
        first[i] = next[i] = -1;
    for (int i = n - 1; i >= 0; i--) {
        int parent = layout->switches[i].parent;
        if (parent < 0)
            continue;
        next[i] = first[parent];
        first[parent] = i;
    }
    if (root >= 0)
        order[used++] = root;
    for (int done = 0; done < used; done++) {
        for (int child = first[order[done]]; child >= 0; child = next[child])
            order[used++] = child;
    }
    return used;
}

/* Put the switches into the order. @param place  scratch, [nswitches] */
static void renumber(struct strag_layout *layout, const int *order, int *place,
                     struct strag_switch *switches)
{
    for (int i = 0; i < layout->nswitches; i++)
        place[order[i]] = i;
    for (int i = 0; i < layout->nswitches; i++) {
        switches[i] = layout->switches[order[i]];
        if (switches[i].parent >= 0)
            switches[i].parent = place[switches[i].parent];
    }
    for (int i = 0; i < layout->nhosts; i++)
        layout->hosts[i].at = place[layout->hosts[i].at];
    free(layout->switches);
    layout->switches = switches;
}

static int sort_switches(struct strag_draft *draft, int root)
{
    struct strag_layout *layout = draft->layout;
    size_t n = (size_t)layout->nswitches;
    int *scratch = calloc(3 * n, sizeof *scratch);
    struct strag_switch *switches = calloc(n, sizeof *switches);
    if (!scratch || !switches) {
        free(scratch);
        free(switches);
        return strag_source_memory(&draft->source);
    }
    int *order = scratch, *first = scratch + n, *next = scratch + 2 * n;
    int reached = order_switches(layout, root, order, first, next);
    if (reached == layout->nswitches) {
        renumber(layout, order, first, switches);
        free(scratch);
        return STRAG_OK;
    }
    for (int i = 0; i < layout->nswitches; i++)
        first[i] = 0;
    for (int i = 0; i < reached; i++)
        first[order[i]] = 1;
    int lost = 0;
    while (first[lost])
        lost++;
    free(scratch);
    free(switches);
    return fail_circle(draft, lost);
}

int strag_draft_finish_tree(struct strag_draft *draft, struct strag_layout **layout)
{
    int root = -1;
    int status = join_roots(draft, &root);
    if (status == STRAG_OK)
        status = sort_switches(draft, root);
    if (status != STRAG_OK)
        return status;
    *layout = draft->layout;
    draft->layout = NULL;
    return STRAG_OK;
}

/* ---- Grids ---- */

struct taken {
    int position, host;
};

static int compare_taken(const void *a, const void *b)
{
    const struct taken *left = a, *right = b;
    if (left->position != right->position)
        return left->position < right->position ? -1 : 1;
    return left->host < right->host ? -1 : left->host > right->host;
}

/* The first host in the file whose position was taken. */
static int check_positions(struct strag_draft *draft, struct taken *taken)
{
    const struct strag_layout *layout = draft->layout;
    int first = -1, second = layout->nhosts;
    for (int i = 0; i < layout->nhosts; i++)
        taken[i] = (struct taken){layout->hosts[i].at, i};
    qsort(taken, (size_t)layout->nhosts, sizeof *taken, compare_taken);
    for (int i = 1; i < layout->nhosts; i++) {
        if (taken[i].position == taken[i - 1].position && taken[i].host < second) {
            first = taken[i - 1].host;
            second = taken[i].host;
        }
    }
    if (first < 0)
        return STRAG_OK;
    return strag_source_fail(&draft->source, draft->host_line[second],
                             "hosts %s and %s are at the same position; one host each is needed",
                             strag_quoted(layout->hosts[first].name).text,
                             strag_quoted(layout->hosts[second].name).text);
}

int strag_draft_finish_grid(struct strag_draft *draft, struct strag_layout **layout)
{
    struct taken *taken = calloc((size_t)draft->layout->nhosts + 1, sizeof *taken);
    if (!taken)
        return strag_source_memory(&draft->source);
    int status = check_positions(draft, taken);
    free(taken);
    if (status != STRAG_OK)
        return status;
    *layout = draft->layout;
    draft->layout = NULL;
    return STRAG_OK;
}
