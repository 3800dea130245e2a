/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strag cost: what algorithms take by the alpha-beta model, for a list of sizes.
 */
#include "commands.h"
#include "cost.h"
#include "parse.h"

#include <stdlib.h>
#include <string.h>

/* What is printed: a column of estimates per algorithm, a row per size. */
struct table {
    int n;
    double alpha_us, bandwidth_gbit;
    size_t *bytes;
    int sizes;
    const struct strag_algorithm **algorithms;
    double **seconds; /* [algorithm][size] */
    int columns;
};

/* A size as people write it: 32, 2K, 512M. */
static void size_text(size_t bytes, char text[32])
{
    static const char *const suffixes[] = {"", "K", "M", "G", "T"};
    int s = 0;
    for (; s < 4 && bytes && bytes % 1024 == 0; s++)
        bytes /= 1024;
    snprintf(text, 32, "%zu%s", bytes, suffixes[s]);
}

/* Microseconds with four digits that count, never as 1e+05; the best one with a star. */
static void time_text(double seconds, bool best, char text[48])
{
    double us = seconds * 1e6;
    int decimals = us >= 1000 || us == 0 ? 0 : us >= 100 ? 1 : us >= 10 ? 2 : us >= 1 ? 3 : 4;
    snprintf(text, 48, "%s%.*f", best ? "*" : "", decimals, us);
}

static int best_column(const struct table *table, int size)
{
    int best = 0;
    for (int c = 1; c < table->columns; c++) {
        if (table->seconds[c][size] < table->seconds[best][size])
            best = c;
    }
    return best;
}

static void write_text(const struct table *table)
{
    char text[48];
    printf("n = %d, alpha = %g us, bandwidth = %g Gbit/s: microseconds%s\n", table->n,
           table->alpha_us, table->bandwidth_gbit,
           table->columns > 1 ? ", * is the least of a row" : "");
    printf("%10s", "bytes");
    for (int c = 0; c < table->columns; c++)
        printf("  %19s", table->algorithms[c]->name);
    putchar('\n');
    for (int s = 0; s < table->sizes; s++) {
        size_text(table->bytes[s], text);
        printf("%10s", text);
        for (int c = 0; c < table->columns; c++) {
            time_text(table->seconds[c][s], table->columns > 1 && c == best_column(table, s), text);
            printf("  %19s", text);
        }
        putchar('\n');
    }
}

static void write_csv(const struct table *table)
{
    puts("algorithm,n,bytes,seconds");
    for (int c = 0; c < table->columns; c++) {
        for (int s = 0; s < table->sizes; s++)
            printf("%s,%d,%zu,%.9g\n", table->algorithms[c]->name, table->n, table->bytes[s],
                   table->seconds[c][s]);
    }
}

static void write_json(const struct table *table)
{
    printf("{\"n\":%d,\"alpha_us\":%.17g,\"bandwidth_gbit\":%.17g,\"costs\":[", table->n,
           table->alpha_us, table->bandwidth_gbit);
    for (int c = 0; c < table->columns; c++) {
        for (int s = 0; s < table->sizes; s++)
            printf("%s\n{\"algorithm\":\"%s\",\"bytes\":%zu,\"seconds\":%.9g}", c + s ? "," : "",
                   table->algorithms[c]->name, table->bytes[s], table->seconds[c][s]);
    }
    puts("]}");
}

static const char *const formats[] = {"text", "csv", "json", NULL};
static void (*const writers[])(const struct table *table) = {write_text, write_csv, write_json};

static bool wants_all(const struct arguments *arguments)
{
    return !arguments->algorithm || strcmp(arguments->algorithm, "all") == 0;
}

static int count_algorithms(void)
{
    int count = 0;
    while (strag_algorithms[count])
        count++;
    return count;
}

static bool allocate(struct table *table)
{
    int room = count_algorithms();
    table->algorithms = calloc((size_t)room, sizeof *table->algorithms);
    table->seconds = calloc((size_t)room, sizeof *table->seconds);
    bool all = table->algorithms && table->seconds;
    for (int a = 0; all && a < room; a++) {
        table->seconds[a] = calloc((size_t)table->sizes, sizeof **table->seconds);
        all = table->seconds[a] != NULL;
    }
    return all;
}

static void release(struct table *table)
{
    for (int a = 0; table->seconds && a < count_algorithms(); a++)
        free(table->seconds[a]);
    free(table->seconds);
    free(table->algorithms);
    free(table->bytes);
}

static int add_column(struct table *table, const struct strag_algorithm *algorithm,
                      struct strag_error *err)
{
    const struct strag_problem problem = {.n = table->n};
    const struct strag_model model = {
        .alpha = table->alpha_us * 1e-6,
        .bandwidth = table->bandwidth_gbit * 1e9 / 8,
    };
    int status = strag_cost(algorithm, &problem, &model, table->bytes, table->sizes,
                            table->seconds[table->columns], err);
    if (status == STRAG_OK)
        table->algorithms[table->columns++] = algorithm;
    return status;
}

/* `all` leaves out what cannot be planned for this n, and says so. */
static int add_all_columns(const struct command *command, struct table *table)
{
    struct strag_error err;
    for (int a = 0; strag_algorithms[a]; a++) {
        int status = add_column(table, strag_algorithms[a], &err);
        if (status == STRAG_ERR_UNSUPPORTED)
            complain(command, status, "%s is left out: %s", strag_algorithms[a]->name, err.text);
        else if (status != STRAG_OK)
            return complain(command, status, "%s", err.text);
    }
    return table->columns ? EXIT_DONE : EXIT_USAGE;
}

static int fill(const struct command *command, const struct strag_algorithm *only,
                struct table *table)
{
    struct strag_error err;
    if (!allocate(table))
        return complain(command, STRAG_ERR_MEMORY, "out of memory for %d sizes", table->sizes);
    if (!only)
        return add_all_columns(command, table);
    int status = add_column(table, only, &err);
    return status == STRAG_OK ? EXIT_DONE : complain(command, status, "%s", err.text);
}

/* A real option; where it was not given, *value stays as it is. */
static bool read_real(const struct command *command, const struct arguments *arguments,
                      enum option_id id, double low, double high, double *value)
{
    struct strag_error err;
    const char *text = arguments->value[id];
    int status = text ? strag_parse_real(text, low, high, value, &err) : STRAG_OK;
    return status == STRAG_OK || refuse_value(command, id, status, &err);
}

static bool read_sizes(const struct command *command, const struct arguments *arguments,
                       struct table *table)
{
    struct strag_error err;
    const char *text = need_option(command, arguments, OPTION_BYTES);
    if (!text)
        return false;
    int status = strag_parse_bytes_list(text, &table->bytes, &table->sizes, &err);
    return status == STRAG_OK || refuse_value(command, OPTION_BYTES, status, &err);
}

static int run(const struct command *command, const struct arguments *arguments)
{
    struct table table = {
        .alpha_us = strag_model_default.alpha * 1e6,
        .bandwidth_gbit = strag_model_default.bandwidth * 8 / 1e9,
    };
    const struct strag_algorithm *only = NULL;
    int format;
    if (!wants_all(arguments)) {
        only = need_algorithm(command, arguments, ", all");
        if (!only)
            return EXIT_USAGE;
    }
    if (!read_ranks(command, arguments, &table.n) ||
        !read_real(command, arguments, OPTION_ALPHA, 0, 1e9, &table.alpha_us) ||
        !read_real(command, arguments, OPTION_BANDWIDTH, 1e-6, 1e9, &table.bandwidth_gbit) ||
        !read_format(command, arguments, formats, &format) ||
        !read_sizes(command, arguments, &table))
        return EXIT_USAGE;
    int result = fill(command, only, &table);
    if (result == EXIT_DONE)
        writers[format](&table);
    release(&table);
    return result;
}

const struct command cost_command = {
    .name = "cost",
    .usage = " [ALGORITHM|all] -n RANKS --bytes LIST [--alpha US] [--bandwidth GBIT] "
             "[--format text|csv|json]",
    .summary = "Estimate the time of an allreduce by the alpha-beta model.",
    .details =
        "Every rank has one full-duplex link; a round lasts as long as its busiest rank, whose\n"
        "messages take alpha + bytes / bandwidth each. Without ALGORITHM: all of them.",
    .takes_algorithm = true,
    .options =
        {
            {OPTION_RANKS, "RANKS", "how many ranks, from 1"},
            {OPTION_BYTES, "LIST", "sizes of the vector: 32, 2K, 512M; powers of two: 32..1G"},
            {OPTION_ALPHA, "US", "microseconds for a message, however short (default: 1)"},
            {OPTION_BANDWIDTH, "GBIT", "Gbit/s of one link, each direction (default: 100)"},
            {OPTION_FORMAT, "text|csv|json", "how to show it (default: text)"},
        },
    .run = run,
};
