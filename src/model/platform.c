/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/platform.h"

#include <stdlib.h>

int strag_platform_create(const struct strag_problem *problem, const struct strag_model *model,
                          struct strag_platform **platform, struct strag_error *err)
{
    struct strag_platform *made = calloc(1, sizeof *made);
    if (!made)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the links of %d ranks",
                          problem->n);
    int status = strag_links_of(problem, model, &made->links, err);
    if (status == STRAG_OK) {
        made->load = calloc((size_t)made->links->nlinks, sizeof *made->load);
        if (!made->load)
            status = strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the loads of %d links",
                                made->links->nlinks);
    }
    if (status != STRAG_OK) {
        strag_platform_free(made);
        return status;
    }
    *platform = made;
    return STRAG_OK;
}

/* Append the loads of the sample's classes to those of links. */
static bool add_classes(struct strag_platform *platform)
{
    size_t links = (size_t)platform->links->nlinks, classes = (size_t)platform->sample.classes;
    if (classes == 0)
        return true;
    struct strag_load *moved = realloc(platform->load, (links + classes) * sizeof *moved);
    if (!moved)
        return false;
    platform->load = moved;
    for (size_t c = 0; c < classes; c++)
        moved[links + c] = (struct strag_load){0};
    return true;
}

/* A late rank sends more than others only in algorithms that go ahead without it. */
static struct strag_state state_for(const struct strag_problem *problem)
{
    struct strag_state state = problem->state ? *problem->state : (struct strag_state){0};
    if (problem->algorithm && !problem->algorithm->needs_straggler)
        state.nstragglers = 0;
    return state;
}

/* A power of two is used, so that candidates with similar numbers share a sample. */
const struct strag_sample *strag_platform_sample(struct strag_platform *platform,
                                                 const struct strag_problem *problem, int ranks)
{
    const struct strag_state state = state_for(problem);
    int wanted = 1;
    while (wanted <= ranks / 2)
        wanted *= 2;
    if (platform->sample.wanted == wanted && platform->late == state.nstragglers)
        return &platform->sample;
    strag_sample_close(&platform->sample);
    platform->late = state.nstragglers;
    if ((!platform->units.node &&
         !strag_units_open(platform->links, problem->state, &platform->units)) ||
        !strag_sample_open(platform->links, &platform->units, &state, wanted, &platform->sample) ||
        !add_classes(platform))
        return NULL;
    return &platform->sample;
}

void strag_platform_free(struct strag_platform *platform)
{
    if (!platform)
        return;
    free(platform->gathered);
    free(platform->messages);
    free(platform->hops);
    strag_sample_close(&platform->sample);
    strag_units_close(&platform->units);
    strag_links_free(platform->links);
    free(platform->load);
    free(platform);
}
