/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduces on buffers in a device's memory, blocking, nonblocking and persistent: every type and
 * operator, in place or not, the two buffers on the same device, on two, or one on the host, other
 * on every rank; managed and pinned memory; types with gaps, and types whose elements overlap;
 * user-defined operators.
 *
 * Each result is, byte for byte, that of the same call in host memory. The driver may be a real one
 * or the fake one, whose device memory only the driver can access.
 *
 *     device [--counts A,B,..] [--algorithms C,D,..] [--pairs K/M] [--thread 1]
 *
 * --counts      elements (1,5,1000)
 * --algorithms  each pinned on a communicator in turn; they share the predefined types and
 * operators, and the first one has the user's (none: all is on MPI_COMM_WORLD)
 * --pairs       these K, K+M, ... alone (0/1: all)
 * --thread      1: calls come from another thread than MPI_Init (0)
 */
#include "common.h"
#include "elements.h"
#include "gpu.h"

#include <pthread.h>

enum { MARGIN = 64, COUNTS_MAX = 8 };

enum where { ON_HOST, ON_FIRST, ON_SECOND, MANAGED, PINNED, WHERES };

static struct gpu gpu;
static MPI_Comm comm = MPI_COMM_WORLD;
static size_t counts[COUNTS_MAX];
static int ncounts;
static bool in_thread;
static long on_device; /* calls with a buffer on a device, on this rank */

/* A buffer with margins, and its content in host memory. */
struct buffer {
    enum where where;
    size_t bytes;
    char *address, *host;
};

static int device_of(enum where where)
{
    return where == ON_SECOND ? gpu.devices - 1 : 0;
}

static enum gpu_memory memory_of(enum where where)
{
    return where == MANAGED ? GPU_MANAGED : where == PINNED ? GPU_PINNED : GPU_DEVICE;
}

static struct buffer make_buffer(enum where where, size_t bytes)
{
    struct buffer buffer = {.where = where, .bytes = bytes + 2 * MARGIN};
    buffer.host = test_allocate(buffer.bytes);
    memset(buffer.host, 0x3c, buffer.bytes);
    buffer.address = where == ON_HOST
                         ? test_allocate(buffer.bytes)
                         : gpu_allocate(&gpu, device_of(where), memory_of(where), buffer.bytes);
    if (!buffer.address)
        test_die("no memory for %zu bytes", buffer.bytes);
    return buffer;
}

static void free_buffer(struct buffer *buffer)
{
    free(buffer->host);
    if (buffer->where == ON_HOST)
        free(buffer->address);
    else
        gpu_free(&gpu, device_of(buffer->where), memory_of(buffer->where), buffer->address);
}

/* ---- One call ---- */

struct call {
    const char *name;
    MPI_Datatype type;
    MPI_Op op;
    size_t count;
    ptrdiff_t low; /* from a buffer's first byte to MPI's address: minus the true lower bound */
    size_t bytes;  /* of the elements with their gaps */
    void (*fill)(const struct call *call, char *data);
    void (*canonical)(const struct call *call, char *data); /* or NULL */
    const struct element *element;
    int op_index;
};

static uint64_t salt;

enum mode { BLOCKING, NONBLOCKING, PERSISTENT, MODES };

static void must_copy(void *out, const void *in, size_t bytes)
{
    if (!gpu_copy(&gpu, out, in, bytes))
        test_die("the driver cannot copy %zu bytes", bytes);
}

/* The driver may still be copying what comes from pageable memory when this returns. */
static void write_buffers(const struct buffer *send, const struct buffer *receive)
{
    must_copy(send->address, send->host, send->bytes);
    must_copy(receive->address, receive->host, receive->bytes);
}

static void call_mpi(const struct call *call, const struct buffer *send,
                     const struct buffer *receive, bool in_place, enum mode mode)
{
    const void *from = in_place ? MPI_IN_PLACE : send->address + MARGIN + call->low;
    void *to = receive->address + MARGIN + call->low;
    const int count = (int)call->count;
    MPI_Request request;
#ifdef TEST_HAVE_PERSISTENT
    if (PERSISTENT == mode) {
        TEST_MPI(TEST_PERSISTENT(Allreduce_init)(from, to, count, call->type, call->op, comm,
                                                 MPI_INFO_NULL, &request));
        for (int turn = 0; turn < 2; turn++) {
            write_buffers(send, receive);
            TEST_MPI(MPI_Start(&request));
            TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        TEST_MPI(MPI_Request_free(&request));
        return;
    }
#endif
    write_buffers(send, receive);
    if (BLOCKING == mode) {
        TEST_MPI(MPI_Allreduce(from, to, count, call->type, call->op, comm));
    } else {
        TEST_MPI(MPI_Iallreduce(from, to, count, call->type, call->op, comm, &request));
        TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

/* The same in a thread, whose stack is below all that the driver maps. */
struct task {
    const struct call *call;
    const struct buffer *send, *receive;
    bool in_place;
    enum mode mode;
};

static void *run_task(void *argument)
{
    const struct task *task = argument;
    void *context;
    if (gpu.push(gpu.contexts[0]) != 0)
        test_die("no context");
    call_mpi(task->call, task->send, task->receive, task->in_place, task->mode);
    gpu.pop(&context);
    return NULL;
}

static void run_in_thread(struct task *task)
{
    static _Alignas(64) char stack[1 << 20];
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) || pthread_attr_setstack(&attributes, stack, sizeof stack) ||
        pthread_create(&thread, &attributes, run_task, task) || pthread_join(thread, NULL))
        test_die("no thread");
    pthread_attr_destroy(&attributes);
}

static void allreduce(const struct call *call, const struct buffer *send,
                      const struct buffer *receive, bool in_place, enum mode mode)
{
    struct task task = {call, send, receive, in_place, mode};
    if (in_thread)
        run_in_thread(&task);
    else
        call_mpi(call, send, receive, in_place, mode);
}

/* The result and its margins; and the send buffer has not changed. */
static void check(const struct call *call, struct buffer *send, struct buffer *receive,
                  const char *want, const char *what)
{
    char *got = test_allocate(receive->bytes);
    must_copy(got, receive->address, receive->bytes);
    if (call->canonical)
        call->canonical(call, got + MARGIN);
    TEST_CHECK(memcmp(got, want, receive->bytes) == 0, "%s, %zu elements, %s: wrong", call->name,
               call->count, what);
    must_copy(got, send->address, send->bytes);
    TEST_CHECK(memcmp(got, send->host, send->bytes) == 0,
               "%s, %zu elements, %s: the send buffer "
               "was changed",
               call->name, call->count, what);
    free(got);
}

/* The same call on the host; the result with its margins. */
static char *expect(const struct call *call, bool in_place, enum mode mode)
{
    struct buffer send = make_buffer(ON_HOST, call->bytes);
    struct buffer receive = make_buffer(ON_HOST, call->bytes);
    call->fill(call, (in_place ? receive.host : send.host) + MARGIN);
    allreduce(call, &send, &receive, in_place, mode);
    if (call->canonical)
        call->canonical(call, receive.address + MARGIN);
    free(send.address);
    free(send.host);
    free(receive.host);
    return receive.address;
}

static void run_placed(const struct call *call, enum where from, enum where to, bool in_place)
{
    static const char *const names[WHERES] = {"host", "device", "other device", "managed",
                                              "pinned"};
    char what[64];
    const enum mode mode = (enum mode)(salt % MODES);
    char *want = expect(call, in_place, mode);
    struct buffer send = make_buffer(from, call->bytes), receive = make_buffer(to, call->bytes);
    call->fill(call, (in_place ? receive.host : send.host) + MARGIN);
    snprintf(what, sizeof what, "%s to %s", in_place ? "in place" : names[from], names[to]);
    on_device +=
        (to != ON_HOST && to != PINNED) || (!in_place && from != ON_HOST && from != PINNED);
    allreduce(call, &send, &receive, in_place, mode);
    check(call, &send, &receive, want, what);
    free_buffer(&send);
    free_buffer(&receive);
    free(want);
}

/* Each rank decides independently where its buffers are. */
static void run_call(const struct call *call, int variants)
{
    static const enum where pairs[][2] = {
        {ON_FIRST, ON_FIRST}, {ON_HOST, ON_FIRST},  {ON_FIRST, ON_HOST}, {ON_FIRST, ON_SECOND},
        {MANAGED, MANAGED},   {PINNED, ON_SECOND},  {ON_HOST, ON_HOST},  {ON_SECOND, PINNED},
        {MANAGED, ON_FIRST},  {ON_SECOND, MANAGED},
    };
    const int npairs = sizeof pairs / sizeof *pairs;
    for (int v = 0; v < variants; v++) {
        salt++;
        run_placed(call, ON_FIRST, ON_FIRST, v % 2 == 0);
        const enum where *pair =
            pairs[test_mix(salt * 64 + (uint64_t)test.rank) % (uint64_t)npairs];
        run_placed(call, pair[0], pair[1], v % 2 == 1);
    }
}

/* ---- Predefined types ---- */

static void fill_elements(const struct call *call, char *data)
{
    for (size_t i = 0; i < call->count; i++)
        element_value(call->element, call->op_index, test.rank,
                      test_value(test.rank, salt * 100000 + i),
                      data + i * (size_t)call->element->extent);
}

static void canonical_elements(const struct call *call, char *data)
{
    element_canonical(call->element, data, call->count);
}

/* @param part  of `parts` parts of all types with all operators */
static void predefined(int part, int parts)
{
    int combination = 0;
    elements_prepare();
    for (int e = 0; e < elements_count; e++) {
        const struct element *element = &elements[e];
        for (int op = 0; op < ELEMENT_OPS && element->size > 0; op++) {
            char name[80];
            if (!element_accepted(element, op) || combination++ % parts != part)
                continue;
            snprintf(name, sizeof name, "%s of %s", element_ops[op].name, element->name);
            for (int c = 0; c < ncounts; c++) {
                const struct call call = {
                    .name = name,
                    .type = element->type,
                    .op = element_ops[op].op,
                    .count = counts[c],
                    .bytes = counts[c] * (size_t)element->extent,
                    .fill = fill_elements,
                    .canonical = canonical_elements,
                    .element = element,
                    .op_index = op,
                };
                run_call(&call, 1);
            }
        }
    }
}

/* ---- Types and operators of the user ---- */

struct shape {
    int words;
    MPI_Aint offset[3], extent;
};

static const struct shape *shape;
static bool spoils; /* the operator writes its first argument, too, and its results show in what
                       order strag adds up; others are associative */

static void fill_words(const struct call *call, char *data)
{
    memset(data, 0x99 ^ test.rank, call->bytes);
    for (size_t i = 0; i < call->count; i++) {
        for (int k = 0; k < shape->words; k++) {
            uint32_t word = (uint32_t)test_value(test.rank, salt * 100000 + i * 4 + (uint64_t)k);
            memcpy(data + call->low + (ptrdiff_t)i * shape->extent + shape->offset[k], &word,
                   sizeof word);
        }
    }
}

/* x -> a x + b, a and b of 16 bits each: first `right`, then `left`. In whatever way calls put them
 * in brackets, the result is the same. */
static uint32_t compose(uint32_t left, uint32_t right)
{
    const uint32_t factor = left >> 16;
    return factor * (right >> 16) << 16 | ((factor * (right & 0xffff) + left) & 0xffff);
}

static void mix_words(void *in, void *inout, int *length, MPI_Datatype *type)
{
    for (int i = 0; i < *length; i++) {
        for (int k = 0; k < shape->words; k++) {
            ptrdiff_t at = i * shape->extent + shape->offset[k];
            uint32_t left, right;
            memcpy(&left, (char *)in + at, sizeof left);
            memcpy(&right, (char *)inout + at, sizeof right);
            right = spoils ? right + 3 * left : compose(left, right);
            memcpy((char *)inout + at, &right, sizeof right);
            if (spoils)
                memset((char *)in + at, 0x5a, sizeof left);
        }
    }
}

static void derived(void)
{
    static const struct shape shapes[] = {
        {1, {0}, 4},          /* no gaps */
        {3, {0, 12, 16}, 40}, /* gaps inside and at the end */
        {2, {-8, 4}, 24},     /* begins below its address */
        {1, {8}, 4},          /* no gaps, but begins above it */
        {2, {4, 0}, 8},       /* nor here, but the second word comes first */
        {2, {0, 4000}, 4},    /* overlaps with the next ones */
        {1, {1 << 24}, 4},    /* begins far above its address, where other memory is, or none */
    };
    for (int commutes = 0; commutes < 2; commutes++) {
        MPI_Op op;
        spoils = 0 != commutes; /* others are not strag's */
        TEST_MPI(MPI_Op_create(mix_words, commutes, &op));
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            MPI_Datatype list, type;
            MPI_Aint low, true_extent;
            char name[80];
            shape = &shapes[s];
            TEST_MPI(MPI_Type_create_hindexed_block(shape->words, 1, shape->offset, MPI_UINT32_T,
                                                    &list));
            TEST_MPI(MPI_Type_create_resized(list, 0, shape->extent, &type));
            TEST_MPI(MPI_Type_commit(&type));
            TEST_MPI(MPI_Type_get_true_extent(type, &low, &true_extent));
            snprintf(name, sizeof name, "shape %zu, %s", s, commutes ? "commutes" : "does not");
            for (int c = 0; c < ncounts; c++) {
                const struct call call = {
                    .name = name,
                    .type = type,
                    .op = op,
                    .count = counts[c],
                    .low = -low,
                    .bytes = (counts[c] - 1) * (size_t)shape->extent + (size_t)true_extent,
                    .fill = fill_words,
                };
                if (shape->extent < true_extent && counts[c] > 1000) /* words on words */
                    continue;
                run_call(&call, 2);
            }
            TEST_MPI(MPI_Type_free(&list));
            TEST_MPI(MPI_Type_free(&type));
        }
        TEST_MPI(MPI_Op_free(&op));
    }
}

static void run_part(int part, int parts, bool with_derived)
{
    const struct test_counters before = test_counters_read();
    predefined(part, parts);
    if (with_derived)
        derived();
    TEST_CHECK(test_counters_read().calls > before.calls, "strag did not run");
}

static void run_pinned(const char *algorithms, int part, int parts)
{
    char *list = strdup(algorithms), *rest = NULL;
    const int step = parts;
    for (const char *comma = algorithms; (comma = strchr(comma, ',')); comma++)
        parts += step;
    for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        comm = test_pinned(MPI_COMM_WORLD, name);
        run_part(part, parts, name == list);
        part += step;
        TEST_MPI(MPI_Comm_free(&comm));
    }
    free(list);
}

static void read_counts(const char *text)
{
    while (*text && ncounts < COUNTS_MAX) {
        char number[24];
        size_t length = strcspn(text, ",");
        snprintf(number, sizeof number, "%.*s", (int)length, text);
        counts[ncounts++] = (size_t)test_number("counts", number, 1, 100000000);
        text += length + (text[length] == ',');
    }
}

int main(int argc, char **argv)
{
    const char *list = "1,5,1000", *algorithms = "", *pairs = "0/1", *thread = "0";
    const struct test_option options[] = {{"counts", &list},
                                          {"algorithms", &algorithms},
                                          {"pairs", &pairs},
                                          {"thread", &thread},
                                          {NULL, NULL}};
    int part, parts;
    test_start(&argc, &argv, "device", MPI_THREAD_SERIALIZED, options);
    read_counts(list);
    in_thread = test_number("thread", thread, 0, 1);
    if (2 != sscanf(pairs, "%d/%d", &part, &parts) || part < 0 || part >= parts)
        test_die("--pairs %s: not K/M", pairs);
    int there = gpu_open(&gpu, NULL);
    TEST_MPI(MPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (!there) {
        if (test.rank == 0)
            puts("device: no driver, or no device");
        MPI_Finalize();
        return TEST_SKIP;
    }
    if (*algorithms)
        run_pinned(algorithms, part, parts);
    else
        run_part(part, parts, true);
    TEST_CHECK(on_device > 0, "no buffer was on a device");
    if (gpu.fake_counts) {
        struct fake_counts fake;
        gpu.fake_counts(&fake);
        TEST_CHECK(fake.mistakes == 0, "%ld mistakes in calls of the driver", fake.mistakes);
        if (test.rank == 0)
            printf("device: np %d: %ld calls with device buffers, %ld kernels, %ld copies, at most "
                   "%zu bytes pinned\n",
                   test.n, on_device, fake.kernels, fake.copies, fake.pinned_bytes_most);
    }
    gpu_close(&gpu);
    return test_finish();
}
