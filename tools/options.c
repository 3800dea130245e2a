/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the command line, and the messages about it.
 */
#include "options.h"

#include <stdarg.h>
#include <string.h>

static const char *const names[OPTIONS] = {
    [OPTION_RANKS] = "-n",        [OPTION_BLOCKS] = "--blocks", [OPTION_RANK] = "--rank",
    [OPTION_BYTES] = "--bytes",   [OPTION_ALPHA] = "--alpha",   [OPTION_BANDWIDTH] = "--bandwidth",
    [OPTION_FORMAT] = "--format",
};

const char *option_name(enum option_id id)
{
    return names[id];
}

int complain(const struct command *command, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "strag %s: ", command->name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return status == STRAG_ERR_ARGUMENT || status == STRAG_ERR_UNSUPPORTED ? EXIT_USAGE
                                                                           : EXIT_FALSE;
}

/* "-n RANKS, --blocks M, --help": what the command accepts, cut at the buffer's end. */
static const char *accepted(const struct command *command, char *buffer, size_t size)
{
    size_t used = 0;
    for (const struct option_use *use = command->options; use->value && used < size; use++)
        used += (size_t)snprintf(buffer + used, size - used, "%s %s, ", names[use->id], use->value);
    if (used < size)
        snprintf(buffer + used, size - used, "--help");
    return buffer;
}

/* The option of the command that the argument names, and its value if that is in the same argument:
 * --blocks=4 or -n8. NULL: the command has none of that name. */
static const struct option_use *find_option(const struct command *command, const char *argument,
                                            const char **value)
{
    for (const struct option_use *use = command->options; use->value; use++) {
        const char *name = names[use->id];
        size_t length = strlen(name);
        if (strncmp(argument, name, length) != 0)
            continue;
        bool is_long = name[1] == '-';
        *value = NULL;
        if (argument[length] == '\0')
            return use;
        *value = argument + length + is_long;
        if (!is_long || argument[length] == '=')
            return use;
    }
    return NULL;
}

static int set_value(const struct option_use *use, const char *value, struct arguments *arguments,
                     struct strag_error *err)
{
    const char *before = arguments->value[use->id];
    if (before && strcmp(before, value) != 0)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "%s is given twice, as '%.40s' and as '%.40s'; give it once",
                          names[use->id], before, value);
    arguments->value[use->id] = value;
    return STRAG_OK;
}

static int set_operand(const struct command *command, const char *operand,
                       struct arguments *arguments, struct strag_error *err)
{
    if (!command->takes_algorithm)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "unexpected '%.40s'; usage: strag %s%s", operand,
                          command->name, command->usage);
    if (arguments->algorithm)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "one ALGORITHM is accepted, not '%.40s' and '%.40s'",
                          arguments->algorithm, operand);
    arguments->algorithm = operand;
    return STRAG_OK;
}

/* Take the option at argv[*at], and its value, which may be the next argument. */
static int set_option(const struct command *command, int argc, char **argv, int *at,
                      struct arguments *arguments, struct strag_error *err)
{
    const char *value;
    const struct option_use *use = find_option(command, argv[*at], &value);
    if (!use) {
        char list[160];
        return strag_fail(err, STRAG_ERR_ARGUMENT, "unknown option '%.40s'; accepted: %s",
                          argv[*at], accepted(command, list, sizeof list));
    }
    if (!value && *at + 1 == argc)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%s needs a value: %s %s", names[use->id],
                          names[use->id], use->value);
    return set_value(use, value ? value : argv[++*at], arguments, err);
}

int read_arguments(const struct command *command, int argc, char **argv,
                   struct arguments *arguments, struct strag_error *err)
{
    bool options_ended = false;
    int status = STRAG_OK;
    *arguments = (struct arguments){0};
    for (int i = 0; i < argc && status == STRAG_OK && !arguments->help; i++) {
        if (options_ended || argv[i][0] != '-')
            status = set_operand(command, argv[i], arguments, err);
        else if (strcmp(argv[i], "--") == 0)
            options_ended = true;
        else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            arguments->help = true;
        else
            status = set_option(command, argc, argv, &i, arguments, err);
    }
    return status;
}

void write_help(FILE *out, const struct command *command)
{
    fprintf(out, "Usage: strag %s%s\n\n%s\n", command->name, command->usage, command->summary);
    if (command->details)
        fprintf(out, "%s\n", command->details);
    fputs("\nOptions:\n", out);
    for (const struct option_use *use = command->options; use->value; use++) {
        char option[64];
        snprintf(option, sizeof option, "%s %s", names[use->id], use->value);
        fprintf(out, "  %-26s %s\n", option, use->help);
    }
    fprintf(out, "  %-26s %s\n", "--help", "show this text");
}
