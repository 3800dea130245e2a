/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mode `rounds`: of each round, keep the lines that can be the longest at some size.
 */
#include "cost.h"

#include "traffic.h"

#include <stdlib.h>

/* A profile being made: parts and lines grow. */
struct draft {
    struct strag_profile *profile;
    size_t parts_room, lines_room;
};

static bool grow(void **items, size_t *room, int used, size_t size)
{
    if ((size_t)used < *room)
        return true;
    size_t larger = *room ? 2 * *room : 16;
    void *moved = realloc(*items, larger * size);
    if (!moved)
        return false;
    *items = moved;
    *room = larger;
    return true;
}

/* Keep a line unless another of the part is nowhere shorter; drop those that it is nowhere shorter
 * than. */
static bool add_line(struct draft *draft, struct strag_profile_part *part,
                     struct strag_cost_line line)
{
    struct strag_profile *profile = draft->profile;
    struct strag_cost_line *lines = profile->lines + part->first_line;
    int kept = 0;
    for (int l = 0; l < part->lines; l++) {
        if (lines[l].latency >= line.latency && lines[l].per_byte >= line.per_byte)
            return true; /* nothing was dropped so far: what that line covers, the old one covers */
        if (lines[l].latency > line.latency || lines[l].per_byte > line.per_byte)
            lines[kept++] = lines[l];
    }
    part->lines = kept;
    profile->nlines = part->first_line + kept;
    if (!grow((void **)&profile->lines, &draft->lines_room, profile->nlines, sizeof line))
        return false;
    profile->lines[profile->nlines++] = line;
    part->lines++;
    return true;
}

static bool is_late(const struct strag_state *state, int rank)
{
    for (int i = 0; state && i < state->nlate; i++) {
        if (state->late[i].rank == rank && state->late[i].delay > 0)
            return true;
    }
    return false;
}

/* The round at hand becomes a part. @return false when out of memory */
static bool add_part(struct draft *draft, const struct strag_traffic *traffic, int repeats,
                     bool *late)
{
    struct strag_profile *profile = draft->profile;
    const struct strag_state *state = traffic->subject.design.problem.state;
    struct strag_profile_part part = {.repeats = repeats, .first_line = profile->nlines};
    for (size_t m = 0; m < traffic->nmessages; m++) {
        const struct strag_message *message = &traffic->messages[m];
        const struct strag_cost_line line = {message->latency,
                                             message->per_byte + message->combining};
        if (!add_line(draft, &part, line))
            return false;
        *late = *late || is_late(state, message->from) || is_late(state, message->to);
    }
    if (!grow((void **)&profile->parts, &draft->parts_room, profile->nparts, sizeof part))
        return false;
    profile->parts[profile->nparts++] = part;
    profile->before += !*late;
    return true;
}

/* Rounds from this one on are looked at one after another, up to which? */
static int find_stretch(const struct strag_design *design, int round)
{
    int repeats = 1;
    while (repeats == 1 && round < design->claim.rounds) {
        repeats = strag_design_alike(design, round);
        round += strag_design_period(design, round);
    }
    return round;
}

static int add_parts(struct draft *draft, struct strag_traffic *traffic, struct strag_error *err)
{
    const struct strag_design *design = &traffic->subject.design;
    int stretch = 0, period, repeats;
    bool late = false;
    for (int round = 0; round < design->claim.rounds; round += period * repeats) {
        repeats = strag_design_alike(design, round);
        period = strag_design_period(design, round);
        if (round >= stretch)
            stretch = find_stretch(design, round);
        for (int turn = round; turn < round + period; turn++) {
            int status = strag_traffic_round(traffic, turn, repeats, stretch - turn, err);
            if (status != STRAG_OK)
                return status;
            if (!add_part(draft, traffic, repeats, &late))
                return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the costs of %d rounds",
                                  design->claim.rounds);
        }
    }
    for (int l = 0; l < traffic->subject.links->nlinks; l++) {
        if (traffic->load[l].total > draft->profile->busiest)
            draft->profile->busiest = traffic->load[l].total;
    }
    return STRAG_OK;
}

int strag_profile_create(const struct strag_algorithm *algorithm,
                         const struct strag_problem *problem, const struct strag_model *model,
                         struct strag_profile **profile, struct strag_error *err)
{
    struct strag_traffic traffic;
    int status = strag_traffic_open(&traffic, algorithm, problem, model, err);
    if (status != STRAG_OK)
        return status;
    struct draft draft = {.profile = calloc(1, sizeof *draft.profile)};
    if (!draft.profile)
        status = strag_fail(err, STRAG_ERR_MEMORY, "out of memory for an estimate");
    else
        status = add_parts(&draft, &traffic, err);
    status = strag_traffic_close(&traffic, status, err);
    if (status != STRAG_OK) {
        strag_profile_free(draft.profile);
        return status;
    }
    const struct strag_state *state = problem->state;
    for (int i = 0; state && i < state->nlate; i++) {
        if (state->late[i].delay > draft.profile->delay)
            draft.profile->delay = state->late[i].delay;
    }
    *profile = draft.profile;
    return STRAG_OK;
}

void strag_profile_free(struct strag_profile *profile)
{
    if (!profile)
        return;
    free(profile->parts);
    free(profile->lines);
    free(profile);
}

double strag_profile_seconds(const struct strag_profile *profile, double bytes)
{
    double seconds = 0;
    for (int p = 0; p < profile->nparts; p++) {
        const struct strag_profile_part *part = &profile->parts[p];
        double longest = 0;
        if (p == profile->before && seconds < profile->delay)
            seconds = profile->delay;
        for (int l = 0; l < part->lines; l++) {
            const struct strag_cost_line *line = &profile->lines[part->first_line + l];
            double message = line->latency + bytes * line->per_byte;
            if (message > longest)
                longest = message;
        }
        seconds += part->repeats * longest;
    }
    return profile->before == profile->nparts && seconds < profile->delay ? profile->delay
                                                                          : seconds;
}
