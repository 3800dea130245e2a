/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The readers of arguments that commands share.
 */
#include "commands.h"
#include "base/parse.h"
#include "plan/plan_file.h"

#include <string.h>

/* ---- Algorithms, and plans from files ---- */

bool says_ranks(const struct arguments *arguments)
{
    bool said = arguments->value[OPTION_RANKS] != NULL;
    for (int id = OPTION_TORUS; id <= OPTION_HWLOC; id++)
        said = said || arguments->value[id];
    return said;
}

bool open_file_plan(const struct command *command, const struct arguments *arguments,
                    struct file_plan *plan)
{
    struct strag_error err;
    const char *file = arguments->value[OPTION_PLAN];
    plan->given = NULL;
    plan->arguments = *arguments;
    if (!file)
        return true;
    const int status = strag_plan_file_read(file, &plan->given, &err);
    if (status != STRAG_OK)
        return refuse_value(command, OPTION_PLAN, status, &err);
    snprintf(plan->ranks, sizeof plan->ranks, "%d", plan->given->head.n);
    if (!says_ranks(arguments))
        plan->arguments.value[OPTION_RANKS] = plan->ranks;
    return true;
}

void close_file_plan(struct file_plan *plan)
{
    strag_given_free(plan->given);
    plan->given = NULL;
}

/* "; or give --plan FILE" if the command takes it, else "". */
static const char *or_a_plan(const struct command *command)
{
    return option_of(command, OPTION_PLAN) ? "; or give --plan FILE" : "";
}

static bool has_operand(const struct command *command, const char *operand, const char *also)
{
    char names[STRAG_NAMES_MAX];
    if (!operand)
        complain(command, STRAG_ERR_ARGUMENT, "no ALGORITHM is given; there are: %s%s%s",
                 strag_algorithm_names(names, sizeof names), also, or_a_plan(command));
    return operand != NULL;
}

static const struct strag_algorithm *find(const struct command *command, const char *name,
                                          const char *also)
{
    struct strag_error err;
    const struct strag_algorithm *found = strag_algorithm_find(name, &err);
    if (!found)
        complain(command, STRAG_ERR_ARGUMENT, "%s%s%s", err.text, also,
                 strcmp(name, "auto") == 0 ? "; strag explain shows what auto runs" : "");
    return found;
}

const struct strag_algorithm *need_algorithm(const struct command *command,
                                             const struct file_plan *plan)
{
    const char *name = plan->arguments.algorithm;
    if (plan->given && name) {
        (void)refuse(command, "either ALGORITHM or --plan is accepted, not '%.40s' and '%.40s'",
                     name, plan->arguments.value[OPTION_PLAN]);
        return NULL;
    }
    if (plan->given)
        return &plan->given->row;
    return has_operand(command, name, "") ? find(command, name, "") : NULL;
}

/* Add an algorithm unless it has been added before. */
static void add_algorithm(struct algorithms *named, const struct strag_algorithm *algorithm)
{
    int a = 0;
    while (a < named->count && named->algorithm[a] != algorithm)
        a++;
    if (a == named->count)
        named->algorithm[named->count++] = algorithm;
}

/* Add the algorithms of the table that a list names. */
static bool add_named(const struct command *command, const char *text, struct algorithms *named)
{
    char name[64], names[STRAG_NAMES_MAX];
    for (int a = 0; strcmp(text, "all") == 0 && strag_algorithms[a]; a++) {
        named->all = true;
        add_algorithm(named, strag_algorithms[a]);
    }
    for (const char *next = named->all ? NULL : text; next;
         next = strchr(next, ',') ? strchr(next, ',') + 1 : NULL) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(next, ","), next);
        if (!name[0] && text[0])
            return refuse(command, "'%.40s' has an empty name between commas; there are: %s, all",
                          text, strag_algorithm_names(names, sizeof names));
        const struct strag_algorithm *found = find(command, name, ", all");
        if (!found)
            return false;
        add_algorithm(named, found);
    }
    return true;
}

bool read_algorithms(const struct command *command, const struct file_plan *plan,
                     const char *otherwise, struct algorithms *named)
{
    const char *operand = plan->arguments.algorithm;
    const char *text = operand || plan->given ? operand : otherwise;
    *named = (struct algorithms){.count = 0};
    if (!text && !plan->given)
        return has_operand(command, text, ", all");
    if (text && !add_named(command, text, named))
        return false;
    if (plan->given)
        add_algorithm(named, &plan->given->row);
    return true;
}

/* ---- Options ---- */

const char *need_option(const struct command *command, const struct arguments *arguments,
                        enum option_id id)
{
    if (!arguments->value[id])
        complain(command, STRAG_ERR_ARGUMENT, "%s is missing; usage: strag %s%s", option_name(id),
                 command->name, command->usage);
    return arguments->value[id];
}

bool refuse_value(const struct command *command, enum option_id id, int status,
                  const struct strag_error *reason)
{
    complain(command, status, "%s: %s", option_name(id), reason->text);
    return false;
}

bool read_integer(const struct command *command, const struct arguments *arguments,
                  enum option_id id, int low, int high, int *value)
{
    struct strag_error err;
    const char *text = arguments->value[id];
    int status = text ? strag_parse_integer(text, low, high, value, &err) : STRAG_OK;
    return status == STRAG_OK || refuse_value(command, id, status, &err);
}

bool read_word(const struct command *command, const struct arguments *arguments, enum option_id id,
               const char *const *words, int *chosen)
{
    const char *text = arguments->value[id];
    *chosen = 0;
    if (!text)
        return true;
    for (int w = 0; words[w]; w++) {
        if (strcmp(words[w], text) == 0) {
            *chosen = w;
            return true;
        }
    }
    return refuse(command, "%s: '%.40s' is not one of %s", option_name(id), text,
                  option_of(command, id)->value);
}

bool read_sizes(const struct command *command, const struct arguments *arguments, size_t **bytes,
                int *sizes)
{
    struct strag_error err;
    const char *text = need_option(command, arguments, OPTION_BYTES);
    if (!text)
        return false;
    int status = strag_parse_bytes_list(text, bytes, sizes, &err);
    return status == STRAG_OK || refuse_value(command, OPTION_BYTES, status, &err);
}
