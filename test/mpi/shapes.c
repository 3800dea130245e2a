/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One type signature in several layouts; see shapes.h.
 */
#include "shapes.h"

struct shape shapes[SHAPES] = {
    {.name = "contiguous words", .offset = {0, 4, 8}, .extent = 12},
    {.name = "words with gaps", .offset = {0, 8, 16}, .extent = 20},
    {.name = "words in descending order", .offset = {8, 4, 0}, .extent = 12},
    {.name = "a structure with padding", .offset = {0, 12, 16}, .extent = 40},
    {.name = "words behind a lower bound", .offset = {16, 20, 28}, .extent = 16},
};

MPI_Op shape_ops[SHAPE_OPS];

/* What the thread's call gives, and how often an operator was given something else. */
static _Thread_local const struct shape *expected;
static _Thread_local int expected_length;
static _Thread_local long refused;

void shapes_expect(const struct shape *shape, int length)
{
    expected = shape;
    expected_length = length;
    refused = 0;
}

long shapes_refused(void)
{
    return refused;
}

void shape_scatter(const struct shape *shape, const uint32_t *words, size_t count, void *elements)
{
    char *element = elements;
    for (size_t i = 0; i < count; i++, element += shape->extent)
        for (int k = 0; k < SHAPE_WORDS; k++)
            memcpy(element + shape->offset[k], words++, sizeof(*words));
}

void shape_gather(const struct shape *shape, const void *elements, size_t count, uint32_t *words)
{
    const char *element = elements;
    for (size_t i = 0; i < count; i++, element += shape->extent)
        for (int k = 0; k < SHAPE_WORDS; k++)
            memcpy(words++, element + shape->offset[k], sizeof(*words));
}

void shape_reduce(enum shape_op op, const uint32_t *left, uint32_t *right, size_t count)
{
    for (size_t i = 0; i < count; i++, left += SHAPE_WORDS, right += SHAPE_WORDS) {
        if (SHAPE_SUM == op) {
            right[0] += left[0];
            right[1] += left[1];
        } else {
            right[1] += right[0] * left[1];
            right[0] *= left[0];
        }
        right[2] += left[2];
    }
}

/* What MPI calls. */
static void reduce(enum shape_op op, const char *in, char *inout, int length, MPI_Datatype type)
{
    if (NULL == expected || type != expected->type || length < 1 || length > expected_length) {
        refused++;
        return;
    }
    for (int i = 0; i < length; i++, in += expected->extent, inout += expected->extent) {
        uint32_t left[SHAPE_WORDS], right[SHAPE_WORDS];
        shape_gather(expected, in, 1, left);
        shape_gather(expected, inout, 1, right);
        shape_reduce(op, left, right, 1);
        shape_scatter(expected, right, 1, inout);
    }
}

static void sum_op(void *in, void *inout, int *length, MPI_Datatype *type)
{
    reduce(SHAPE_SUM, in, inout, *length, *type);
}

static void affine_op(void *in, void *inout, int *length, MPI_Datatype *type)
{
    reduce(SHAPE_AFFINE, in, inout, *length, *type);
}

void shapes_create(void)
{
    for (int s = 0; s < SHAPES; s++) {
        MPI_Datatype words;
        TEST_MPI(
            MPI_Type_create_hindexed_block(SHAPE_WORDS, 1, shapes[s].offset, MPI_UINT32_T, &words));
        TEST_MPI(MPI_Type_create_resized(words, 0, shapes[s].extent, &shapes[s].type));
        TEST_MPI(MPI_Type_free(&words));
        TEST_MPI(MPI_Type_commit(&shapes[s].type));
    }
    TEST_MPI(MPI_Op_create(sum_op, 1, &shape_ops[SHAPE_SUM]));
    TEST_MPI(MPI_Op_create(affine_op, 0, &shape_ops[SHAPE_AFFINE]));
}

void shapes_free(void)
{
    for (int s = 0; s < SHAPES; s++)
        TEST_MPI(MPI_Type_free(&shapes[s].type));
    for (int op = 0; op < SHAPE_OPS; op++)
        TEST_MPI(MPI_Op_free(&shape_ops[op]));
}
