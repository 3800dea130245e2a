/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One random, checked MPI_Allreduce; see caller.h.
 *
 * Values repeat after POOL elements, so that a serial reduction of a long vector is short. What
 * differs between ranks (their types, MPI_IN_PLACE) follows from the call's number and the rank.
 */
#include "caller.h"

#include "elements.h"
#include "shapes.h"

#include <stdarg.h>

#define POOL             509 /* a prime, so that no block or segment is a multiple */
#define GUARD            64  /* bytes behind the receive buffer that must not change */
#define FILLED           0xa5
#define PAIRS_MAX        1024
#define SHAPE_EXTENT_MAX 40

/* A predefined type with an operator that MPI accepts for it. */
struct pair {
    const struct element *element;
    int op;
    bool rounded; /* the result depends on the order */
};

static struct pair pairs[PAIRS_MAX];
static int npairs;

/* One call, as one rank makes it. */
struct call {
    uint64_t random;
    size_t count;
    bool in_place;
    const struct pair *pair;   /* NULL: */
    const struct shape *shape; /* this rank's derived type */
    enum shape_op op;
    size_t extent, bytes; /* of an element, of the vector, in memory */
    char what[160];       /* for messages */
};

void caller_prepare(void)
{
    elements_prepare();
    shapes_create();
    for (int i = 0; i < elements_count; i++) {
        const enum group group = elements[i].group;
        for (int op = 0; op < ELEMENT_OPS; op++) {
            if (!element_standard(&elements[i], op) || !element_accepted(&elements[i], op))
                continue;
            if (npairs == PAIRS_MAX)
                test_die("more than %d pairs of type and operator", PAIRS_MAX);
            const bool order = MPI_SUM == element_ops[op].op || MPI_PROD == element_ops[op].op;
            pairs[npairs++] = (struct pair){
                &elements[i], op, order && (GROUP_FLOATING == group || GROUP_COMPLEX == group)};
        }
    }
}

void caller_create(struct caller *caller, size_t bytes)
{
    *caller = (struct caller){.bytes = bytes};
    caller->send = test_allocate(bytes);
    caller->receive = test_allocate(bytes + GUARD);
    caller->pool = test_allocate((size_t)POOL * ELEMENT_BYTES_MAX);
    caller->expected = test_allocate((size_t)POOL * ELEMENT_BYTES_MAX);
    caller->words = test_allocate(bytes);
}

void caller_free(struct caller *caller)
{
    free(caller->send);
    free(caller->receive);
    free(caller->pool);
    free(caller->expected);
    free(caller->words);
}

void caller_spoil(struct caller *caller, const char *text)
{
    static const char *const names[CALLER_FAULTS] = {"none", "element", "bits", "behind",
                                                     "operator"};
    const char *colon = strchr(text, ':');
    const size_t length = NULL != colon ? (size_t)(colon - text) : strlen(text);
    for (int f = 0; f < CALLER_FAULTS; f++)
        if (strlen(names[f]) == length && 0 == strncmp(text, names[f], length))
            caller->fault = (enum caller_fault)f;
    if (0 == strcmp(text, names[CALLER_NO_FAULT]))
        return;
    if (NULL == colon || CALLER_NO_FAULT == caller->fault)
        test_die("--fault %s: none, or element, bits, behind or operator with :CALLS", text);
    caller->fault_after = test_number("fault", colon + 1, 0, 1000000000);
}

struct caller_comm caller_open(MPI_Comm comm, const char *name)
{
    struct caller_comm opened = {.comm = comm};
    snprintf(opened.name, sizeof(opened.name), "%s", name);
    TEST_MPI(MPI_Comm_size(comm, &opened.n));
    TEST_MPI(MPI_Comm_rank(comm, &opened.rank));
    if (opened.n > ELEMENT_RANKS_MAX)
        test_die("%s has %d ranks: at most %d are accepted", name, opened.n, ELEMENT_RANKS_MAX);
    test_pass_first_calls(comm);
    return opened;
}

/* ---- Failures ---- */

/* Not test_fail: several threads may have one at the same time. */
static bool check(struct caller *caller, bool ok, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool check(struct caller *caller, bool ok, const char *format, ...)
{
    enum { SHOWN = 5 };
    char text[512];
    caller->checks++;
    if (ok)
        return true;
    if (++caller->wrong > SHOWN)
        return false;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(stderr, "%s: rank %d of %d: FAIL: %s\n", test.program, test.rank, test.n, text);
    return false;
}

void caller_count(const struct caller *caller)
{
    test.checks += caller->checks;
    test.failures += caller->wrong;
}

void caller_ran(struct test_counters before, unsigned long long made)
{
    const struct test_counters now = test_counters_read();
    const unsigned long long ran = now.calls - before.calls;
    const unsigned long long delegated = now.delegated - before.delegated;
    if (0 == test.rank)
        printf("%s: %llu calls of this rank: strag ran %llu and delegated %llu\n", test.program,
               made, ran, delegated);
    if (!test.expect_strag)
        return;
    TEST_CHECK(ran + delegated >= made,
               "%llu calls of %llu were strag's (mpirun --mca coll strag; or --expect-strag 0)",
               ran + delegated, made);
    /* By default short vectors are the previous component's, and most are short. */
    const char *minimum = getenv("OMPI_MCA_coll_strag_minimum_size");
    if (NULL != minimum && 0 == strcmp(minimum, "0"))
        TEST_CHECK(ran >= made - made / 4, "strag ran %llu calls of %llu only", ran, made);
}

/* ---- What a call is ---- */

/* As many short vectors as long ones; one of 32 is empty, and few are very long. */
static size_t choose_count(uint64_t random, size_t most)
{
    const size_t limit = 0 == random % 64 ? most : most / 16;
    int bits = 0;
    while (limit >> bits > 1)
        bits++;
    const size_t scale = (size_t)1 << (random / 64 % (uint64_t)(bits + 1));
    if (0 == random / 64 % 32)
        return 0;
    const size_t count = scale + (size_t)(random >> 16) % scale;
    return count < limit ? count : limit;
}

static void describe(const struct caller_comm *comm, struct call *call, const char *op,
                     const char *type)
{
    snprintf(call->what, sizeof(call->what), "%s, call %ld, %s %s, count %zu%s", comm->name,
             comm->calls, op, type, call->count, call->in_place ? " in place" : "");
}

/* An operator of our own. @param mine  decides which of the types this rank has */
static void choose_shape(const struct caller *caller, const struct caller_comm *comm,
                         struct call *call, uint64_t mine)
{
    const uint64_t common = call->random >> 10;
    call->op = 0 == (call->random >> 8) % 4 ? SHAPE_AFFINE : SHAPE_SUM;
    call->shape = &shapes[(0 != (call->random >> 4) % 4 ? mine >> 8 : common) % SHAPES];
    call->extent = (size_t)call->shape->extent;
    /* The same on all ranks: as many as there is room for with any of the types. */
    call->count = choose_count(test_mix(call->random), caller->bytes / SHAPE_EXTENT_MAX - 1);
    call->bytes = call->count * call->extent;
    if (call->count > 0)
        call->bytes += SHAPE_EXTENT_MAX; /* data of the last one may be beyond its extent */
    describe(comm, call,
             SHAPE_AFFINE == call->op ? "own operator that does not commute" : "own operator",
             call->shape->name);
}

/* A predefined operator and type. */
static void choose_pair(const struct caller *caller, const struct caller_comm *comm,
                        struct call *call)
{
    call->pair = &pairs[(call->random >> 8 & 0xffffff) % (uint64_t)npairs];
    call->extent = (size_t)call->pair->element->extent;
    call->count = choose_count(test_mix(call->random), caller->bytes / call->extent);
    call->bytes = call->count * call->extent;
    describe(comm, call, element_ops[call->pair->op].name, call->pair->element->name);
}

static struct call choose(const struct caller *caller, const struct caller_comm *comm,
                          uint64_t random)
{
    struct call call = {.random = random};
    const uint64_t mine = test_mix(random ^ test_mix((uint64_t)comm->rank + 1));
    const uint64_t places = random % 4; /* none, all, or some */
    call.in_place = places > 1 ? 0 != mine % 2 : 0 != places;
    if (0 == (random >> 2) % 4)
        choose_shape(caller, comm, &call, mine);
    else
        choose_pair(caller, comm, &call);
    return call;
}

/* ---- Values ---- */

static uint64_t value(const struct call *call, int rank, size_t index)
{
    return test_mix(call->random ^ test_mix(((uint64_t)rank << 32) + index));
}

static size_t pool_size(const struct call *call)
{
    return call->count < POOL ? call->count : POOL;
}

/* A rank's elements, as many as are different; of derived types packed ones. */
static void make_pool(const struct call *call, int rank, void *pool)
{
    uint32_t *words = pool;
    for (size_t i = 0; i < pool_size(call); i++) {
        const uint64_t random = value(call, rank, i);
        if (call->pair) {
            element_value(call->pair->element, call->pair->op, rank, random,
                          (char *)pool + i * call->extent);
            continue;
        }
        for (int k = 0; k < SHAPE_WORDS; k++)
            *words++ = (uint32_t)test_mix(random + (uint64_t)k);
    }
}

/* The result, as many elements as are different: from the last rank to the first. */
static void make_expected(struct caller *caller, const struct caller_comm *comm,
                          const struct call *call)
{
    const size_t count = pool_size(call);
    make_pool(call, comm->n - 1, caller->expected);
    for (int rank = comm->n - 2; rank >= 0; rank--) {
        make_pool(call, rank, caller->pool);
        if (call->shape)
            shape_reduce(call->op, (uint32_t *)(void *)caller->pool,
                         (uint32_t *)(void *)caller->expected, count);
        else
            TEST_MPI(MPI_Reduce_local(caller->pool, caller->expected, (int)count,
                                      call->pair->element->type, element_ops[call->pair->op].op));
    }
    if (call->pair)
        element_canonical(call->pair->element, caller->expected, count);
}

/* The pool over and over. @param size  bytes of an element */
static void repeat(const char *pool, size_t size, size_t count, char *out)
{
    for (size_t i = 0; i < count; i += POOL)
        memcpy(out + i * size, pool, (count - i < POOL ? count - i : POOL) * size);
}

static void fill(struct caller *caller, const struct call *call, int rank, char *buffer)
{
    memset(buffer, FILLED, call->bytes);
    make_pool(call, rank, caller->pool);
    if (call->pair) {
        repeat(caller->pool, call->extent, call->count, buffer);
        return;
    }
    repeat(caller->pool, SHAPE_WORDS * sizeof(uint32_t), call->count, (char *)caller->words);
    shape_scatter(call->shape, caller->words, call->count, buffer);
}

/* ---- The call ---- */

/* Is this the call at which to do something wrong, if it can be done in it? */
static bool is_due(const struct caller *caller, const struct caller_comm *comm,
                   const struct call *call, enum caller_fault fault)
{
    return CALLER_NO_FAULT != fault && caller->fault == fault &&
           caller->made >= caller->fault_after && call->count > 0 && comm->n > 1;
}

static const struct shape *other_shape(const struct shape *shape)
{
    return &shapes[(shape - shapes + 1) % SHAPES];
}

static void allreduce(struct caller *caller, const struct caller_comm *comm,
                      const struct call *call)
{
    MPI_Datatype type = call->pair ? call->pair->element->type : call->shape->type;
    MPI_Op op = call->pair ? element_ops[call->pair->op].op : shape_ops[call->op];
    char *input = call->in_place ? caller->receive : caller->send;
    memset(caller->receive, FILLED, call->bytes + GUARD);
    fill(caller, call, comm->rank, input);
    const uint64_t before = test_hash(input, call->bytes);
    const bool misled = call->shape && is_due(caller, comm, call, CALLER_FAULT_OPERATOR);
    shapes_expect(misled ? other_shape(call->shape) : call->shape, (int)call->count);
    TEST_MPI(MPI_Allreduce(call->in_place ? MPI_IN_PLACE : input, caller->receive, (int)call->count,
                           type, op, comm->comm));
    check(caller, 0 == shapes_refused(),
          "%s: %ld calls of the operator with another type or a wrong length", call->what,
          shapes_refused());
    if (misled && shapes_refused() > 0) /* else it was not called: next time */
        caller->fault = CALLER_NO_FAULT;
    if (!call->in_place)
        check(caller, test_hash(input, call->bytes) == before, "%s: the send buffer was changed",
              call->what);
}

/* Do this to the result of the call. @return whether it was possible */
static bool spoil_as(enum caller_fault fault, struct caller *caller, const struct call *call)
{
    char *element = caller->receive + call->count / 2 * call->extent;
    const bool rounded = call->pair && call->pair->rounded;
    switch (fault) {
    case CALLER_FAULT_ELEMENT:
        element[call->pair ? 0 : call->shape->offset[0]] ^= 1;
        if (rounded)
            memset(element, 0xff, call->extent);
        return true;
    case CALLER_FAULT_BITS:
        if (rounded && MPI_DOUBLE == call->pair->element->type)
            element[0] ^= 1; /* the lowest, of a little-endian number */
        return rounded && MPI_DOUBLE == call->pair->element->type;
    case CALLER_FAULT_BEHIND:
        caller->receive[call->bytes] ^= 1;
        return true;
    default:
        return false;
    }
}

static void spoil(struct caller *caller, const struct caller_comm *comm, const struct call *call)
{
    if (!is_due(caller, comm, call, caller->fault) || !spoil_as(caller->fault, caller, call))
        return;
    fprintf(stderr, "%s: rank %d: spoilt on purpose: %s\n", test.program, test.rank, call->what);
    caller->fault = CALLER_NO_FAULT;
}

/* Compare with the serial result, and put the bits into the communicator's hash. */
static void compare(struct caller *caller, struct caller_comm *comm, const struct call *call)
{
    const char *result = caller->receive;
    size_t size = call->extent, wrong = call->count;
    if (call->pair) {
        element_canonical(call->pair->element, caller->receive, call->count);
    } else {
        shape_gather(call->shape, caller->receive, call->count, caller->words);
        result = (const char *)caller->words;
        size = SHAPE_WORDS * sizeof(uint32_t);
    }
    for (size_t i = 0; i < call->count && wrong == call->count; i++) {
        const char *want = caller->expected + i % POOL * size, *got = result + i * size;
        if (0 != memcmp(want, got, size) &&
            !(call->pair && call->pair->rounded && element_near(call->pair->element, want, got)))
            wrong = i;
    }
    check(caller, wrong == call->count, "%s: element %zu is not the serial reduction's", call->what,
          wrong);
    comm->hash = test_mix(comm->hash ^ test_hash(result, call->count * size));
}

/* Nothing but data may be written: not behind the buffer, nor in a derived type's gaps. */
static void check_untouched(struct caller *caller, const struct call *call)
{
    unsigned char guard[GUARD];
    memset(guard, FILLED, sizeof(guard));
    check(caller, 0 == memcmp(caller->receive + call->bytes, guard, sizeof(guard)),
          "%s: bytes behind the receive buffer were changed", call->what);
    if (NULL == call->shape)
        return;
    char *blank = caller->send; /* not needed any more */
    memcpy(blank, caller->receive, call->bytes);
    memset(caller->words, FILLED, call->count * SHAPE_WORDS * sizeof(uint32_t));
    shape_scatter(call->shape, caller->words, call->count, blank);
    size_t changed = 0;
    for (size_t i = 0; i < call->bytes; i++)
        changed += FILLED != (unsigned char)blank[i];
    check(caller, 0 == changed, "%s: %zu bytes in gaps were changed", call->what, changed);
}

void caller_call(struct caller *caller, struct caller_comm *comm, uint64_t random)
{
    const struct call call = choose(caller, comm, test_mix(random ^ test.seed));
    allreduce(caller, comm, &call);
    spoil(caller, comm, &call);
    if (call.count > 0) {
        make_expected(caller, comm, &call);
        compare(caller, comm, &call);
        caller->made += comm->n > 1;
    }
    check_untouched(caller, &call);
    comm->calls++;
}

void caller_compare(struct caller *caller, const struct caller_comm *comm)
{
    uint64_t *all = test_allocate((size_t)comm->n * sizeof(*all));
    TEST_MPI(MPI_Allgather(&comm->hash, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, comm->comm));
    for (int rank = 0; rank < comm->n; rank++)
        check(caller, all[rank] == comm->hash,
              "%s: within %ld calls, rank %d's results were not bit by bit those of rank %d",
              comm->name, comm->calls, rank, comm->rank);
    free(all);
}
