/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derived types and user-defined operators: with gaps, lower bounds, extents that are longer or
 * shorter than the data, elements longer than a segment; commutative operators, which strag runs,
 * and others, which it must delegate.
 *
 * Every type here is a list of 32-bit words at offsets. All bytes of the receive buffer are
 * compared, so that a write to a gap is detected.
 *
 *     types --algorithms A,B,..      each pinned on a communicator in turn
 */
#include "common.h"
#include "order.h"

#define WORDS_GIANT 20000
#define MARGIN      256 /* bytes around a buffer that must not change */
#define INTERLEAVED 1000

struct shape {
    char name[48];
    MPI_Datatype type;
    int words;
    MPI_Aint *offset;           /* bytes, one per word */
    MPI_Aint extent, low, high; /* the data of an element is within [low, high) */
    size_t count_max;
};

struct buffer {
    char *memory, *base; /* base: what MPI is given */
    size_t bytes;
};

static const struct shape *current;         /* for the operators, which MPI gives no context */
static MPI_Comm comm;                       /* with the algorithm at hand */
static unsigned long long calls, delegated; /* expected */

static uint32_t word_at(const char *address)
{
    uint32_t word;
    memcpy(&word, address, sizeof(word));
    return word;
}

/* Neither commutative nor associative, but declared commutative: shows order and sides. */
static uint32_t mix_words(uint32_t left, uint32_t right)
{
    return (uint32_t)test_mix((3 * (uint64_t)left) ^ test_mix(right));
}

static uint32_t add_words(uint32_t left, uint32_t right)
{
    return left + right;
}

/* The first argument is written, too: MPI does not forbid that. */
static void apply(char *in, char *inout, int length,
                  uint32_t (*reduce)(uint32_t left, uint32_t right))
{
    for (int i = 0; i < length; i++) {
        for (int k = 0; k < current->words; k++) {
            const ptrdiff_t at = i * current->extent + current->offset[k];
            const uint32_t word = reduce(word_at(in + at), word_at(inout + at));
            memcpy(inout + at, &word, sizeof(word));
            memset(in + at, 0x5a, sizeof(word));
        }
    }
}

static void order_op(void *in, void *inout, int *length, MPI_Datatype *type)
{
    TEST_CHECK(*type == current->type, "%s: the operator got another type", current->name);
    apply(in, inout, *length, mix_words);
}

static void sum_op(void *in, void *inout, int *length, MPI_Datatype *type)
{
    TEST_CHECK(*type == current->type, "%s: the operator got another type", current->name);
    apply(in, inout, *length, add_words);
}

/* 2x2 matrices over the integers modulo 2^32: associative, not commutative. */
static void matrix_op(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const uint32_t *a = in;
    uint32_t *b = inout;
    for (int i = 0; i < *length; i++, a += 4, b += 4) {
        const uint32_t product[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                                     a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
        memcpy(b, product, sizeof(product));
    }
}

/* order_input's fill for the current shape. */
static void fill(const void *context, int rank, size_t first, size_t count, void *out)
{
    const struct shape *shape = context;
    for (size_t i = 0; i < count; i++) {
        for (int k = 0; k < shape->words; k++) {
            const uint64_t index = (first + i) * (uint64_t)shape->words + (uint64_t)k;
            const uint32_t word = (uint32_t)test_value(rank, index);
            memcpy((char *)out + (ptrdiff_t)i * shape->extent + shape->offset[k], &word,
                   sizeof(word));
        }
    }
}

static struct buffer make_buffer(const struct shape *shape, size_t count)
{
    const ptrdiff_t high = shape->high + ((ptrdiff_t)count - 1) * shape->extent;
    struct buffer buffer = {.bytes = (size_t)(high - shape->low) + 2 * MARGIN};
    buffer.memory = test_allocate(buffer.bytes);
    buffer.base = buffer.memory + MARGIN - shape->low;
    memset(buffer.memory, 0xa5, buffer.bytes);
    return buffer;
}

/* The whole vector in the order of the plan. */
static void expect_planned(const struct shape *shape, const struct order *order, MPI_Op op,
                           size_t count, char *base)
{
    const struct order_input input = {.type = shape->type,
                                      .op = op,
                                      .extent = shape->extent,
                                      .footprint = (size_t)shape->high,
                                      .below = shape->low < 0 ? (size_t)-shape->low : 0,
                                      .fill = fill,
                                      .context = shape};
    order_reduce(order, &input, ORDER_PLANNED, count, 0, count, base);
}

static void expect_sum(const struct shape *shape, size_t count, char *base)
{
    struct buffer rank_input = make_buffer(shape, count);
    fill(shape, 0, 0, count, base);
    for (int rank = 1; rank < test.n; rank++) {
        fill(shape, rank, 0, count, rank_input.base);
        apply(rank_input.base, base, (int)count, add_words);
    }
    free(rank_input.memory);
}

static void compare(const struct buffer *got, const struct buffer *want, const char *what)
{
    for (size_t i = 0; i < want->bytes; i++) {
        if (got->memory[i] != want->memory[i]) {
            test_fail("%s: byte %td of the buffer is %#x, not %#x", what,
                      got->memory + i - got->base, (unsigned char)got->memory[i],
                      (unsigned char)want->memory[i]);
            return;
        }
    }
    test.checks++;
}

/* One allreduce of a shape; `want` holds the result and the untouched bytes. */
static void allreduce(const struct shape *shape, MPI_Op op, size_t count, bool in_place,
                      const struct buffer *want, const char *what)
{
    struct buffer send = make_buffer(shape, count), send_before = make_buffer(shape, count);
    struct buffer receive = make_buffer(shape, count);
    fill(shape, test.rank, 0, count, in_place ? receive.base : send.base);
    memcpy(send_before.memory, send.memory, send.bytes);
    TEST_MPI(MPI_Allreduce(in_place ? MPI_IN_PLACE : send.base, receive.base, (int)count,
                           shape->type, op, comm));
    compare(&receive, want, what);
    compare(&send, &send_before, what);
    free(send.memory);
    free(send_before.memory);
    free(receive.memory);
}

static void run_shape(const struct shape *shape, const struct order *order, MPI_Op order_recording,
                      MPI_Op sum)
{
    const size_t n = (size_t)test.n;
    const size_t counts[] = {1, 2, n - 1, n, n + 1, 5, 1000};
    current = shape;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        if (0 == counts[i] || counts[i] > shape->count_max)
            continue;
        for (int variant = 0; variant < 4; variant++) {
            const bool in_place = 0 != variant % 2, planned = variant < 2;
            struct buffer want = make_buffer(shape, counts[i]);
            if (planned)
                expect_planned(shape, order, order_recording, counts[i], want.base);
            else
                expect_sum(shape, counts[i], want.base);
            char what[128];
            snprintf(what, sizeof(what), "%.47s, count %zu%s, %s", shape->name, counts[i],
                     in_place ? " in place" : "", planned ? "order" : "sum");
            allreduce(shape, planned ? order_recording : sum, counts[i], in_place, &want, what);
            calls += test.n > 1;
            free(want.memory);
        }
    }
}

/* Prepare a type: find its bounds and the words' offsets. */
static struct shape make_shape(const char *name, MPI_Datatype type, int words,
                               const MPI_Aint *offset, size_t count_max)
{
    struct shape shape = {.type = type, .words = words, .count_max = count_max};
    MPI_Aint lower, true_extent;
    snprintf(shape.name, sizeof(shape.name), "%s", name);
    TEST_MPI(MPI_Type_commit(&shape.type));
    TEST_MPI(MPI_Type_get_extent(shape.type, &lower, &shape.extent));
    TEST_MPI(MPI_Type_get_true_extent(shape.type, &shape.low, &true_extent));
    shape.high = shape.low + true_extent;
    shape.offset = test_allocate((size_t)words * sizeof(*offset));
    memcpy(shape.offset, offset, (size_t)words * sizeof(*offset));
    return shape;
}

static void free_shape(struct shape *shape)
{
    TEST_MPI(MPI_Type_free(&shape->type));
    free(shape->offset);
}

/* Words at offsets, with a lower bound and an extent. */
static struct shape scattered(const char *name, int words, const MPI_Aint *offset, MPI_Aint lower,
                              MPI_Aint extent, size_t count_max)
{
    MPI_Datatype list, resized;
    TEST_MPI(MPI_Type_create_hindexed_block(words, 1, offset, MPI_UINT32_T, &list));
    TEST_MPI(MPI_Type_create_resized(list, lower, extent, &resized));
    TEST_MPI(MPI_Type_free(&list));
    return make_shape(name, resized, words, offset, count_max);
}

/* A structure with a gap between its members and another at its end. */
static struct shape structure(void)
{
    const int lengths[] = {1, 2};
    const MPI_Aint displacements[] = {0, 12}, offset[] = {0, 12, 16};
    const MPI_Datatype members[] = {MPI_UINT32_T, MPI_UINT32_T};
    MPI_Datatype plain, resized;
    TEST_MPI(MPI_Type_create_struct(2, lengths, displacements, members, &plain));
    TEST_MPI(MPI_Type_create_resized(plain, 0, 40, &resized));
    TEST_MPI(MPI_Type_free(&plain));
    return make_shape("struct with extent 40", resized, 3, offset, 5000);
}

static int make_shapes(struct shape *shapes)
{
    const MPI_Aint triple[] = {0, 4, 8}, gap[] = {0, 12}, positive[] = {16, 24};
    const MPI_Aint negative[] = {-8, 4}, far[] = {0, 4 * INTERLEAVED}, backwards[] = {8, 0};
    MPI_Aint *giant = test_allocate(WORDS_GIANT * sizeof(*giant));
    int count = 0;
    MPI_Datatype type;
    for (int k = 0; k < WORDS_GIANT; k++)
        giant[k] = 4 * k;
    TEST_MPI(MPI_Type_contiguous(3, MPI_UINT32_T, &type));
    shapes[count++] = make_shape("contiguous", type, 3, triple, 5000);
    TEST_MPI(MPI_Type_vector(2, 1, 3, MPI_UINT32_T, &type));
    shapes[count++] = make_shape("vector with a gap", type, 2, gap, 5000);
    TEST_MPI(MPI_Type_dup(MPI_UINT32_T, &type));
    shapes[count++] = make_shape("dup of a predefined type", type, 1, triple, 5000);
    shapes[count++] = structure();
    shapes[count++] = scattered("lower bound 16", 2, positive, 16, 12, 5000);
    shapes[count++] = scattered("lower bound 8 before the data", 2, positive, 8, 28, 5000);
    shapes[count++] = scattered("negative lower bound", 2, negative, -8, 24, 5000);
    shapes[count++] = scattered("words in descending order", 2, backwards, 0, 12, 5000);
    shapes[count++] = scattered("interleaved elements", 2, far, 0, 4, INTERLEAVED);
    TEST_MPI(MPI_Type_contiguous(WORDS_GIANT, MPI_UINT32_T, &type));
    shapes[count++] = make_shape("giant elements", type, WORDS_GIANT, giant, 10);
    free(giant);
    return count;
}

/* Elements of size 0: nothing to do, with any component. */
static void run_no_size(MPI_Op sum)
{
    MPI_Datatype empty;
    uint32_t words[4] = {1, 2, 3, 4}, untouched[4] = {5, 6, 7, 8};
    TEST_MPI(MPI_Type_contiguous(0, MPI_UINT32_T, &empty));
    TEST_MPI(MPI_Type_commit(&empty));
    struct shape none = {.name = "no size", .type = empty};
    current = &none;
    TEST_MPI(MPI_Allreduce(words, untouched, 3, empty, sum, comm));
    TEST_MPI(MPI_Allreduce(MPI_IN_PLACE, words, 3, empty, sum, comm));
    TEST_CHECK(1 == words[0] && 4 == words[3] && 5 == untouched[0] && 8 == untouched[3],
               "a type of no size: a buffer was changed");
    TEST_MPI(MPI_Type_free(&empty));
}

/* Count 0 touches nothing. */
static void run_empty(const struct shape *shape, MPI_Op sum)
{
    struct buffer want = make_buffer(shape, 1), got = make_buffer(shape, 1);
    current = shape;
    TEST_MPI(MPI_Allreduce(want.base, got.base, 0, shape->type, sum, comm));
    TEST_MPI(MPI_Allreduce(MPI_IN_PLACE, got.base, 0, shape->type, sum, comm));
    compare(&got, &want, "count 0");
    free(want.memory);
    free(got.memory);
}

/* Must be delegated, and be the product in the order of the ranks. */
static void run_noncommutative(int count, bool in_place)
{
    const size_t bytes = (size_t)count * 4 * sizeof(uint32_t);
    uint32_t *mine = test_allocate(bytes), *other = test_allocate(bytes);
    uint32_t *want = test_allocate(bytes), *got = test_allocate(bytes);
    MPI_Datatype type;
    MPI_Op op;
    TEST_MPI(MPI_Type_contiguous(4, MPI_UINT32_T, &type));
    TEST_MPI(MPI_Type_commit(&type));
    TEST_MPI(MPI_Op_create(matrix_op, 0, &op));
    for (int rank = test.n - 1; rank >= 0; rank--) {
        for (int i = 0; i < 4 * count; i++)
            other[i] = (uint32_t)test_value(rank, (uint64_t)i);
        if (rank == test.rank) {
            memcpy(mine, other, bytes);
            memcpy(got, other, bytes);
        }
        if (rank == test.n - 1)
            memcpy(want, other, bytes);
        else
            matrix_op(other, want, &count, &type);
    }
    TEST_MPI(MPI_Allreduce(in_place ? MPI_IN_PLACE : mine, got, count, type, op, comm));
    delegated += test.n > 1;
    TEST_CHECK(0 == memcmp(want, got, bytes), "non-commutative operator, count %d%s: wrong", count,
               in_place ? " in place" : "");
    TEST_MPI(MPI_Op_free(&op));
    TEST_MPI(MPI_Type_free(&type));
    free(mine);
    free(other);
    free(want);
    free(got);
}

/* Everything with one algorithm. */
static void run_pinned(const char *algorithm, const struct shape *shapes, int count)
{
    struct order order;
    MPI_Op order_recording, sum;
    comm = test_pinned(MPI_COMM_WORLD, algorithm);
    order_create(&order, algorithm, test.n);
    TEST_MPI(MPI_Op_create(order_op, 1, &order_recording));
    TEST_MPI(MPI_Op_create(sum_op, 1, &sum));
    calls = delegated = 0;

    struct test_counters before = test_counters_read();
    for (int i = 0; i < count; i++) {
        run_shape(&shapes[i], &order, order_recording, sum);
        run_empty(&shapes[i], sum);
    }
    test_counters_moved(before, calls, 0, algorithm);

    before = test_counters_read();
    const int counts[] = {1, 7, 1000, 20000};
    for (int i = 0; i < 4; i++) {
        run_noncommutative(counts[i], false);
        run_noncommutative(counts[i], true);
    }
    test_counters_moved(before, 0, delegated, "non-commutative operators");
    run_no_size(sum);

    TEST_MPI(MPI_Op_free(&order_recording));
    TEST_MPI(MPI_Op_free(&sum));
    TEST_MPI(MPI_Comm_free(&comm));
    order_free(&order);
}

int main(int argc, char **argv)
{
    const char *algorithms = "ring";
    const struct test_option options[] = {{"algorithms", &algorithms}, {NULL, NULL}};
    test_start(&argc, &argv, "types", MPI_THREAD_SINGLE, options);
    struct shape shapes[16];
    const int count = make_shapes(shapes);
    char *list = strdup(algorithms), *rest = NULL;
    for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        run_pinned(name, shapes, count);
    free(list);
    for (int i = 0; i < count; i++)
        free_shape(&shapes[i]);
    return test_finish();
}
