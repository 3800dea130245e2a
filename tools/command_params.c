/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strag params: the component's parameters and the rest of its reference, as text, as JSON,
 * and as the manual page coll_strag(7).
 */
#include "commands.h"
#include "manual/manual.h"
#include "write.h"

#include "config.h"

#include <string.h>

/* ---- Text ---- */

enum { COLUMNS = 100, INDENT = 4 };

/* Write a text in indented lines of at most `COLUMNS` columns. */
static void write_wrapped(const char *text)
{
    int column = 0;
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (column && column + 1 + length > COLUMNS) {
            putchar('\n');
            column = 0;
        }
        column += printf("%*s%.*s", column ? 1 : INDENT, "", length, text);
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void write_text(void)
{
    char help[STRAG_HELP_MAX];
    puts("PARAMETERS: mpirun --mca NAME VALUE, or OMPI_MCA_NAME in the environment");
    for (int p = 0; p < STRAG_PARAMETERS; p++) {
        const struct strag_parameter *parameter = &strag_parameters[p];
        printf("%s (%s, default %s%s%s)\n", parameter->name,
               strag_parameter_type_name(parameter->type), parameter->standard[0] ? "" : "none",
               parameter->standard, parameter->info_key ? "; info key" : "");
        write_wrapped(strag_parameter_help((enum strag_parameter_id)p, help));
    }
    puts("\nMPI_T VARIABLES of a process");
    for (int v = 0; v < STRAG_VARIABLES; v++) {
        if (v == STRAG_COUNTERS)
            puts("\nMPI_T VARIABLES of a communicator, on its rank 0");
        puts(strag_variables[v].name);
        write_wrapped(strag_variables[v].help);
    }
    int level = 0;
    for (const struct strag_verbose_line *line = strag_verbose_lines; line->form; line++) {
        if (line->level > level)
            printf("\nVERBOSE LINES from coll_strag_verbose %d on: %s...\n", line->level,
                   strag_verbose_prefix);
        level = line->level;
        puts(line->form);
        write_wrapped(line->meaning);
    }
}

/* ---- JSON ---- */

static void write_member(const char *before, const char *name, const char *text)
{
    printf("%s\"%s\":", before, name);
    write_json_string(text);
}

static void write_json(void)
{
    char help[STRAG_HELP_MAX];
    printf("{\"parameters\":[");
    for (int p = 0; p < STRAG_PARAMETERS; p++) {
        const struct strag_parameter *parameter = &strag_parameters[p];
        printf("%s\n", p ? "," : "");
        write_member("{", "name", parameter->name);
        write_member(",", "type", strag_parameter_type_name(parameter->type));
        write_member(",", "default", parameter->standard);
        printf(",\"level\":%d,\"info_key\":%s", parameter->level,
               parameter->info_key ? "true" : "false");
        write_member(",", "help", strag_parameter_help((enum strag_parameter_id)p, help));
        putchar('}');
    }
    printf("],\n\"variables\":[");
    for (int v = 0; v < STRAG_VARIABLES; v++) {
        printf("%s\n", v ? "," : "");
        write_member("{", "name", strag_variables[v].name);
        write_member(",", "of", v < STRAG_COUNTERS ? "process" : "communicator");
        write_member(",", "help", strag_variables[v].help);
        putchar('}');
    }
    printf("],\n\"verbose\":[");
    for (const struct strag_verbose_line *line = strag_verbose_lines; line->form; line++) {
        printf("%s\n{\"level\":%d", line == strag_verbose_lines ? "" : ",", line->level);
        write_member(",", "form", line->form);
        write_member(",", "meaning", line->meaning);
        putchar('}');
    }
    puts("]}");
}

/* ---- The manual page, in mdoc(7) ---- */

/* Write text on a line of its own, in which no character has a meaning for mdoc. */
static void write_roff(const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stdout);
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
    }
    putchar('\n');
}

/* Write an item of a list, with its name in the font for names of commands. */
static void write_item(const char *name)
{
    fputs(".It Xo\n.Cm ", stdout);
    write_roff(name);
    puts(".Xc");
}

static void write_man_parameters(void)
{
    char help[STRAG_HELP_MAX];
    puts(".Sh PARAMETERS\nOn the command line\n.Pq Ql mpirun \\-\\-mca NAME VALUE ,\n"
         "in the environment\n.Pq Ql OMPI_MCA_NAME ,\nor in a parameter file of Open MPI.\n"
         "All ranks of a communicator use the values of its rank 0.\nSizes take K, M and G.\n"
         ".Bl -tag -width Ds");
    for (int p = 0; p < STRAG_PARAMETERS; p++) {
        const struct strag_parameter *parameter = &strag_parameters[p];
        write_item(parameter->name);
        printf(".Pq %s , default %s\n", strag_parameter_type_name(parameter->type),
               parameter->standard[0] ? parameter->standard : "none");
        write_roff(strag_parameter_help((enum strag_parameter_id)p, help));
    }
    puts(".El\n.Sh INFO KEYS\nThese are info keys of a communicator, too, which go before the "
         "parameters.\nGive them to the function that makes the communicator, such as\n"
         ".Fn MPI_Comm_dup_with_info :\nwhat is set after its setup is ignored, with a warning.\n"
         ".Bl -bullet -compact");
    for (int p = 0; p < STRAG_PARAMETERS; p++) {
        if (strag_parameters[p].info_key)
            printf(".It\n.Cm %s\n", strag_parameters[p].name);
    }
    puts(".El");
}

static void write_man_variables(void)
{
    puts(".Sh MPI_T VARIABLES\nPerformance variables of a process:\n.Bl -tag -width Ds");
    for (int v = 0; v < STRAG_VARIABLES; v++) {
        if (v == STRAG_COUNTERS)
            puts(".El\n.Pp\nOf a communicator, at any time, on its rank 0:\n.Bl -tag -width Ds");
        write_item(strag_variables[v].name);
        write_roff(strag_variables[v].help);
    }
    puts(".El");
}

static void write_man_lines(void)
{
    puts(".Sh VERBOSE LINES\nWith\n.Cm coll_strag_verbose\nset, a communicator's rank 0 writes "
         "lines that begin with\n.Dl coll:strag: COMMUNICATOR (cid ID, N ranks):\n"
         "What varies is in capitals here.\n.Bl -tag -width Ds");
    for (const struct strag_verbose_line *line = strag_verbose_lines; line->form; line++) {
        write_item(line->form);
        if (line->level > 1)
            printf(".Pq from %d on\n", line->level);
        write_roff(line->meaning);
    }
    puts(".El");
}

static void write_man(void)
{
    puts(".\\\" SPDX-License-Identifier: BSD-3-Clause\n"
         ".\\\" Written by strag params --format man.\n"
         ".Dd November 23, 2026\n.Dt COLL_STRAG 7\n.Os strag " PACKAGE_VERSION "\n"
         ".Sh NAME\n.Nm coll_strag\n.Nd MPI_Allreduce of Open MPI by plans\n"
         ".Sh SYNOPSIS\n.Nm mpirun\n.Fl \\-mca Cm coll strag\n"
         ".Op Fl \\-mca Cm coll_strag_NAME Ar value\n.Ar program\n"
         ".Sh DESCRIPTION\n.Nm\nis a collective component of Open MPI. It runs\n"
         ".Fn MPI_Allreduce ,\n.Fn MPI_Iallreduce\nand persistent allreduces, with an algorithm "
         "that is chosen for each size by a model of the machine, and leaves every other "
         "collective to the components that would run without it.\n"
         "It stays inactive until it is selected, as above or by\n.Cm coll_strag_priority .");
    write_man_parameters();
    write_man_lines();
    puts(".Sh REPORT\nWith\n.Cm coll_strag_report\nset, each communicator of two ranks and more "
         "says "
         "on standard error, when it is freed or in\n.Fn MPI_Finalize ,\nwhat its allreduces took "
         "and what ran them, which rank was last in how many calls and what that cost, what strag "
         "did about it or why not, and what to try; also where strag runs none of its calls.");
    write_man_variables();
    puts(".Sh SEE ALSO\n.Xr strag 1 ,\n.Xr strag-tune 1 ,\n.Xr mpirun 1 ,\n.Xr ompi_info 1");
}

/* ---- The command ---- */

static const char *const formats[] = {"text", "json", "man", NULL};
static void (*const writers[])(void) = {write_text, write_json, write_man};

static int run(const struct command *command, const struct arguments *arguments)
{
    int format;
    if (!read_word(command, arguments, OPTION_FORMAT, formats, &format))
        return EXIT_USAGE;
    writers[format]();
    return EXIT_DONE;
}

const struct command params_command = {
    .name = "params",
    .usage = " [--format text|json|man]",
    .summary = "List the component's parameters, info keys, MPI_T variables and verbose lines.",
    .details = "man is the source of coll_strag(7).",
    .options = {{OPTION_FORMAT, "text|json|man", "how to show it (default: text)"}},
    .run = run,
};
