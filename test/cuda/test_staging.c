/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine on device memory, over the loopback and the fake driver: every algorithm, some ranks'
 * vectors on one of two devices and others' on the host, reduced by the device or on the host,
 * over a transport that takes device memory or not, over one like the memory that a host's ranks
 * share, and over both at once. The results are, bit for bit, those of the same call in host
 * memory; nothing is lost when a message or a call of the driver fails.
 */
#include "algorithms/table.h"
#include "carrier.h"
#include "loopback.h"
#include "memory.h"
#include "plugin_support.h"
#include "run/engine.h"
#include "staging.h"
#include "support.h"

enum {
    RANKS_MAX = 9,
    COUNT_MAX = 2000,
    EXTENT = 8, /* of the elements with gaps: a float, and 4 bytes that are not theirs */
    MARGIN = 64,
    DEPTH = 2,
    STEPS_MAX = 4000000,
};

static struct gpu gpu;
static const struct strag_cuda *cuda;

/* ---- Sums of floats in host memory: what stands for MPI's operators ---- */

struct host_reducer {
    struct strag_reducer super;
    size_t extent;
    ptrdiff_t true_lb; /* from an element's origin to its float */
};

static size_t extent_of(const struct strag_reducer *base)
{
    return ((const struct host_reducer *)base)->extent;
}

static float *element(const struct strag_reducer *base, const void *vector, size_t i)
{
    const ptrdiff_t true_lb = ((const struct host_reducer *)base)->true_lb;
    return (float *)((uintptr_t)vector + i * extent_of(base) + (uintptr_t)true_lb);
}

static void *host_allocate(struct strag_reducer *base, size_t elements)
{
    return malloc(elements * extent_of(base));
}

static void host_release(struct strag_reducer *base, void *buffer, int lost)
{
    if (!lost)
        free(buffer);
}

static int host_reduce(struct strag_reducer *base, void *out, const void *left, const void *right,
                       size_t elements, uint64_t *ticket)
{
    for (size_t i = 0; i < elements; i++)
        *element(base, out, i) = *element(base, left, i) * 1.25f + *element(base, right, i);
    return STRAG_OK;
}

static int host_copy(struct strag_reducer *base, void *out, const void *in, size_t elements)
{
    for (size_t i = 0; i < elements; i++)
        *element(base, out, i) = *element(base, in, i);
    return STRAG_OK;
}

/* The device has no such operator: if it reduces, it is a plain sum. */
static int host_sum(struct strag_reducer *base, void *out, const void *left, const void *right,
                    size_t elements, uint64_t *ticket)
{
    for (size_t i = 0; i < elements; i++)
        *element(base, out, i) = *element(base, left, i) + *element(base, right, i);
    return STRAG_OK;
}

/* ---- A world ---- */

struct member {
    struct strag_engine *engine;
    struct strag_staging *staging;
    struct host_reducer host;
    struct carrier network, shared;
    uint8_t lane_of[RANKS_MAX];
    int device; /* -1: this rank's vector is in host memory */
    enum gpu_memory memory;
    char *input, *output;      /* as MPI's user gives them */
    char *got, *want, *before; /* in host memory, with margins */
    int status;
    bool started;
};

struct situation {
    int n;
    size_t count, extent;
    bool on_device, takes_device, in_place;
    int per_host; /* ranks that share memory; 0: none do */
    size_t segment[STRAG_LANES];
    int slots[STRAG_LANES];
    struct strag_loopback_options network;
};

enum { MEMORY, NETWORK }; /* lanes */

static struct member members[RANKS_MAX];
static long shared, read_in_place; /* messages so far */

static size_t bytes_of(const struct situation *s)
{
    return s->count * s->extent + 2 * MARGIN;
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

/* The same numbers for the same rank; the bytes between and around the elements, too. */
static void fill(const struct situation *s, int rank, char *buffer, unsigned char other)
{
    memset(buffer, other, bytes_of(s));
    for (size_t i = 0; i < s->count; i++) {
        float value = (float)(scramble((uint64_t)rank * COUNT_MAX + i) % 20001) / 7.0f - 1000;
        memcpy(buffer + MARGIN + i * s->extent, &value, sizeof value);
    }
}

/* What the engine gets in place of a transport. */
static struct strag_transport *staged(const struct situation *s, const struct member *m,
                                      struct strag_transport *inner)
{
    return s->takes_device && inner == &m->network.super
               ? inner
               : strag_staging_transport(m->staging, inner);
}

/* The staging of a rank; its input goes into its output where that must be. */
static void stage(const struct situation *s, struct member *m, struct strag_call *call)
{
    struct strag_cuda_location place;
    struct strag_error err = {""};
    cuda->locate(m->input, &place);
    cuda->locate(m->output, &place);
    struct strag_staging_options options = {
        .cuda = cuda,
        .device = cuda->device(&place, &err),
        .span = {(ptrdiff_t)s->extent, 0, sizeof(float), s->extent != sizeof(float)},
        .on_device = s->on_device,
        .op = STRAG_CUDA_SUM,
        .type = STRAG_CUDA_FLOAT,
        .host = &m->host.super,
    };
    assert_non_null(options.device);
    m->staging = strag_staging_create(&options);
    assert_non_null(m->staging);
    call->transport = staged(s, m, call->transport);
    if (call->lanes[MEMORY].transport)
        call->lanes[MEMORY].transport = staged(s, m, call->lanes[MEMORY].transport);
    call->reducer = strag_staging_reducer(m->staging);
    if (!s->on_device && call->input != call->output) {
        m->status = strag_staging_copy(m->staging, call->output, call->input, s->count);
        call->input = call->output;
    }
}

/* What a rank's messages go over, and which way each goes. */
static void connect(const struct situation *s, struct strag_loopback *const *networks, int rank,
                    struct strag_call *call)
{
    struct member *m = &members[rank];
    struct strag_transport *network = strag_loopback_endpoint(networks[NETWORK], rank);
    carrier_init(&m->network, network, s->takes_device ? &gpu : NULL, s->extent);
    carrier_init(&m->shared, strag_loopback_endpoint(networks[MEMORY], rank), NULL, s->extent);
    for (int peer = 0; peer < s->n; peer++)
        m->lane_of[peer] =
            s->per_host && peer / s->per_host == rank / s->per_host ? MEMORY : NETWORK;
    call->lane_of = m->lane_of;
    call->transport = s->takes_device || s->extent != sizeof(float) ? &m->network.super : network;
    if (!s->per_host)
        return;
    call->lanes[MEMORY].transport = &m->shared.super;
    if (s->per_host >= s->n)
        call->transport = &m->shared.super;
}

static void start(const struct situation *s, struct strag_loopback *const *networks, int rank)
{
    struct member *m = &members[rank];
    m->host = (struct host_reducer){
        .super = {host_allocate, host_release, s->on_device ? host_sum : host_reduce, host_copy,
                  NULL},
        .extent = s->extent,
    };
    struct strag_call call = {
        .input = s->in_place ? m->output + MARGIN : m->input + MARGIN,
        .output = m->output + MARGIN,
        .count = s->count,
        .extent = (ptrdiff_t)s->extent,
        .lanes = {{.segment = s->segment[MEMORY], .slots = s->slots[MEMORY]},
                  {.segment = s->segment[NETWORK], .slots = s->slots[NETWORK]}},
        .reducer = &m->host.super,
    };
    connect(s, networks, rank, &call);
    m->status = STRAG_OK;
    m->started = true;
    m->staging = NULL;
    if (m->device >= 0)
        stage(s, m, &call);
    if (m->status == STRAG_OK)
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

/* A rank whose call has ended still has messages on their way. */
static void look_after(struct member *m)
{
    m->network.super.progress(&m->network.super);
    m->shared.super.progress(&m->shared.super);
}

static void end(const struct situation *s, struct strag_loopback *const *networks)
{
    for (int rank = 0; rank < s->n; rank++)
        strag_staging_free(members[rank].staging);
    for (int l = 0; l < STRAG_LANES; l++)
        strag_loopback_free(networks[l]);
    for (int rank = 0; rank < s->n; rank++) {
        shared += members[rank].shared.shared;
        read_in_place += members[rank].shared.in_place;
        carrier_clear(&members[rank].network);
        carrier_clear(&members[rank].shared);
    }
}

/* One call on all ranks. @return whether all have ended */
static bool run(const struct situation *s, struct rng *rng)
{
    struct strag_loopback *networks[STRAG_LANES];
    int running = s->n;
    for (int l = 0; l < STRAG_LANES; l++) {
        struct strag_loopback_options options = s->network;
        options.in_place = l == MEMORY;
        networks[l] = strag_loopback_create(s->n, sizeof(float), &options);
        assert_non_null(networks[l]);
    }
    for (int rank = 0; rank < s->n; rank++)
        members[rank].started = false;
    for (long step = 0; running > 0 && step < STEPS_MAX; step++) {
        int rank = (int)rng_below(rng, (unsigned)s->n);
        struct member *m = &members[rank];
        if (m->started && m->status != STRAG_PENDING) {
            if (m->status == STRAG_OK)
                look_after(m);
            continue;
        }
        if (m->started)
            m->status = strag_engine_progress(m->engine);
        else
            start(s, networks, rank);
        running -= m->status != STRAG_PENDING;
        for (int l = 0; l < STRAG_LANES && m->status < 0; l++)
            strag_loopback_kill(networks[l], rank);
    }
    end(s, networks);
    return running == 0;
}

/* ---- Results ---- */

/* The call in host memory, as the engine's own tests have proved it: results to `want`. */
static void run_on_host(const struct situation *device, struct rng *rng)
{
    struct situation s = *device;
    int places[RANKS_MAX] = {0};
    s.takes_device = false;
    s.per_host = 0;
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
            fail_msg("%s n=%d, %d per host, count %zu extent %zu%s%s%s rank %d (device %d): byte "
                     "%zu is wrong",
                     name, s->n, s->per_host, s->count, s->extent,
                     s->on_device ? " on the device" : "", s->takes_device ? " direct" : "",
                     s->in_place ? " in place" : "", rank, m->device, i - MARGIN);
    }
}

static struct situation random_situation(struct rng *rng, int n)
{
    struct situation s = {
        .n = n,
        .count = rng_one_in(rng, 6) ? rng_below(rng, 20) : rng_below(rng, COUNT_MAX),
        .on_device = rng_one_in(rng, 2),
        .in_place = rng_one_in(rng, 3),
        .per_host = rng_one_in(rng, 3) ? 0 : 2 + (int)rng_below(rng, (unsigned)n - 1),
        .segment = {1 + rng_below(rng, 300), 1 + rng_below(rng, 300)},
        .slots = {1 + (int)rng_below(rng, 5), 1 + (int)rng_below(rng, 5)},
        .network = {.seed = rng_next(rng),
                    .max_delay = rng_below(rng, 30),
                    .eager = rng_one_in(rng, 2) ? rng_below(rng, 300) : 0},
    };
    s.extent = s.on_device || rng_one_in(rng, 2) ? sizeof(float) : EXTENT;
    s.takes_device = s.extent == sizeof(float) && rng_one_in(rng, 3);
    return s;
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
    struct rng rng = {support_seed("staging")};
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
    assert_true((shared > 0 && read_in_place > 0) || cases < 100);
    close_all();
    print_message("%ld cases, %ld kernels, %ld copies; in shared memory %ld messages not copied "
                  "again, %ld read in place\n",
                  cases, counts.kernels, counts.copies, shared, read_in_place);
}

/* Pinned space does not grow with the vector. */
TEST(bounded_space)
{
    struct rng rng = {support_seed("bounded space")};
    size_t most[2];
    for (int i = 0; i < 2; i++) {
        struct fake_counts counts;
        struct situation s = {.n = 4,
                              .count = i ? 4000000 : 1000000,
                              .extent = sizeof(float),
                              .on_device = true,
                              .in_place = true,
                              .segment = {16384, 16384},
                              .slots = {4, 4}};
        open_all(&rng);
        struct strag_plan **plans = support_plans(support_algorithm("ring"), s.n);
        make_engines(plans, s.n);
        for (int rank = 0; rank < s.n; rank++) {
            members[rank].device = 0;
            members[rank].memory = GPU_DEVICE;
            prepare(&s, rank);
        }
        assert_true(run(&s, &rng));
        for (int rank = 0; rank < s.n; rank++) {
            assert_int_equal(members[rank].status, STRAG_OK);
            forget(&members[rank]);
        }
        free_engines(s.n);
        support_plans_free(plans, s.n);
        gpu.fake_counts(&counts);
        most[i] = counts.pinned_bytes_most;
        close_all();
    }
    print_message("pinned: %zu bytes for 4 MB, %zu for 16 MB, 4 ranks\n", most[0], most[1]);
    assert_in_range(most[1], 1, 2 * most[0]);
    assert_in_range(most[0], 1, 3000000);
}

/* ---- Failures ---- */

/* A message or a call of the driver fails somewhere: all ranks end, and nothing is kept. */
TEST(failures)
{
    static const char *const functions[] = {"MemcpyAsync",  "EventQuery",   "EventRecord",
                                            "LaunchKernel", "MemHostAlloc", "MemAlloc"};
    struct rng rng = {support_seed("staging that fails")};
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
            gpu.fake_fail(functions[rng_below(&rng, 6)], 1 + (long)rng_below(&rng, 60));
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
