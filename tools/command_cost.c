/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strag cost: the time that algorithms take by the link-load model, for a list of sizes.
 */
#include "base/text.h"
#include "draw.h"
#include "model/platform.h"
#include "model/select.h"
#include "terminal.h"
#include "write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum mode { ROUNDS, CLOCKS };

static const char *const modes[] = {"rounds", "clocks", NULL};

/* In text, up to ALGORITHMS_BESIDE algorithms are columns; more are rows of up to SIZES_BESIDE
 * sizes. */
enum { ALGORITHMS_BESIDE = 6, SIZES_BESIDE = 6 };

/* What is printed: a column per algorithm, a row per size; the other way round if that is too
 * wide. */
struct table {
    const struct machine *machine;
    struct strag_platform *platform; /* on which all are priced */
    int mode;
    bool quick; /* messages are sampled if there are very many */
    size_t *bytes;
    int sizes;
    const struct strag_algorithm *algorithms[ALGORITHMS_MAX];
    double *seconds; /* [algorithm * sizes + size] */
    double *rated;   /* the estimates as the selection compares them (strag_select_rated); with
                        clocks as above; INFINITY if the algorithm runs only if it is named */
    int columns;
};

static double *column_of(const struct table *table, int column)
{
    return table->seconds + (size_t)column * (size_t)table->sizes;
}

static double *rated_of(const struct table *table, int column)
{
    return table->rated + (size_t)column * (size_t)table->sizes;
}

/* The best algorithm at a size, as the selection finds it. Times that differ by rounding only count
 * as equal, and of equal ones the first is the best. */
static int best_column(const struct table *table, int size)
{
    int best = 0;
    for (int c = 1; c < table->columns; c++) {
        if (rated_of(table, c)[size] < rated_of(table, best)[size] * (1 - 1e-9))
            best = c;
    }
    return best;
}

/* An estimate, marked if it is the best of several. */
static void write_time(const struct table *table, int column, int size, int width)
{
    char text[48], marked[49];
    bool best = table->columns > 1 && column == best_column(table, size);
    snprintf(marked, sizeof marked, "%s%s", best ? "*" : "",
             time_text(column_of(table, column)[size], text));
    printf("  %*s", width, marked);
}

/* A row per size. */
static void write_sizes(const struct table *table)
{
    char text[32];
    printf("%10s", "bytes");
    for (int c = 0; c < table->columns; c++)
        printf("  %21s", table->algorithms[c]->name);
    putchar('\n');
    for (int s = 0; s < table->sizes; s++) {
        printf("%10s", size_text(table->bytes[s], text));
        for (int c = 0; c < table->columns; c++)
            write_time(table, c, s, 21);
        putchar('\n');
    }
}

/* A row per algorithm, for some of the sizes. */
static void write_algorithms(const struct table *table, int first, int end)
{
    char text[32];
    printf("%-21s", "bytes");
    for (int s = first; s < end; s++)
        printf("  %10s", size_text(table->bytes[s], text));
    putchar('\n');
    for (int c = 0; c < table->columns; c++) {
        printf("%-21s", table->algorithms[c]->name);
        for (int s = first; s < end; s++)
            write_time(table, c, s, 10);
        putchar('\n');
    }
}

static void write_text(const struct table *table)
{
    bool wide = table->columns > ALGORITHMS_BESIDE;
    write_machine(table->machine);
    write_model(table->machine);
    printf(", mode %s%s: microseconds", modes[table->mode], table->quick ? ", quick" : "");
    if (table->columns > 1)
        printf(", * is the best of a %s", wide ? "column" : "row");
    putchar('\n');
    if (!wide)
        write_sizes(table);
    for (int s = 0; wide && s < table->sizes; s += SIZES_BESIDE) {
        if (s > 0)
            putchar('\n');
        write_algorithms(table, s,
                         s + SIZES_BESIDE < table->sizes ? s + SIZES_BESIDE : table->sizes);
    }
}

static void write_csv(const struct table *table)
{
    puts("algorithm,n,bytes,seconds,rated");
    for (int c = 0; c < table->columns; c++) {
        for (int s = 0; s < table->sizes; s++)
            printf("%s,%d,%zu,%.9g,%.9g\n", table->algorithms[c]->name, table->machine->problem.n,
                   table->bytes[s], column_of(table, c)[s], rated_of(table, c)[s]);
    }
}

static void write_json(const struct table *table)
{
    putchar('{');
    write_json_machine(table->machine);
    printf(",\"mode\":\"%s\",%s\"costs\":[", modes[table->mode],
           table->quick ? "\"quick\":true," : "");
    for (int c = 0; c < table->columns; c++) {
        for (int s = 0; s < table->sizes; s++)
            printf("%s\n{\"algorithm\":\"%s\",\"bytes\":%zu,\"seconds\":%.9g}", c + s ? "," : "",
                   table->algorithms[c]->name, table->bytes[s], column_of(table, c)[s]);
    }
    puts("]}");
}

/* ---- A picture ---- */

/* @return NULL, or why there can be none */
static const char *no_picture(const struct table *table)
{
    if (table->machine->problem.n < 2)
        return "one rank takes no time: --format svg needs two or more";
    for (int s = 0; s < table->sizes; s++) {
        if (table->bytes[s] == 0 || (s > 0 && table->bytes[s] <= table->bytes[s - 1]))
            return "--format svg needs sizes above 0, in ascending order";
    }
    return table->sizes < 2 ? "--format svg needs two sizes or more" : NULL;
}

/* Write the JSON that a picture is drawn from. */
static int write_drawn(const void *table)
{
    write_json(table);
    return EXIT_DONE;
}

enum { SVG = 3 };

static const char *const formats[] = {"text", "csv", "json", [SVG] = "svg", NULL};
static void (*const writers[])(const struct table *table) = {write_text, write_csv, write_json};

/* Estimate one count of blocks in mode `rounds`. Lowers `least`, with its count in `blocks`, and
 * the next column's rated times if this count is better. */
static int estimate_rounds(const struct table *table, const struct strag_algorithm *algorithm,
                           int count, double *least, int *blocks, struct strag_error *err)
{
    double *rated = rated_of(table, table->columns);
    const struct machine *machine = table->machine;
    struct strag_problem problem = machine->problem;
    struct strag_profile *profile;
    const struct strag_attempt attempt = {
        .platform = table->platform,
        .messages = table->quick ? strag_select_messages(problem.n) : 0,
        .progress = terminal_progress(),
    };
    problem.blocks = count;
    int status = strag_profile_attempt(algorithm, &problem, &attempt, &profile, err);
    if (status != STRAG_OK)
        return status;
    for (int s = 0; s < table->sizes; s++) {
        const double seconds = strag_profile_seconds(profile, (double)table->bytes[s]);
        const struct strag_candidate candidate = {.algorithm = algorithm, .profile = profile};
        rated[s] = fmin(rated[s], strag_select_rated(&candidate, (double)table->bytes[s]));
        if (seconds < least[s]) {
            least[s] = seconds;
            blocks[s] = count;
        }
    }
    strag_profile_free(profile);
    return STRAG_OK;
}

/* Estimate in mode `clocks`, with the blocks that are best by mode `rounds`. */
static int estimate_clocks(const struct table *table, const struct strag_algorithm *algorithm,
                           const int *blocks, double *seconds, struct strag_error *err)
{
    struct strag_problem problem = table->machine->problem;
    int status = STRAG_OK;
    for (int first = 0, end; status == STRAG_OK && first < table->sizes; first = end) {
        for (end = first + 1; end < table->sizes && blocks[end] == blocks[first]; end++)
            ;
        problem.blocks = blocks[first];
        status = strag_cost_clocks(algorithm, &problem, &table->machine->sourced.model,
                                   table->bytes + first, end - first, seconds + first, err);
    }
    return status;
}

/* Estimate all counts of blocks. Some may have too many messages for a quick estimate. */
static int estimate_choices(const struct table *table, const struct strag_algorithm *algorithm,
                            const int *choice, int choices, double *least, int *blocks,
                            struct strag_error *err)
{
    int status = STRAG_OK, estimated = 0;
    for (int c = 0; c < choices; c++) {
        status = estimate_rounds(table, algorithm, choice[c], least, blocks, err);
        estimated += status == STRAG_OK;
        if (status != STRAG_OK && !(table->quick && status == STRAG_ERR_UNSUPPORTED))
            return status;
    }
    return estimated > 0 ? STRAG_OK : status;
}

/* Estimate each size with the count of blocks that is best for it. */
static int estimate(const struct table *table, const struct strag_algorithm *algorithm,
                    double *seconds, struct strag_error *err)
{
    int choice[STRAG_CHOICES_MAX], status = STRAG_OK;
    int choices = strag_algorithm_choices(algorithm, &table->machine->problem, choice);
    if (choices < 0)
        return strag_fail(err, choices, "out of memory for the choices of %s", algorithm->name);
    int *blocks = calloc((size_t)table->sizes, sizeof *blocks);
    if (!blocks)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d sizes", table->sizes);
    for (int s = 0; s < table->sizes; s++) {
        blocks[s] = choice[0];
        seconds[s] = rated_of(table, table->columns)[s] = INFINITY;
    }
    if (table->mode == ROUNDS || choices > 1)
        status = estimate_choices(table, algorithm, choice, choices, seconds, blocks, err);
    if (status == STRAG_OK && table->mode == CLOCKS)
        status = estimate_clocks(table, algorithm, blocks, seconds, err);
    const bool named = algorithm->on_request && algorithm->on_request(&table->machine->problem);
    for (int s = 0; (named || table->mode == CLOCKS) && s < table->sizes; s++)
        rated_of(table, table->columns)[s] = named ? INFINITY : seconds[s];
    free(blocks);
    return status;
}

static int add_column(struct table *table, const struct strag_algorithm *algorithm,
                      struct strag_error *err)
{
    int status = estimate(table, algorithm, column_of(table, table->columns), err);
    if (status == STRAG_OK)
        table->algorithms[table->columns++] = algorithm;
    return status;
}

/* Add a column for each algorithm. Those that cannot be planned are left out, and named, except
 * algorithms for stragglers if no rank is late. */
static int add_all_columns(const struct command *command, const struct algorithms *named,
                           struct table *table)
{
    struct strag_error err;
    char out[STRAG_NAMES_MAX] = "";
    for (int a = 0; a < named->count; a++) {
        const struct strag_algorithm *algorithm = named->algorithm[a];
        if (!strag_algorithm_suits(algorithm, &table->machine->state))
            continue;
        strag_progress_step(terminal_progress(), algorithm->name, a, named->count);
        bool long_look = table->quick && algorithm->takes_long &&
                         algorithm->takes_long(&table->machine->problem);
        int status = long_look ? STRAG_ERR_UNSUPPORTED : add_column(table, algorithm, &err);
        if (status == STRAG_ERR_UNSUPPORTED)
            strag_append(out, sizeof out, "%s%s", out[0] ? ", " : "", algorithm->name);
        else if (status != STRAG_OK)
            return complain(command, status, "%s", err.text);
    }
    if (out[0])
        complain(command, STRAG_ERR_UNSUPPORTED,
                 table->quick ? "left out: %s; without --quick those that can be planned are priced"
                              : "not possible here: %s; strag explain says why",
                 out);
    return table->columns ? EXIT_DONE : EXIT_USAGE;
}

static int add_named_columns(const struct command *command, const struct algorithms *named,
                             struct table *table)
{
    struct strag_error err;
    for (int a = 0; a < named->count; a++) {
        strag_progress_step(terminal_progress(), named->algorithm[a]->name, a, named->count);
        int status = add_column(table, named->algorithm[a], &err);
        if (status != STRAG_OK)
            return complain(command, status, "%s%s", err.text,
                            straggler_wanted(table->machine, named->algorithm[a]));
    }
    return EXIT_DONE;
}

static int fill(const struct command *command, const struct algorithms *named, struct table *table)
{
    struct strag_error err;
    const size_t cells = (size_t)table->sizes * ALGORITHMS_MAX;
    table->seconds = calloc(2 * cells, sizeof *table->seconds);
    if (!table->seconds)
        return complain(command, STRAG_ERR_MEMORY, "out of memory for %d sizes", table->sizes);
    table->rated = table->seconds + cells;
    int status = strag_platform_create(&table->machine->problem, &table->machine->sourced.model,
                                       &table->platform, &err);
    if (status != STRAG_OK)
        return complain(command, status, "%s", err.text);
    return named->all ? add_all_columns(command, named, table)
                      : add_named_columns(command, named, table);
}

/* A plan is priced only if it is proved to be an allreduce. */
static int prove(const struct command *command, const struct file_plan *plan)
{
    struct strag_error err;
    const int status = plan->given ? strag_given_prove(plan->given, &strag_given_asked,
                                                       terminal_progress(), NULL, &err)
                                   : STRAG_OK;
    return status == STRAG_OK
               ? EXIT_DONE
               : complain(command, status, "%s: %s", option_name(OPTION_PLAN), err.text);
}

/* Another column may be the algorithm that the plan is named after. */
static void name_plan(const struct file_plan *plan)
{
    struct strag_error err;
    if (plan->given && strag_algorithm_find(plan->given->head.name, &err))
        strag_append(plan->given->head.name, sizeof plan->given->head.name, " (plan)");
}

static int run_on(const struct command *command, const struct file_plan *plan,
                  const struct algorithms *named)
{
    const struct arguments *arguments = &plan->arguments;
    struct machine machine;
    struct table table = {.machine = &machine};
    int format;
    if (!read_word(command, arguments, OPTION_MODE, modes, &table.mode) ||
        !read_word(command, arguments, OPTION_FORMAT, formats, &format))
        return EXIT_USAGE;
    table.quick = arguments->value[OPTION_QUICK] != NULL;
    if (table.quick && table.mode == CLOCKS)
        return complain(
            command, STRAG_ERR_ARGUMENT,
            "--quick works with --mode rounds only; --mode clocks looks at every message");
    if (!read_sizes(command, arguments, &table.bytes, &table.sizes))
        return EXIT_USAGE;
    int result = read_machine(command, arguments, &machine);
    if (result == EXIT_DONE && format == SVG && no_picture(&table))
        result = complain(command, STRAG_ERR_ARGUMENT, "%s", no_picture(&table));
    if (result == EXIT_DONE)
        result = prove(command, plan);
    name_plan(plan);
    if (result == EXIT_DONE)
        result = fill(command, named, &table);
    clear_terminal();
    if (result == EXIT_DONE && format == SVG)
        result = draw_json(command, write_drawn, &table);
    else if (result == EXIT_DONE)
        writers[format](&table);
    strag_platform_free(table.platform);
    free(table.seconds);
    free(table.bytes);
    close_machine(&machine);
    return result;
}

static int run(const struct command *command, const struct arguments *arguments)
{
    struct file_plan plan;
    struct algorithms named;
    if (!open_file_plan(command, arguments, &plan))
        return EXIT_USAGE;
    const int result = read_algorithms(command, &plan, "all", &named)
                           ? run_on(command, &plan, &named)
                           : EXIT_USAGE;
    close_file_plan(&plan);
    return result;
}

const struct command cost_command = {
    .name = "cost",
    .usage = " [ALGORITHM[,ALGORITHM...]|all] -n RANKS" TOPOLOGY_USAGE STATE_USAGE MODEL_USAGE
             " --bytes LIST [--blocks M] [--plan FILE] [--mode rounds|clocks] [--quick]"
             " [--format text|csv|json|svg]",
    .summary = "Estimate the time of an allreduce by the load on every link.",
    .details =
        "A round lasts as long as its longest message, whose bytes share each link of its route\n"
        "with those of the others. Without ALGORITHM and --plan: all of them.",
    .takes_algorithm = true,
    .options =
        {
            {OPTION_RANKS, "RANKS", "how many ranks, from 1 (default: as the topology says)"},
            {OPTION_BYTES, "LIST", "sizes of the vector: 32, 2K, 512M; powers of two: 32..1G"},
            {OPTION_BLOCKS, "M",
             "cut the vector into M blocks (default: what is best for each size)"},
            {OPTION_PLAN, "FILE", "a plan from a file, instead of ALGORITHM or next to it"},
            {OPTION_MODE, "rounds|clocks",
             "all ranks wait for a round, or every message is simulated"},
            {OPTION_QUICK, "", "sample messages if there are very many: an estimate"},
            {OPTION_FORMAT, "text|csv|json|svg", "how to show it (default: text)"},
        },
    .groups = {&topology_group, &state_group, &model_group},
    .run = run,
};
