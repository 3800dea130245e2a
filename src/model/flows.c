/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows are in slots, each with room for the longest route. Every link has a list of the hops of
 * the flows on it. Events of the same time are handled together: links whose flows have changed are
 * collected, and the rates are computed again when the next end is asked for.
 */
#include "model/flows.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { NONE = -1 };

/* Relative. Times that differ by less are the same. */
static const double same_time = 1e-11;

/* A flow on one link. */
struct crossing {
    int link;
    float share;
    int next, previous; /* in the link's list: slot * longest + hop */
};

struct flow {
    double left;  /* bytes, at the time `since` */
    double since; /* seconds */
    double rate;  /* bytes per second; 0 if not known yet */
    int tag;
    int ncrossings;
    int heap_place; /* NONE if not in the heap */
    bool fixed;     /* while rates are computed: this one is known */
    uint32_t mark;
};

/* When a flow ends, at its rate. */
struct entry {
    double end; /* seconds */
    int slot;
};

struct link_state {
    int first;     /* crossing */
    double free;   /* while rates are computed: bytes per second that are left */
    double weight; /* of the flows whose rate is not known yet */
    uint32_t mark;
    bool dirty;
};

struct strag_flows {
    struct strag_links *links;
    struct strag_hop *route;
    int longest;
    double now;

    int room; /* slots */
    struct flow *flows;
    struct crossing *crossings; /* [slot][hop] */
    int nspare;
    int *spare; /* slots without a flow */

    int nheap;
    struct entry *heap; /* the flow that ends first is on top */

    struct link_state *state; /* [link] */
    int ndirty;
    int *dirty; /* links */
    int nreached;
    int *reached; /* links affected, while rates are computed */
    int nmoved;
    int *moved; /* slots affected */
    uint32_t mark;
};

void strag_flows_free(struct strag_flows *flows)
{
    if (!flows)
        return;
    free(flows->route);
    free(flows->flows);
    free(flows->crossings);
    free(flows->spare);
    free(flows->heap);
    free(flows->state);
    free(flows->dirty);
    free(flows->reached);
    free(flows->moved);
    free(flows);
}

struct strag_flows *strag_flows_create(struct strag_links *links)
{
    struct strag_flows *flows = calloc(1, sizeof *flows);
    if (!flows)
        return NULL;
    size_t nlinks = (size_t)links->nlinks;
    flows->links = links;
    flows->longest = links->longest > 0 ? links->longest : 1;
    flows->route = malloc((size_t)flows->longest * sizeof *flows->route);
    flows->state = calloc(nlinks, sizeof *flows->state);
    flows->dirty = malloc(nlinks * sizeof *flows->dirty);
    flows->reached = malloc(nlinks * sizeof *flows->reached);
    if (!flows->route || !flows->state || !flows->dirty || !flows->reached) {
        strag_flows_free(flows);
        return NULL;
    }
    for (size_t l = 0; l < nlinks; l++)
        flows->state[l].first = NONE;
    return flows;
}

/* ---- Slots ---- */

static bool resize(void **items, size_t count, size_t size)
{
    void *moved = realloc(*items, count * size);
    if (moved)
        *items = moved;
    return moved != NULL;
}

/* Twice as many slots. */
static bool grow(struct strag_flows *flows)
{
    int room = flows->room ? 2 * flows->room : 64;
    size_t count = (size_t)room;
    if (room > INT_MAX / flows->longest) /* crossings have numbers, and that many take 50 GB */
        return false;
    if (!resize((void **)&flows->flows, count, sizeof *flows->flows) ||
        !resize((void **)&flows->crossings, count * (size_t)flows->longest,
                sizeof *flows->crossings) ||
        !resize((void **)&flows->spare, count, sizeof *flows->spare) ||
        !resize((void **)&flows->heap, count, sizeof *flows->heap) ||
        !resize((void **)&flows->moved, count, sizeof *flows->moved))
        return false;
    for (int slot = room - 1; slot >= flows->room; slot--)
        flows->spare[flows->nspare++] = slot;
    flows->room = room;
    return true;
}

static void set_dirty(struct strag_flows *flows, int link)
{
    if (flows->state[link].dirty)
        return;
    flows->state[link].dirty = true;
    flows->dirty[flows->ndirty++] = link;
}

static void add_crossing(struct strag_flows *flows, int slot, int h, struct strag_hop hop)
{
    int index = slot * flows->longest + h;
    struct link_state *state = &flows->state[hop.link];
    flows->crossings[index] = (struct crossing){hop.link, hop.share, state->first, NONE};
    if (state->first != NONE)
        flows->crossings[state->first].previous = index;
    state->first = index;
    set_dirty(flows, hop.link);
}

static void remove_crossing(struct strag_flows *flows, int slot, int h)
{
    const struct crossing *crossing = &flows->crossings[slot * flows->longest + h];
    if (crossing->previous == NONE)
        flows->state[crossing->link].first = crossing->next;
    else
        flows->crossings[crossing->previous].next = crossing->next;
    if (crossing->next != NONE)
        flows->crossings[crossing->next].previous = crossing->previous;
    set_dirty(flows, crossing->link);
}

/* ---- The heap ---- */

static void put(struct strag_flows *flows, int place, struct entry entry)
{
    flows->heap[place] = entry;
    flows->flows[entry.slot].heap_place = place;
}

static void sift_down(struct strag_flows *flows, int place, struct entry entry)
{
    const struct entry *heap = flows->heap;
    for (int child = 2 * place + 1; child < flows->nheap; child = 2 * place + 1) {
        child += child + 1 < flows->nheap && heap[child + 1].end < heap[child].end;
        if (entry.end <= heap[child].end)
            break;
        put(flows, place, heap[child]);
        place = child;
    }
    put(flows, place, entry);
}

/* Put a flow with a new or changed end into its place. */
static void place_end(struct strag_flows *flows, int slot, double end)
{
    int place = flows->flows[slot].heap_place;
    if (place == NONE)
        place = flows->nheap++;
    for (; place > 0 && end < flows->heap[(place - 1) / 2].end; place = (place - 1) / 2)
        put(flows, place, flows->heap[(place - 1) / 2]);
    sift_down(flows, place, (struct entry){end, slot});
}

static void take_top(struct strag_flows *flows)
{
    if (--flows->nheap > 0)
        sift_down(flows, 0, flows->heap[flows->nheap]);
}

/* ---- Rates ---- */

/* Add a link to those affected, with all of its bandwidth free. */
static void reach(struct strag_flows *flows, int link)
{
    struct link_state *state = &flows->state[link];
    if (state->mark == flows->mark)
        return;
    state->mark = flows->mark;
    state->free = strag_link_bandwidth(flows->links, link);
    state->weight = 0;
    flows->reached[flows->nreached++] = link;
}

/* Add a flow to those affected, and deduct what it has sent so far. */
static void move(struct strag_flows *flows, int slot)
{
    struct flow *flow = &flows->flows[slot];
    if (flow->mark == flows->mark)
        return;
    flow->mark = flows->mark;
    flow->left -= flow->rate * (flows->now - flow->since);
    flow->left = flow->left > 0 ? flow->left : 0;
    flow->since = flows->now;
    flow->fixed = false;
    flows->moved[flows->nmoved++] = slot;
    for (int h = 0; h < flow->ncrossings; h++) {
        const struct crossing *crossing = &flows->crossings[slot * flows->longest + h];
        reach(flows, crossing->link);
        flows->state[crossing->link].weight += crossing->share;
    }
}

/* Collect all links and flows that the changes affect. */
static void collect(struct strag_flows *flows)
{
    flows->mark++;
    flows->nreached = flows->nmoved = 0;
    for (int d = 0; d < flows->ndirty; d++) {
        flows->state[flows->dirty[d]].dirty = false;
        reach(flows, flows->dirty[d]);
    }
    flows->ndirty = 0;
    for (int l = 0; l < flows->nreached; l++) { /* grows meanwhile */
        int c = flows->state[flows->reached[l]].first;
        for (; c != NONE; c = flows->crossings[c].next)
            move(flows, c / flows->longest);
    }
}

static void fix(struct strag_flows *flows, int slot, double rate)
{
    struct flow *flow = &flows->flows[slot];
    flow->fixed = true;
    flow->rate = rate;
    place_end(flows, slot, flows->now + flow->left / rate);
    for (int h = 0; h < flow->ncrossings; h++) {
        const struct crossing *crossing = &flows->crossings[slot * flows->longest + h];
        struct link_state *state = &flows->state[crossing->link];
        state->free -= crossing->share * rate;
        state->weight -= crossing->share;
    }
}

/* The rate that each flow on a link would get. Weights are sums of shares: 1 or a half. */
static double fair_rate(const struct link_state *state)
{
    if (state->weight < 0.25)
        return INFINITY;
    return state->free > 0 ? state->free / state->weight : 0;
}

/* Fix the rates of the flows on the links that are full first. @return false if no link is left */
static bool fill(struct strag_flows *flows)
{
    double least = INFINITY;
    for (int l = 0; l < flows->nreached; l++) {
        double rate = fair_rate(&flows->state[flows->reached[l]]);
        least = rate < least ? rate : least;
    }
    if (isinf(least))
        return false;
    for (int l = 0; l < flows->nreached; l++) {
        const struct link_state *state = &flows->state[flows->reached[l]];
        if (!(fair_rate(state) <= least * (1 + same_time)))
            continue;
        for (int c = state->first; c != NONE; c = flows->crossings[c].next) {
            if (!flows->flows[c / flows->longest].fixed)
                fix(flows, c / flows->longest, least);
        }
    }
    return true;
}

static void find_rates(struct strag_flows *flows)
{
    collect(flows);
    while (fill(flows))
        continue;
    for (int m = 0; m < flows->nmoved; m++) {
        if (!flows->flows[flows->moved[m]].fixed)
            fix(flows, flows->moved[m], INFINITY); /* no link limits it */
    }
}

/* ---- Coming and going ---- */

int strag_flows_wait(struct strag_flows *flows, double end, int tag)
{
    if (flows->nspare == 0 && !grow(flows))
        return STRAG_ERR_MEMORY;
    int slot = flows->spare[--flows->nspare];
    flows->flows[slot] = (struct flow){.tag = tag, .heap_place = NONE};
    place_end(flows, slot, end);
    return STRAG_OK;
}

int strag_flows_start(struct strag_flows *flows, double now, int from, int to, double bytes,
                      int tag)
{
    struct strag_route route = strag_links_route(flows->links, from, to, flows->route);
    flows->now = now > flows->now ? now : flows->now;
    if (route.nhops == 0)
        return strag_flows_wait(flows, flows->now, tag); /* no link limits it */
    if (flows->nspare == 0 && !grow(flows))
        return STRAG_ERR_MEMORY;
    int slot = flows->spare[--flows->nspare];
    flows->flows[slot] = (struct flow){
        .left = bytes,
        .since = flows->now,
        .tag = tag,
        .ncrossings = route.nhops,
        .heap_place = NONE,
    };
    for (int h = 0; h < route.nhops; h++)
        add_crossing(flows, slot, h, flows->route[h]);
    return STRAG_OK;
}

double strag_flows_next(struct strag_flows *flows)
{
    if (flows->ndirty > 0)
        find_rates(flows);
    return flows->nheap > 0 ? flows->heap[0].end : INFINITY;
}

int strag_flows_end(struct strag_flows *flows, double now)
{
    if (flows->nheap == 0 || flows->heap[0].end > now * (1 + same_time))
        return NONE;
    int slot = flows->heap[0].slot;
    const struct flow *flow = &flows->flows[slot];
    flows->now = now > flows->now ? now : flows->now;
    take_top(flows);
    for (int h = 0; h < flow->ncrossings; h++)
        remove_crossing(flows, slot, h);
    flows->spare[flows->nspare++] = slot;
    return flow->tag;
}
