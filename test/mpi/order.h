/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an allreduce must give, bit by bit: a serial reduction in the order of the algorithm's plan.
 *
 * The order is the expression tree that libstrag's proof finds for each block. It is evaluated with
 * MPI_Reduce_local, for any range of elements, without communication: the caller can make every
 * rank's input.
 */
#ifndef TEST_MPI_ORDER_H
#define TEST_MPI_ORDER_H

#include "plan/plan.h"
#include "plan/verify_proof.h"

#include <mpi.h>

struct order {
    int n;
    struct strag_plan *plan;   /* rank 0's, for its block bounds */
    struct strag_proof *proof; /* NULL with one rank, as there is nothing to prove */
};

/* What is reduced. Addresses are MPI's: element i is at the buffer plus i extents. */
struct order_input {
    MPI_Datatype type;
    MPI_Op op;
    ptrdiff_t extent; /* bytes from element to element, more than 0 */
    size_t footprint; /* bytes from an element's address to its last byte; at least extent */
    size_t below;     /* bytes before an element's address (negative lower bounds) */
    /* Write elements [first, first + count) of a rank's input to out. */
    void (*fill)(const void *context, int rank, size_t first, size_t count, void *out);
    const void *context;
};

/* Elements that order_reduce works on at once, and its largest `count`. */
#define ORDER_CHUNK 2048

/** Prove an algorithm for n ranks and keep the order. Ends the program when that fails. */
void order_create(struct order *order, const char *algorithm, int n);

void order_free(struct order *order);

/* The plan's order, and two others that show whether order matters at all. */
enum order_kind {
    ORDER_PLANNED,
    ORDER_UPWARDS,  /* in 0 op (in 1 op (... op in n-1)) */
    ORDER_DOWNWARDS /* in n-1 op (in n-2 op (... op in 0)) */
};

/**
 * Evaluate elements [first, first + count) of a vector of `total` elements.
 *
 * @param count     at most ORDER_CHUNK
 * @param[out] out  room for the elements
 */
void order_reduce(const struct order *order, const struct order_input *input, enum order_kind kind,
                  size_t total, size_t first, size_t count, void *out);

#endif
