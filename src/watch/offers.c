/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/offers.h"

#include "model/platform.h"

#include <math.h>
#include <stdlib.h>

enum { CHOICES = 4 }; /* counts of blocks of an algorithm that is added, at most */

static bool is_there(const struct strag_selection *selection,
                     const struct strag_algorithm *algorithm)
{
    int c = 0;
    while (c < selection->candidates && selection->candidate[c].algorithm != algorithm)
        c++;
    return c < selection->candidates;
}

/* Those that a selection which looks at all leaves out are left out here. */
static bool is_missing(const struct strag_selection *selection,
                       const struct strag_algorithm *algorithm, const struct strag_problem *problem)
{
    return !is_there(selection, algorithm) && !algorithm->needs_straggler &&
           !(algorithm->on_request && algorithm->on_request(problem)) &&
           !(algorithm->takes_long && algorithm->takes_long(problem));
}

/* One that cannot be planned is noted as such, and so never asked again. */
static int add(struct strag_selection *selection, const struct strag_algorithm *algorithm,
               const struct strag_problem *problem, struct strag_platform *platform)
{
    const struct strag_attempt attempt = {
        .platform = platform,
        .messages = strag_select_messages(problem->n),
    };
    int blocks[STRAG_CHOICES_MAX], status = STRAG_OK;
    const int choices = strag_algorithm_choices(algorithm, problem, blocks);
    const int count = choices < CHOICES ? choices : CHOICES;
    if (choices < 0)
        return choices;
    struct strag_candidate *grown =
        realloc(selection->candidate,
                (size_t)(selection->candidates + count) * sizeof *selection->candidate);
    if (!grown)
        return STRAG_ERR_MEMORY;
    selection->candidate = grown;
    for (int c = 0; c < count && (status == STRAG_OK || status == STRAG_ERR_UNSUPPORTED); c++) {
        struct strag_problem cut = *problem;
        struct strag_candidate *candidate = &grown[selection->candidates++];
        cut.blocks = blocks[count > 1 ? c * (choices - 1) / (count - 1) : 0];
        *candidate = (struct strag_candidate){algorithm, cut.blocks, 1, NULL, {""}};
        status = strag_profile_attempt(algorithm, &cut, &attempt, &candidate->profile,
                                       &candidate->refusal);
    }
    return status == STRAG_ERR_UNSUPPORTED ? STRAG_OK : status;
}

int strag_offers_complete(struct strag_selection *selection, const struct strag_problem *problem,
                          const struct strag_model *model)
{
    struct strag_platform *platform = NULL;
    int status = STRAG_OK;
    for (int a = 0; problem->n <= STRAG_EXPLAINED_RANKS && strag_algorithms[a]; a++) {
        if (!is_missing(selection, strag_algorithms[a], problem))
            continue;
        if (!platform)
            status = strag_platform_create(problem, model, &platform, NULL);
        if (status == STRAG_OK)
            status = add(selection, strag_algorithms[a], problem, platform);
        if (status != STRAG_OK)
            break;
    }
    strag_platform_free(platform);
    return status;
}

double strag_from_last_arrival(const struct strag_profile *from, double bytes, double delay)
{
    struct strag_profile profile = *from;
    profile.delay = delay;
    return strag_profile_seconds(&profile, bytes) - delay;
}

int strag_offers_make(const struct strag_selection *selection, const struct strag_entry *usual,
                      size_t bytes, bool guessed, struct strag_offer *offers)
{
    double stock = INFINITY;
    int count = 1;
    offers[0] = (struct strag_offer){usual->algorithm, usual->blocks, INFINITY, 0};
    for (int c = 0; c < selection->candidates; c++) {
        const struct strag_candidate *candidate = &selection->candidate[c];
        const struct strag_profile *profile = candidate->profile;
        if (!profile)
            continue;
        const double seconds = strag_from_last_arrival(profile, (double)bytes, profile->delay);
        const struct strag_offer offer = {candidate->algorithm, candidate->blocks, seconds,
                                          guessed ? profile->posting : 0};
        if (candidate->algorithm->stock)
            stock = fmin(stock, seconds);
        if (candidate->algorithm == usual->algorithm && candidate->blocks == usual->blocks)
            offers[0] = offer;
        else
            offers[count++] = offer;
    }
    if (!usual->algorithm)
        offers[0].seconds = stock;
    else if (stock < INFINITY)
        offers[count++] = (struct strag_offer){NULL, 0, stock, 0};
    return count;
}
