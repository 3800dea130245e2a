/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks, their buffers, and running them; what watches an engine is in watch.c. */
#include "world.h"

#include "memory.h"
#include "watch.h"

#include <inttypes.h>

static void *allocated(void *memory)
{
    if (!memory)
        fail_msg("out of memory");
    return memory;
}

struct world *world_create(struct strag_plan *const *plans, int n, int depth)
{
    struct world *world = allocated(calloc(1, sizeof *world));
    world->n = n;
    world->plans = plans;
    world->members = allocated(calloc((size_t)n, sizeof *world->members));
    for (int rank = 0; rank < n; rank++) {
        struct strag_error err = {""};
        struct member *member = &world->members[rank];
        member->world = world;
        member->rank = rank;
        member->lane_of = allocated(calloc((size_t)n, sizeof *member->lane_of));
        if (strag_engine_create(plans[rank], depth, &member->engine, &err) != STRAG_OK)
            fail_msg("rank %d of %d: %s", rank, n, err.text);
    }
    return world;
}

void world_free(struct world *world)
{
    for (int rank = 0; rank < world->n; rank++)
        strag_engine_free(world->members[rank].engine);
    for (int rank = 0; rank < world->n; rank++)
        free(world->members[rank].lane_of);
    free(world->members);
    free(world);
}

struct call_options world_options(size_t count)
{
    return (struct call_options){
        .count = count,
        .extent = sizeof(uint64_t),
        .lanes = {{.segment = 4, .slots = 2}, {.segment = 4, .slots = 2}},
        .reducer_fails_on = NEVER,
    };
}

uint64_t world_reduce(uint64_t left, uint64_t right)
{
    return scramble(left * 3 + scramble(right + 0x632be59bd9b4e019u));
}

static uint8_t lane_between(const struct world *world, int a, int b)
{
    int host = world->options.host;
    return host && a / host != b / host;
}

const struct strag_lane *world_lane(const struct world *world, int a, int b)
{
    return &world->options.lanes[lane_between(world, a, b)];
}

/* ---- Buffers: a margin, the vector with its gaps, a margin. ---- */

enum { MARGIN = 32 };

static uint64_t input_value(const struct world *world, int rank, size_t element)
{
    return scramble(world->values + scramble((uint64_t)rank << 40 ^ element));
}

/* What stands in margins and gaps. */
static unsigned char filler(int rank, size_t byte)
{
    return (unsigned char)(17 * (unsigned)rank + 31 * (unsigned)byte + 5);
}

static size_t buffer_size(const struct world *world)
{
    return 2 * MARGIN + world->options.count * world->options.extent;
}

void *world_vector(const struct member *member, bool output, size_t element)
{
    unsigned char *buffer = output ? member->output : member->input;
    return buffer + MARGIN + element * member->world->options.extent;
}

static void fill_buffer(const struct member *member, bool output)
{
    const struct world *world = member->world;
    unsigned char *buffer = output ? member->output : member->input;
    bool values = !output || world->options.in_place;
    for (size_t i = 0; i < buffer_size(world); i++)
        buffer[i] = filler(member->rank, i);
    for (size_t i = 0; values && i < world->options.count; i++) {
        uint64_t value = input_value(world, member->rank, i);
        memcpy(world_vector(member, output, i), &value, sizeof value);
    }
}

/* Is the buffer as it was filled, but for the elements of an output? */
static void check_buffer(struct member *member, bool output)
{
    const struct world *world = member->world;
    const unsigned char *buffer = output ? member->output : member->input;
    for (size_t i = 0; i < buffer_size(world); i++) {
        bool inside = i >= MARGIN && i < buffer_size(world) - MARGIN;
        bool value = inside && (i - MARGIN) % world->options.extent < sizeof(uint64_t);
        if (!value && buffer[i] != filler(member->rank, i))
            watch_problem(member, "byte %zu of the %s, outside its elements, was changed", i,
                          output ? "output" : "input");
    }
    for (size_t i = 0; !output && i < world->options.count; i++) {
        uint64_t value = input_value(world, member->rank, i);
        if (memcmp(world_vector(member, false, i), &value, sizeof value) != 0)
            watch_problem(member, "element %zu of the input was changed", i);
    }
}

/* ---- A call ---- */

void world_begin(struct world *world, const struct call_options *options, struct rng *rng)
{
    world->options = *options;
    world->options.network.seed = rng_next(rng);
    world->values = rng_next(rng);
    /* With gaps the messages are packed (watch.c), so an element is its value alone here. */
    world->network =
        allocated(strag_loopback_create(world->n, sizeof(uint64_t), &world->options.network));
    for (int rank = 0; rank < world->n; rank++) {
        struct member *member = &world->members[rank];
        member->endpoint = strag_loopback_endpoint(world->network, rank);
        member->rng.state = rng_next(rng);
        member->started = false;
        member->status = STRAG_PENDING;
        member->problem[0] = '\0';
        member->events = 0;
        watch_begin(member);
        for (int other = 0; other < world->n; other++)
            member->lane_of[other] = lane_between(world, rank, other);

        member->output = allocated(malloc(buffer_size(world)));
        fill_buffer(member, true);
        member->input = options->in_place ? NULL : allocated(malloc(buffer_size(world)));
        if (member->input)
            fill_buffer(member, false);
    }
}

static int start(struct member *member)
{
    const struct call_options *options = &member->world->options;
    void *output = world_vector(member, true, 0);
    const struct strag_call call = {
        .input = options->in_place ? output : world_vector(member, false, 0),
        .output = output,
        .count = options->count,
        .extent = (ptrdiff_t)options->extent,
        .lanes = {options->lanes[0], options->lanes[1]},
        .lane_of = options->host ? member->lane_of : NULL,
        .gap = options->gap,
        .transport = &member->transport.base,
        .reducer = &member->reducer.base,
    };
    struct strag_call mixed = call;
    mixed.lanes[1].transport = &member->into_buffers.base;
    member->started = true;
    return strag_engine_start(member->engine, options->one_in_place ? &mixed : &call);
}

int world_step(struct member *member)
{
    memory_watch(0);
    int status = member->started ? STRAG_OK : start(member);
    if (status == STRAG_OK)
        status = strag_engine_progress(member->engine);
    member->library_allocations += memory_unwatch().allocations;
    member->status = status;
    return status;
}

bool world_run(struct world *world, struct rng *rng)
{
    const struct call_options *options = &world->options;
    const unsigned n = (unsigned)world->n;
    /* After this many steps without an event every rank has had its turn many times, all delays are
     * done, and every reduction was asked often enough. */
    const long wait_limit = 200L * n * (options->polls + 2) + 4L * options->network.max_delay;
    long quiet = 0;
    for (int running = world->n; running > 0;) {
        struct member *member = &world->members[rng_below(rng, n)];
        unsigned turns = rng_one_in(rng, 8) ? 1 + rng_below(rng, 20) : 1;
        for (; turns && member->status == STRAG_PENDING; turns--) {
            long events = member->events;
            if (world_step(member) != STRAG_PENDING) {
                running--;
                events = -1;
            }
            quiet = member->events == events ? quiet + 1 : 0;
            if (member->status < 0)
                strag_loopback_kill(world->network, member->rank);
        }
        if (quiet > wait_limit)
            return false;
    }
    return true;
}

void world_end(struct world *world)
{
    for (int rank = 0; rank < world->n; rank++) {
        struct member *member = &world->members[rank];
        watch_end(member);
        free(member->input);
        free(member->output);
        member->input = member->output = NULL;
    }
    strag_loopback_free(world->network);
    world->network = NULL;
}

/* ---- Looking at what came out ---- */

static uint64_t expected(const struct world *world, const struct strag_expressions *expressions,
                         int32_t node, size_t element)
{
    if (node < expressions->n)
        return input_value(world, node, element);
    int32_t left, right;
    strag_expression_operands(expressions->table, node, &left, &right);
    return world_reduce(expected(world, expressions, left, element),
                        expected(world, expressions, right, element));
}

static void check_block(struct world *world, const struct strag_expressions *expressions, int block)
{
    const struct strag_bounds *bounds = &world->plans[0]->bounds;
    size_t end = strag_block_start(bounds, block + 1, world->options.count);
    for (size_t i = strag_block_start(bounds, block, world->options.count); i < end; i++) {
        uint64_t right = expected(world, expressions, expressions->result[block], i);
        for (int rank = 0; rank < world->n; rank++) {
            struct member *member = &world->members[rank];
            uint64_t value;
            memcpy(&value, world_vector(member, true, i), sizeof value);
            if (member->status == STRAG_OK && value != right)
                watch_problem(member, "element %zu, block %d is %016" PRIx64 ", not %016" PRIx64, i,
                              block, value, right);
        }
    }
}

void world_check_result(struct world *world, const struct strag_expressions *expressions)
{
    for (int block = 0; block < world->plans[0]->bounds.blocks; block++)
        check_block(world, expressions, block);
    for (int rank = 0; rank < world->n; rank++) {
        check_buffer(&world->members[rank], true);
        if (!world->options.in_place)
            check_buffer(&world->members[rank], false);
    }
}

/* Elements of an operation, and the messages they are cut into. */
static size_t operation_size(const struct world *world, const struct strag_plan *plan, int op,
                             size_t *messages)
{
    size_t segment = world_lane(world, plan->rank, plan->ops[op].peer)->segment;
    int first = plan->ops[op].first, end = first + plan->ops[op].count;
    size_t elements = strag_block_start(&plan->bounds, end, world->options.count) -
                      strag_block_start(&plan->bounds, first, world->options.count);
    *messages = elements / segment + (elements % segment != 0);
    return elements;
}

long world_messages(const struct world *world, int rank)
{
    const struct strag_plan *plan = world->plans[rank];
    size_t all = 0;
    for (int op = 0; op < plan->nops; op++) {
        size_t messages;
        operation_size(world, plan, op, &messages);
        all += messages;
    }
    return (long)all;
}

void world_check_traffic(struct world *world)
{
    for (int rank = 0; rank < world->n; rank++) {
        const struct strag_plan *plan = world->plans[rank];
        size_t elements = 0, messages = 0, sent_elements, sent_messages;
        for (int op = 0; op < plan->nops; op++) {
            size_t some = 0;
            if (plan->ops[op].kind == STRAG_SEND)
                elements += operation_size(world, plan, op, &some);
            messages += some;
        }
        strag_loopback_sent(world->network, rank, &sent_elements, &sent_messages);
        if (sent_elements != elements || sent_messages != messages)
            watch_problem(&world->members[rank],
                          "%zu elements were sent in %zu messages, not %zu in %zu", sent_elements,
                          sent_messages, elements, messages);
    }
}

void world_check_clean(struct world *world)
{
    size_t pending = strag_loopback_pending(world->network);
    if (pending)
        watch_problem(&world->members[0], "%zu messages are pending on the network", pending);
    for (int rank = 0; rank < world->n; rank++)
        watch_check_clean(&world->members[rank]);
}

const char *world_problem(const struct world *world)
{
    for (int rank = 0; rank < world->n; rank++) {
        if (world->members[rank].problem[0])
            return world->members[rank].problem;
    }
    return NULL;
}

char *world_describe(const struct world *world, char *buffer, size_t size)
{
    const struct call_options *o = &world->options;
    snprintf(buffer, size,
             "%s n=%d count=%zu segment=%zu+%zu extent=%zu slots=%d+%d host=%d%s polls=%u "
             "max_delay=%u%s "
             "eager=%zu gap=%zu room=%d%s",
             world->plans[0]->algorithm, world->n, o->count, o->lanes[0].segment,
             o->lanes[1].segment, o->extent, o->lanes[0].slots, o->lanes[1].slots, o->host,
             o->in_place ? " in place" : "", o->polls, o->network.max_delay,
             o->network.in_order ? " in order" : "", o->network.eager, o->gap, o->network.room,
             !o->network.in_place ? ""
             : o->one_in_place    ? " lane 0 read in place"
                                  : " read in place");
    return buffer;
}

void world_assert_good(const struct world *world, bool ended, const char *text)
{
    char options[240];
    world_describe(world, options, sizeof options);
    const char *problem = world_problem(world);
    if (problem)
        fail_msg("%s, %s: %s", text, options, problem);
    if (!ended)
        fail_msg("%s, %s: hang: nothing happens any more", text, options);
    for (int rank = 0; rank < world->n; rank++) {
        int status = world->members[rank].status;
        if (status != STRAG_OK)
            fail_msg("%s, %s: rank %d: %s", text, options, rank, strag_status_text(status));
    }
}

void world_run_well(struct world *world, const struct strag_expressions *expressions,
                    struct rng *rng, const char *text)
{
    const bool ended = world_run(world, rng);
    if (ended) {
        world_check_result(world, expressions);
        world_check_traffic(world);
        world_check_clean(world);
    }
    world_assert_good(world, ended, text);
}
