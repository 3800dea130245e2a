/* SPDX-License-Identifier: BSD-3-Clause */
#include "explanation.h"

#include "write.h"

#include "base/units.h"

#include <stdio.h>

static const char *chosen_name(const struct strag_algorithm *algorithm)
{
    return algorithm ? algorithm->name : "the previous component";
}

/* Write the count of blocks unless it is the algorithm's own choice, and on a grid the ports. */
static void write_blocks(const struct explanation *explanation, const struct estimate *estimate)
{
    const struct strag_candidate *candidate = estimate->candidate;
    const struct strag_topology *topology = explanation->machine->problem.topology;
    if (candidate->blocks)
        printf("%s, ", strag_units_count(candidate->blocks, "block").text);
    if (topology && topology->network != STRAG_NETWORK_TREE && candidate->profile->ports)
        printf("%s, ", strag_units_count(candidate->profile->ports, "port").text);
}

/* The same in the form of the job's verbose lines. */
static void write_chosen_blocks(int blocks)
{
    if (blocks)
        printf(" in %s", strag_units_count(blocks, "block").text);
}

/* How far the time is from the lower bound of all algorithms. If a late rank decides, both count
 * from its arrival: a long delay would make them look the same. */
static void write_text_bound(const struct strag_lower_bound *bound, size_t bytes, double seconds)
{
    char text[48];
    double delay;
    const double least = strag_lower_bound_seconds(bound, (double)bytes, &delay);
    const double one_flow = bound->latency + bound->one_flow * (double)bytes;
    if (!(least > 0))
        return;
    printf("    %-21s %s us%s: %.2fx", "lower bound", time_text(least - delay, text),
           delay > 0 ? " after the last arrival" : "", (seconds - delay) / (least - delay));
    if (one_flow > least)
        printf("; if each link carries one flow at a time %s us: %.2fx", time_text(one_flow, text),
               seconds / one_flow);
    putchar('\n');
}

/* The vectors sent between groups of hosts, the fastest algorithm first. */
static void write_text_levels(const struct explanation *explanation)
{
    const struct levels *levels = &explanation->levels;
    double sent[LEVELS_MAX];
    if (levels->count == 0)
        return;
    printf("%-25s", "  vectors sent between");
    for (int l = 0; l < levels->count; l++)
        printf("%8d %-6s", levels->groups[l], l + 1 < levels->count ? "groups" : "hosts");
    printf("\n    %-21s", "at least");
    for (int l = 0; l < levels->count; l++)
        printf("%9.4g      ", explain_least_sent(levels->groups[l]));
    putchar('\n');
    for (int e = 0; e < explanation->count; e++) {
        const struct estimate *estimate = &explanation->estimates[e];
        if (!explain_sent(explanation, estimate, sent))
            continue;
        printf("    %-21s", estimate->candidate->algorithm->name);
        for (int l = 0; l < levels->count; l++)
            printf("%9.4g %.2fx", sent[l], sent[l] / explain_least_sent(levels->groups[l]));
        putchar('\n');
    }
}

static void write_text_size(struct explanation *explanation, size_t bytes)
{
    char text[48], why[256];
    const struct strag_algorithm *chosen = strag_table_find(&explanation->table, bytes);
    const struct estimate *winner = explain_size(explanation, bytes);
    printf("\n%s: %s", size_text(bytes, text), chosen_name(chosen));
    if (explanation->machine->saved)
        write_chosen_blocks(strag_table_entry(&explanation->table, bytes)->blocks);
    if (!chosen)
        printf("; of these %s", winner->candidate->algorithm->name);
    printf(", %s us\n", time_text(winner->seconds, text));
    printf("    %-21s ", winner->candidate->algorithm->name);
    write_blocks(explanation, winner);
    printf("%s, latency %s us", strag_units_count(winner->rounds, "round").text,
           time_text(winner->latency, text));
    printf(", bytes %s us", time_text(winner->transfer, text));
    if (winner->idle > 0)
        printf(", idle %s us", time_text(winner->idle, text));
    putchar('\n');
    write_text_bound(&explanation->bound, bytes, winner->seconds);
    for (int e = 0; e < explanation->count; e++) {
        const struct estimate *loser = &explanation->estimates[e];
        if (loser == winner)
            continue;
        printf("    %-21s ", loser->candidate->algorithm->name);
        write_blocks(explanation, loser);
        printf("%s us, ", time_text(loser->seconds, text));
        if (winner->seconds > 0)
            printf("%.2fx: ", loser->seconds / winner->seconds);
        puts(explain_loser(explanation, loser, winner, why, sizeof why));
    }
    write_text_levels(explanation);
}

static void write_text_refused(const struct strag_selection *selection)
{
    const char *title = "\nnot possible here:\n";
    for (int c = 0; c < selection->candidates; c++) {
        if (!explain_is_refused(selection, c))
            continue;
        printf("%s    %-21s %s\n", title, selection->candidate[c].algorithm->name,
               selection->candidate[c].refusal.text);
        title = "";
    }
}

static void write_text_left_out(const struct explanation *explanation)
{
    const char *separator = "\nleft out, because they are never faster or take too long to plan: ";
    for (int a = 0; strag_algorithms[a = explain_left_out(explanation, a)]; a++) {
        printf("%s%s", separator, strag_algorithms[a]->name);
        separator = ", ";
    }
    if (separator[0] == ',')
        putchar('\n');
}

void explain_write_table(const struct strag_table *table)
{
    char text[32];
    for (int e = 0; e < table->entries; e++) {
        const struct strag_entry *entry = &table->entry[e];
        printf("    from %-10s %s", size_text(entry->from, text), chosen_name(entry->algorithm));
        if (entry->blocks)
            printf(", %s", strag_units_count(entry->blocks, "block").text);
        putchar('\n');
    }
}

static void write_text_table(const struct explanation *explanation)
{
    char text[32];
    switch (explanation->ground) {
    case STRAG_BY_RULE:
        printf("\nby the rule in line %d of %s", explanation->line, explanation->rules);
        break;
    case STRAG_BY_OVERSUBSCRIBED:
        printf("\n%s share %s: by what messages cost there, which the model does not know",
               strag_units_count(explanation->oversubscribed.n, "rank").text,
               strag_units_count(explanation->oversubscribed.processors, "processor").text);
        break;
    case STRAG_BY_PIN:
        fputs("\npinned by coll_strag_algorithm", stdout);
        break;
    case STRAG_BY_NOTHING:
        fputs("\nwhat is wanted cannot be planned", stdout);
        break;
    case STRAG_BY_MODEL:
        fputs("\nby the model", stdout);
        if (explanation->rules)
            printf("; no rule of %s holds", explanation->rules);
        break;
    }
    if (explanation->minimum)
        printf(", with --minimum %s", size_text(explanation->minimum, text));
    fputs(":\n", stdout);
    explain_write_table(&explanation->table);
}

/* The plans that the rule names. They replace the table's algorithms if a job can use them. */
static void write_text_plans(const struct explanation *explanation)
{
    for (int p = 0; p < explanation->nplans; p++) {
        char text[32];
        struct strag_error err;
        const struct strag_rules_plan *plan = &explanation->plans[p];
        const struct strag_entry *first = strag_table_entry(&explanation->table, plan->from);
        const bool one = first == strag_table_entry(&explanation->table, plan->to);
        const char *other = one ? chosen_name(first->algorithm) : "the table's choice";
        printf("    from %-10s plan ", size_text(plan->from, text));
        if (explain_plan(explanation, plan, &err) == STRAG_OK)
            printf("%s, in the place of %s; its time: strag cost --plan %s\n", plan->file, other,
                   plan->file);
        else
            printf("%s; %s runs in its place\n", err.text, other);
    }
}

void explain_write_text(struct explanation *explanation)
{
    write_machine(explanation->machine);
    write_model(explanation->machine);
    putchar('\n');
    if (explanation->machine->problem.n > STRAG_EXPLAINED_RANKS)
        puts(explanation->quick ? "a quick table, as the component makes it; --exhaustive compares "
                                  "all candidates"
                                : "an exhaustive table: all candidates are compared");
    for (int s = 0; s < explanation->sizes; s++)
        write_text_size(explanation, explanation->bytes[s]);
    write_text_refused(explanation->selection);
    if (explanation->quick)
        write_text_left_out(explanation);
    write_text_table(explanation);
    write_text_plans(explanation);
}
