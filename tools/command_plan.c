/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strag plan: show the operations of one rank or of all.
 */
#include "commands.h"
#include "compact.h"
#include "draw.h"
#include "plan/show.h"
#include "terminal.h"
#include "topology_options.h"

#include <stdlib.h>

typedef int show_function(FILE *out, const struct strag_instance *instance,
                          struct strag_ranks ranks, const struct strag_progress *progress,
                          struct strag_error *err);

enum format { TEXT, JSON, SVG };

static const char *const formats[] = {"text", "json", "svg", NULL};
/* A picture is drawn from JSON. */
static show_function *const shows[] = {strag_show_text, strag_show_json, strag_show_json};

enum { ALL_RANKS = -1 };

/* With more ranks, all are shown only if an option asks for it, since leaving out an option should
 * not write very much. */
enum { RANKS_UNASKED = 1024 };

/* How plans are shown. */
struct manner {
    int rank, format;
    bool compact;
};

struct showing {
    const struct command *command;
    const struct strag_instance *instance;
    const struct manner *manner;
};

static int show_plans(const void *what)
{
    const struct showing *showing = what;
    const struct strag_instance *instance = showing->instance;
    const struct manner *manner = showing->manner;
    struct strag_error err;
    const struct strag_ranks one = {manner->rank, manner->rank + 1}, all = {0, instance->problem.n};
    /* If the plans go to a terminal, too, the line of progress would disturb them. */
    const struct strag_progress *progress = terminal_progress_of_output();
    clear_terminal();
    int status = manner->compact
                     ? write_compact(stdout, instance, progress, &err)
                     : shows[manner->format](stdout, instance,
                                             manner->rank == ALL_RANKS ? all : one, progress, &err);
    if (status == STRAG_OK)
        return EXIT_DONE;
    /* main reports errors of stdout when it closes it. */
    return status == STRAG_ERR_IO ? EXIT_FALSE : complain(showing->command, status, "%s", err.text);
}

static bool read_form(const struct command *command, const struct arguments *arguments,
                      struct manner *manner)
{
    manner->compact = arguments->value[OPTION_COMPACT] != NULL;
    if (!read_word(command, arguments, OPTION_FORMAT, formats, &manner->format))
        return false;
    return !manner->compact || (manner->format == JSON && !arguments->value[OPTION_RANK]) ||
           refuse(command, "--compact is for --format json, and for all ranks");
}

static bool read_rank(const struct command *command, const struct arguments *arguments, int n,
                      struct manner *manner)
{
    manner->rank = ALL_RANKS;
    if (!read_integer(command, arguments, OPTION_RANK, 0, n - 1, &manner->rank))
        return false;
    return manner->compact || manner->rank != ALL_RANKS || n <= RANKS_UNASKED ||
           arguments->value[OPTION_YES] ||
           refuse(command, "--rank R shows the plan of one rank, --yes those of all %d", n);
}

static int run_on(const struct command *command, const struct file_plan *plan,
                  const struct strag_algorithm *algorithm)
{
    struct machine machine;
    struct strag_error err;
    struct strag_instance instance = {0};
    struct manner manner;
    if (!read_form(command, &plan->arguments, &manner))
        return EXIT_USAGE;
    int result = read_machine(command, &plan->arguments, &machine);
    const struct strag_problem *problem = &machine.problem;
    if (result == EXIT_DONE && !read_rank(command, &plan->arguments, problem->n, &manner))
        result = EXIT_USAGE;
    if (result == EXIT_DONE) {
        strag_progress_step(terminal_progress(), "preparing", 0, 1);
        int status = strag_instance_open(&instance, algorithm, problem, &err);
        if (status != STRAG_OK)
            result =
                complain(command, status, "%s%s", err.text, straggler_wanted(&machine, algorithm));
    }
    const struct showing showing = {command, &instance, &manner};
    if (result == EXIT_DONE)
        result =
            manner.format == SVG ? draw_json(command, show_plans, &showing) : show_plans(&showing);
    strag_instance_close(&instance);
    close_machine(&machine);
    return result;
}

static int run(const struct command *command, const struct arguments *arguments)
{
    struct file_plan plan;
    int result = EXIT_USAGE;
    if (!open_file_plan(command, arguments, &plan))
        return EXIT_USAGE;
    const struct strag_algorithm *algorithm = need_algorithm(command, &plan);
    if (algorithm)
        result = run_on(command, &plan, algorithm);
    close_file_plan(&plan);
    return result;
}

const struct command plan_command = {
    .name = "plan",
    .usage = " ALGORITHM -n RANKS" TOPOLOGY_USAGE STATE_USAGE
             " [--blocks M] [--root R] [--plan FILE] [--rank R] [--yes]"
             " [--format text|json|svg] [--compact]",
    .summary = "Show what each rank does, operation by operation.",
    .details =
        "text is a table per rank, json is for programs (strag(1) documents it), svg is a\n"
        "timeline: ranks down, rounds across, one bar per message. With more than 1024 ranks\n"
        "all are written only with --yes, or compact. --plan reads json back, compact or not.",
    .takes_algorithm = true,
    .options =
        {
            {OPTION_RANKS, "RANKS", "how many ranks, from 1 (default: as the topology says)"},
            {OPTION_BLOCKS, "M", "cut the vector into M blocks (default: the algorithm chooses)"},
            {OPTION_ROOT, "R", "direct with one block: rank R sums up, 0 or 1 (default: 0)"},
            {OPTION_PLAN, "FILE", "a plan from a file, instead of ALGORITHM"},
            {OPTION_RANK, "R", "only rank R, from 0 (default: all ranks)"},
            {OPTION_YES, "", "all ranks, however many"},
            {OPTION_FORMAT, "text|json|svg", "how to show it (default: text)"},
            {OPTION_COMPACT, "", "json: write what ranks and rounds repeat only once"},
        },
    .groups = {&topology_group, &state_group},
    .run = run,
};
