/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands between an engine and its surroundings. If elements have gaps, messages are packed
 * when they are posted and unpacked when they complete.
 */
#include "watch.h"

#include "memory.h"

void watch_problem(struct member *member, const char *format, ...)
{
    if (member->problem[0])
        return;
    int used = snprintf(member->problem, sizeof member->problem, "rank %d: ", member->rank);
    va_list args;
    va_start(args, format);
    vsnprintf(member->problem + used, sizeof member->problem - (size_t)used, format, args);
    va_end(args);
}

/* Is it `elements` elements inside a vector that begins at `start` and has `count`? */
static bool inside(const struct member *member, const void *address, size_t elements,
                   const void *start, size_t count)
{
    size_t extent = member->world->options.extent;
    uintptr_t from = (uintptr_t)start, at = (uintptr_t)address;
    return at >= from && (at - from) % extent == 0 && (at - from) / extent + elements <= count;
}

static bool inside_output(const struct member *member, const void *address, size_t elements)
{
    return inside(member, address, elements, world_vector(member, true, 0),
                  member->world->options.count);
}

static bool inside_input(const struct member *member, const void *address, size_t elements)
{
    return !member->world->options.in_place &&
           inside(member, address, elements, world_vector(member, false, 0),
                  member->world->options.count);
}

static bool inside_space(const struct member *member, const void *address, size_t elements)
{
    return member->space &&
           inside(member, address, elements, member->space, member->space_elements);
}

/* ---- Transport ---- */

/* A message in flight, between the engine's transfer and the network's. */
struct flight {
    struct strag_transfer inner; /* first: the completion finds the flight by it */
    struct strag_transfer *outer;
    struct member *member;
    struct flight *next; /* all of a call */
    const char *source;
    char *target;
    char *packed; /* with gaps: the values alone */
    size_t elements;
    bool flying;
    uint64_t *sent; /* with a content: the values, as they were when it was posted */
    bool in_place;
    char *arrived; /* in place: a copy of what came, with gaps; until it is released */
    int from;      /* shown by try_recv: whose it is */
};

static bool has_gaps(const struct member *member)
{
    return member->world->options.extent != sizeof(uint64_t);
}

static void pack(const struct flight *flight, char *to)
{
    size_t extent = flight->member->world->options.extent;
    for (size_t i = 0; i < flight->elements; i++)
        memcpy(to + i * sizeof(uint64_t), flight->source + i * extent, sizeof(uint64_t));
}

static void unpack(const struct flight *flight, const char *from)
{
    size_t extent = flight->member->world->options.extent;
    for (size_t i = 0; i < flight->elements; i++)
        memcpy(flight->target + i * extent, from + i * sizeof(uint64_t), sizeof(uint64_t));
}

/* What has arrived, in an array as the engine sees it. */
static int unpack_arrived(struct flight *flight, const void *values)
{
    flight->arrived = malloc(flight->elements * flight->member->world->options.extent);
    if (!flight->arrived)
        return STRAG_ERR_MEMORY;
    flight->target = flight->arrived;
    unpack(flight, values);
    return STRAG_OK;
}

static int unpack_in_place(struct flight *flight)
{
    int status = unpack_arrived(flight, flight->inner.arrived);
    flight->outer->arrived = flight->arrived;
    return status;
}

static void arrive(struct strag_transfer *inner, int status)
{
    struct flight *flight = (struct flight *)inner;
    struct member *member = flight->member;
    if (!flight->flying)
        watch_problem(member, "a message completed twice");
    flight->flying = false;
    member->flying--;
    member->events++;
    if (flight->in_place && status == STRAG_OK) {
        status = unpack_in_place(flight);
    } else if (flight->packed && flight->target) {
        unpack(flight, flight->packed);
    } else if (flight->packed) {
        /* The engine must leave the values alone until now. */
        char *now = malloc(flight->elements * sizeof(uint64_t));
        if (now)
            pack(flight, now);
        if (now && memcmp(now, flight->packed, flight->elements * sizeof(uint64_t)) != 0)
            watch_problem(member, "values changed while a message was reading them");
        free(now);
    }
    flight->outer->complete(flight->outer, status);
}

/* Sends that are said to carry the same values must do so. @return whether there was memory */
static bool check_content(struct member *member, struct flight *flight)
{
    uint64_t content = flight->outer->content;
    size_t bytes = flight->elements * sizeof(uint64_t);
    if (!content || !flight->source)
        return true;
    flight->sent = malloc(bytes);
    if (!flight->sent)
        return false;
    pack(flight, (char *)flight->sent);
    for (const struct flight *f = flight->next; f; f = f->next) {
        if (f->sent && f->inner.content == content && f->source == flight->source &&
            f->elements == flight->elements && memcmp(f->sent, flight->sent, bytes) != 0)
            watch_problem(member, "sends of other values have the same content");
    }
    return true;
}

/* @return a new message, or NULL when out of memory */
static struct flight *take_off(struct member *member, struct strag_transfer *outer,
                               const void *source, void *target, size_t elements)
{
    struct flight *flight = calloc(1, sizeof *flight);
    if (!flight)
        return NULL;
    *flight = (struct flight){
        .inner = {.complete = arrive, .content = outer->content},
        .outer = outer,
        .member = member,
        .next = member->flights,
        .source = source,
        .target = target,
        .elements = elements,
        .flying = true,
    };
    member->flights = flight;
    outer->handle = flight;
    flight->in_place = !source && !target;
    if (!check_content(member, flight))
        return NULL; /* watch_end frees the flight */
    if (has_gaps(member) && !flight->in_place) {
        flight->packed = malloc(elements * sizeof(uint64_t));
        if (!flight->packed)
            return NULL; /* watch_end frees the flight */
    }
    return flight;
}

static void check_message(struct member *member, int peer, size_t elements)
{
    if (peer < 0 || peer >= member->world->n || peer == member->rank)
        watch_problem(member, "a message to or from rank %d", peer);
    if (elements < 1 || elements > world_lane(member->world, member->rank, peer)->segment)
        watch_problem(member, "a message of %zu elements", elements);
}

static int post(struct member *member, struct strag_transfer *outer, int peer, const void *source,
                void *target, size_t elements)
{
    check_message(member, peer, elements);
    struct flight *flight = take_off(member, outer, source, target, elements);
    if (!flight)
        return STRAG_ERR_MEMORY;
    char *buffer = flight->packed;
    if (buffer && source)
        pack(flight, buffer);
    else if (buffer)
        memset(buffer, 0xa5, elements * sizeof(uint64_t));
    if (buffer && target)
        unpack(flight, buffer);
    struct strag_transport *endpoint = member->endpoint;
    struct strag_transfer *inner = &flight->inner;
    member->flying++;
    member->events++;
    int status = source ? endpoint->send(endpoint, inner, peer, buffer ? buffer : source, elements)
                 : target
                     ? endpoint->recv(endpoint, inner, peer, buffer ? buffer : target, elements)
                     : endpoint->recv_in_place(endpoint, inner, peer, elements);
    if (status != STRAG_OK) {
        flight->flying = false;
        member->flying--;
    }
    return status;
}

static int watched_send(struct strag_transport *transport, struct strag_transfer *transfer,
                        int peer, const void *buffer, size_t elements)
{
    struct member *member = ((struct watched_transport *)transport)->member;
    memory_pause();
    if (!inside_output(member, buffer, elements) && !inside_input(member, buffer, elements))
        watch_problem(member, "%zu elements are sent from outside the vectors", elements);
    int status = post(member, transfer, peer, buffer, NULL, elements);
    memory_resume();
    return status;
}

static int watched_recv(struct strag_transport *transport, struct strag_transfer *transfer,
                        int peer, void *buffer, size_t elements)
{
    struct member *member = ((struct watched_transport *)transport)->member;
    memory_pause();
    if (!inside_output(member, buffer, elements) && !inside_space(member, buffer, elements))
        watch_problem(member, "%zu elements are received outside output and temporary space",
                      elements);
    int status = post(member, transfer, peer, NULL, buffer, elements);
    memory_resume();
    return status;
}

static int watched_recv_in_place(struct strag_transport *transport, struct strag_transfer *transfer,
                                 int peer, size_t elements)
{
    struct member *member = ((struct watched_transport *)transport)->member;
    memory_pause();
    int status = post(member, transfer, peer, NULL, NULL, elements);
    memory_resume();
    return status;
}

static void watched_release_message(struct strag_transport *transport,
                                    struct strag_transfer *transfer)
{
    struct member *member = ((struct watched_transport *)transport)->member;
    struct flight *flight = transfer->handle;
    memory_pause();
    if (flight->flying || !flight->arrived)
        watch_problem(member, "a message is released that has not arrived, or twice");
    else
        member->endpoint->release(member->endpoint, &flight->inner);
    free(flight->arrived);
    flight->arrived = NULL;
    memory_resume();
}

static int watched_try_send(struct strag_transport *transport, int peer, const void *buffer,
                            size_t elements, uint64_t content)
{
    struct member *member = ((struct watched_transport *)transport)->member;
    struct strag_transport *endpoint = member->endpoint;
    struct strag_transfer outer = {.content = content};
    int status = STRAG_ERR_MEMORY;
    memory_pause();
    check_message(member, peer, elements);
    if (!inside_output(member, buffer, elements) && !inside_input(member, buffer, elements))
        watch_problem(member, "%zu elements are sent from outside the vectors", elements);
    struct flight *flight = take_off(member, &outer, buffer, NULL, elements);
    char *packed = malloc(elements * sizeof(uint64_t));
    if (flight && packed) {
        flight->flying = false;
        pack(flight, packed);
        status = endpoint->try_send(endpoint, peer, packed, elements, content);
    }
    free(packed);
    member->events += status == STRAG_OK;
    member->try_sends += status == STRAG_OK;
    memory_resume();
    return status;
}

static int take_in(struct member *member, int peer, size_t elements, const void *values,
                   const void **arrived)
{
    struct flight *flight = calloc(1, sizeof *flight);
    if (!flight)
        return STRAG_ERR_MEMORY;
    *flight = (struct flight){
        .member = member, .next = member->flights, .elements = elements, .from = peer};
    member->flights = flight;
    int status = unpack_arrived(flight, values);
    *arrived = flight->arrived;
    member->events++;
    return status;
}

static int watched_try_recv(struct strag_transport *transport, int peer, size_t elements,
                            const void **arrived)
{
    struct member *member = ((struct watched_transport *)transport)->member;
    struct strag_transport *endpoint = member->endpoint;
    const void *values;
    memory_pause();
    check_message(member, peer, elements);
    int status = endpoint->try_recv(endpoint, peer, elements, &values);
    if (status == STRAG_OK) {
        status = take_in(member, peer, elements, values, arrived);
        if (status != STRAG_OK)
            endpoint->release_recv(endpoint, peer);
    }
    memory_resume();
    return status;
}

static void watched_release_recv(struct strag_transport *transport, int peer)
{
    struct member *member = ((struct watched_transport *)transport)->member;
    struct flight *flight = member->flights;
    memory_pause();
    while (flight && (flight->from != peer || flight->in_place || !flight->arrived))
        flight = flight->next;
    if (!flight) {
        watch_problem(member, "a message of rank %d is given back that is not there", peer);
    } else {
        member->endpoint->release_recv(member->endpoint, peer);
        free(flight->arrived);
        flight->arrived = NULL;
    }
    memory_resume();
}

static int watched_progress(struct strag_transport *transport)
{
    struct member *member = ((struct watched_transport *)transport)->member;
    memory_pause();
    int status = member->endpoint->progress(member->endpoint);
    memory_resume();
    return status;
}

static int watched_cancel(struct strag_transport *transport, struct strag_transfer *transfer)
{
    struct member *member = ((struct watched_transport *)transport)->member;
    struct flight *flight = transfer->handle;
    memory_pause();
    if (!flight->flying)
        watch_problem(member, "a message is cancelled that is not in flight");
    int status = member->endpoint->cancel(member->endpoint, &flight->inner);
    if (status == STRAG_PENDING) {
        flight->flying = false;
        member->flying--;
        if (flight->target && inside_space(member, flight->target, flight->elements))
            member->lost++; /* the engine has to say so when it gives the space back */
    } else if (flight->flying) {
        watch_problem(member, "a cancelled message was not completed");
    }
    memory_resume();
    return status;
}

/* ---- Reducer ---- */

static void *watched_allocate(struct strag_reducer *reducer, size_t elements)
{
    struct member *member = ((struct watched_reducer *)reducer)->member;
    const struct call_options *options = &member->world->options;
    bool fails = options->reducer_fails_on == member->rank && options->fail_allocate;
    if (member->space)
        watch_problem(member, "temporary space is taken twice");
    size_t most = 0;
    const int lanes = options->host > 0 ? STRAG_LANES : 1;
    for (int l = 0; l < lanes; l++) {
        const struct strag_lane *lane = &options->lanes[l];
        size_t longest = lane->segment < options->count ? lane->segment : options->count;
        if (!options->network.in_place || (l == 1 && options->one_in_place))
            most += (longest + options->gap) * (size_t)lane->slots;
    }
    if (elements < 1 || elements > most)
        watch_problem(member, "%zu elements of temporary space, more than %zu", elements, most);
    memory_pause();
    void *space = fails ? NULL : malloc(elements * options->extent);
    memory_resume();
    if (space) {
        memset(space, 0xa5, elements * options->extent);
        member->space = space;
        member->space_elements = elements;
        member->allocations++;
    }
    return space;
}

static void watched_release(struct strag_reducer *reducer, void *buffer, int lost)
{
    struct member *member = ((struct watched_reducer *)reducer)->member;
    if (buffer != member->space || !buffer)
        watch_problem(member, "space is given back that was not taken");
    if ((member->lost > 0) != (lost != 0))
        watch_problem(member, "temporary space is given back with lost=%d", lost);
    member->releases++;
    member->space = NULL;
    memory_pause();
    if (lost && member->nlost < (int)(sizeof member->lost_space / sizeof *member->lost_space))
        member->lost_space[member->nlost++] = buffer;
    else
        free(buffer);
    memory_resume();
}

static void reduce(const struct member *member, const struct reduction *reduction)
{
    size_t extent = member->world->options.extent;
    for (size_t i = 0; i < reduction->elements; i++) {
        uint64_t left, right, result;
        memcpy(&left, (const char *)reduction->left + i * extent, sizeof left);
        memcpy(&right, (const char *)reduction->right + i * extent, sizeof right);
        result = world_reduce(left, right);
        memcpy((char *)reduction->out + i * extent, &result, sizeof result);
    }
    /* What the contract permits: values in temporary space are gone if they stood right. */
    bool gone = reduction->out == reduction->left &&
                inside_space(member, reduction->right, reduction->elements);
    for (size_t i = 0; gone && i < reduction->elements; i++)
        memset((char *)(uintptr_t)reduction->right + i * extent, 0xc3, sizeof(uint64_t));
}

/* Are these the values that have come in a message? */
static bool came(const struct member *member, const void *values, size_t elements)
{
    for (const struct flight *f = member->flights; f; f = f->next) {
        if (f->arrived && f->arrived == values)
            return f->elements == elements;
    }
    return inside_space(member, values, elements);
}

static void check_reduction(struct member *member, const struct reduction *r)
{
    bool space_left = came(member, r->left, r->elements);
    bool space_right = came(member, r->right, r->elements);
    const void *own = space_left ? r->right : r->left;
    if (r->elements < 1 || !inside_output(member, r->out, r->elements))
        watch_problem(member, "a reduction of %zu elements outside the output", r->elements);
    if (space_left == space_right)
        watch_problem(member, "a reduction does not combine an own value with one that came");
    if (own != r->out && !inside_input(member, own, r->elements))
        watch_problem(member, "a reduction takes its own values from elsewhere");
}

static int watched_reduce(struct strag_reducer *reducer, void *out, const void *left,
                          const void *right, size_t elements, uint64_t *ticket)
{
    struct member *member = ((struct watched_reducer *)reducer)->member;
    const struct call_options *options = &member->world->options;
    struct reduction reduction = {true, false, 0, out, left, right, elements};
    check_reduction(member, &reduction);
    member->events++;
    reduction.fails = ++member->reductions == options->fail_reduction &&
                      options->reducer_fails_on == member->rank;
    if (reduction.fails && !options->fail_late)
        return STRAG_ERR_REDUCE;
    if (options->polls == 0) {
        reduce(member, &reduction);
        return STRAG_OK;
    }
    reduction.polls = 1 + rng_below(&member->rng, options->polls);
    for (uint64_t i = 0; i < PENDING_MAX; i++) {
        if (!member->pending[i].active) {
            member->pending[i] = reduction;
            *ticket = i;
            return STRAG_PENDING;
        }
    }
    watch_problem(member, "more than %d reductions at the same time", PENDING_MAX);
    return STRAG_ERR_REDUCE;
}

/* The reduction takes place when it is asked for the last time. */
static int watched_test(struct strag_reducer *reducer, uint64_t ticket)
{
    struct member *member = ((struct watched_reducer *)reducer)->member;
    if (ticket >= PENDING_MAX || !member->pending[ticket].active) {
        watch_problem(member, "asked for a reduction that is not pending");
        return STRAG_ERR_REDUCE;
    }
    struct reduction *reduction = &member->pending[ticket];
    if (--reduction->polls)
        return STRAG_PENDING;
    reduction->active = false;
    member->events++;
    if (reduction->fails)
        return STRAG_ERR_REDUCE;
    reduce(member, reduction);
    return STRAG_OK;
}

static int watched_copy(struct strag_reducer *reducer, void *out, const void *in, size_t elements)
{
    struct member *member = ((struct watched_reducer *)reducer)->member;
    const struct call_options *options = &member->world->options;
    const bool inside = inside_input(member, in, elements) || came(member, in, elements);
    if (!inside_output(member, out, elements) || !inside || elements < 1) {
        watch_problem(member, "%zu elements are copied outside the vectors", elements);
        return STRAG_ERR_REDUCE;
    }
    if (options->reducer_fails_on == member->rank && options->fail_copy)
        return STRAG_ERR_REDUCE;
    for (size_t i = 0; i < elements; i++)
        memcpy((char *)out + i * options->extent, (const char *)in + i * options->extent,
               sizeof(uint64_t));
    return STRAG_OK;
}

/* ---- A call ---- */

void watch_begin(struct member *member)
{
    const struct strag_transport into_buffers = {
        .send = watched_send,
        .recv = watched_recv,
        .progress = watched_progress,
        .cancel = watched_cancel,
    };
    member->into_buffers = (struct watched_transport){into_buffers, member};
    member->transport = member->into_buffers;
    if (member->world->options.network.in_place) {
        member->transport.base.recv_in_place = watched_recv_in_place;
        member->transport.base.release = watched_release_message;
    }
    if (member->endpoint->try_send &&
        !rng_one_in(&member->rng, 8)) { /* some ranks have it, some not */
        member->transport.base.try_send = watched_try_send;
        member->transport.base.try_recv = watched_try_recv;
        member->transport.base.release_recv = watched_release_recv;
        member->transport.base.try_send_max = member->endpoint->try_send_max;
        member->transport.base.try_send_depth = member->endpoint->try_send_depth;
    }
    member->reducer = (struct watched_reducer){
        {watched_allocate, watched_release, watched_reduce, watched_copy, watched_test}, member};
    if (member->world->options.polls == 0)
        member->reducer.base.test = NULL;
    member->try_sends = 0;
    member->library_allocations = 0;
    member->allocations = member->releases = member->lost = 0;
    member->reductions = 0;
    member->flying = 0;
    memset(member->pending, 0, sizeof member->pending);
}

void watch_end(struct member *member)
{
    while (member->flights) {
        struct flight *flight = member->flights;
        member->flights = flight->next;
        free(flight->packed);
        free(flight->sent);
        free(flight->arrived);
        free(flight);
    }
    while (member->nlost)
        free(member->lost_space[--member->nlost]);
    free(member->space);
    member->space = NULL;
}

void watch_check_clean(struct member *member)
{
    if (member->flying)
        watch_problem(member, "%ld messages are in flight", member->flying);
    for (const struct flight *f = member->flights; f; f = f->next) {
        if (f->arrived)
            watch_problem(member, "a message was not released");
    }
    if (member->space || member->allocations != member->releases)
        watch_problem(member, "temporary space was taken %d times and given back %d times",
                      member->allocations, member->releases);
    for (int i = 0; i < PENDING_MAX; i++) {
        if (member->pending[i].active)
            watch_problem(member, "a reduction is still pending");
    }
}
