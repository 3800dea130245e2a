/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libstrag in a program: which algorithm suits 1 MiB on these hosts, is it an allreduce, and what
 * does rank 0 do?
 *
 *     cc library.c -o library $(pkg-config --cflags --libs strag)
 *     ./library LAYOUT-FILE [RANKS-PER-HOST]
 */
#include <strag.h>

#include <stdlib.h>

static const char *const kinds[] = {
    [STRAG_SEND] = "send to",
    [STRAG_RECV] = "receive from",
    [STRAG_RECV_REDUCE] = "receive and reduce from",
};

/* The algorithm that a table has for a size. */
static const char *algorithm_for(const struct strag_selected *selected, int count, size_t bytes)
{
    int entry = 0;
    while (entry + 1 < count && selected[entry + 1].from <= bytes)
        entry++;
    return selected[entry].algorithm;
}

static int print_plan(const struct strag_allreduce *allreduce, const char *algorithm,
                      struct strag_error *err)
{
    struct strag_plan *plan;
    struct strag_operation operation;
    int status = strag_allreduce_plan(allreduce, algorithm, 0, &plan, err);
    if (status != STRAG_OK)
        return status;
    printf("rank 0, %d rounds:\n", strag_plan_rounds(plan));
    for (int i = 0; strag_plan_operation(plan, i, &operation); i++)
        printf("  round %d: %s rank %d, blocks %d to %d of %d\n", operation.round,
               kinds[operation.kind], operation.peer, operation.first,
               operation.first + operation.count - 1, strag_plan_blocks(plan));
    strag_plan_free(plan);
    return STRAG_OK;
}

static int explain(const struct strag_topology *topology, struct strag_error *err)
{
    const size_t bytes = (size_t)1 << 20;
    struct strag_selected selected[STRAG_SELECTED_MAX];
    struct strag_verified verified;
    struct strag_allreduce *allreduce;
    const char *algorithm = NULL;
    double seconds;
    int count;
    int status = strag_allreduce_create(strag_topology_ranks(topology), topology, &allreduce, err);
    if (status != STRAG_OK)
        return status;
    status = strag_allreduce_select(allreduce, selected, &count, err);
    if (status == STRAG_OK) {
        algorithm = algorithm_for(selected, count, bytes);
        status = strag_allreduce_verify(allreduce, algorithm, &verified, err);
    }
    if (status == STRAG_OK)
        status = strag_allreduce_seconds(allreduce, algorithm, &bytes, 1, &seconds, err);
    if (status == STRAG_OK) {
        printf("%d ranks on %d hosts, 1 MiB: %s, %.1f us by the model; a rank sends %.3f vectors\n",
               strag_topology_ranks(topology), strag_topology_hosts(topology), algorithm,
               seconds * 1e6, verified.sent_max);
        status = print_plan(allreduce, algorithm, err);
    }
    strag_allreduce_free(allreduce);
    return status;
}

int main(int argc, char **argv)
{
    struct strag_error err;
    struct strag_layout *layout;
    struct strag_topology *topology;
    const int ranks_per_host = argc > 2 ? atoi(argv[2]) : 1;
    if (argc < 2) {
        fprintf(stderr, "usage: %s LAYOUT-FILE [RANKS-PER-HOST]\n", argv[0]);
        return 2;
    }
    int status = strag_layout_read(argv[1], &layout, &err);
    if (status == STRAG_OK) {
        const int n = strag_layout_hosts(layout) * ranks_per_host;
        status = strag_layout_fill(layout, n, ranks_per_host, NULL, &topology, &err);
        strag_layout_free(layout);
    }
    if (status == STRAG_OK) {
        status = explain(topology, &err);
        strag_topology_free(topology);
    }
    if (status != STRAG_OK)
        fprintf(stderr, "%s: %s\n", argv[0], err.text);
    return status == STRAG_OK ? 0 : 1;
}
