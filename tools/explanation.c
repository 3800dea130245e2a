/* SPDX-License-Identifier: BSD-3-Clause */
#include "explanation.h"

#include "write.h"

#include "base/text.h"
#include "base/units.h"
#include "plan/plan_proof.h"

#include <stdlib.h>

static struct estimate estimate(const struct strag_candidate *candidate, double bytes)
{
    const struct strag_profile *profile = candidate->profile;
    double early = strag_profile_end(profile, 0, profile->before, 0, bytes);
    double latency = strag_profile_end(profile, 0, profile->nparts, 0, 0);
    return (struct estimate){
        .candidate = candidate,
        .rounds = strag_profile_rounds(profile),
        .seconds = strag_profile_seconds(profile, bytes),
        .latency = latency,
        .transfer = strag_profile_end(profile, 0, profile->nparts, 0, bytes) - latency,
        .posting = profile->posting,
        .idle = profile->delay > early ? profile->delay - early : 0,
    };
}

/* The faster one first; of equally fast ones, the first in the table of algorithms. */
static int compare_estimates(const void *a, const void *b)
{
    const struct estimate *left = a, *right = b;
    if (left->seconds != right->seconds)
        return left->seconds < right->seconds ? -1 : 1;
    return left->candidate < right->candidate ? -1 : 1;
}

/* Is a candidate shown instead of its algorithm's other one? The chosen one is, else the
 * fastest. */
static bool is_shown(const struct strag_candidate *candidate, const struct estimate *other,
                     const struct strag_entry *chosen, size_t bytes)
{
    bool same = chosen->algorithm == candidate->algorithm;
    if (same && (chosen->blocks == candidate->blocks || chosen->blocks == other->candidate->blocks))
        return chosen->blocks == candidate->blocks;
    return strag_profile_seconds(candidate->profile, (double)bytes) < other->seconds;
}

const struct estimate *explain_size(struct explanation *explanation, size_t bytes)
{
    const struct strag_selection *selection = explanation->selection;
    const struct strag_entry *chosen = strag_table_entry(&explanation->table, bytes);
    struct estimate *estimates = explanation->estimates;
    int count = 0;
    for (int c = 0; c < selection->candidates; c++) {
        const struct strag_candidate *candidate = &selection->candidate[c];
        if (!candidate->profile)
            continue;
        bool again = count && estimates[count - 1].candidate->algorithm == candidate->algorithm;
        if (again && !is_shown(candidate, &estimates[count - 1], chosen, bytes))
            continue;
        count += !again;
        estimates[count - 1] = estimate(candidate, (double)bytes);
    }
    const struct strag_entry *modelled = strag_table_entry(&selection->table, bytes);
    explanation->modelled =
        modelled->algorithm == chosen->algorithm && modelled->blocks == chosen->blocks;
    explanation->count = count;
    qsort(estimates, (size_t)count, sizeof *estimates, compare_estimates);
    for (int e = 0; e < count; e++) {
        if (estimates[e].candidate->algorithm == chosen->algorithm)
            return &estimates[e];
    }
    return estimates;
}

/* Say why a candidate that is faster by the model does not run. */
static void explain_faster(const struct explanation *explanation, const struct estimate *loser,
                           const struct estimate *winner, char *buffer, size_t size)
{
    const struct strag_algorithm *chosen = winner->candidate->algorithm;
    if (explanation->modelled) { /* closer than the selection distinguishes */
        snprintf(
            buffer, size, "faster by the model%s",
            chosen->straggler_tolerant
                ? ", but by less than its error; the other one suffers least from stragglers"
            : chosen->prefers_more_blocks
                ? ", but by less than its error; the other one depends least on ranks being in "
                  "step"
            : winner->candidate->profile->distance < loser->candidate->profile->distance
                ? ", but by less than its error; the other one sends fewer bytes far"
            : winner->candidate->profile->crossing < loser->candidate->profile->crossing
                ? ", but by less than its error; the other one sends fewer bytes between groups of "
                  "hosts"
                : "");
    } else if (explanation->ground == STRAG_BY_RULE) {
        snprintf(buffer, size, "faster by the model; the rule in line %d of %.120s names %s",
                 explanation->line, explanation->rules, chosen->name);
    } else if (explanation->ground == STRAG_BY_PIN) {
        snprintf(buffer, size, "faster by the model; coll_strag_algorithm names %s", chosen->name);
    } else {
        snprintf(buffer, size, "faster by the model");
    }
}

const char *explain_loser(const struct explanation *explanation, const struct estimate *loser,
                          const struct estimate *winner, char *buffer, size_t size)
{
    char mine[48], theirs[48], posts[2][48];
    double latency = loser->latency - winner->latency;
    double transfer = loser->transfer - winner->transfer;
    double idle = loser->idle - winner->idle;
    double busiest = loser->candidate->profile->busiest;
    double least = winner->candidate->profile->busiest;
    if (loser->seconds < winner->seconds * (1 - 1e-9)) {
        explain_faster(explanation, loser, winner, buffer, size);
    } else if (loser->seconds <= winner->seconds) {
        snprintf(buffer, size, "as fast by the model");
    } else if (idle > latency && idle > transfer) {
        snprintf(buffer, size, "waits for the straggler: %s us idle against %s us",
                 time_text(loser->idle, mine), time_text(winner->idle, theirs));
    } else if (transfer > latency && busiest > least * (1 + 1e-9)) {
        snprintf(buffer, size,
                 "more bytes on the busiest link, %.4g vectors against %.4g: %s us against %s us",
                 busiest, least, time_text(loser->transfer, mine),
                 time_text(winner->transfer, theirs));
    } else if (transfer > latency) {
        snprintf(buffer, size,
                 "its rounds load the links less evenly: the bytes take %s us against %s us",
                 time_text(loser->transfer, mine), time_text(winner->transfer, theirs));
    } else if (2 * (loser->posting - winner->posting) > latency) {
        snprintf(buffer, size,
                 "more messages in a round: posting them takes %s us against %s us; latency %s us "
                 "against %s us",
                 time_text(loser->posting, posts[0]), time_text(winner->posting, posts[1]),
                 time_text(loser->latency, mine), time_text(winner->latency, theirs));
    } else if (loser->rounds > winner->rounds) {
        snprintf(buffer, size, "more rounds, %d against %d: latency %s us against %s us",
                 loser->rounds, winner->rounds, time_text(loser->latency, mine),
                 time_text(winner->latency, theirs));
    } else {
        snprintf(buffer, size, "longer routes in its %s: latency %s us against %s us",
                 strag_units_count(loser->rounds, "round").text, time_text(loser->latency, mine),
                 time_text(winner->latency, theirs));
    }
    return buffer;
}

/* As the component does it (choice/user_plans.c). */
int explain_plan(const struct explanation *explanation, const struct strag_rules_plan *plan,
                 struct strag_error *err)
{
    struct strag_given *given = NULL;
    struct strag_error why;
    bool proved = false;
    int status = strag_plan_proof_read(plan->file, &strag_given_in_job, &given, &proved, err);
    if (status != STRAG_OK)
        return status;
    if (given->head.n != explanation->machine->problem.n) {
        status = strag_fail(err, STRAG_ERR_ARGUMENT, "%s: it is for %s", strag_name_end(plan->file),
                            strag_units_count(given->head.n, "rank").text);
    } else if (!proved) {
        status = strag_given_prove(given, &strag_given_in_job, NULL, NULL, &why);
        if (status != STRAG_OK)
            strag_fail(err, status, "%s: %s", strag_name_end(plan->file), why.text);
    }
    strag_given_free(given);
    return status;
}

bool explain_is_refused(const struct strag_selection *selection, int c)
{
    const struct strag_candidate *candidate = &selection->candidate[c];
    if (c > 0 && candidate[-1].algorithm == candidate->algorithm)
        return false;
    for (int i = c; i < selection->candidates; i++) {
        if (selection->candidate[i].algorithm == candidate->algorithm &&
            selection->candidate[i].profile)
            return false;
    }
    return true;
}

int explain_left_out(const struct explanation *explanation, int a)
{
    const struct strag_selection *selection = explanation->selection;
    const struct strag_problem *problem = &explanation->machine->problem;
    for (; strag_algorithms[a]; a++) {
        const struct strag_algorithm *algorithm = strag_algorithms[a];
        int c = 0;
        if (!strag_algorithm_suits(algorithm, problem->state))
            continue;
        while (c < selection->candidates && selection->candidate[c].algorithm != algorithm)
            c++;
        if (c == selection->candidates)
            break;
    }
    return a;
}
