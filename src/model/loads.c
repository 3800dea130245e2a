/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/loads.h"

#include "model/traffic.h"

#include <stdlib.h>

/* The rank that is being visited. */
struct looking {
    struct strag_subject subject;
    int rank;
    struct strag_hop *hops;
    double *load;
};

static void add_message(void *context, const struct strag_op *op)
{
    struct looking *looking = context;
    const struct strag_bounds *bounds = &looking->subject.instance.shape.bounds;
    if (op->kind != STRAG_SEND)
        return;
    const struct strag_route route =
        strag_links_route(looking->subject.links, looking->rank, op->peer, looking->hops);
    const double vectors = strag_block_fraction(bounds, op->first, op->count);
    for (int h = 0; h < route.nhops; h++)
        looking->load[looking->hops[h].link] += vectors * (double)looking->hops[h].share;
}

int strag_link_loads(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                     struct strag_links *links, double *load, struct strag_error *err)
{
    struct looking looking = {.load = load};
    for (int l = 0; l < links->nlinks; l++)
        load[l] = 0;
    looking.hops = calloc((size_t)links->longest + 1, sizeof *looking.hops);
    if (!looking.hops)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for a route");
    int status =
        strag_subject_open(&looking.subject, algorithm, problem, links, add_message, &looking, err);
    if (status == STRAG_OK) {
        const struct strag_rounds all = {0, looking.subject.instance.shape.rounds};
        for (looking.rank = 0; looking.rank < problem->n; looking.rank++)
            strag_subject_visit(&looking.subject, looking.rank, all);
        status = strag_subject_close(&looking.subject, status, err);
    }
    free(looking.hops);
    return status;
}
