/* SPDX-License-Identifier: BSD-3-Clause */
#include "explanation.h"

#include "write.h"

#include <math.h>
#include <stdio.h>

/* An algorithm's name, or null for the previous component. */
static void write_json_chosen(const struct strag_algorithm *algorithm)
{
    if (algorithm)
        write_json_string(algorithm->name);
    else
        fputs("null", stdout);
}

/* The vectors sent between the groups of hosts of every level. */
static void write_json_sent(const struct explanation *explanation, const struct estimate *estimate)
{
    double sent[LEVELS_MAX];
    if (!explain_sent(explanation, estimate, sent))
        return;
    for (int l = 0; l < explanation->levels.count; l++)
        printf("%s{\"groups\":%d,\"vectors\":%.9g,\"least\":%.9g}", l ? "," : ",\"sent\":[",
               explanation->levels.groups[l], sent[l],
               explain_least_sent(explanation->levels.groups[l]));
    putchar(']');
}

static void write_json_estimate(const struct explanation *explanation,
                                const struct estimate *estimate, const struct estimate *winner,
                                double bound)
{
    char why[256];
    printf("{\"algorithm\":\"%s\",\"seconds\":%.9g,\"rounds\":%d,\"latency_seconds\":%.9g,"
           "\"bytes_seconds\":%.9g,\"idle_seconds\":%.9g,\"busiest_link\":%.9g",
           estimate->candidate->algorithm->name, estimate->seconds, estimate->rounds,
           estimate->latency, estimate->transfer, estimate->idle,
           estimate->candidate->profile->busiest);
    if (estimate->candidate->blocks)
        printf(",\"blocks\":%d", estimate->candidate->blocks);
    if (estimate->candidate->profile->ports)
        printf(",\"ports\":%d", estimate->candidate->profile->ports);
    if (winner->seconds > 0)
        printf(",\"ratio\":%.9g", estimate->seconds / winner->seconds);
    if (bound > 0)
        printf(",\"bound_ratio\":%.9g", estimate->seconds / bound);
    if (estimate != winner) {
        fputs(",\"reason\":", stdout);
        write_json_string(explain_loser(explanation, estimate, winner, why, sizeof why));
    }
    write_json_sent(explanation, estimate);
    putchar('}');
}

static void write_json_size(struct explanation *explanation, size_t bytes)
{
    const struct strag_algorithm *chosen = strag_table_find(&explanation->table, bytes);
    const struct estimate *winner = explain_size(explanation, bytes);
    printf("{\"bytes\":%zu,\"algorithm\":", bytes);
    write_json_chosen(chosen);
    const double bound = strag_lower_bound_seconds(&explanation->bound, (double)bytes, NULL);
    if (bound > 0)
        printf(
            ",\"lower_bound_seconds\":%.9g,\"one_flow_bound_seconds\":%.9g", bound,
            fmax(bound, explanation->bound.latency + explanation->bound.one_flow * (double)bytes));
    fputs(",\"candidates\":[", stdout);
    for (int e = 0; e < explanation->count; e++) {
        fputs(e ? ",\n" : "\n", stdout);
        write_json_estimate(explanation, &explanation->estimates[e], winner, bound);
    }
    fputs("]}", stdout);
}

static void write_json_refused(const struct strag_selection *selection)
{
    const char *comma = "";
    fputs("],\n\"refused\":[", stdout);
    for (int c = 0; c < selection->candidates; c++) {
        if (!explain_is_refused(selection, c))
            continue;
        printf("%s\n{\"algorithm\":\"%s\",\"reason\":", comma,
               selection->candidate[c].algorithm->name);
        write_json_string(selection->candidate[c].refusal.text);
        putchar('}');
        comma = ",";
    }
}

/* Which of two tables this is, if the job has enough ranks for two. */
static void write_json_extent(const struct explanation *explanation)
{
    const char *comma = "";
    if (explanation->machine->problem.n <= STRAG_EXPLAINED_RANKS)
        return;
    printf("\"exhaustive\":%s,", explanation->quick ? "false" : "true");
    if (!explanation->quick)
        return;
    fputs("\"left_out\":[", stdout);
    for (int a = 0; strag_algorithms[a = explain_left_out(explanation, a)]; a++) {
        printf("%s\"%s\"", comma, strag_algorithms[a]->name);
        comma = ",";
    }
    fputs("],", stdout);
}

static void write_json_plans(const struct explanation *explanation)
{
    fputs("],\n\"plans\":[", stdout);
    for (int p = 0; p < explanation->nplans; p++) {
        struct strag_error err;
        const struct strag_rules_plan *plan = &explanation->plans[p];
        printf("%s\n{\"from\":%zu,\"file\":", p ? "," : "", plan->from);
        write_json_string(plan->file);
        if (explain_plan(explanation, plan, &err) != STRAG_OK) {
            fputs(",\"refused\":", stdout);
            write_json_string(err.text);
        }
        putchar('}');
    }
}

void explain_write_json(struct explanation *explanation)
{
    putchar('{');
    write_json_machine(explanation->machine);
    printf(",\"minimum\":%zu,\"rules\":", explanation->minimum);
    if (explanation->rules) {
        fputs("{\"file\":", stdout);
        write_json_string(explanation->rules);
        printf(",\"line\":%d}", explanation->line);
    } else {
        fputs("null", stdout);
    }
    putchar(',');
    write_json_extent(explanation);
    fputs("\"sizes\":[", stdout);
    for (int s = 0; s < explanation->sizes; s++) {
        fputs(s ? ",\n" : "\n", stdout);
        write_json_size(explanation, explanation->bytes[s]);
    }
    write_json_refused(explanation->selection);
    fputs("],\n\"table\":[", stdout);
    for (int e = 0; e < explanation->table.entries; e++) {
        printf("%s\n{\"from\":%zu,\"algorithm\":", e ? "," : "", explanation->table.entry[e].from);
        write_json_chosen(explanation->table.entry[e].algorithm);
        if (explanation->table.entry[e].blocks)
            printf(",\"blocks\":%d", explanation->table.entry[e].blocks);
        putchar('}');
    }
    if (explanation->nplans)
        write_json_plans(explanation);
    puts("]}");
}
