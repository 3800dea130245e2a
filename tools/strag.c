/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strag: make, verify, estimate and draw the plans of allreduces. See strag(1).
 */
#include "commands.h"
#include "terminal.h"

#include "config.h"

#include "algorithms/table.h"
#include "base/file.h"
#include "base/nearest.h"

#include <errno.h>
#include <string.h>

enum { TEXT, WIDE, JSON };

static const char *const list_formats[] = {"text", "wide", "json", NULL};

static void write_entry(const struct strag_algorithm *algorithm, int format, bool first)
{
    if (format == JSON)
        printf("%s\n{\"name\":\"%s\",\"rounds\":\"%s\",\"sent\":\"%s\",\"summary\":\"%s\","
               "\"needs_straggler\":%s}",
               first ? "" : ",", algorithm->name, algorithm->rounds, algorithm->sent,
               algorithm->summary, algorithm->needs_straggler ? "true" : "false");
    else if (format == WIDE)
        printf("%-21s rounds %-26s sent %-22s %s\n", algorithm->name, algorithm->rounds,
               algorithm->sent, algorithm->summary);
    else
        printf("%-21s %s\n", algorithm->name, algorithm->summary);
}

static int run_list(const struct command *command, const struct arguments *arguments)
{
    int format;
    if (!read_word(command, arguments, OPTION_FORMAT, list_formats, &format))
        return EXIT_USAGE;
    if (format == JSON)
        printf("{\"algorithms\":[");
    for (int a = 0; strag_algorithms[a]; a++)
        write_entry(strag_algorithms[a], format, a == 0);
    if (format == JSON)
        puts("]}");
    return EXIT_DONE;
}

static const struct command list_command = {
    .name = "list",
    .usage = " [--format text|wide|json]",
    .summary = "List the algorithms: name, and what it is good for.",
    .details =
        "wide also has its rounds, and how many vectors a rank sends: n is the number of ranks, p\n"
        "the largest power of two that is not above n.",
    .options = {{OPTION_FORMAT, "text|wide|json", "how to show it (default: text)"}},
    .run = run_list,
};

static const struct command *const commands[] = {
    &list_command,    &plan_command,     &verify_command, &cost_command,
    &explain_command, &topology_command, &params_command, NULL,
};

static void write_program_help(void)
{
    puts("Usage: strag COMMAND [ARGUMENT...]\n\n"
         "An allreduce is a plan: this program makes, verifies, estimates and draws such\n"
         "plans.\n\n"
         "Commands:");
    for (int c = 0; commands[c]; c++)
        printf("  %-10s %s\n", commands[c]->name, commands[c]->summary);
    puts("  help       Show this text, or what the COMMAND that follows does, and its options.\n\n"
         "strag --version shows the version.\n"
         "Exit status: 0 done and true, 1 the check failed or the output could not be written,\n"
         "2 wrong use, 130 (in the shell) ended by ^C.");
}

static int run_command(const struct command *command, int argc, char **argv)
{
    struct arguments arguments;
    if (!read_arguments(command, argc, argv, &arguments))
        return EXIT_USAGE;
    if (arguments.help) {
        write_help(stdout, command);
        return EXIT_DONE;
    }
    open_terminal(command->name);
    int result = command->run(command, &arguments);
    clear_terminal();
    return result;
}

static int wrong_use(const char *what, const char *word)
{
    static const char *const others[] = {"help", "--help", "--version"};
    char meant[64];
    struct strag_nearest nearest = {NULL, 0};
    for (int c = 0; word && commands[c]; c++)
        strag_nearest_offer(&nearest, word, commands[c]->name);
    for (int o = 0; word && o < 3; o++)
        strag_nearest_offer(&nearest, word, others[o]);
    fprintf(stderr, "strag: %s%s%.40s%s%s; accepted: ", what, word ? " '" : "", word ? word : "",
            word ? "'" : "", word ? strag_nearest_text(&nearest, word, meant) : "");
    for (int c = 0; commands[c]; c++)
        fprintf(stderr, "%s, ", commands[c]->name);
    fprintf(stderr, "%s, %s, %s\n", others[0], others[1], others[2]);
    return EXIT_USAGE;
}

/* @return NULL if there is no such command */
static const struct command *find_command(const char *name)
{
    int c = 0;
    while (commands[c] && strcmp(commands[c]->name, name) != 0)
        c++;
    return commands[c];
}

static bool asks_for_help(const char *word)
{
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* `strag help`, `strag help COMMAND`. */
static int run_help(const char *name)
{
    const struct command *command = name ? find_command(name) : NULL;
    if (name && !command && !asks_for_help(name))
        return wrong_use("unknown command", name);
    if (command)
        write_help(stdout, command);
    else
        write_program_help();
    return EXIT_DONE;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2)
        return wrong_use("no command is given", NULL);
    const bool help = asks_for_help(argv[1]);
    const struct command *command = find_command(argv[1]);
    if (command)
        return run_command(command, argc - 2, argv + 2);
    if (!help && strcmp(argv[1], "--version") != 0)
        return wrong_use(argv[1][0] == '-' ? "unknown option" : "unknown command", argv[1]);
    if (argc > 2 + help)
        return wrong_use("unexpected argument", argv[2 + help]);
    if (help)
        return run_help(argc > 2 ? argv[2] : NULL);
    puts("strag " PACKAGE_VERSION);
    return EXIT_DONE;
}

/* Report it if any output could not be written. */
static int close_output(int result)
{
    errno = 0;
    bool failed = fflush(stdout) != 0 || ferror(stdout);
    int reason = errno;
    if (fclose(stdout) != 0 && !failed) {
        failed = true;
        reason = errno;
    }
    if (!failed)
        return result;
    fprintf(stderr, "strag: the output could not be written%s%s\n", reason ? ": " : "",
            reason ? strerror(reason) : "");
    return result == EXIT_DONE ? EXIT_FALSE : result;
}

int main(int argc, char **argv)
{
    strag_file_accept_streams();
    return close_output(dispatch(argc, argv));
}
