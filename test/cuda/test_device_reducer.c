/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine on device memory, over the loopback and the fake driver: every algorithm, some ranks'
 * vectors on one of two devices and others' on the host, over a transport that takes both. The
 * results are, bit for bit, those of the same call in host memory; nothing is lost when a message
 * or a call of the driver fails.
 */
#include "algorithms/table.h"
#include "carrier.h"
#include "device_reducer.h"
#include "loopback.h"
#include "memory.h"
#include "plugin_support.h"
#include "run/engine.h"
#include "support.h"

enum {
    RANKS_MAX = 9,
    COUNT_MAX = 2000,
    MARGIN = 64,
    DEPTH = 2,
    STEPS_MAX = 4000000,
};

static struct gpu gpu;
static const struct strag_cuda *cuda;

/* ---- Sums of floats in host memory: what stands for MPI's operators ---- */

static void *host_allocate(struct strag_reducer *base, size_t elements)
{
    (void)base;
    return malloc(elements * sizeof(float));
}

static void host_release(struct strag_reducer *base, void *buffer, int lost)
{
    (void)base;
    if (!lost)
        free(buffer);
}

static int host_reduce(struct strag_reducer *base, void *out, const void *left, const void *right,
                       size_t elements, uint64_t *ticket)
{
    (void)base;
    (void)ticket;
    for (size_t i = 0; i < elements; i++)
        ((float *)out)[i] = ((const float *)left)[i] + ((const float *)right)[i];
    return STRAG_OK;
}

static int host_copy(struct strag_reducer *base, void *out, const void *in, size_t elements)
{
    (void)base;
    memmove(out, in, elements * sizeof(float));
    return STRAG_OK;
}

static struct strag_reducer on_host = {host_allocate, host_release, host_reduce, host_copy, NULL};

/* ---- A world ---- */

struct member {
    struct strag_engine *engine;
    struct strag_device_reducer on_device;
    struct carrier network;
    int device; /* -1: this rank's vector is in host memory */
    enum gpu_memory memory;
    char *input, *output;      /* as MPI's user gives them */
    char *got, *want, *before; /* in host memory, with margins */
    int status;
    bool started;
};

struct situation {
    int n;
    size_t count;
    bool in_place;
    size_t segment;
    int slots;
    struct strag_loopback_options network;
};

static struct member members[RANKS_MAX];

static size_t bytes_of(const struct situation *s)
{
    return s->count * sizeof(float) + 2 * MARGIN;
}

static void *memory_take(const struct situation *s, const struct member *m)
{
    return m->device < 0 ? malloc(bytes_of(s))
                         : gpu_allocate(&gpu, m->device, m->memory, bytes_of(s));
}

static void memory_give(const struct member *m, void *memory)
{
    if (m->device < 0)
        free(memory);
    else
        gpu_free(&gpu, m->device, m->memory, memory);
}

/* The same numbers for the same rank; the bytes around the elements, too. */
static void fill(const struct situation *s, int rank, char *buffer, unsigned char other)
{
    memset(buffer, other, bytes_of(s));
    for (size_t i = 0; i < s->count; i++) {
        float value = (float)(scramble((uint64_t)rank * COUNT_MAX + i) % 20001) / 7.0f - 1000;
        memcpy(buffer + MARGIN + i * sizeof value, &value, sizeof value);
    }
}

static struct strag_reducer *reducer_of(struct member *m)
{
    struct strag_cuda_location place;
    struct strag_error err = {""};
    if (m->device < 0)
        return &on_host;
    cuda->locate(m->input, &place);
    cuda->locate(m->output, &place);
    struct strag_cuda_device *device = cuda->device(&place, &err);
    assert_non_null(device);
    strag_device_reducer_init(&m->on_device, cuda, device, STRAG_CUDA_SUM, STRAG_CUDA_FLOAT);
    return &m->on_device.super;
}

static void start(const struct situation *s, struct strag_loopback *network, int rank)
{
    struct member *m = &members[rank];
    const struct strag_lane lane = {.segment = s->segment, .slots = s->slots};
    struct strag_call call = {
        .input = s->in_place ? m->output + MARGIN : m->input + MARGIN,
        .output = m->output + MARGIN,
        .count = s->count,
        .extent = sizeof(float),
        .lanes = {lane, lane},
        .transport = &m->network.super,
        .reducer = reducer_of(m),
    };
    carrier_init(&m->network, strag_loopback_endpoint(network, rank), &gpu);
    m->started = true;
    m->status = strag_engine_start(m->engine, &call);
    if (m->status == STRAG_OK)
        m->status = STRAG_PENDING;
}

static void prepare(const struct situation *s, int rank)
{
    struct member *m = &members[rank];
    m->got = malloc(bytes_of(s));
    m->before = malloc(bytes_of(s));
    m->input = memory_take(s, m);
    m->output = memory_take(s, m);
    assert_true(m->got && m->before && m->input && m->output);
    fill(s, rank, m->before, 0x77);
    assert_true(gpu_copy(&gpu, m->input, m->before, bytes_of(s)));
    if (!s->in_place)
        memset(m->before, 0x66, bytes_of(s));
    assert_true(gpu_copy(&gpu, m->output, m->before, bytes_of(s)));
}

static void forget(const struct member *m)
{
    free(m->got);
    free(m->before);
    memory_give(m, m->input);
    memory_give(m, m->output);
}

/* One call on all ranks. One whose call has ended still has messages on their way.
 * @return whether all have ended */
static bool run(const struct situation *s, struct rng *rng)
{
    struct strag_loopback *network = strag_loopback_create(s->n, sizeof(float), &s->network);
    int running = s->n;
    assert_non_null(network);
    for (int rank = 0; rank < s->n; rank++)
        members[rank].started = false;
    for (long step = 0; running > 0 && step < STEPS_MAX; step++) {
        int rank = (int)rng_below(rng, (unsigned)s->n);
        struct member *m = &members[rank];
        if (m->started && m->status != STRAG_PENDING) {
            if (m->status == STRAG_OK)
                m->network.super.progress(&m->network.super);
            continue;
        }
        if (m->started)
            m->status = strag_engine_progress(m->engine);
        else
            start(s, network, rank);
        running -= m->status != STRAG_PENDING;
        if (m->status < 0)
            strag_loopback_kill(network, rank);
    }
    strag_loopback_free(network);
    for (int rank = 0; rank < s->n; rank++)
        carrier_clear(&members[rank].network);
    return running == 0;
}

/* ---- Results ---- */

/* The call in host memory, as the engine's own tests have proved it: results to `want`. */
static void run_on_host(const struct situation *device, struct rng *rng)
{
    struct situation s = *device;
    int places[RANKS_MAX] = {0};
    s.network = (struct strag_loopback_options){.seed = 1};
    for (int rank = 0; rank < s.n; rank++) {
        places[rank] = members[rank].device;
        members[rank].device = -1;
        prepare(&s, rank);
    }
    assert_true(run(&s, rng));
    for (int rank = 0; rank < s.n; rank++) {
        struct member *m = &members[rank];
        assert_int_equal(m->status, STRAG_OK);
        m->want = m->output;
        m->output = NULL;
        forget(m);
        m->device = places[rank];
    }
}

static void compare(const struct situation *s, const char *name, int rank)
{
    struct member *m = &members[rank];
    if (m->status != STRAG_OK)
        fail_msg("%s n=%d rank %d: status %d", name, s->n, rank, m->status);
    assert_true(gpu_copy(&gpu, m->got, m->output, bytes_of(s)));
    for (size_t i = 0; i < bytes_of(s); i++) {
        if (m->got[i] != m->want[i])
            fail_msg("%s n=%d, count %zu%s rank %d (device %d): byte %zu is wrong", name, s->n,
                     s->count, s->in_place ? " in place" : "", rank, m->device, i - MARGIN);
    }
}

static struct situation random_situation(struct rng *rng, int n)
{
    return (struct situation){
        .n = n,
        .count = rng_one_in(rng, 6) ? rng_below(rng, 20) : rng_below(rng, COUNT_MAX),
        .in_place = rng_one_in(rng, 3),
        .segment = 1 + rng_below(rng, 300),
        .slots = 1 + (int)rng_below(rng, 5),
        .network = {.seed = rng_next(rng),
                    .max_delay = rng_below(rng, 30),
                    .eager = rng_one_in(rng, 2) ? rng_below(rng, 300) : 0},
    };
}

static void place_ranks(const struct situation *s, struct rng *rng)
{
    bool all = rng_one_in(rng, 3);
    for (int rank = 0; rank < s->n; rank++) {
        members[rank].device = all || !rng_one_in(rng, 3) ? (int)rng_below(rng, 2) : -1;
        members[rank].memory = rng_one_in(rng, 5) ? GPU_MANAGED : GPU_DEVICE;
    }
}

static void make_engines(struct strag_plan **plans, int n)
{
    for (int rank = 0; rank < n; rank++)
        assert_int_equal(strag_engine_create(plans[rank], DEPTH, &members[rank].engine, NULL),
                         STRAG_OK);
}

static void free_engines(int n)
{
    for (int rank = 0; rank < n; rank++)
        strag_engine_free(members[rank].engine);
}

static long algorithms(void)
{
    long length = 0;
    while (strag_algorithms[length])
        length++;
    return length;
}

static const struct strag_algorithm *random_algorithm(struct rng *rng)
{
    return strag_algorithms[rng_below(rng, (unsigned)algorithms())];
}

static void run_case(const struct strag_algorithm *algorithm, const struct situation *s,
                     struct rng *rng)
{
    place_ranks(s, rng);
    run_on_host(s, rng);
    for (int rank = 0; rank < s->n; rank++)
        prepare(s, rank);
    if (!run(s, rng))
        fail_msg("%s n=%d count %zu: it hangs", algorithm->name, s->n, s->count);
    for (int rank = 0; rank < s->n; rank++) {
        compare(s, algorithm->name, rank);
        forget(&members[rank]);
        free(members[rank].want);
    }
}

static void open_all(struct rng *rng)
{
    plugin_driver(&gpu, (unsigned)rng_next(rng));
    cuda = plugin_open(&gpu, PLUGIN_FAKE_KERNELS);
}

static void close_all(void)
{
    struct fake_counts counts;
    plugin_close(&gpu, cuda);
    gpu.fake_counts(&counts);
    assert_int_equal(counts.device_pieces, 0);
}

TEST(same_as_on_the_host)
{
    struct rng rng = {support_seed("device reducer")};
    struct fake_counts counts;
    long cases = support_cases(600);
    open_all(&rng);
    for (long i = 0; i < cases; i++) {
        const struct strag_algorithm *algorithm = strag_algorithms[i % algorithms()];
        int n = support_ranks(algorithm, 2 + (int)rng_below(&rng, 6));
        if (n > RANKS_MAX)
            continue;
        struct strag_plan **plans = support_plans(algorithm, n);
        struct situation s = random_situation(&rng, n);
        make_engines(plans, n);
        run_case(algorithm, &s, &rng);
        free_engines(n);
        support_plans_free(plans, n);
    }
    gpu.fake_counts(&counts);
    assert_true(counts.kernels > 0 && counts.copies > 0);
    close_all();
    print_message("%ld cases, %ld kernels, %ld copies\n", cases, counts.kernels, counts.copies);
}

/* ---- Failures ---- */

/* A message or a call of the driver fails somewhere: all ranks end, and nothing is kept. */
TEST(failures)
{
    static const char *const functions[] = {"MemcpyAsync", "EventQuery", "EventRecord",
                                            "LaunchKernel", "MemAlloc"};
    struct rng rng = {support_seed("device reducer that fails")};
    long cases = support_cases(400), failed = 0;
    for (long i = 0; i < cases; i++) {
        const struct strag_algorithm *algorithm = random_algorithm(&rng);
        int n = support_ranks(algorithm, 2 + (int)rng_below(&rng, 6)), bad = 0;
        if (n > RANKS_MAX)
            continue;
        open_all(&rng);
        struct strag_plan **plans = support_plans(algorithm, n);
        struct situation s = random_situation(&rng, n);
        bool driver = rng_one_in(&rng, 2);
        if (!driver) {
            s.network.fail_rank = (int)rng_below(&rng, (unsigned)n);
            s.network.fail_post = 1 + rng_below(&rng, 12);
            s.network.fail_late = rng_one_in(&rng, 2);
        }
        make_engines(plans, n);
        place_ranks(&s, &rng);
        for (int rank = 0; rank < n; rank++)
            prepare(&s, rank);
        if (driver)
            gpu.fake_fail(functions[rng_below(&rng, 5)], 1 + (long)rng_below(&rng, 60));
        if (!run(&s, &rng))
            fail_msg("%s n=%d: it hangs", algorithm->name, n);
        gpu.fake_fail(NULL, 0);
        for (int rank = 0; rank < n; rank++) {
            bad += members[rank].status != STRAG_OK;
            forget(&members[rank]);
        }
        failed += bad > 0;
        free_engines(n);
        support_plans_free(plans, n);
        close_all();
    }
    print_message("%ld of %ld cases met a failure\n", failed, cases);
    assert_true(failed > 0 || cases < 20);
}
