/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels' bodies on the host: every operator and type, every length from 0 to 257 and every
 * alignment of the output, the inputs aligned in the same way or not, the output apart or in the
 * place of an input, with several numbers of threads. No byte outside the output changes, and none
 * outside the inputs is read (under AddressSanitizer).
 */
#include "host_kernels.h"
#include "kernel_table.h"
#include "reference.h"
#include "support.h"

enum { LENGTHS = 258, ALIGNMENTS = 16, MARGIN = 32, ROOM = LENGTHS * 16 + 2 * MARGIN + 16 };

enum alias { APART, OUT_IS_LEFT, OUT_IS_RIGHT, ALIASES };

struct kernel_case {
    enum strag_cuda_op op;
    enum strag_cuda_type type;
    size_t elements;
    unsigned out, left, right; /* bytes from an address that is a multiple of 16 */
    enum alias alias;
    size_t threads;
};

static _Alignas(16) char output[ROOM], want[ROOM];

static void fill(char *at, enum strag_cuda_type type, size_t elements, struct rng *rng)
{
    for (size_t i = 0; i < elements; i++)
        reference_value(type, rng_next(rng), at + i * strag_cuda_size(type));
}

/* Aligned chunks that hold bytes of packs must lie within the vector. */
static void check_cut(const struct strag_job *job, unsigned size)
{
    struct strag_cut cut = strag_cut(job, size);
    const void *inputs[] = {job->left, job->right};
    size_t bytes = job->elements * size;
    assert_true(cut.head + cut.packs * STRAG_PACK <= bytes);
    for (int i = 0; i < 2 && cut.first < cut.packs; i++) {
        size_t begin = cut.head + cut.first * STRAG_PACK, end = cut.head + cut.packs * STRAG_PACK;
        size_t shift = ((uintptr_t)inputs[i] + cut.head) % STRAG_PACK;
        assert_true(begin >= shift);
        assert_true(end + (shift ? STRAG_PACK - shift : 0) <= bytes);
    }
}

static void run_kernel(const struct kernel_case *c, const struct strag_job *job, size_t begin)
{
    struct strag_kernel kernel = strag_kernel_for(c->op, c->type);
    struct strag_job scaled = *job;
    assert_in_range(kernel.number, 0, STRAG_KERNELS_MAX - 2);
    scaled.elements *= (size_t)kernel.scale;
    check_cut(&scaled, (unsigned)(strag_cuda_size(c->type) / (size_t)kernel.scale));
    for (size_t thread = 0; thread < c->threads; thread++)
        host_kernel(kernel.number, &scaled, thread, c->threads);
    if (memcmp(output, want, ROOM) != 0)
        fail_msg("%s, type %d, %zu elements, alignments %u %u %u, alias %d, %zu threads",
                 strag_kernel_names[kernel.number], (int)c->type, c->elements, c->out, c->left,
                 c->right, (int)c->alias, c->threads);
}

/* Inputs end where their memory ends. */
static void run_case(const struct kernel_case *c, struct rng *rng)
{
    size_t size = strag_cuda_size(c->type), begin = MARGIN + c->out;
    char *left_memory = malloc(c->left + c->elements * size);
    char *right_memory = malloc(c->right + c->elements * size);
    assert_non_null(left_memory);
    assert_non_null(right_memory);
    char *left = c->alias == OUT_IS_LEFT ? output + begin : left_memory + c->left;
    char *right = c->alias == OUT_IS_RIGHT ? output + begin : right_memory + c->right;
    memset(output, 0x5a, ROOM);
    fill(left, c->type, c->elements, rng);
    fill(right, c->type, c->elements, rng);
    memcpy(want, output, ROOM);
    for (size_t i = 0; i < c->elements; i++)
        reference_reduce(c->op, c->type, want + begin + i * size, left + i * size,
                         right + i * size);
    const struct strag_job job = {output + begin, left, right, c->elements};
    run_kernel(c, &job, begin);
    free(left_memory);
    free(right_memory);
}

/* ---- All cases ---- */

struct pair {
    enum strag_cuda_op op;
    enum strag_cuda_type type;
};

static struct pair pairs[STRAG_CUDA_OPS * STRAG_CUDA_TYPES];

static long find_pairs(void)
{
    long count = 0;
    for (int op = 0; op < STRAG_CUDA_OPS; op++) {
        for (int type = 0; type < STRAG_CUDA_TYPES; type++) {
            if (reference_defined((enum strag_cuda_op)op, (enum strag_cuda_type)type))
                pairs[count++] = (struct pair){(enum strag_cuda_op)op, (enum strag_cuda_type)type};
        }
    }
    return count;
}

static unsigned random_alignment(struct rng *rng, unsigned out)
{
    return rng_one_in(rng, 3) ? out : rng_below(rng, ALIGNMENTS);
}

TEST(every_length_and_alignment)
{
    static const size_t threads[] = {1, 2, 3, 8, 40};
    struct rng rng = {support_seed("test_kernels")};
    long npairs = find_pairs(), all = npairs * LENGTHS * ALIGNMENTS, cases = support_cases(all);
    for (long i = 0; i < cases; i++) {
        long number = cases >= all ? i % all : (long)(rng_next(&rng) % (uint64_t)all);
        const struct pair *pair = &pairs[number / (LENGTHS * ALIGNMENTS)];
        struct kernel_case c = {
            .op = pair->op,
            .type = pair->type,
            .elements = (size_t)(number / ALIGNMENTS % LENGTHS),
            .out = (unsigned)(number % ALIGNMENTS),
            .alias = (enum alias)rng_below(&rng, ALIASES),
            .threads = threads[rng_below(&rng, 5)],
        };
        c.left = random_alignment(&rng, c.out);
        c.right = random_alignment(&rng, c.out);
        run_case(&c, &rng);
    }
    print_message("%ld operators and types, %ld cases\n", npairs, cases);
}

/* Two kernels never do the same, and the list has them all. */
TEST(kernels_of_operators)
{
    bool used[STRAG_KERNELS_MAX] = {false};
    int kernels = 0;
    for (int op = 0; op < STRAG_CUDA_OPS; op++) {
        for (int type = 0; type < STRAG_CUDA_TYPES; type++) {
            struct strag_kernel found =
                strag_kernel_for((enum strag_cuda_op)op, (enum strag_cuda_type)type);
            assert_int_equal(found.number >= 0,
                             reference_defined((enum strag_cuda_op)op, (enum strag_cuda_type)type));
            if (found.number >= 0)
                used[found.number] = true;
        }
    }
    while (strag_kernel_names[kernels])
        assert_true(used[kernels++]);
    assert_int_equal(kernels, 69);
}

/* ---- Numbers of 16 bits ---- */

static void reduce_one(const char *kernel, const void *left, const void *right, void *out,
                       size_t elements)
{
    const struct strag_job job = {out, left, right, elements};
    host_kernel(strag_kernel_find(kernel), &job, 0, 1);
}

/* Every half and bfloat16 times one is itself; NaN stays NaN. */
TEST(all_small_numbers)
{
    static uint16_t number[1 << 16], one[1 << 16], product[1 << 16];
    static const struct {
        const char *kernel;
        uint16_t one, infinity;
    } formats[] = {{"strag_kernel_prod_half", 0x3c00, 0x7c00},
                   {"strag_kernel_prod_bfloat16", 0x3f80, 0x7f80}};
    for (int f = 0; f < 2; f++) {
        for (unsigned i = 0; i < 1u << 16; i++) {
            number[i] = (uint16_t)i;
            one[i] = formats[f].one;
        }
        reduce_one(formats[f].kernel, number, one, product, 1u << 16);
        for (unsigned i = 0; i < 1u << 16; i++) {
            if ((i & 0x7fff) > formats[f].infinity)
                assert_true((product[i] & 0x7fff) > formats[f].infinity);
            else
                assert_int_equal(product[i], i);
        }
    }
}

/* Sums of any two halves: the reference's rounding, into infinity and among the smallest. */
TEST(sums_of_halves)
{
    struct rng rng = {support_seed("sums of halves")};
    long cases = support_cases(200000);
    for (long i = 0; i < cases; i++) {
        uint16_t l = (uint16_t)rng_next(&rng), r = (uint16_t)rng_next(&rng), sum, expected;
        if ((l & 0x7c00) == 0x7c00 || (r & 0x7c00) == 0x7c00)
            continue;
        reduce_one("strag_kernel_sum_half", &l, &r, &sum, 1);
        reference_reduce(STRAG_CUDA_SUM, STRAG_CUDA_HALF, &expected, &l, &r);
        if (sum != expected)
            fail_msg("%#x + %#x is %#x, not %#x", l, r, sum, expected);
    }
}
