/* SPDX-License-Identifier: BSD-3-Clause */
#include "shm_ranks.h"

#include "run/engine.h"
#include "world.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum { SECONDS_MAX = 60 /* of processors, in one call */, ENGINES_MAX = 64 };

static void *allocated(void *memory)
{
    if (!memory)
        fail_msg("out of memory");
    return memory;
}

/* ---- Plans ---- */

void shm_plans_make(struct shm_plans *plans, const char *algorithm, int n, int blocks, int root)
{
    const struct strag_algorithm *it = support_algorithm(algorithm);
    struct strag_problem problem = support_problem(it, n);
    struct strag_error err = {""};
    problem.blocks = blocks;
    problem.root = root;
    plans->n = n;
    plans->plans = allocated(calloc((size_t)n, sizeof(struct strag_plan *)));
    if (support_create_all(it, &problem, plans->plans, &err) != STRAG_OK ||
        strag_verify_plans(plans->plans, n, NULL, NULL, &plans->proof, &err) != STRAG_OK)
        fail_msg("%s n=%d: %s", algorithm, n, err.text);
    strag_proof_expressions(plans->proof, &plans->expressions);
}

void shm_plans_free(struct shm_plans *plans)
{
    strag_proof_free(plans->proof);
    support_plans_free(plans->plans, plans->n);
}

/* ---- Values ---- */

static uint64_t input_value(const struct shm_call *call, int rank, size_t element)
{
    return scramble(call->seed + scramble((uint64_t)rank << 40 ^ element));
}

static uint64_t value_of(const struct shm_call *call, int32_t expression, size_t element)
{
    const struct strag_expressions *all = &call->plans->expressions;
    if (expression < all->n)
        return input_value(call, expression, element);
    int32_t left, right;
    strag_expression_operands(all->table, expression, &left, &right);
    return world_reduce(value_of(call, left, element), value_of(call, right, element));
}

/* What the plans compute, serially. */
static uint64_t *expected_values(const struct shm_call *call)
{
    uint64_t *values = allocated(malloc(call->count * sizeof *values + 1));
    const struct strag_bounds *bounds = &call->plans->plans[0]->bounds;
    for (int block = 0; block < bounds->blocks; block++) {
        size_t end = strag_block_start(bounds, block + 1, call->count);
        for (size_t i = strag_block_start(bounds, block, call->count); i < end; i++)
            values[i] = value_of(call, call->plans->expressions.result[block], i);
    }
    return values;
}

/* How a rank's elements lie in memory; each is `offset` bytes behind its address. */
struct layout {
    size_t extent, offset;
    bool broken; /* it cannot be packed */
};

static const struct layout layouts[] = {
    {8, 0, false}, {24, 8, false}, {16, 4, false}, {24, 8, true}};

enum { LAYOUTS = 3, BROKEN = 3 };

static uint64_t get_value(const struct layout *layout, const void *elements, size_t i)
{
    uint64_t value;
    memcpy(&value, (const char *)elements + i * layout->extent + layout->offset, sizeof value);
    return value;
}

static void set_value(const struct layout *layout, void *elements, size_t i, uint64_t value)
{
    memcpy((char *)elements + i * layout->extent + layout->offset, &value, sizeof value);
}

static int pack(const void *type, void *packed, const void *elements, size_t count)
{
    const struct layout *layout = type;
    for (size_t i = 0; i < count && !layout->broken; i++)
        set_value(&layouts[0], packed, i, get_value(layout, elements, i));
    return layout->broken ? STRAG_ERR_TRANSPORT : STRAG_OK;
}

static int unpack(const void *type, void *elements, const void *packed, size_t count)
{
    for (size_t i = 0; i < count; i++)
        set_value(type, elements, i, get_value(&layouts[0], packed, i));
    return STRAG_OK;
}

/* ---- A rank ---- */

struct reducer {
    struct strag_reducer base;
    const struct layout *layout;
};

struct rank {
    struct shm_ranks *ranks;
    struct strag_shm *shm;
    int rank;
    const struct shm_call *calls;
    uint64_t *const *expected; /* by call */
    int ncalls;
    struct shm_outcome *outcomes; /* [ncalls * n] */
    struct shm_outcome *outcome;  /* of the call */
    struct rng rng;
    struct strag_transport own; /* the transport's own functions */
    const struct shm_plans *known[ENGINES_MAX];
    struct strag_engine *engines[ENGINES_MAX];
};

static _Thread_local struct rank *self;
static atomic_bool stuck; /* a rank has waited too long: all end */

static void host_progress(void)
{
    sched_yield();
}

static void *space_allocate(struct strag_reducer *base, size_t elements)
{
    return malloc(elements * ((struct reducer *)base)->layout->extent);
}

static void space_release(struct strag_reducer *base, void *buffer, int lost)
{
    (void)lost; /* nothing arrives any more after cancel */
    free(buffer);
}

static int reduce(struct strag_reducer *base, void *out, const void *left, const void *right,
                  size_t elements, uint64_t *ticket)
{
    const struct layout *layout = ((struct reducer *)base)->layout;
    for (size_t i = 0; i < elements; i++)
        set_value(layout, out, i,
                  world_reduce(get_value(layout, left, i), get_value(layout, right, i)));
    return STRAG_OK;
}

static int copy(struct strag_reducer *base, void *out, const void *in, size_t elements)
{
    const struct layout *layout = ((struct reducer *)base)->layout;
    for (size_t i = 0; i < elements; i++)
        set_value(layout, out, i, get_value(layout, in, i));
    return STRAG_OK;
}

/* ---- Counting messages ---- */

static int count_send(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                      const void *buffer, size_t elements)
{
    self->outcome->sends++;
    return self->own.send(base, transfer, peer, buffer, elements);
}

static int count_recv(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                      void *buffer, size_t elements)
{
    self->outcome->receives++;
    return self->own.recv(base, transfer, peer, buffer, elements);
}

static int count_recv_in_place(struct strag_transport *base, struct strag_transfer *transfer,
                               int peer, size_t elements)
{
    self->outcome->receives++;
    return self->own.recv_in_place(base, transfer, peer, elements);
}

static int count_try_send(struct strag_transport *base, int peer, const void *buffer,
                          size_t elements, uint64_t content)
{
    int status = self->own.try_send(base, peer, buffer, elements, content);
    self->outcome->try_sends += status == STRAG_OK;
    return status;
}

static int count_try_recv(struct strag_transport *base, int peer, size_t elements,
                          const void **arrived)
{
    int status = self->own.try_recv(base, peer, elements, arrived);
    self->outcome->try_receives += status == STRAG_OK;
    return status;
}

static void count_messages(struct strag_transport *transport)
{
    self->own = *transport;
    transport->send = count_send;
    transport->recv = count_recv;
    transport->recv_in_place = transport->recv_in_place ? count_recv_in_place : NULL;
    transport->try_send = transport->try_send ? count_try_send : NULL;
    transport->try_recv = count_try_recv;
}

/* As before, but for what is set for each call. */
static void restore(struct strag_transport *transport)
{
    transport->send = self->own.send;
    transport->recv = self->own.recv;
    transport->try_recv = self->own.try_recv;
}

/* ---- Calls ---- */

static struct strag_engine *engine_of(const struct shm_plans *plans)
{
    int i = 0;
    while (i < ENGINES_MAX - 1 && self->known[i] && self->known[i] != plans)
        i++;
    if (!self->known[i] &&
        strag_engine_create(plans->plans[self->rank], 2, &self->engines[i], NULL) == STRAG_OK)
        self->known[i] = plans;
    return self->known[i] == plans ? self->engines[i] : NULL;
}

static void delay(unsigned rarely)
{
    if (rng_one_in(&self->rng, rarely))
        sched_yield();
    if (rng_one_in(&self->rng, 8 * rarely))
        usleep(rng_below(&self->rng, 200));
}

static int drive(struct strag_engine *engine, const struct strag_call *call)
{
    const double end = support_thread_seconds() + SECONDS_MAX;
    int status = strag_engine_start(engine, call);
    for (long i = 1; status == STRAG_OK || status == STRAG_PENDING; i++) {
        status = strag_engine_progress(engine);
        if (status == STRAG_OK || atomic_load_explicit(&stuck, memory_order_relaxed))
            break;
        delay(100);
        if (i % 1024 == 0 && support_thread_seconds() > end)
            atomic_store(&stuck, true);
    }
    return status;
}

static size_t count_wrong(const struct layout *layout, const void *output, const uint64_t *expected,
                          size_t count)
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += get_value(layout, output, i) != expected[i];
    return wrong;
}

static int run_engine(const struct shm_call *call, const struct layout *layout, bool longer,
                      const uint64_t *expected)
{
    const bool contiguous = layout == &layouts[0], in_place = rng_one_in(&self->rng, 3);
    const size_t count = call->count + (longer ? call->count / 10 + 1 : 0);
    struct strag_engine *engine = engine_of(call->plans);
    char *output = malloc(count * layout->extent), *input = malloc(count * layout->extent);
    struct strag_transport *transport = strag_shm_begin(
        self->shm, layout, sizeof(uint64_t), contiguous, contiguous && !call->not_in_place);
    if (!engine || !input || !output || !transport)
        return STRAG_ERR_MEMORY; /* and the test fails */
    struct reducer reducer = {{space_allocate, space_release, reduce, copy, NULL}, layout};
    struct strag_call engine_call = {
        .input = in_place ? output : input,
        .output = output,
        .count = count,
        .extent = (ptrdiff_t)layout->extent,
        .lanes = {{.segment = call->segment, .slots = 2}, {.segment = call->segment, .slots = 2}},
        .transport = transport,
        .reducer = &reducer.base,
    };
    for (size_t i = 0; i < count; i++)
        set_value(layout, in_place ? output : input, i, input_value(call, self->rank, i));
    self->outcome->root = strag_shm_choose_root(self->shm, call->count * sizeof(uint64_t));
    self->outcome->hints = transport->hint_wait != NULL;
    count_messages(transport);
    int status = drive(engine, &engine_call);
    restore(transport);
    strag_shm_end(self->shm);
    if (status == STRAG_OK)
        self->outcome->wrong = count_wrong(layout, output, expected, call->count);
    free(input);
    free(output);
    return status;
}

static int run_call(const struct shm_call *call, const uint64_t *expected)
{
    bool odd = call->odd == self->rank;
    const struct layout *layout =
        &layouts[call->contiguous || rng_one_in(&self->rng, 2) ? 0
                                                               : rng_below(&self->rng, LAYOUTS)];
    delay(2);
    strag_shm_next_call(self->shm, self->shm->call + 1, false);
    if (odd && call->wrong == CANNOT_PACK)
        layout = &layouts[BROKEN];
    int status = odd && call->wrong == GIVES_UP
                     ? STRAG_ERR_MEMORY
                     : run_engine(call, layout, odd && call->wrong == CALLS_LONGER, expected);
    if (status != STRAG_OK)
        strag_shm_abandon(self->shm);
    return status;
}

/* The assertions of cmocka belong to the main thread, so this one only takes notes. */
static void *run_rank(void *argument)
{
    self = argument;
    for (int c = 0; c < self->ncalls && !atomic_load(&stuck); c++) {
        self->outcome = &self->outcomes[c * self->ranks->n + self->rank];
        self->outcome->status = run_call(&self->calls[c], self->expected[c]);
    }
    for (int e = 0; e < ENGINES_MAX && !atomic_load(&stuck); e++)
        strag_engine_free(self->engines[e]);
    return NULL;
}

struct shm_run {
    pthread_t threads[SHM_RANKS_MAX];
    struct rank all[SHM_RANKS_MAX];
    uint64_t **expected; /* by call */
    int ncalls;
};

void shm_ranks_start(struct shm_ranks *ranks, const struct shm_call *calls, int ncalls,
                     struct rng *rng, struct shm_outcome *outcomes)
{
    struct shm_run *run = ranks->run = allocated(calloc(1, sizeof *run));
    run->expected = allocated(calloc((size_t)ncalls, sizeof *run->expected));
    run->ncalls = ncalls;
    for (int c = 0; c < ncalls; c++)
        run->expected[c] = expected_values(&calls[c]);
    for (int i = 0; i < ncalls * ranks->n; i++)
        outcomes[i] = (struct shm_outcome){.status = STRAG_PENDING};
    for (int r = 0; r < ranks->n; r++) {
        run->all[r] = (struct rank){.ranks = ranks,
                                    .shm = ranks->views[r],
                                    .rank = r,
                                    .calls = calls,
                                    .expected = run->expected,
                                    .ncalls = ncalls,
                                    .outcomes = outcomes,
                                    .rng = {rng_next(rng)}};
        assert_int_equal(pthread_create(&run->threads[r], NULL, run_rank, &run->all[r]), 0);
    }
}

void shm_ranks_finish(struct shm_ranks *ranks)
{
    struct shm_run *run = ranks->run;
    for (int r = 0; r < ranks->n; r++)
        assert_int_equal(pthread_join(run->threads[r], NULL), 0);
    if (atomic_load(&stuck))
        fail_msg("a rank has polled for %d s of processor time", SECONDS_MAX);
    for (int c = 0; c < run->ncalls; c++)
        free(run->expected[c]);
    free(run->expected);
    free(run);
}

void shm_ranks_run(struct shm_ranks *ranks, const struct shm_call *calls, int ncalls,
                   struct rng *rng, struct shm_outcome *outcomes)
{
    shm_ranks_start(ranks, calls, ncalls, rng, outcomes);
    shm_ranks_finish(ranks);
}

/* ---- A host ---- */

static struct strag_shm_process *make_process(int n, const struct shm_host_options *options)
{
    struct strag_shm_process *process = allocated(strag_shm_process_create(n, (size_t)256 << 20));
    if (options->size)
        assert_int_equal(strag_shm_arena_make_sized(process, options->size), STRAG_SHM_ABLE);
    process->may_map = process->wanted;
    process->communicators = 1; /* others of this process look into it to the end */
    return process;
}

static bool knows(const struct strag_shm_process *process, uint64_t key)
{
    const struct strag_shm_opened *opened = process->opened[key % STRAG_SHM_OPEN_LISTS];
    while (opened && opened->key != key)
        opened = opened->next;
    return opened != NULL;
}

static void join(struct shm_ranks *ranks)
{
    const struct strag_shm_host host = {
        pack, unpack, host_progress, ranks->options.yields, ranks->options.threads, NULL};
    static const uint8_t lane_of[SHM_RANKS_MAX];
    struct strag_shm_info infos[SHM_RANKS_MAX];
    const int n = ranks->n;
    for (int r = 0; r < n; r++) {
        ranks->views[r] = allocated(strag_shm_create(ranks->processes[r], &host, n, r, lane_of, 0));
        assert_int_equal(strag_shm_make(ranks->views[r], &infos[r]), STRAG_SHM_ABLE);
        infos[r].processors = ranks->options.few ? (n + 1) / 2 : 0;
    }
    for (int r = 0; r < n && !ranks->options.file; r++) {
        for (int k = 0; k < n; k++) {
            const struct strag_shm_process *other = ranks->processes[k];
            if (k != r && !knows(ranks->processes[r], other->key))
                allocated(
                    strag_shm_arena_add(ranks->processes[r], other->key, other->arena.base, false));
        }
    }
    for (int r = 0; r < n; r++) {
        assert_int_equal(strag_shm_join(ranks->views[r], infos), STRAG_SHM_ABLE);
        assert_int_equal(ranks->views[r]->few, ranks->options.few);
    }
}

void shm_ranks_create(struct shm_ranks *ranks, int n, const struct shm_host_options *options)
{
    *ranks = (struct shm_ranks){.n = n, .options = *options};
    for (int r = 0; r < n; r++)
        ranks->processes[r] = make_process(n, options);
    join(ranks);
}

void shm_ranks_dup(struct shm_ranks *ranks, const struct shm_ranks *other)
{
    *ranks = *other;
    join(ranks);
}

void shm_ranks_leave(struct shm_ranks *ranks)
{
    for (int r = 0; r < ranks->n; r++)
        strag_shm_free(ranks->views[r]);
}

void shm_ranks_free(struct shm_ranks *ranks)
{
    shm_ranks_leave(ranks);
    for (int r = 0; r < ranks->n; r++)
        assert_int_equal(strag_shm_process_settle(ranks->processes[r]), 1);
    for (int r = 0; r < ranks->n; r++)
        strag_shm_process_free(ranks->processes[r]);
}
