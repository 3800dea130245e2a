/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every predefined operator with every predefined type that it accepts, and an operator of its own
 * that records the order and the sides of every reduction; counts from 0 to --most elements;
 * MPI_IN_PLACE or not. The result must be equal, bit by bit, to a serial reduction in the order of
 * the algorithm's plan (order.h), and the same on all ranks.
 *
 * This is cheap: each rank evaluates 1/n of the elements, and a hash of the whole result is
 * compared between the ranks.
 *
 *     matrix --algorithms A,B,.. [--most N] [--large K/M] [--repeat N]
 *
 * --algorithms  each pinned on a communicator in turn
 * --most        elements of the large vectors, divisible by no number of ranks (default 1048583)
 * --large       run those for the combinations K, K+M, ... alone, with the next algorithm
 *               for K+1, ... (default 0/1: for all); with M > 1, with and without MPI_IN_PLACE in
 *               turn
 * --repeat      this many runs of a few cases, with random delays, must give the same bits (default
 *               0)
 */
#include "common.h"
#include "elements.h"
#include "order.h"

#include <unistd.h>

/* Values repeat after this many elements: a prime, so that no block or segment is a multiple. */
#define POOL  8191
#define GUARD 64 /* bytes after the receive buffer that must not change */
#define RUNS  32 /* hashes collected before the ranks compare them */

/* Pairs that the standard's table allows, among the C types and among the Fortran types of a build
 * with INTEGER*1 to *8 and REAL*4 to *16; and all that Open MPI 4.1 built so accepts. */
#define STANDARD_C       256
#define STANDARD_FORTRAN 74
#define ACCEPTED_4_1     398

/* One row of the matrix: a type with an operator. */
struct combination {
    char name[64];
    struct element *element;
    int op; /* ELEMENT_OPS: our own operator */
    MPI_Op handle;
};

struct matrix {
    const char *algorithm;
    MPI_Comm comm; /* with that algorithm */
    struct order order;
    struct combination *combinations;
    int count;
    char *pool; /* n times POOL elements of the combination at hand */
    char *send, *receive;
    unsigned long long expected; /* calls that strag must have run */
    uint64_t hash[RUNS];
    char hashed[RUNS][96];
    int hashes;
    size_t most; /* elements of a large vector */
};

/* Our own operator on 64-bit numbers: neither commutative nor associative, but declared to be
 * commutative, so that the result shows exactly which operands were reduced, and which was left.
 */
static struct element order_element = {
    .name = "order", .group = GROUP_C_INTEGER, .scalar = {SCALAR_UINT64}, .size = 8, .extent = 8};

static void order_op(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const uint64_t *left = in;
    uint64_t *right = inout;
    for (int i = 0; i < *length; i++)
        right[i] = test_mix(3 * left[i] + test_mix(right[i]));
}

/* order_input's fill: a rank's elements out of its pool. */
static void fill(const void *context, int rank, size_t first, size_t count, void *out)
{
    const struct matrix *matrix = ((const void *const *)context)[0];
    const struct combination *combination = ((const void *const *)context)[1];
    const size_t extent = (size_t)combination->element->extent;
    const char *pool = matrix->pool + (size_t)rank * POOL * extent;
    char *at = out;
    for (size_t start = first % POOL; count > 0; start = 0) {
        size_t part = count < POOL - start ? count : POOL - start;
        memcpy(at, pool + start * extent, part * extent);
        at += part * extent;
        count -= part;
    }
}

/* Vectors of at most `count` elements can be filled then. */
static void make_pool(struct matrix *matrix, const struct combination *combination, size_t count)
{
    const size_t extent = (size_t)combination->element->extent;
    for (int rank = 0; rank < test.n; rank++) {
        for (size_t i = 0; i < POOL && i < count; i++) {
            element_value(combination->element, combination->op, rank, test_value(rank, i),
                          matrix->pool + ((size_t)rank * POOL + i) * extent);
        }
    }
}

/* All pairs that MPI accepts, and our own; with the numbers that there must be. */
static void list_combinations(struct matrix *matrix)
{
    int standard_c = 0, standard_fortran = 0, accepted = 0;
    bool fortran = false;
    matrix->combinations =
        test_allocate((size_t)(elements_count * ELEMENT_OPS + 1) * sizeof(*matrix->combinations));
    for (int i = 0; i < elements_count; i++) {
        for (int op = 0; op < ELEMENT_OPS; op++) {
            const bool standard = element_standard(&elements[i], op) && elements[i].size > 0;
            standard_c += standard && !elements[i].fortran;
            standard_fortran += standard && elements[i].fortran;
            fortran = fortran || (elements[i].fortran && elements[i].size > 0);
            if (!element_accepted(&elements[i], op)) {
                TEST_CHECK(!standard, "MPI refuses %s with %s", element_ops[op].name,
                           elements[i].name);
                continue;
            }
            struct combination *new = &matrix->combinations[matrix->count++];
            new->element = &elements[i];
            new->op = op;
            new->handle = element_ops[op].op;
            snprintf(new->name, sizeof(new->name), "%s %s", element_ops[op].name, elements[i].name);
            accepted++;
        }
    }
    TEST_CHECK(STANDARD_C == standard_c, "%d pairs of operator and C type, not %d", standard_c,
               STANDARD_C);
    TEST_CHECK(!fortran || STANDARD_FORTRAN == standard_fortran,
               "%d pairs of operator and Fortran type, not %d", standard_fortran, STANDARD_FORTRAN);
#if OMPI_MAJOR_VERSION == 4 && OMPI_MINOR_VERSION == 1
    TEST_CHECK(!fortran || ACCEPTED_4_1 == accepted, "MPI accepts %d pairs, not %d", accepted,
               ACCEPTED_4_1);
#endif
    if (0 == test.rank) {
        printf("matrix: %d pairs of operator and type (%d of the standard), and one of our own\n",
               accepted, standard_c + standard_fortran);
    }

    struct combination *own = &matrix->combinations[matrix->count++];
    own->element = &order_element;
    own->op = ELEMENT_OPS;
    snprintf(own->name, sizeof(own->name), "order-recording op MPI_UINT64_T");
    order_element.type = MPI_UINT64_T;
    TEST_MPI(MPI_Op_create(order_op, 1, &own->handle));
}

/* Compare the collected hashes with the other ranks', by means of a gather, which is not strag's.
 */
static void compare_hashes(struct matrix *matrix)
{
    uint64_t *all = test_allocate((size_t)test.n * RUNS * sizeof(uint64_t));
    TEST_MPI(
        MPI_Allgather(matrix->hash, RUNS, MPI_UINT64_T, all, RUNS, MPI_UINT64_T, MPI_COMM_WORLD));
    for (int i = 0; i < matrix->hashes; i++) {
        for (int rank = 0; rank < test.n; rank++) {
            TEST_CHECK(all[rank * RUNS + i] == matrix->hash[i],
                       "%s: the result is not the same as on rank %d", matrix->hashed[i], rank);
        }
    }
    free(all);
    matrix->hashes = 0;
}

static struct order_input input_of(const struct combination *combination, const void **context)
{
    struct order_input input = {.type = combination->element->type,
                                .op = combination->handle,
                                .extent = combination->element->extent,
                                .footprint = (size_t)combination->element->extent,
                                .fill = fill,
                                .context = context};
    return input;
}

/* Compare this rank's share of the elements with the serial reduction. */
static bool check_share(const struct matrix *matrix, const struct combination *combination,
                        size_t count, const char *what)
{
    const void *context[2] = {matrix, combination};
    const struct order_input input = input_of(combination, context);
    const size_t extent = (size_t)input.extent;
    const size_t end = (size_t)(test.rank + 1) * count / (size_t)test.n;
    char *expected = test_allocate(ORDER_CHUNK * extent);
    bool equal = true;

    for (size_t first = (size_t)test.rank * count / (size_t)test.n; first < end && equal;
         first += ORDER_CHUNK) {
        const size_t part = end - first < ORDER_CHUNK ? end - first : ORDER_CHUNK;
        order_reduce(&matrix->order, &input, ORDER_PLANNED, count, first, part, expected);
        element_canonical(combination->element, expected, part);
        const char *result = matrix->receive + first * extent;
        for (size_t i = 0; equal && i < part && 0 != memcmp(expected, result, part * extent); i++) {
            equal = 0 == memcmp(expected + i * extent, result + i * extent, extent);
            if (!equal) {
                uint64_t want = 0, got = 0;
                memcpy(&want, expected + i * extent, extent < 8 ? extent : 8);
                memcpy(&got, result + i * extent, extent < 8 ? extent : 8);
                test_fail("%s: element %zu is %#llx, %#llx in the order of %s", what, first + i,
                          (unsigned long long)got, (unsigned long long)want, matrix->algorithm);
            }
        }
    }
    free(expected);
    return equal;
}

/* The send buffer must still hold this rank's input. */
static void check_input(const struct matrix *matrix, const struct combination *combination,
                        size_t count, const char *what)
{
    const void *context[2] = {matrix, combination};
    const size_t extent = (size_t)combination->element->extent;
    char *expected = test_allocate(ORDER_CHUNK * extent);
    for (size_t first = 0; first < count; first += ORDER_CHUNK) {
        const size_t part = count - first < ORDER_CHUNK ? count - first : ORDER_CHUNK;
        fill(context, test.rank, first, part, expected);
        if (!TEST_CHECK(0 == memcmp(expected, matrix->send + first * extent, part * extent),
                        "%s: the send buffer was changed", what))
            break;
    }
    free(expected);
}

/* One allreduce of this rank's elements; the result is left in the receive buffer, canonical. */
static uint64_t allreduce(struct matrix *matrix, const struct combination *combination,
                          size_t count, bool in_place, const char *what)
{
    const void *context[2] = {matrix, combination};
    const size_t bytes = count * (size_t)combination->element->extent;
    unsigned char guard[GUARD];
    memset(guard, 0xa5, sizeof(guard));
    memcpy(matrix->receive + bytes, guard, sizeof(guard));
    if (in_place) {
        fill(context, test.rank, 0, count, matrix->receive);
    } else {
        fill(context, test.rank, 0, count, matrix->send);
        memset(matrix->receive, 0xa5, bytes);
    }
    TEST_MPI(MPI_Allreduce(in_place ? MPI_IN_PLACE : matrix->send, matrix->receive, (int)count,
                           combination->element->type, combination->handle, matrix->comm));
    matrix->expected += count > 0 && test.n > 1; /* MPI_Allreduce returns at once otherwise */
    TEST_CHECK(0 == memcmp(matrix->receive + bytes, guard, sizeof(guard)),
               "%s: bytes behind the receive buffer were changed", what);
    element_canonical(combination->element, matrix->receive, count);
    return test_hash(matrix->receive, bytes);
}

static void run(struct matrix *matrix, const struct combination *combination, size_t count,
                bool in_place)
{
    char *what = matrix->hashed[matrix->hashes];
    snprintf(what, sizeof(matrix->hashed[0]), "%s count %zu%s", combination->name, count,
             in_place ? " in place" : "");
    matrix->hash[matrix->hashes++] = allreduce(matrix, combination, count, in_place, what);
    if (check_share(matrix, combination, count, what))
        test.checks++;
    if (!in_place)
        check_input(matrix, combination, count, what);
}

/* The test itself: another order must give other bits for floating-point sums. */
static void check_order_matters(const struct matrix *matrix, const struct combination *combination)
{
    enum { COUNT = 1000 };
    const void *context[2] = {matrix, combination};
    const struct order_input input = input_of(combination, context);
    const size_t bytes = COUNT * (size_t)input.extent;
    char *planned = test_allocate(bytes), *other = test_allocate(bytes);
    bool matters = false;
    order_reduce(&matrix->order, &input, ORDER_PLANNED, COUNT, 0, COUNT, planned);
    element_canonical(combination->element, planned, COUNT);
    for (int kind = ORDER_UPWARDS; kind <= ORDER_DOWNWARDS; kind++) {
        order_reduce(&matrix->order, &input, (enum order_kind)kind, COUNT, 0, COUNT, other);
        element_canonical(combination->element, other, COUNT);
        matters = matters || 0 != memcmp(planned, other, bytes);
    }
    TEST_CHECK(matters, "%s: the order of ranks does not matter", combination->name);
    free(planned);
    free(other);
}

/* @param every  in place, and not; else in turn: what is in place here is not with one rank more */
static void run_small(struct matrix *matrix, const struct combination *combination, bool every)
{
    const size_t n = (size_t)test.n;
    const size_t counts[] = {0, 1, 2, n - 1, n, n + 1, 1000};
    make_pool(matrix, combination, 1000);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        const bool in_place = (i + n + (size_t)(combination - matrix->combinations)) % 2 != 0;
        run(matrix, combination, counts[i], in_place);
        if (every)
            run(matrix, combination, counts[i], !in_place);
    }
    compare_hashes(matrix);

    const bool floating = GROUP_FLOATING == combination->element->group ||
                          GROUP_COMPLEX == combination->element->group;
    const bool rounds =
        floating && (MPI_SUM == combination->handle || MPI_PROD == combination->handle);
    if ((rounds && test.n > 2) || (ELEMENT_OPS == combination->op && test.n > 1))
        check_order_matters(matrix, combination);
}

/* Identical bits over many runs, with ranks that arrive at random times. */
static void run_repeated(struct matrix *matrix, const struct combination *combination, long repeat)
{
    const size_t counts[] = {1, 1000, 65537};
    make_pool(matrix, combination, POOL);
    for (int i = 0; i < 3; i++) {
        run(matrix, combination, counts[i], false);
        const uint64_t first = matrix->hash[matrix->hashes - 1];
        const char *what = matrix->hashed[matrix->hashes - 1];
        for (long k = 1; k < repeat; k++) {
            uint64_t random = test_mix(test.seed + (uint64_t)(k * test.n + test.rank));
            if (0 == random % 4)
                usleep((useconds_t)(random >> 8) % 300);
            uint64_t hash = allreduce(matrix, combination, counts[i], 0 == k % 2, what);
            TEST_CHECK(hash == first, "%s: run %ld gave other bits than run 0", what, k);
        }
    }
    compare_hashes(matrix);
}

static void run_all(struct matrix *matrix, long part, long parts, long repeat)
{
    for (int i = 0; i < matrix->count; i++) {
        const struct combination *combination = &matrix->combinations[i];
        const bool own = ELEMENT_OPS == combination->op;
        run_small(matrix, combination, own || 1 == parts);
        if (own || part == i % parts) {
            const bool in_place = 0 != (i / parts + test.n) % 2;
            make_pool(matrix, combination, POOL);
            run(matrix, combination, matrix->most, in_place);
            if (own || 1 == parts)
                run(matrix, combination, matrix->most, !in_place);
            compare_hashes(matrix);
        }
        const bool sum = MPI_SUM == combination->handle;
        if (repeat > 0 && (own || (sum && (MPI_FLOAT == combination->element->type ||
                                           MPI_DOUBLE == combination->element->type))))
            run_repeated(matrix, combination, repeat);
    }
}

/* @param part  of `parts` parts: which combinations have large vectors */
static void run_pinned(struct matrix *matrix, const char *algorithm, long part, long parts,
                       long repeat)
{
    matrix->algorithm = algorithm;
    matrix->comm = test_pinned(MPI_COMM_WORLD, algorithm);
    matrix->expected = 0;
    order_create(&matrix->order, algorithm, test.n);
    const struct test_counters before = test_counters_read();
    run_all(matrix, part, parts, repeat);
    test_counters_moved(before, matrix->expected, 0, algorithm);
    order_free(&matrix->order);
    TEST_MPI(MPI_Comm_free(&matrix->comm));
}

int main(int argc, char **argv)
{
    static struct matrix matrix;
    const char *algorithms = "ring", *most = "1048583", *large = "0/1", *repeat = "0";
    const struct test_option options[] = {{"algorithms", &algorithms},
                                          {"most", &most},
                                          {"large", &large},
                                          {"repeat", &repeat},
                                          {NULL, NULL}};
    test_start(&argc, &argv, "matrix", MPI_THREAD_SINGLE, options);
    matrix.most = (size_t)test_number("most", most, 10000, 1 << 24);
    const long runs = test_number("repeat", repeat, 0, 100000);
    char first[16] = "";
    const char *slash = strchr(large, '/');
    if (NULL != slash)
        snprintf(first, sizeof(first), "%.*s", (int)(slash - large), large);
    const long parts = test_number("large", NULL != slash ? slash + 1 : large, 1, 1000);
    long part = test_number("large", first, 0, parts - 1);
    if (test.n > ELEMENT_RANKS_MAX)
        test_die("%d ranks: at most %d are accepted", test.n, ELEMENT_RANKS_MAX);

    elements_prepare();
    memset(order_element.mask, 0xff, 8);
    list_combinations(&matrix);
    matrix.pool = test_allocate((size_t)test.n * POOL * ELEMENT_BYTES_MAX);
    matrix.send = test_allocate(matrix.most * ELEMENT_BYTES_MAX);
    matrix.receive = test_allocate(matrix.most * ELEMENT_BYTES_MAX + GUARD);
    char *list = strdup(algorithms), *rest = NULL;
    for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        run_pinned(&matrix, name, part++ % parts, parts, runs);

    TEST_MPI(MPI_Op_free(&matrix.combinations[matrix.count - 1].handle));
    free(list);
    free(matrix.combinations);
    free(matrix.pool);
    free(matrix.send);
    free(matrix.receive);
    return test_finish();
}
