/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strag search: is there a plan that takes less time than any algorithm's?
 */
#include "commands.h"
#include "model/bounds.h"
#include "model/search.h"
#include "model/select.h"
#include "plan/show.h"
#include "terminal.h"
#include "topology_options.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>

enum { TEXT, JSON, CSV };

static const char *const formats[] = {"text", "json", "csv", NULL};

static volatile int stopped;

static void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

/* The best of all algorithms at a size. */
struct best {
    const struct strag_algorithm *algorithm;
    double seconds;
};

static int find_best(const struct machine *machine, double bytes, struct best *best,
                     struct strag_error *err)
{
    const struct strag_select_options options = {0};
    struct strag_selection *selection;
    int status =
        strag_select(&machine->problem, &machine->sourced.model, &options, &selection, err);
    *best = (struct best){.seconds = INFINITY};
    for (int c = 0; status == STRAG_OK && c < selection->candidates; c++) {
        const struct strag_candidate *candidate = &selection->candidate[c];
        double seconds =
            candidate->profile ? strag_profile_seconds(candidate->profile, bytes) : INFINITY;
        if (seconds < best->seconds)
            *best = (struct best){candidate->algorithm, seconds};
    }
    if (status == STRAG_OK)
        strag_selection_free(selection);
    return status;
}

/* What no plan can beat: a message's latency, and what hosts have to send (bounds.h). */
static int find_bound(const struct machine *machine, double bytes, double *seconds,
                      struct strag_error *err)
{
    const struct strag_model *model = &machine->sourced.model;
    struct strag_lower_bound bound;
    int status = strag_lower_bound(&machine->problem, model, &bound, err);
    if (status == STRAG_OK)
        *seconds =
            fmin(model->alpha, model->local_alpha) + strag_lower_bound_seconds(&bound, bytes);
    return status;
}

struct answer {
    struct strag_search_result result;
    struct best best;
    double bound, bytes;
    uint64_t seed;
};

/* An algorithm that runs only where it is named is one all the same. */
static void note_beginning(struct answer *answer)
{
    const struct strag_search_result *result = &answer->result;
    if (result->began < answer->best.seconds * (1 - 1e-9))
        answer->best = (struct best){.algorithm = result->from, .seconds = result->began};
}

static double percent(double more)
{
    return 100 * (more - 1);
}

static void write_text(const struct answer *answer)
{
    const struct strag_search_result *result = &answer->result;
    printf("seed %" PRIu64 ": %" PRId64 " changes tried, %" PRId64 " kept\n", answer->seed,
           result->tried, result->kept);
    printf("lower bound     %.6g us\n", 1e6 * answer->bound);
    printf("best algorithm  %.6g us, %s (%.1f %% above the bound)\n", 1e6 * answer->best.seconds,
           answer->best.algorithm->name, percent(answer->best.seconds / answer->bound));
    printf("began with      %.6g us, %s\n", 1e6 * result->began, result->from->name);
    printf("found           %.6g us, proved (%.1f %% above the bound): ", 1e6 * result->found,
           percent(result->found / answer->bound));
    if (result->found < answer->best.seconds)
        printf("%.1f %% less than the best algorithm\n",
               -percent(result->found / answer->best.seconds));
    else
        printf("no better than the best algorithm\n");
}

static void write_csv(const struct answer *answer)
{
    const struct strag_search_result *result = &answer->result;
    puts("bytes,seed,tried,bound,best,best_algorithm,began,began_with,found");
    printf("%.0f,%" PRIu64 ",%" PRId64 ",%.9g,%.9g,%s,%.9g,%s,%.9g\n", answer->bytes, answer->seed,
           result->tried, answer->bound, answer->best.seconds, answer->best.algorithm->name,
           result->began, result->from->name, result->found);
}

static int write_json(const struct command *command, const struct strag_found *plan, int n)
{
    struct strag_instance instance;
    struct strag_error err;
    int status = strag_found_open(plan, &instance, &err);
    if (status == STRAG_OK)
        status = strag_show_json(stdout, &instance, (struct strag_ranks){0, n}, NULL, &err);
    strag_instance_close(&instance);
    if (status == STRAG_OK)
        return EXIT_DONE;
    /* What is wrong with stdout, main says when it closes it. */
    return status == STRAG_ERR_IO ? EXIT_FALSE : complain(command, status, "%s", err.text);
}

static int search(const struct command *command, const struct machine *machine,
                  struct strag_search_options *options, int format)
{
    struct strag_error err;
    struct answer answer = {.seed = options->seed, .bytes = options->bytes};
    int status = find_best(machine, options->bytes, &answer.best, &err), result = EXIT_DONE;
    if (status == STRAG_OK)
        status = find_bound(machine, options->bytes, &answer.bound, &err);
    if (signal(SIGINT, stop) == SIG_IGN)
        signal(SIGINT, SIG_IGN);
    if (status == STRAG_OK)
        status =
            strag_search(&machine->problem, &machine->sourced.model, options, &answer.result, &err);
    if (status != STRAG_OK)
        return complain(command, status, "%s", err.text);
    note_beginning(&answer);
    clear_terminal();
    if (format == JSON)
        result = write_json(command, answer.result.plan, machine->problem.n);
    else if (format == CSV)
        write_csv(&answer);
    else
        write_text(&answer);
    strag_found_free(answer.result.plan);
    return result;
}

static int run(const struct command *command, const struct arguments *arguments)
{
    struct machine machine;
    int format, seed = 1, steps = 2000000, sizes;
    size_t *bytes = NULL;
    int result = read_machine(command, arguments, &machine);
    machine.sourced.model.overhead = 0; /* the search does not price messages themselves */
    if (result == EXIT_DONE &&
        (!read_sizes(command, arguments, &bytes, &sizes) ||
         !read_integer(command, arguments, OPTION_SEED, 0, 1000000000, &seed) ||
         !read_integer(command, arguments, OPTION_STEPS, 0, 2000000000, &steps) ||
         !read_word(command, arguments, OPTION_FORMAT, formats, &format)))
        result = EXIT_USAGE;
    if (result == EXIT_DONE && machine.state.nstragglers)
        result = complain(command, STRAG_ERR_ARGUMENT,
                          "--straggler: no plans are searched for where a rank is late");
    if (result == EXIT_DONE && sizes != 1)
        result = complain(command, STRAG_ERR_ARGUMENT, "--bytes: one size is searched for, not %d",
                          sizes);
    if (result == EXIT_DONE) {
        struct strag_search_options options = {
            .bytes = (double)bytes[0],
            .seed = (uint64_t)seed,
            .steps = steps,
            .restarts = 10,
            .stop = &stopped,
            .progress = terminal_progress(),
        };
        result = search(command, &machine, &options, format);
    }
    free(bytes);
    close_machine(&machine);
    return result;
}

const struct command search_command = {
    .name = "search",
    .usage = " -n RANKS" TOPOLOGY_USAGE STATE_USAGE MODEL_USAGE
             " --bytes SIZE [--seed S] [--steps N] [--format text|json|csv]",
    .summary = "Search for a plan that takes less time than any algorithm's, for up to 16 ranks.",
    .details =
        "Simulated annealing: of every block the values go along a tree to one rank, and the sum\n"
        "along another one back; messages are given to other ranks and rounds, and lengths of\n"
        "blocks change. It begins with the best algorithm whose plan is such trees, and what is\n"
        "found is proved. json is the plan. ^C ends it with the best so far.",
    .options =
        {
            {OPTION_RANKS, "RANKS", "how many ranks, 2 to 16 (default: as the topology says)"},
            {OPTION_BYTES, "SIZE", "of the vector: 64K, 1M"},
            {OPTION_SEED, "S", "another one finds other plans (default: 1)"},
            {OPTION_STEPS, "N", "changes that are tried (default: 2000000)"},
            {OPTION_FORMAT, "text|json|csv", "how to show what was found (default: text)"},
        },
    .groups = {&topology_group, &state_group, &model_group},
    .run = run,
};
