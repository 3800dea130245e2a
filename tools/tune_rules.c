/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing what was measured as a rule, alone or into an existing file, whose other lines stay as
 * they are.
 */
#include "tune_rules.h"

#include "base/yaml.h"
#include "model/rules.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A contender must be faster by this to take over from the one before. */
static const double better = 0.97;

/* Below the smallest size that was measured the smallest one's choice holds, if it is this small.
 */
enum { SMALL = 64 };

/* @param[out] chosen  [size]: contender */
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

static void write_medians(const struct writer *writer, const struct tune_results *results)
{
    char date[32] = "";
    time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local))
        strftime(date, sizeof date, " on %Y-%m-%d", &local);
    fprintf(writer->stream, "%*s  # measured by strag-tune%s; medians in microseconds:\n",
            writer->column, "", date);
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
    fprintf(writer->stream, "%*s- hosts: %d\n", writer->column, "", job->hosts);
    if (job->ranks_per_host > 0)
        fprintf(writer->stream, "%*s  ranks-per-host: %d\n", writer->column, "",
                job->ranks_per_host);
    else
        fprintf(writer->stream, "%*s  ranks: %d\n", writer->column, "", job->ranks);
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

/* The lines of its text that are kept: [0, insert), the new rule, [insert, cut), [resume, end). */
struct cuts {
    size_t insert, cut, resume;
    int column; /* of the dashes */
};

static const yaml_node_t *value_of(yaml_document_t *document, const yaml_node_t *mapping,
                                   const char *key)
{
    for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top; pair++) {
        const yaml_node_t *name = yaml_document_get_node(document, pair->key);
        if (strcmp((const char *)name->data.scalar.value, key) == 0)
            return yaml_document_get_node(document, pair->value);
    }
    return NULL;
}

/* @param number  0: the key must be absent */
static bool has_number(yaml_document_t *document, const yaml_node_t *rule, const char *key,
                       int number)
{
    char text[16];
    const yaml_node_t *value = value_of(document, rule, key);
    snprintf(text, sizeof text, "%d", number);
    if (!value || number == 0)
        return !value && number == 0;
    return strcmp((const char *)value->data.scalar.value, text) == 0;
}

static bool is_same_job(yaml_document_t *document, const yaml_node_t *rule,
                        const struct tune_job *job)
{
    return has_number(document, rule, "hosts", job->hosts) &&
           has_number(document, rule, "ranks-per-host", job->ranks_per_host) &&
           has_number(document, rule, "ranks", job->ranks_per_host > 0 ? 0 : job->ranks) &&
           !value_of(document, rule, "network");
}

/* Where a line begins. */
static size_t line_offset(const char *text, size_t line)
{
    const char *at = text;
    for (; line > 0 && *at; line--) {
        const char *end = strchr(at, '\n');
        at = end ? end + 1 : at + strlen(at);
    }
    return (size_t)(at - text);
}

/* Does nothing of an item stand in this line: is it empty, or a comment left of the items' text? */
static bool is_between(const char *text, size_t line, int column)
{
    const char *at = text + line_offset(text, line);
    size_t blanks = strspn(at, " ");
    return at[blanks] == '\n' || at[blanks] == '\0' ||
           (blanks <= (size_t)column && at[blanks] == '#');
}

/* The line of the dash of an item. */
static size_t item_line(const char *text, const yaml_node_t *item, int column)
{
    size_t line = item->start_mark.line;
    while (line > 0) {
        const char *at = text + line_offset(text, line);
        if (strspn(at, " ") == (size_t)column && at[column] == '-')
            break;
        line--;
    }
    return line;
}

/* Where to look for the rule for the same job. */
struct search {
    const char *text;
    const struct tune_job *job;
    struct cuts *cuts;
};

/* Find its lines. */
static int find_cuts(struct strag_yaml *yaml, const yaml_node_t *root, void *target)
{
    const struct search *search = target;
    const char *text = search->text;
    struct cuts *cuts = search->cuts;
    yaml_document_t *document = &yaml->document;
    const yaml_node_t *list = value_of(document, root, "rules");
    const yaml_node_item_t *item = list->data.sequence.items.start;
    if (list->data.sequence.style != YAML_BLOCK_SEQUENCE_STYLE)
        return strag_yaml_fail(yaml, list,
                               "only rules that begin with '-' on a line of their own can be "
                               "merged with, not [...]");
    cuts->column = (int)list->start_mark.column;
    cuts->insert = cuts->cut = cuts->resume = list->start_mark.line;
    for (; item < list->data.sequence.items.top; item++) {
        const yaml_node_t *rule = yaml_document_get_node(document, *item);
        if (!is_same_job(document, rule, search->job))
            continue;
        cuts->cut = item_line(text, rule, cuts->column);
        cuts->resume = list->end_mark.line;
        if (item + 1 < list->data.sequence.items.top)
            cuts->resume = item_line(text, yaml_document_get_node(document, item[1]), cuts->column);
        else if (list->end_mark.column > 0)
            cuts->resume++; /* the file ends without a newline */
        while (cuts->resume > cuts->cut + 1 && is_between(text, cuts->resume - 1, cuts->column))
            cuts->resume--;
        break;
    }
    return STRAG_OK;
}

/* @return as tune_write */
static int read_cuts(const char *text, const char *name, const struct tune_job *job,
                     struct cuts *cuts, struct strag_error *err)
{
    static const struct strag_yaml_format format = {find_cuts, "the file is empty", true};
    const struct strag_source source = {name, err};
    struct search search = {text, job, cuts};
    struct strag_rules *rules;
    int status = strag_rules_parse(text, strlen(text), name, &rules, err);
    if (status != STRAG_OK)
        return status;
    strag_rules_free(rules); /* it is a valid file */
    return strag_yaml_read(&source, text, strlen(text), &format, &search);
}

/* ---- The whole file ---- */

static const char new_file[] =
    "# Which algorithm runs for which size: mpirun --mca coll_strag_rules FILE\n"
    "strag-rules: 1\nrules:\n";

static void write_file(FILE *stream, const char *old, const struct cuts *cuts,
                       const struct tune_job *job, const struct tune_results *results,
                       const int *chosen)
{
    const struct writer writer = {stream, cuts->column};
    size_t insert = line_offset(old, cuts->insert), cut = line_offset(old, cuts->cut);
    size_t resume = line_offset(old, cuts->resume);
    fwrite(old, 1, insert, stream);
    write_rule(&writer, job, results, chosen);
    fwrite(old + insert, 1, cut - insert, stream);
    fputs(old + resume, stream);
}

/* What was written must be read back: an anchor may have been in the rule that was replaced. */
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
    struct cuts cuts = {3, 3, 3, 2}; /* behind the lines of a new file */
    char *made = NULL;
    size_t size = 0;
    int status = old ? read_cuts(old, name, job, &cuts, err) : STRAG_OK;
    int *chosen = malloc((size_t)results->sizes * sizeof *chosen);
    FILE *stream = chosen && status == STRAG_OK ? open_memstream(&made, &size) : NULL;
    if (stream) {
        choose(results, chosen);
        write_file(stream, old ? old : new_file, &cuts, job, results, chosen);
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
