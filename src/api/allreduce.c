/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strag.h: the functions of struct strag_allreduce, of algorithms and of user plans.
 */
#include "config.h"

#include "algorithms/table.h"
#include "base/units.h"
#include "model/numbers.h"
#include "model/select.h"
#include "plan/given.h"
#include "plan/show.h"
#include "plan/verify.h"

#include <math.h>
#include <stdlib.h>

_Static_assert(STRAG_SELECTED_MAX >= STRAG_TABLE_MAX, "strag.h: every table has room");

struct strag_allreduce {
    struct strag_problem problem; /* without its state */
    struct strag_state_record record;
    struct strag_sourced_model model;
};

const char *strag_version(void)
{
    return PACKAGE_VERSION;
}

/* ---- Algorithms ---- */

const char *strag_algorithm_name(int index)
{
    for (int a = 0; strag_algorithms[a]; a++) {
        if (a == index)
            return strag_algorithms[a]->name;
    }
    return NULL;
}

const char *strag_algorithm_summary(const char *name)
{
    const struct strag_algorithm *algorithm = strag_algorithm_find(name, NULL);
    return algorithm ? algorithm->summary : NULL;
}

/* ---- What is to be planned ---- */

int strag_allreduce_create(int n, const struct strag_topology *topology,
                           struct strag_allreduce **allreduce, struct strag_error *err)
{
    if (n < 1)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "n = %d; must be at least 1", n);
    if (topology && topology->n != n)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "n = %d, but the topology has %s", n,
                          strag_units_count(topology->n, "rank").text);
    struct strag_allreduce *made = calloc(1, sizeof *made);
    if (!made)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory");
    made->problem.n = n;
    made->problem.topology = topology;
    const struct strag_model model =
        strag_model_default(topology ? topology->network : STRAG_NETWORK_TREE);
    made->model = strag_model_sourced(&model);
    *allreduce = made;
    return STRAG_OK;
}

void strag_allreduce_free(struct strag_allreduce *allreduce)
{
    free(allreduce);
}

static int check_rank(const struct strag_allreduce *allreduce, int rank, struct strag_error *err)
{
    if (rank >= 0 && rank < allreduce->problem.n)
        return STRAG_OK;
    return strag_fail(err, STRAG_ERR_ARGUMENT, "rank %d does not exist; must be 0 to %d", rank,
                      allreduce->problem.n - 1);
}

static int set_count(int *member, const char *name, int value, struct strag_error *err)
{
    if (value < 0)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%s = %d; must be at least 0", name, value);
    *member = value;
    return STRAG_OK;
}

int strag_allreduce_set_blocks(struct strag_allreduce *allreduce, int blocks,
                               struct strag_error *err)
{
    return set_count(&allreduce->problem.blocks, "blocks", blocks, err);
}

int strag_allreduce_set_ports(struct strag_allreduce *allreduce, int ports, struct strag_error *err)
{
    return set_count(&allreduce->problem.ports, "ports", ports, err);
}

int strag_allreduce_set_straggler(struct strag_allreduce *allreduce, int rank, double delay,
                                  struct strag_error *err)
{
    int status = rank == -1 ? STRAG_OK : check_rank(allreduce, rank, err);
    if (status != STRAG_OK)
        return status;
    if (!(delay >= 0 && delay < INFINITY))
        return strag_fail(err, STRAG_ERR_ARGUMENT, "delay = %g s; must be at least 0", delay);
    allreduce->record.nstragglers = rank >= 0;
    allreduce->record.straggler[0] = (struct strag_straggler){rank, delay};
    return STRAG_OK;
}

int strag_allreduce_set_slow(struct strag_allreduce *allreduce, int rank, double factor,
                             struct strag_error *err)
{
    int status = check_rank(allreduce, rank, err);
    if (status != STRAG_OK)
        return status;
    if (!(factor >= 1 && factor < INFINITY))
        return strag_fail(err, STRAG_ERR_ARGUMENT, "factor = %g; must be at least 1", factor);
    if (factor > 1 && allreduce->record.nslow == STRAG_SLOW_MAX)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "at most %d ranks can be slow",
                          STRAG_SLOW_MAX);
    strag_state_add_slow(&allreduce->record, rank, factor);
    return STRAG_OK;
}

int strag_allreduce_set_number(struct strag_allreduce *allreduce, const char *name, double value,
                               struct strag_error *err)
{
    const int id = strag_numbers_find(name);
    if (id < 0)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "the model has no number '%.40s'; strag cost --help lists them", name);
    const struct strag_model_number *number = &strag_model_numbers[id];
    if (!(value >= number->least && value <= STRAG_MODEL_NUMBER_MOST))
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%s = %g %s; must be %g to %g", name, value,
                          number->unit, number->least, STRAG_MODEL_NUMBER_MOST);
    strag_model_set(&allreduce->model, id, value * number->scale, STRAG_FROM_USER);
    return STRAG_OK;
}

/* ---- What is asked ---- */

/* A problem with its state, and the algorithm that the caller named. */
struct question {
    const struct strag_algorithm *algorithm;
    struct strag_state state;
    struct strag_problem problem; /* points to `state` */
};

static void open_question(const struct strag_allreduce *allreduce, struct question *question)
{
    const struct strag_state_record *record = &allreduce->record;
    question->state = strag_state_of(record);
    question->problem = allreduce->problem;
    question->problem.state = record->nstragglers || record->nslow ? &question->state : NULL;
}

static int ask(const struct strag_allreduce *allreduce, const char *algorithm,
               struct question *question, struct strag_error *err)
{
    open_question(allreduce, question);
    question->algorithm = strag_algorithm_find(algorithm, err);
    return question->algorithm ? STRAG_OK : STRAG_ERR_ARGUMENT;
}

int strag_allreduce_plan(const struct strag_allreduce *allreduce, const char *algorithm, int rank,
                         struct strag_plan **plan, struct strag_error *err)
{
    struct question question;
    int status = ask(allreduce, algorithm, &question, err);
    if (status == STRAG_OK)
        status = check_rank(allreduce, rank, err);
    return status == STRAG_OK
               ? strag_plan_create(question.algorithm, &question.problem, rank, plan, err)
               : status;
}

static void tell(const struct strag_measure *measure, struct strag_verified *verified)
{
    if (verified)
        *verified = (struct strag_verified){measure->blocks, measure->rounds, measure->sent_max,
                                            measure->sent_total, measure->reduce_max};
}

int strag_allreduce_verify(const struct strag_allreduce *allreduce, const char *algorithm,
                           struct strag_verified *verified, struct strag_error *err)
{
    struct question question;
    struct strag_measure measure;
    int status = ask(allreduce, algorithm, &question, err);
    if (status == STRAG_OK)
        status = strag_verify(question.algorithm, &question.problem, &measure, NULL, err);
    if (status == STRAG_OK)
        tell(&measure, verified);
    return status;
}

int strag_allreduce_seconds(const struct strag_allreduce *allreduce, const char *algorithm,
                            const size_t *bytes, int sizes, double *seconds,
                            struct strag_error *err)
{
    struct question question;
    struct strag_profile *profile[STRAG_CHOICES_MAX] = {NULL};
    int blocks[STRAG_CHOICES_MAX], choices = 0;
    int status = ask(allreduce, algorithm, &question, err);
    if (status == STRAG_OK)
        choices = strag_algorithm_choices(question.algorithm, &question.problem, blocks);
    if (choices < 0)
        status = strag_fail(err, choices, "out of memory for the choices of %s", algorithm);
    for (int c = 0; c < choices && status == STRAG_OK; c++) {
        question.problem.blocks = blocks[c];
        status = strag_profile_create(question.algorithm, &question.problem,
                                      &allreduce->model.model, &profile[c], err);
    }
    for (int s = 0; s < sizes && status == STRAG_OK; s++) {
        seconds[s] = INFINITY;
        for (int c = 0; c < choices; c++)
            seconds[s] = fmin(seconds[s], strag_profile_seconds(profile[c], (double)bytes[s]));
    }
    for (int c = 0; c < choices; c++)
        strag_profile_free(profile[c]);
    return status;
}

int strag_allreduce_select(const struct strag_allreduce *allreduce, struct strag_selected *selected,
                           int *count, struct strag_error *err)
{
    struct question question;
    struct strag_selection *selection;
    const struct strag_select_options options = {
        .quick = allreduce->problem.n > STRAG_EXPLAINED_RANKS,
    };
    open_question(allreduce, &question);
    int status =
        strag_select(&question.problem, &allreduce->model.model, &options, &selection, err);
    if (status != STRAG_OK)
        return status;
    *count = selection->table.entries;
    for (int e = 0; e < *count; e++) {
        const struct strag_entry *entry = &selection->table.entry[e];
        selected[e] = (struct strag_selected){entry->from, entry->algorithm->name, entry->blocks};
    }
    strag_selection_free(selection);
    return STRAG_OK;
}

int strag_allreduce_show(const struct strag_allreduce *allreduce, const char *algorithm,
                         enum strag_format format, FILE *out, struct strag_error *err)
{
    struct question question;
    struct strag_instance instance;
    int status = ask(allreduce, algorithm, &question, err);
    if (status == STRAG_OK)
        status = strag_instance_open(&instance, question.algorithm, &question.problem, err);
    if (status != STRAG_OK)
        return status;
    const struct strag_ranks all = {0, question.problem.n};
    switch (format) {
    case STRAG_FORMAT_TEXT:
        status = strag_show_text(out, &instance, all, NULL, err);
        break;
    case STRAG_FORMAT_JSON:
        status = strag_show_json(out, &instance, all, NULL, err);
        break;
    default:
        status = strag_fail(err, STRAG_ERR_ARGUMENT, "no format has the number %d", (int)format);
    }
    strag_instance_close(&instance);
    return status;
}

/* ---- Plans from files ---- */

int strag_given_plan(const struct strag_given *given, int rank, struct strag_plan **plan,
                     struct strag_error *err)
{
    const struct strag_problem problem = {.n = strag_given_ranks(given)};
    return strag_plan_create(&given->row, &problem, rank, plan, err);
}

int strag_given_verify(const struct strag_given *given, struct strag_verified *verified,
                       struct strag_error *err)
{
    struct strag_measure measure;
    int status = strag_given_prove(given, &strag_given_asked, NULL, &measure, err);
    if (status == STRAG_OK)
        tell(&measure, verified);
    return status;
}
