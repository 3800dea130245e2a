/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The readers of arguments that commands share.
 */
#include "commands.h"
#include "base/parse.h"

#include <string.h>

static bool has_operand(const struct command *command, const struct arguments *arguments,
                        const char *also)
{
    char names[STRAG_NAMES_MAX];
    if (!arguments->algorithm)
        complain(command, STRAG_ERR_ARGUMENT, "no ALGORITHM is given; there are: %s%s",
                 strag_algorithm_names(names, sizeof names), also);
    return arguments->algorithm != NULL;
}

static const struct strag_algorithm *find(const struct command *command, const char *name,
                                          const char *also)
{
    struct strag_error err;
    const struct strag_algorithm *found = strag_algorithm_find(name, &err);
    if (!found)
        complain(command, STRAG_ERR_ARGUMENT, "%s%s", err.text, also);
    return found;
}

const struct strag_algorithm *need_algorithm(const struct command *command,
                                             const struct arguments *arguments)
{
    return has_operand(command, arguments, "") ? find(command, arguments->algorithm, "") : NULL;
}

/* Each is taken once. */
static void add_algorithm(struct algorithms *named, const struct strag_algorithm *algorithm)
{
    int a = 0;
    while (a < named->count && named->algorithm[a] != algorithm)
        a++;
    if (a == named->count)
        named->algorithm[named->count++] = algorithm;
}

bool read_algorithms(const struct command *command, const struct arguments *arguments,
                     const char *otherwise, struct algorithms *named)
{
    char name[64];
    const char *text = arguments->algorithm ? arguments->algorithm : otherwise;
    *named = (struct algorithms){.count = 0};
    if (!text)
        return has_operand(command, arguments, ", all");
    if (strcmp(text, "all") == 0) {
        named->all = true;
        for (int a = 0; strag_algorithms[a]; a++)
            add_algorithm(named, strag_algorithms[a]);
        return true;
    }
    for (const char *next = text; next; next = strchr(next, ',') ? strchr(next, ',') + 1 : NULL) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(next, ","), next);
        const struct strag_algorithm *found = find(command, name, ", all");
        if (!found)
            return false;
        add_algorithm(named, found);
    }
    return true;
}

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

bool read_real(const struct command *command, const struct arguments *arguments, enum option_id id,
               double low, double high, double *value)
{
    struct strag_error err;
    const char *text = arguments->value[id];
    int status = text ? strag_parse_real(text, low, high, value, &err) : STRAG_OK;
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
    int i = 0;
    while (option_at(command, i)->id != id)
        i++;
    return refuse(command, "%s: '%.40s' is not one of %s", option_name(id), text,
                  option_at(command, i)->value);
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
