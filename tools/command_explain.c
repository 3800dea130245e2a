/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strag explain: which algorithm runs at which size, and why the others are slower.
 */
#include "explanation.h"

#include "base/parse.h"
#include "terminal.h"
#include "write.h"

#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const formats[] = {"text", "json", NULL};
static void (*const writers[])(struct explanation *explanation) = {explain_write_text,
                                                                   explain_write_json};

/* ---- What to explain ---- */

/* Read a rules file, if one is given. Rules that do not hold must be valid, too. */
static int read_rules(const struct command *command, const char *file, struct strag_rules **rules)
{
    struct strag_error err;
    const int status = file ? strag_rules_read(file, rules, &err) : STRAG_OK;
    if (status == STRAG_OK)
        return EXIT_DONE;
    return complain(command, status == STRAG_ERR_IO ? STRAG_ERR_ARGUMENT : status, "--rules: %s",
                    err.text);
}

/* The circumstances of the choice, as options give them, or as a job saved them. As many slots for
 * messages are assumed as with few ranks. */
static struct strag_circumstances circumstances_of(struct explanation *explanation,
                                                   const struct strag_rules *rules)
{
    const struct machine *machine = explanation->machine;
    struct strag_circumstances made = {
        .problem = machine->problem,
        .model = machine->sourced.model,
        .options = {.minimum = explanation->minimum,
                    .short_plans = !machine->arguments->value[OPTION_EXHAUSTIVE]},
        .rules = rules,
    };
    if (machine->kind == OPTION_HWLOC)
        made.oversubscribed =
            (struct strag_oversubscribed){machine->problem.n, machine->ncores, SIZE_MAX};
    if (machine->saved) {
        made = machine->saved->circumstances;
        explanation->minimum = made.options.minimum;
    }
    explanation->oversubscribed = made.oversubscribed;
    made.options.quick = explanation->quick;
    made.options.progress = terminal_progress();
    return made;
}

/* Have candidates priced, even if the model did not decide.
 * @return STRAG_OK, or why there is nothing to explain */
static int ask_model(const struct strag_circumstances *circumstances, struct strag_choice *choice)
{
    if (choice->rules_status != STRAG_OK)
        return choice->rules_status;
    if (choice->selection)
        return STRAG_OK;
    if (!circumstances->pinned)
        return choice->status;
    return strag_select(&circumstances->problem, &circumstances->model, &circumstances->options,
                        &choice->selection, &choice->why);
}

/* Does this strag make the table that the job's strag made? */
static int compare_with_saved(const struct explanation *explanation, bool as_text)
{
    const struct strag_saved *saved = explanation->machine->saved;
    if (!saved || strag_table_is_same(&saved->table, &explanation->table))
        return EXIT_DONE;
    if (as_text) {
        puts("\nbut the job ran:");
        explain_write_table(&saved->table);
    }
    return complain(explanation->machine->command, STRAG_ERR_FALSE,
                    "--saved: the job's table, by strag %s, is not this strag's (%s)",
                    saved->version ? saved->version : "of an unknown version", PACKAGE_VERSION);
}

static int explain_choice(struct explanation *explanation, const struct strag_choice *choice,
                          const struct strag_rules *rules,
                          void (*writer)(struct explanation *explanation))
{
    const struct strag_selection *selection = choice->selection;
    explanation->selection = selection;
    explanation->table = choice->table;
    explanation->ground = choice->ground;
    explanation->line = choice->line;
    if (rules && choice->line)
        explanation->nplans = strag_rules_plans(rules, choice->line, explanation->plans);
    explanation->estimates = calloc((size_t)selection->candidates, sizeof(struct estimate));
    if (!explanation->estimates)
        return complain(explanation->machine->command, STRAG_ERR_MEMORY, "out of memory");
    writer(explanation);
    free(explanation->estimates);
    return compare_with_saved(explanation, writer == explain_write_text);
}

static int explain(struct explanation *explanation, const struct strag_rules *rules,
                   void (*writer)(struct explanation *explanation))
{
    struct strag_error err;
    const struct machine *machine = explanation->machine;
    explanation->rules =
        machine->saved ? machine->saved->rules_file : machine->arguments->value[OPTION_RULES];
    const struct strag_circumstances circumstances = circumstances_of(explanation, rules);
    struct strag_choice choice;
    strag_choose(&circumstances, &choice);
    int status = ask_model(&circumstances, &choice);
    if (status != STRAG_OK)
        err = choice.rules_status != STRAG_OK ? choice.rules_why : choice.why;
    if (status == STRAG_OK)
        status = strag_lower_bound(&machine->problem, &machine->sourced.model, &explanation->bound,
                                   &err);
    if (status == STRAG_OK)
        status = explain_open_levels(machine, &explanation->levels, &err);
    clear_terminal();
    const int result = status == STRAG_OK
                           ? explain_choice(explanation, &choice, circumstances.rules, writer)
                           : complain(machine->command, status, "%s%s",
                                      choice.rules_status != STRAG_OK ? "--rules: " : "", err.text);
    explain_close_levels(&explanation->levels);
    strag_selection_free(choice.selection);
    return result;
}

static bool is_auto(const char *text)
{
    return text && strcmp(text, "auto") == 0;
}

static bool read_minimum(const struct command *command, const char *text, size_t *minimum)
{
    struct strag_error err;
    if (!text || is_auto(text) || strag_parse_bytes(text, minimum, &err) == STRAG_OK)
        return true;
    return refuse(command, "%s: %s; or auto", option_name(OPTION_MINIMUM), err.text);
}

/* `auto`: the minimum of a job whose hosts' ranks share memory. */
static size_t usual_minimum(const struct machine *machine)
{
    const int hosts = machine->topology ? machine->topology->hosts : machine->problem.n;
    return strag_choice_minimum(hosts, hosts == 1, &machine->sourced);
}

static int run(const struct command *command, const struct arguments *arguments)
{
    struct machine machine = {0};
    struct explanation explanation = {.machine = &machine};
    struct strag_rules *rules = NULL;
    int format;
    if (!read_word(command, arguments, OPTION_FORMAT, formats, &format) ||
        !read_minimum(command, arguments->value[OPTION_MINIMUM], &explanation.minimum) ||
        !read_sizes(command, arguments, &explanation.bytes, &explanation.sizes))
        return EXIT_USAGE;
    int result = read_rules(command, arguments->value[OPTION_RULES], &rules);
    if (result == EXIT_DONE)
        result = read_machine(command, arguments, &machine);
    if (result == EXIT_DONE && machine.saved && arguments->value[OPTION_BLOCKS])
        result = complain(command, STRAG_ERR_ARGUMENT,
                          "--saved already has the settings of the job; omit --blocks");
    if (result == EXIT_DONE && is_auto(arguments->value[OPTION_MINIMUM]))
        explanation.minimum = usual_minimum(&machine);
    explanation.quick = !arguments->value[OPTION_EXHAUSTIVE] &&
                        (machine.saved ? machine.saved->circumstances.options.quick
                                       : machine.problem.n > STRAG_EXPLAINED_RANKS);
    if (result == EXIT_DONE)
        result = explain(&explanation, rules, writers[format]);
    strag_rules_free(rules);
    free(explanation.bytes);
    close_machine(&machine);
    return result;
}

const struct command explain_command = {
    .name = "explain",
    .usage = " -n RANKS" TOPOLOGY_USAGE STATE_USAGE MODEL_USAGE
             " --bytes LIST [--blocks M] [--minimum SIZE|auto] [--rules FILE] [--exhaustive]"
             " [--format text|json]",
    .summary = "Say which algorithm runs at which size, and why the others are slower.",
    .details =
        "The fastest by `strag cost` is chosen, unless a rules file says otherwise. Then the\n"
        "whole table of algorithms by size follows. With more than 256 ranks it is that of the\n"
        "component: candidates that cannot win are left out.\n"
        "With --hosts on a tree it also says what goes between the groups of hosts.",
    .options =
        {
            {OPTION_RANKS, "RANKS", "how many ranks, from 1 (default: as the topology says)"},
            {OPTION_BYTES, "LIST", "sizes of the vector: 32, 2K, 512M; powers of two: 32..1G"},
            {OPTION_BLOCKS, "M",
             "cut the vector into M blocks (default: what is best for each size)"},
            {OPTION_MINIMUM, "SIZE|auto",
             "the previous component runs shorter vectors; auto: as in a job (default: 0)"},
            {OPTION_RULES, "FILE", "measured choices; strag(1) describes the file"},
            {OPTION_EXHAUSTIVE, "", "compare all candidates, also with more than 256 ranks"},
            {OPTION_FORMAT, "text|json", "how to show it (default: text)"},
        },
    .groups = {&topology_group, &state_group, &model_group},
    .run = run,
};
