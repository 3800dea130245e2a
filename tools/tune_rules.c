/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing the measured choice as a rule, alone or into an existing file, whose other lines stay as
 * they are.
 */
#include "tune_rules.h"

#include "model/rules.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A contender must be faster by this factor to replace the one for the next smaller size. */
static const double better = 0.97;

/* The choice for the smallest measured size also holds below it, if it is at most this small. */
enum { SMALL = 64 };

/* @param[out] chosen  [size]: a contender */
static void choose(const struct tune_results *results, int *chosen)
{
    int now = 0;
    for (int s = 0; s < results->sizes; s++) {
        const double *seconds = results->seconds + (size_t)s * (size_t)results->contenders;
        int best = 0;
        for (int c = 1; c < results->contenders - results->shown; c++)
            if (seconds[c] < seconds[best])
                best = c;
        if (seconds[best] < better * seconds[now])
            now = best;
        chosen[s] = now;
    }
}

/* ---- One rule ---- */

/* The lines of a rule, each behind `column` blanks. */
struct writer {
    FILE *stream;
    int column;
};

static const char by_whom[] = "  # measured by strag-tune";

enum { HEAD_MAX = 512 };

/* The first lines of a rule for this job that strag-tune has written. */
static void write_head(const struct tune_job *job, int column, char head[HEAD_MAX])
{
    const bool even = job->ranks_per_host > 0;
    snprintf(head, HEAD_MAX, "%*s- hosts: %d\n%*s  %s: %d\n%*s%s", column, "", job->hosts, column,
             "", even ? "ranks-per-host" : "ranks", even ? job->ranks_per_host : job->ranks, column,
             "", by_whom);
}

static void write_medians(const struct writer *writer, const struct tune_results *results)
{
    char date[32] = "";
    time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local))
        strftime(date, sizeof date, " on %Y-%m-%d", &local);
    fprintf(writer->stream, "%s; medians in microseconds:\n", date);
    fprintf(writer->stream, "%*s  # %12s", writer->column, "", "bytes");
    for (int c = 0; c < results->contenders; c++)
        fprintf(writer->stream, " %21s", results->names[c]);
    for (int s = 0; s < results->sizes; s++) {
        fprintf(writer->stream, "\n%*s  # %12zu", writer->column, "", results->bytes[s]);
        for (int c = 0; c < results->contenders; c++)
            fprintf(writer->stream, " %21.2f", 1e6 * results->seconds[s * results->contenders + c]);
    }
    fprintf(writer->stream, "\n");
}

static void write_entry(const struct writer *writer, size_t from, const char *algorithm)
{
    fprintf(writer->stream, "%*s    - {from: %zu, algorithm: %s}\n", writer->column, "", from,
            algorithm);
}

static void write_rule(const struct writer *writer, const struct tune_job *job,
                       const struct tune_results *results, const int *chosen)
{
    char head[HEAD_MAX];
    write_head(job, writer->column, head);
    fputs(head, writer->stream);
    write_medians(writer, results);
    fprintf(writer->stream, "%*s  sizes:\n", writer->column, "");
    bool small = results->bytes[0] <= SMALL;
    if (!small)
        write_entry(writer, 0, "auto");
    for (int s = 0; s < results->sizes; s++)
        if (s == 0 || chosen[s] != chosen[s - 1])
            write_entry(writer, s == 0 && small ? 0 : results->bytes[s], results->names[chosen[s]]);
}

/* ---- An existing file ---- */

/* The parts of the result: the text's [0, insert), the new rule, [insert, cut), [resume, end). */
struct cuts {
    size_t insert, cut, resume;
    int column; /* of the dashes */
};

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

static bool begins_with(const char *line, const char *head)
{
    return strncmp(line, head, strlen(head)) == 0;
}

/* Does a rule hold for some networks only? Such a rule is the user's. */
static bool names_network(const char *line)
{
    return begins_with(line + strspn(line, " "), "network:");
}

/* Is this line no part of a rule: empty, or a comment left of the rules' text? */
static bool is_between(const char *line, int column)
{
    const size_t blanks = strspn(line, " ");
    return line[blanks] == '\n' || line[blanks] == '\0' ||
           (blanks <= (size_t)column && line[blanks] == '#');
}

/* @return false if no rule begins with a dash */
static bool find_cuts(const char *text, const struct tune_job *job, struct cuts *cuts)
{
    const char *line = text, *end;
    char head[HEAD_MAX];
    while (*line && !begins_with(line + strspn(line, " "), "- "))
        line = next_line(line);
    const int column = cuts->column = (int)strspn(line, " ");
    cuts->insert = cuts->cut = cuts->resume = (size_t)(line - text);
    if (!*line)
        return false;
    write_head(job, column, head);
    while (*line && !begins_with(line, head))
        line = next_line(line);
    if (!*line)
        return true;
    cuts->cut = (size_t)(line - text);
    end = line = next_line(line);
    bool every_network = true;
    for (; *line && !(strspn(line, " ") == (size_t)column && line[column] == '-');
         line = next_line(line)) {
        end = is_between(line, column) ? end : next_line(line);
        every_network = every_network && !names_network(line);
    }
    cuts->cut = every_network ? cuts->cut : cuts->insert;
    cuts->resume = every_network ? (size_t)(end - text) : cuts->insert;
    return true;
}

/* @return as tune_write */
static int read_cuts(const char *text, const char *name, const struct tune_job *job,
                     struct cuts *cuts, struct strag_error *err)
{
    struct strag_rules *rules;
    int status = strag_rules_parse(text, strlen(text), name, &rules, err);
    if (status != STRAG_OK)
        return status;
    strag_rules_free(rules); /* it was parsed only to check the file */
    return find_cuts(text, job, cuts)
               ? STRAG_OK
               : strag_fail(err, STRAG_ERR_ARGUMENT,
                            "%s:1: only rules that begin with '-' on a line of their own can be "
                            "merged with, not [...]",
                            name);
}

/* ---- The whole file ---- */

static const char new_file[] =
    "# Which algorithm runs for which size: mpirun --mca coll_strag_rules FILE\n"
    "strag-rules: 1\nrules:\n";

/* The result must be readable: the rule that was replaced may have had an anchor. */
static int check_result(const char *text, const char *name, struct strag_error *err)
{
    struct strag_rules *rules;
    struct strag_error why;
    if (strag_rules_parse(text, strlen(text), "the result", &rules, &why) != STRAG_OK)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%s: cannot be merged with: %.160s", name,
                          why.text);
    strag_rules_free(rules);
    return STRAG_OK;
}

int tune_write(const struct tune_job *job, const struct tune_results *results, const char *old,
               const char *name, char **text, struct strag_error *err)
{
    const size_t end = strlen(new_file);
    struct cuts cuts = {end, end, end, 2};
    char *made = NULL;
    size_t size = 0;
    int status = old ? read_cuts(old, name, job, &cuts, err) : STRAG_OK;
    int *chosen = malloc((size_t)results->sizes * sizeof *chosen);
    FILE *stream = chosen && status == STRAG_OK ? open_memstream(&made, &size) : NULL;
    if (stream) {
        const struct writer writer = {stream, cuts.column};
        const char *from = old ? old : new_file;
        choose(results, chosen);
        fwrite(from, 1, cuts.insert, stream);
        write_rule(&writer, job, results, chosen);
        fwrite(from + cuts.insert, 1, cuts.cut - cuts.insert, stream);
        fputs(from + cuts.resume, stream);
    }
    free(chosen);
    if (status != STRAG_OK)
        return status;
    if (!stream || fclose(stream) != 0) {
        free(made);
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the rules");
    }
    status = check_result(made, name, err);
    if (status == STRAG_OK)
        *text = made;
    else
        free(made);
    return status;
}
