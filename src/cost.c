/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both modes go over the rounds once. `rounds` keeps of each round the lines that can be the
 * longest at some size; `clocks` moves every rank's clock on, for each size.
 */
#include "cost.h"

#include "traffic.h"

#include <stdlib.h>
#include <string.h>

/* ---- Rounds ---- */

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
    const struct strag_state *state = traffic->problem.state;
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

static int add_parts(struct draft *draft, struct strag_traffic *traffic, struct strag_error *err)
{
    bool late = false;
    for (int round = 0, repeats; round < traffic->claim.rounds; round += repeats) {
        int status = strag_traffic_round(traffic, round, &repeats, err);
        if (status != STRAG_OK)
            return status;
        if (!add_part(draft, traffic, repeats, &late))
            return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the costs of %d rounds",
                              traffic->claim.rounds);
    }
    for (int l = 0; l < traffic->links->nlinks; l++) {
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

/* ---- Clocks ---- */

/* For one size: every rank's clock at the start of a round, and at its end. */
static void run_round(const struct strag_traffic *traffic, double bytes, const double *clock,
                      double *next)
{
    for (size_t m = 0; m < traffic->nmessages; m++) {
        const struct strag_message *message = &traffic->messages[m];
        int from = message->from, to = message->to;
        double start = clock[from] > clock[to] ? clock[from] : clock[to];
        double sent = start + message->latency + bytes * message->per_byte;
        double done = sent + bytes * message->combining;
        if (sent > next[from])
            next[from] = sent;
        if (done > next[to])
            next[to] = done;
    }
}

/* clocks and scratch: [size][rank] and [rank] */
static int run_clocks(struct strag_traffic *traffic, const size_t *bytes, int sizes, double *clocks,
                      double *scratch, struct strag_error *err)
{
    size_t n = (size_t)traffic->problem.n;
    for (int round = 0, repeats; round < traffic->claim.rounds; round += repeats) {
        int status = strag_traffic_round(traffic, round, &repeats, err);
        if (status != STRAG_OK)
            return status;
        for (int s = 0; s < sizes; s++) {
            double *clock = clocks + (size_t)s * n;
            for (int i = 0; i < repeats; i++) {
                memcpy(scratch, clock, n * sizeof *clock);
                run_round(traffic, (double)bytes[s], scratch, clock);
            }
        }
    }
    return STRAG_OK;
}

static void set_late(double *clock, const struct strag_state *state)
{
    for (int i = 0; state && i < state->nlate; i++) {
        if (state->late[i].delay > clock[state->late[i].rank])
            clock[state->late[i].rank] = state->late[i].delay;
    }
}

static double latest(const double *clock, size_t n)
{
    double last = 0;
    for (size_t r = 0; r < n; r++)
        last = clock[r] > last ? clock[r] : last;
    return last;
}

int strag_cost_clocks(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                      const struct strag_model *model, const size_t *bytes, int sizes,
                      double *seconds, struct strag_error *err)
{
    struct strag_traffic traffic;
    int status = strag_traffic_open(&traffic, algorithm, problem, model, err);
    if (status != STRAG_OK)
        return status;
    size_t n = (size_t)problem->n;
    double *clocks = calloc(n, ((size_t)sizes + 1) * sizeof *clocks);
    if (!clocks) {
        status = strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the clocks of %d ranks",
                            problem->n);
    } else {
        for (int s = 0; s < sizes; s++)
            set_late(clocks + (size_t)s * n, problem->state);
        status = run_clocks(&traffic, bytes, sizes, clocks, clocks + (size_t)sizes * n, err);
    }
    status = strag_traffic_close(&traffic, status, err);
    for (int s = 0; status == STRAG_OK && s < sizes; s++)
        seconds[s] = latest(clocks + (size_t)s * n, n);
    free(clocks);
    return status;
}
