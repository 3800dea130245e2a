/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the command line, and the messages about it.
 */
#include "options.h"
#include "base/nearest.h"
#include "base/text.h"
#include "terminal.h"

#include <stdarg.h>
#include <string.h>

#define OPTION_NAME(id, name) (name),
static const char *const names[OPTIONS] = {OPTIONS_LIST(OPTION_NAME)};

const char *option_name(enum option_id id)
{
    return names[id];
}

int complain(const struct command *command, int status, const char *format, ...)
{
    va_list args;
    clear_terminal();
    va_start(args, format);
    fprintf(stderr, "strag %s: ", command->name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return status == STRAG_ERR_ARGUMENT || status == STRAG_ERR_UNSUPPORTED ? EXIT_USAGE
                                                                           : EXIT_FALSE;
}

const struct option_use *option_at(const struct command *command, int index)
{
    const struct option_use *uses = command->options;
    for (int group = 0; uses;
         uses = command->groups[group] ? command->groups[group++]->uses : NULL) {
        for (; uses->value; uses++) {
            if (index-- == 0)
                return uses;
        }
    }
    return NULL;
}

const struct option_use *option_of(const struct command *command, enum option_id id)
{
    const struct option_use *use;
    int i = 0;
    while ((use = option_at(command, i)) && use->id != id)
        i++;
    return use;
}

static bool value_may_be_missing(const struct option_use *use)
{
    return use->value[0] == '[';
}

/* A hint at the option that may have been meant. */
static const char *option_meant(const struct command *command, const char *wrong, char text[64])
{
    struct strag_nearest nearest = {NULL, 0};
    const struct option_use *use;
    for (int i = 0; (use = option_at(command, i)); i++)
        strag_nearest_offer(&nearest, wrong, names[use->id]);
    strag_nearest_offer(&nearest, wrong, "--help");
    return strag_nearest_text(&nearest, wrong, text);
}

/* "-n, --blocks, --help": the names that the command accepts, cut at the buffer's end. */
static const char *accepted(const struct command *command, char *buffer, size_t size)
{
    const struct option_use *use;
    buffer[0] = '\0';
    for (int i = 0; (use = option_at(command, i)); i++)
        strag_append(buffer, size, "%s, ", names[use->id]);
    strag_append(buffer, size, "--help");
    return buffer;
}

/* The length of the option's name in the argument; 0 for other names. mpirun's -np and --np are
 * -n. */
static size_t name_length(const char *argument, enum option_id id)
{
    static const char *const ranks[] = {"--np", "-np"};
    for (int i = 0; id == OPTION_RANKS && i < 2; i++) {
        if (strncmp(argument, ranks[i], strlen(ranks[i])) == 0)
            return strlen(ranks[i]);
    }
    const size_t length = strlen(names[id]);
    return strncmp(argument, names[id], length) == 0 ? length : 0;
}

/* The option of the command that the argument names, and its value if that is in the same argument:
 * --blocks=4 or -n8. NULL if the command has no such option. */
static const struct option_use *find_option(const struct command *command, const char *argument,
                                            const char **value)
{
    const struct option_use *use;
    for (int i = 0; (use = option_at(command, i)); i++) {
        const size_t length = name_length(argument, use->id);
        if (length == 0)
            continue;
        bool is_long = argument[1] == '-';
        *value = NULL;
        if (argument[length] == '\0')
            return use;
        *value = argument + length + is_long;
        if (!is_long || argument[length] == '=')
            return use;
    }
    return NULL;
}

static bool set_value(const struct command *command, const struct option_use *use,
                      const char *value, struct arguments *arguments)
{
    const char *before = arguments->value[use->id];
    if (before && strcmp(before, value) != 0)
        return refuse(command, "%s is given twice, as '%.40s' and as '%.40s'; give it once",
                      names[use->id], before, value);
    arguments->value[use->id] = value;
    return true;
}

static bool set_operand(const struct command *command, const char *operand,
                        struct arguments *arguments)
{
    if (command->takes_algorithm && !arguments->algorithm) {
        arguments->algorithm = operand;
        return true;
    }
    if (!command->takes_algorithm)
        return refuse(command, "unexpected '%.40s'; usage: strag %s%s", operand, command->name,
                      command->usage);
    return refuse(command, "one ALGORITHM is accepted, not '%.40s' and '%.40s'; usage: strag %s%s",
                  arguments->algorithm, operand, command->name, command->usage);
}

/* Take the option at argv[*at], and its value, which may be the next argument. */
static bool set_option(const struct command *command, int argc, char **argv, int *at,
                       struct arguments *arguments)
{
    const char *value;
    const struct option_use *use = find_option(command, argv[*at], &value);
    if (!use) {
        char list[512], meant[64];
        return refuse(command, "unknown option '%.40s'%s; accepted: %s", argv[*at],
                      option_meant(command, argv[*at], meant),
                      accepted(command, list, sizeof list));
    }
    if (value && !use->value[0])
        return refuse(command, "%s takes no value, not '%.40s'", names[use->id], value);
    if (value || !use->value[0])
        return set_value(command, use, value ? value : "", arguments);
    bool last = *at + 1 == argc;
    if (value_may_be_missing(use) && (last || argv[*at + 1][0] == '-'))
        return set_value(command, use, "", arguments);
    if (last)
        return refuse(command, "%s needs a value: %s %s", names[use->id], names[use->id],
                      use->value);
    return set_value(command, use, argv[++*at], arguments);
}

bool read_arguments(const struct command *command, int argc, char **argv,
                    struct arguments *arguments)
{
    bool options_ended = false;
    bool good = true;
    *arguments = (struct arguments){0};
    for (int i = 0; i < argc && good && !arguments->help; i++) {
        if (options_ended || argv[i][0] != '-')
            good = set_operand(command, argv[i], arguments);
        else if (strcmp(argv[i], "--") == 0)
            options_ended = true;
        else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            arguments->help = true;
        else
            good = set_option(command, argc, argv, &i, arguments);
    }
    return good;
}

static void write_uses(FILE *out, const char *title, const struct option_use *uses)
{
    fprintf(out, "\n%s:\n", title);
    for (const struct option_use *use = uses; use->value; use++) {
        char option[64];
        snprintf(option, sizeof option, "%s%s%s", names[use->id], use->value[0] ? " " : "",
                 use->value);
        fprintf(out, "  %-27s %s\n", option, use->help);
    }
}

void write_help(FILE *out, const struct command *command)
{
    fprintf(out, "Usage: strag %s%s\n\n%s\n", command->name, command->usage, command->summary);
    if (command->details)
        fprintf(out, "%s\n", command->details);
    write_uses(out, "Options", command->options);
    fprintf(out, "  %-27s %s\n", "--help", "show this text");
    for (int g = 0; command->groups[g]; g++)
        write_uses(out, command->groups[g]->title, command->groups[g]->uses);
}
