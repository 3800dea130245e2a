/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mode `rounds`: of each round, keep the lines that can be the longest at some size.
 */
#include "model/cost.h"

#include "base/text.h"
#include "model/traffic.h"

#include <stdlib.h>
#include <string.h>

/* A profile being made: parts and lines grow. */
struct draft {
    struct strag_profile *profile;
    int parts_room, lines_room;
    bool straggler; /* a straggler has taken part */
    strag_prune_fn *prune;
    void *context;
    bool pruned;
};

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
    if (!strag_array_grow(&profile->lines, &draft->lines_room, profile->nlines + 1, sizeof line))
        return false;
    profile->lines[profile->nlines++] = line;
    part->lines++;
    return true;
}

/* Is a rank late, or one that it stands for? */
static bool is_late(const struct strag_traffic *traffic, int rank)
{
    const struct strag_state *state = traffic->subject.instance.problem.state;
    rank = strag_traffic_like(traffic, rank);
    for (int i = 0; state && i < state->nstragglers; i++) {
        if (state->straggler[i].delay > 0 &&
            strag_traffic_like(traffic, state->straggler[i].rank) == rank)
            return true;
    }
    return false;
}

/* A round that was looked at becomes a part. @return false when out of memory */
static bool add_part(struct draft *draft, struct strag_traffic *traffic, int round, int repeats)
{
    struct strag_profile *profile = draft->profile;
    const struct strag_messages *messages = strag_traffic_messages(traffic, round);
    struct strag_profile_part part = {.repeats = repeats, .first_line = profile->nlines};
    for (int m = 0; m < messages->count; m++) {
        const struct strag_message *message = &messages->list[m];
        const struct strag_cost_line line = {message->latency,
                                             message->per_byte + message->reducing};
        if (!add_line(draft, &part, line))
            return false;
        draft->straggler =
            draft->straggler || is_late(traffic, message->from) || is_late(traffic, message->to);
    }
    if (!strag_array_grow(&profile->parts, &draft->parts_room, profile->nparts + 1, sizeof part))
        return false;
    profile->parts[profile->nparts++] = part;
    profile->before += !draft->straggler;
    return true;
}

/* Rounds from this one on are looked at one after another, up to which? */
static int find_stretch(const struct strag_instance *instance, int round)
{
    int repeats = 1;
    while (repeats == 1 && round < instance->claim.rounds) {
        repeats = strag_instance_alike(instance, round);
        round += strag_instance_period(instance, round);
    }
    return round;
}

/* Rounds that are looked at together: `repeats` times the `period` rounds from the first one on. */
struct group {
    int first, period, repeats;
};

/* Of what was gathered: the rounds behind one that is looked at. */
static struct strag_cost_line least_of_rest(struct strag_traffic *traffic,
                                            const struct group *group, int round)
{
    struct strag_cost_line rest = {0, 0};
    for (int r = round; r < traffic->gathered.end; r++) {
        const struct strag_message alone = strag_traffic_alone(traffic, r);
        int repeats = r < group->first + group->period ? group->repeats : 1;
        rest.latency += repeats * alone.latency;
        rest.per_byte += repeats * (alone.per_byte + alone.reducing);
    }
    return rest;
}

/* @return is there more to look at? */
static bool goes_on(struct draft *draft, struct strag_traffic *traffic, const struct group *group,
                    int round)
{
    if (draft->prune) {
        const struct strag_partial_profile partial = {draft->profile,
                                                      least_of_rest(traffic, group, round)};
        draft->pruned = draft->prune(draft->context, &partial);
    }
    return !draft->pruned;
}

/* It is asked less and less often, so that asking takes no more time than looking at rounds. */
static bool is_time_to_ask(const struct draft *draft)
{
    int parts = draft->profile->nparts, every = 1;
    while (every < parts / 16)
        every *= 2;
    return parts % every == 0;
}

/* @param stretch  the end of the rounds that are looked at one after another */
static int add_group(struct draft *draft, struct strag_traffic *traffic, const struct group *group,
                     int stretch, struct strag_error *err)
{
    for (int round = group->first; round < group->first + group->period; round++) {
        int status = STRAG_OK;
        if (round >= traffic->gathered.end || round < traffic->gathered.first)
            status = strag_traffic_gather(traffic, (struct strag_rounds){round, stretch}, err);
        if (status != STRAG_OK)
            return status;
        if (is_time_to_ask(draft) && !goes_on(draft, traffic, group, round))
            return STRAG_OK;
        status = strag_traffic_round(traffic, round, group->repeats, err);
        if (status != STRAG_OK)
            return status;
        if (!add_part(draft, traffic, round, group->repeats))
            return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the costs of %d rounds",
                              traffic->subject.instance.claim.rounds);
    }
    return STRAG_OK;
}

/* In the order of rounds. */
static int add_groups(struct draft *draft, struct strag_traffic *traffic, struct strag_error *err)
{
    const struct strag_instance *instance = &traffic->subject.instance;
    int stretch = 0, status = STRAG_OK;
    for (int round = 0; round < instance->claim.rounds && status == STRAG_OK && !draft->pruned;) {
        const struct group group = {round, strag_instance_period(instance, round),
                                    strag_instance_alike(instance, round)};
        if (round >= stretch)
            stretch = find_stretch(instance, round);
        status = add_group(draft, traffic, &group, stretch, err);
        round += group.period * group.repeats;
    }
    return status;
}

/* Rounds that are alike if hosts are exchanged: the first one, how many, and what tells it. */
struct kind {
    int first, repeats, count;
    int64_t numbers[STRAG_KIND_MAX];
};

struct kinds {
    int count, room;
    struct kind *list;
};

/* @return false when out of memory; a round that is like no other ends it with no kinds at all */
static bool find_kinds(const struct strag_instance *instance, struct kinds *kinds)
{
    for (int round = 0; round < instance->claim.rounds; round++) {
        struct kind kind = {.first = round, .repeats = 1};
        kind.count = instance->algorithm->kind(&instance->problem, round, kind.numbers);
        if (kind.count == 0) {
            kinds->count = 0;
            return true;
        }
        size_t size = (size_t)kind.count * sizeof *kind.numbers;
        int k = kinds->count - 1;
        while (k >= 0 && (kinds->list[k].count != kind.count ||
                          memcmp(kinds->list[k].numbers, kind.numbers, size) != 0))
            k--;
        if (k >= 0) {
            kinds->list[k].repeats++;
            continue;
        }
        if (!strag_array_grow(&kinds->list, &kinds->room, kinds->count + 1, sizeof kind))
            return false;
        kinds->list[kinds->count++] = kind;
    }
    return true;
}

/* What the looked-at rounds put on some of the equal hosts' links, all of these share. */
static void spread(struct strag_traffic *traffic, double bandwidth)
{
    const struct strag_links *links = traffic->subject.links;
    for (int way = 0; way < 2; way++) {
        double sum = 0;
        int hosts = 0;
        for (int turn = 0; turn < 2; turn++) {
            for (int i = 0; i < links->topology->nnodes; i++) {
                int link = 2 * i + way;
                if (links->topology->nodes[i].level != STRAG_LEVEL_HOST ||
                    links->bandwidth[link] != bandwidth)
                    continue;
                if (turn == 1)
                    traffic->load[link].total = sum / hosts;
                sum += turn == 0 ? traffic->load[link].total : 0;
                hosts += turn == 0;
            }
        }
    }
}

/* By their kinds, where these are known: in no order, since no rank is late. */
static int add_kinds(struct draft *draft, struct strag_traffic *traffic, bool *added,
                     struct strag_error *err)
{
    const struct strag_instance *instance = &traffic->subject.instance;
    struct kinds kinds = {0};
    double bandwidth = 0;
    int status = STRAG_OK;
    if (!traffic->symmetry.rank)
        status = strag_symmetry_kinds(instance, traffic->subject.links, &bandwidth, err);
    if (status == STRAG_OK && bandwidth > 0 && !find_kinds(instance, &kinds))
        status = strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the kinds of %d rounds",
                            instance->claim.rounds);
    *added = kinds.count > 0;
    for (int k = 0; k < kinds.count && status == STRAG_OK && !draft->pruned; k++) {
        const struct group group = {kinds.list[k].first, 1, kinds.list[k].repeats};
        status = add_group(draft, traffic, &group, group.first + 1, err);
    }
    free(kinds.list);
    if (*added)
        spread(traffic, bandwidth);
    return status;
}

static int add_parts(struct draft *draft, struct strag_traffic *traffic, struct strag_error *err)
{
    bool added;
    int status = add_kinds(draft, traffic, &added, err);
    if (status == STRAG_OK && !added)
        status = add_groups(draft, traffic, err);
    for (int l = 0; l < traffic->subject.links->nlinks; l++) {
        if (traffic->load[l].total > draft->profile->busiest)
            draft->profile->busiest = traffic->load[l].total;
    }
    return status;
}

int strag_profile_attempt(const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, const struct strag_model *model,
                          strag_prune_fn *prune, void *context, struct strag_profile **profile,
                          struct strag_error *err)
{
    struct strag_traffic traffic;
    int status = strag_traffic_open(&traffic, algorithm, problem, model, err);
    if (status != STRAG_OK)
        return status;
    struct draft draft = {
        .profile = calloc(1, sizeof *draft.profile), .prune = prune, .context = context};
    if (!draft.profile)
        status = strag_fail(err, STRAG_ERR_MEMORY, "out of memory for an estimate");
    else {
        draft.profile->delay = strag_state_delay(problem->state);
        status = add_parts(&draft, &traffic, err);
    }
    status = strag_traffic_close(&traffic, status, err);
    if (status != STRAG_OK || draft.pruned) {
        strag_profile_free(draft.profile);
        draft.profile = NULL;
    }
    if (status == STRAG_OK)
        *profile = draft.profile;
    return status;
}

int strag_profile_create(const struct strag_algorithm *algorithm,
                         const struct strag_problem *problem, const struct strag_model *model,
                         struct strag_profile **profile, struct strag_error *err)
{
    return strag_profile_attempt(algorithm, problem, model, NULL, NULL, profile, err);
}

void strag_profile_free(struct strag_profile *profile)
{
    if (!profile)
        return;
    free(profile->parts);
    free(profile->lines);
    free(profile);
}

double strag_profile_end(const struct strag_profile *profile, int first, int end, double begin,
                         double bytes)
{
    for (int p = first; p < end; p++) {
        const struct strag_profile_part *part = &profile->parts[p];
        double longest = 0;
        for (int l = 0; l < part->lines; l++) {
            const struct strag_cost_line *line = &profile->lines[part->first_line + l];
            double message = line->latency + bytes * line->per_byte;
            if (message > longest)
                longest = message;
        }
        begin += part->repeats * longest;
    }
    return begin;
}

double strag_profile_seconds(const struct strag_profile *profile, double bytes)
{
    double early = strag_profile_end(profile, 0, profile->before, 0, bytes);
    return strag_profile_end(profile, profile->before, profile->nparts,
                             early < profile->delay ? profile->delay : early, bytes);
}

/* Of a part's lines, the longest for a size. */
static struct strag_cost_line longest_line(const struct strag_profile *profile,
                                           const struct strag_profile_part *part, double bytes)
{
    struct strag_cost_line longest = {0, 0};
    for (int l = part->first_line; l < part->first_line + part->lines; l++) {
        struct strag_cost_line line = profile->lines[l];
        if (line.latency + bytes * line.per_byte > longest.latency + bytes * longest.per_byte)
            longest = line;
    }
    return longest;
}

/* No rank is late for longer than the delay: where it ends later than the rounds before it, these
 * do not count. */
static struct strag_cost_line wait_for(struct strag_cost_line sum, double delay, double bytes)
{
    return sum.latency + bytes * sum.per_byte < delay ? (struct strag_cost_line){delay, 0} : sum;
}

/* Each part takes as long as any of its lines. Of the rest it is not known whether a straggler
 * takes part at once. */
struct strag_cost_line strag_partial_profile_line(const struct strag_partial_profile *partial,
                                                  double bytes)
{
    const struct strag_profile *so_far = partial->so_far;
    struct strag_cost_line sum = {0, 0};
    for (int p = 0; p < so_far->nparts; p++) {
        const struct strag_profile_part *part = &so_far->parts[p];
        struct strag_cost_line line = longest_line(so_far, part, bytes);
        if (p == so_far->before)
            sum = wait_for(sum, so_far->delay, bytes);
        sum.latency += part->repeats * line.latency;
        sum.per_byte += part->repeats * line.per_byte;
    }
    sum.latency += partial->rest.latency;
    sum.per_byte += partial->rest.per_byte;
    return so_far->before == so_far->nparts ? wait_for(sum, so_far->delay, bytes) : sum;
}
