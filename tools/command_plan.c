/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strag plan: show the operations of one rank or of all.
 */
#include "commands.h"
#include "plan/show.h"
#include "topology_options.h"

#include <stdlib.h>

typedef int show_function(FILE *out, struct strag_plan *const *plans, int count);

static const char *const formats[] = {"text", "json", "svg", NULL};
static show_function *const shows[] = {strag_show_text, strag_show_json, strag_show_svg};

enum { ALL_RANKS = -1 };

static int show_plans(const struct command *command, const struct strag_algorithm *algorithm,
                      const struct strag_problem *problem, int rank, show_function *show)
{
    struct strag_error err;
    int count = rank == ALL_RANKS ? problem->n : 1;
    struct strag_plan **plans = calloc((size_t)count, sizeof *plans);
    if (!plans)
        return complain(command, STRAG_ERR_MEMORY, "out of memory for %d plans", count);

    int result = EXIT_DONE;
    int status = rank == ALL_RANKS ? strag_plan_create_all(algorithm, problem, plans, &err)
                                   : strag_plan_create(algorithm, problem, rank, plans, &err);
    if (status != STRAG_OK) {
        result = complain(command, status, "%s", err.text);
    } else {
        status = show(stdout, plans, count);
        /* What is wrong with stdout, main says when it closes it. */
        if (status == STRAG_ERR_IO)
            result = EXIT_FALSE;
        else if (status != STRAG_OK)
            result = complain(command, status, "%s", strag_status_text(status));
        strag_plan_free_all(plans, count);
    }
    free(plans);
    return result;
}

static int run(const struct command *command, const struct arguments *arguments)
{
    struct machine machine;
    int rank = ALL_RANKS, format;
    const struct strag_algorithm *algorithm = need_algorithm(command, arguments, "");
    if (!algorithm)
        return EXIT_USAGE;
    int result = read_machine(command, arguments, &machine);
    struct strag_problem *problem = &machine.problem;
    if (result == EXIT_DONE &&
        (!read_integer(command, arguments, OPTION_RANK, 0, problem->n - 1, &rank) ||
         !read_word(command, arguments, OPTION_FORMAT, formats, &format)))
        result = EXIT_USAGE;
    if (result == EXIT_DONE)
        result = show_plans(command, algorithm, problem, rank, shows[format]);
    close_machine(&machine);
    return result;
}

const struct command plan_command = {
    .name = "plan",
    .usage = " ALGORITHM -n RANKS" TOPOLOGY_USAGE STATE_USAGE
             " [--blocks M] [--root R] [--rank R] [--format text|json|svg]",
    .summary = "Show what each rank does, operation by operation.",
    .details = "text is a table per rank, json is for programs (strag(1) documents it), svg is a\n"
               "timeline: ranks down, rounds across, one bar per message.",
    .takes_algorithm = true,
    .options =
        {
            {OPTION_RANKS, "RANKS", "how many ranks, from 1 (default: as the topology says)"},
            {OPTION_BLOCKS, "M", "cut the vector into M blocks (default: as the algorithm likes)"},
            {OPTION_ROOT, "R", "direct with one block: rank R sums up, 0 or 1 (default: 0)"},
            {OPTION_RANK, "R", "only rank R, from 0 (default: all ranks)"},
            {OPTION_FORMAT, "text|json|svg", "how to show it (default: text)"},
        },
    .groups = {&topology_group, &state_group},
    .run = run,
};
