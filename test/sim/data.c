/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Real data in SimGrid's SMPI: every simulated rank runs its plan with the engine over MPI, and
 * every element of the result is checked.
 *
 * usage: data TORUS COUNT ALGORITHM...
 *
 * An element is a pair: a sum modulo 2^64 of random numbers, which shows whether every contribution
 * is in it once; and a number that depends on the order of operands and brackets, which must be the
 * same on all ranks. Prints "ALGORITHM TORUS: N ranks, COUNT elements, WRONG wrong" per algorithm
 * and exits with 1 if any is wrong.
 *
 * All ranks live in one process and one of them runs at a time (smpirun -no-privatize): they share
 * static variables.
 */
#include "algorithms/table.h"
#include "base/parse.h"
#include "plan/algorithm.h"
#include "run/engine.h"
#include "sim.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct element {
    uint64_t sum, order;
};

enum { SEGMENT = 200, SLOTS = 8, DEPTH = 2 };

/* ---- Elements ---- */

/* splitmix64's last step */
static uint64_t scramble(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static struct element input_of(int rank, size_t i)
{
    uint64_t x = scramble(((uint64_t)rank << 40) + i);
    return (struct element){x, x};
}

static struct element combined(struct element left, struct element right)
{
    return (struct element){left.sum + right.sum, scramble(left.order * 3 + scramble(right.order))};
}

/* ---- The engine's surroundings ---- */

static void *reducer_allocate(struct strag_reducer *reducer, size_t elements)
{
    (void)reducer;
    return malloc(elements * sizeof(struct element));
}

static void reducer_release(struct strag_reducer *reducer, void *buffer, int lost)
{
    (void)reducer;
    if (!lost)
        free(buffer);
}

static int reducer_reduce(struct strag_reducer *reducer, void *out, const void *left,
                          const void *right, size_t elements, uint64_t *ticket)
{
    struct element *to = out;
    const struct element *a = left, *b = right;
    (void)reducer;
    (void)ticket;
    for (size_t i = 0; i < elements; i++)
        to[i] = combined(a[i], b[i]);
    return STRAG_OK;
}

static int reducer_copy(struct strag_reducer *reducer, void *out, const void *in, size_t elements)
{
    (void)reducer;
    memcpy(out, in, elements * sizeof(struct element));
    return STRAG_OK;
}

/* MPI's messages, and the transport that they belong to. */
struct messages {
    struct strag_transport base; /* first: messages are found by it */
    int count, room;
    MPI_Request *requests;
    struct strag_transfer **transfers;
    int *done;
};

static MPI_Request *add_message(struct messages *messages, struct strag_transfer *transfer)
{
    if (messages->count == messages->room) {
        size_t room = 2 * (size_t)messages->room + 16;
        messages->requests = realloc(messages->requests, room * sizeof *messages->requests);
        messages->transfers = realloc(messages->transfers, room * sizeof *messages->transfers);
        messages->done = realloc(messages->done, room * sizeof *messages->done);
        if (!messages->requests || !messages->transfers || !messages->done)
            sim_give_up("data: out of memory for messages");
        messages->room = (int)room;
    }
    messages->transfers[messages->count] = transfer;
    return &messages->requests[messages->count++];
}

static int mpi_send(struct strag_transport *transport, struct strag_transfer *transfer, int peer,
                    const void *buffer, size_t elements)
{
    MPI_Request *request = add_message((struct messages *)transport, transfer);
    MPI_Isend(buffer, (int)(elements * sizeof(struct element)), MPI_BYTE, peer, 0, MPI_COMM_WORLD,
              request);
    return STRAG_OK;
}

static int mpi_recv(struct strag_transport *transport, struct strag_transfer *transfer, int peer,
                    void *buffer, size_t elements)
{
    MPI_Request *request = add_message((struct messages *)transport, transfer);
    MPI_Irecv(buffer, (int)(elements * sizeof(struct element)), MPI_BYTE, peer, 0, MPI_COMM_WORLD,
              request);
    return STRAG_OK;
}

/* Wait for some message: the engine has posted all it can before. */
static int mpi_progress(struct strag_transport *transport)
{
    struct messages *messages = (struct messages *)transport;
    int done = 0, left = 0;
    if (messages->count == 0)
        return STRAG_OK;
    MPI_Waitsome(messages->count, messages->requests, &done, messages->done, MPI_STATUSES_IGNORE);
    for (int i = 0; i < done; i++) {
        struct strag_transfer *transfer = messages->transfers[messages->done[i]];
        messages->transfers[messages->done[i]] = NULL;
        transfer->complete(transfer, STRAG_OK);
    }
    for (int i = 0; i < messages->count; i++) {
        if (messages->transfers[i]) {
            messages->transfers[left] = messages->transfers[i];
            messages->requests[left++] = messages->requests[i];
        }
    }
    messages->count = left;
    return STRAG_OK;
}

static int mpi_cancel(struct strag_transport *transport, struct strag_transfer *transfer)
{
    (void)transport;
    (void)transfer;
    return STRAG_PENDING;
}

/* ---- One allreduce ---- */

static void run(const struct strag_plan *plan, const struct element *input, struct element *output,
                size_t count)
{
    struct messages messages = {.base = {mpi_send, mpi_recv, mpi_progress, mpi_cancel}};
    struct strag_reducer reducer = {.allocate = reducer_allocate,
                                    .release = reducer_release,
                                    .reduce = reducer_reduce,
                                    .copy = reducer_copy};
    const struct strag_call call = {.input = input,
                                    .output = output,
                                    .count = count,
                                    .extent = sizeof(struct element),
                                    .lanes = {{SEGMENT, SLOTS}, {SEGMENT, SLOTS}},
                                    .transport = &messages.base,
                                    .reducer = &reducer};
    struct strag_engine *engine;
    struct strag_error err;
    if (strag_engine_create(plan, DEPTH, &engine, &err) != STRAG_OK)
        sim_give_up(err.text);
    int status = strag_engine_start(engine, &call);
    while (status == STRAG_OK && (status = strag_engine_progress(engine)) == STRAG_PENDING)
        status = STRAG_OK;
    if (status != STRAG_OK || messages.count != 0)
        sim_give_up("data: the engine fails");
    strag_engine_free(engine);
    free(messages.requests);
    free(messages.transfers);
    free(messages.done);
}

/* The result that all ranks must have. The first rank to arrive here computes the sums; the order
 * is that of the first one that has a result. */
static struct element *expected(int n, size_t count, const struct element *first)
{
    static struct element *sums;
    if (!sums) {
        sums = calloc(count, sizeof *sums);
        if (!sums)
            sim_give_up("data: out of memory for what is expected");
        for (int rank = 0; rank < n; rank++) {
            for (size_t i = 0; i < count; i++)
                sums[i].sum += input_of(rank, i).sum;
        }
    }
    for (size_t i = 0; first && i < count; i++)
        sums[i].order = first[i].order;
    return sums;
}

/* @return wrong elements on all ranks; on the last rank to arrive here */
static size_t check(int n, const struct element *output, size_t count)
{
    static int checked;
    static size_t wrong;
    bool first = checked++ == 0;
    const struct element *right = expected(n, count, first ? output : NULL);
    if (first)
        wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += output[i].sum != right[i].sum || output[i].order != right[i].order;
    if (checked == n)
        checked = 0;
    return wrong;
}

/* @return wrong elements, known to the last rank that ends */
static size_t allreduce(const struct strag_algorithm *algorithm,
                        const struct strag_problem *problem, int rank, size_t count)
{
    struct strag_plan *plan;
    struct strag_error err;
    struct element *input = malloc(count * sizeof *input);
    struct element *output = malloc(count * sizeof *output);
    if (!input || !output)
        sim_give_up("data: out of memory for elements");
    if (strag_plan_create(algorithm, problem, rank, &plan, &err) != STRAG_OK)
        sim_give_up(err.text);
    for (size_t i = 0; i < count; i++)
        input[i] = input_of(rank, i);
    memset(output, 0xa5, count * sizeof *output);
    run(plan, input, output, count);
    size_t wrong = check(problem->n, output, count);
    strag_plan_free(plan);
    free(input);
    free(output);
    return wrong;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, n, failed = 0;
    size_t count = 0;
    struct strag_topology *topology = NULL;
    struct strag_error err;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (argc < 4)
        sim_give_up("usage: data TORUS COUNT ALGORITHM...");
    if (sim_torus(argv[1], &topology, &err) != STRAG_OK ||
        strag_parse_bytes(argv[2], &count, &err) != STRAG_OK)
        sim_give_up(err.text);
    if (count < 1 || topology->n != n)
        sim_give_up("data: a torus with a position for each rank, and an element, are needed");

    const struct strag_problem problem = {.n = n, .topology = topology};
    static int ended;
    for (int i = 3; i < argc; i++) {
        const struct strag_algorithm *algorithm = strag_algorithm_find(argv[i], &err);
        if (!algorithm)
            sim_give_up(err.text);
        size_t wrong = allreduce(algorithm, &problem, rank, count);
        failed |= wrong > 0;
        if (++ended % n == 0)
            printf("%s %s: %d ranks, %zu elements, %zu wrong\n", algorithm->name, argv[1], n, count,
                   wrong);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    strag_topology_free(topology);
    MPI_Finalize();
    return failed;
}
