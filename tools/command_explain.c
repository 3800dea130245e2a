/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strag explain: which algorithm runs at which size, and why the others lose.
 */
#include "base/parse.h"
#include "model/bounds.h"
#include "model/choice.h"
#include "terminal.h"
#include "write.h"

#include "config.h"

#include <stdlib.h>
#include <string.h>

/* One candidate at one size. Its time is what its rounds take with no bytes, what the bytes add,
 * and how long the others stand idle until the straggler is there. */
struct estimate {
    const struct strag_candidate *candidate;
    int rounds;
    double seconds;
    double latency, transfer, idle;
};

struct explanation {
    const struct machine *machine;
    const struct strag_selection *selection;
    bool quick;               /* not all candidates were compared, as the component does it */
    struct strag_table table; /* with the rules applied */
    enum strag_choice_ground ground;
    const char *rules; /* the file; NULL: none was given */
    int line;          /* of the rule that holds; 0: none does */
    size_t minimum;
    size_t *bytes;
    int sizes;
    struct estimate *estimates; /* room for all candidates; those of one size, the fastest first */
    int count;                  /* one for each algorithm: its best count of blocks */
    struct strag_lower_bound bound;
};

static struct estimate estimate(const struct strag_candidate *candidate, double bytes)
{
    const struct strag_profile *profile = candidate->profile;
    int rounds = 0;
    for (int p = 0; p < profile->nparts; p++)
        rounds += profile->parts[p].repeats;
    double early = strag_profile_end(profile, 0, profile->before, 0, bytes);
    double latency = strag_profile_end(profile, 0, profile->nparts, 0, 0);
    return (struct estimate){
        .candidate = candidate,
        .rounds = rounds,
        .seconds = strag_profile_seconds(profile, bytes),
        .latency = latency,
        .transfer = strag_profile_end(profile, 0, profile->nparts, 0, bytes) - latency,
        .idle = profile->delay > early ? profile->delay - early : 0,
    };
}

/* The faster one first; of equals the first in the table of algorithms. */
static int compare_estimates(const void *a, const void *b)
{
    const struct estimate *left = a, *right = b;
    if (left->seconds != right->seconds)
        return left->seconds < right->seconds ? -1 : 1;
    return left->candidate < right->candidate ? -1 : 1;
}

/* Of an algorithm's candidates only one is shown: that of the table, or its fastest. */
static bool is_shown(const struct strag_candidate *candidate, const struct estimate *other,
                     const struct strag_entry *chosen, size_t bytes)
{
    bool same = chosen->algorithm == candidate->algorithm;
    if (same && (chosen->blocks == candidate->blocks || chosen->blocks == other->candidate->blocks))
        return chosen->blocks == candidate->blocks;
    return strag_profile_seconds(candidate->profile, (double)bytes) < other->seconds;
}

/* @return what the others are held against: the chosen algorithm, or the fastest one where the
 * previous component is chosen */
static const struct estimate *estimate_size(struct explanation *explanation, size_t bytes)
{
    const struct strag_selection *selection = explanation->selection;
    const struct strag_entry *chosen = strag_table_entry(&explanation->table, bytes);
    struct estimate *estimates = explanation->estimates;
    int count = 0;
    for (int c = 0; c < selection->candidates; c++) {
        const struct strag_candidate *candidate = &selection->candidate[c];
        if (!candidate->profile)
            continue;
        bool again = count && estimates[count - 1].candidate->algorithm == candidate->algorithm;
        if (again && !is_shown(candidate, &estimates[count - 1], chosen, bytes))
            continue;
        count += !again;
        estimates[count - 1] = estimate(candidate, (double)bytes);
    }
    explanation->count = count;
    qsort(estimates, (size_t)count, sizeof *estimates, compare_estimates);
    for (int e = 0; e < count; e++) {
        if (estimates[e].candidate->algorithm == chosen->algorithm)
            return &estimates[e];
    }
    return estimates;
}

/* Why the loser takes longer: the largest of the three differences. */
static const char *reason(const struct estimate *loser, const struct estimate *winner, char *buffer,
                          size_t size)
{
    char mine[48], theirs[48];
    double latency = loser->latency - winner->latency;
    double transfer = loser->transfer - winner->transfer;
    double idle = loser->idle - winner->idle;
    double busiest = loser->candidate->profile->busiest;
    double least = winner->candidate->profile->busiest;
    if (loser->seconds <= winner->seconds) { /* closer than selection tells apart, or a rule won */
        bool less = loser->seconds < winner->seconds * (1 - 1e-9);
        const struct strag_algorithm *other = winner->candidate->algorithm;
        snprintf(buffer, size, "%s by the model%s", less ? "faster" : "as fast",
                 !less ? ""
                 : other->straggler_tolerant
                     ? ", but no more than it may err; the other one suffers least from stragglers"
                 : other->prefers_more_blocks
                     ? ", but no more than it may err; the other one needs ranks in step the least"
                     : "");
    } else if (idle > latency && idle > transfer) {
        snprintf(buffer, size, "waits for the straggler: %s us idle against %s us",
                 time_text(loser->idle, mine), time_text(winner->idle, theirs));
    } else if (transfer > latency && busiest > least * (1 + 1e-9)) {
        snprintf(buffer, size,
                 "more bytes on the busiest link, %.4g vectors against %.4g: %s us against %s us",
                 busiest, least, time_text(loser->transfer, mine),
                 time_text(winner->transfer, theirs));
    } else if (transfer > latency) {
        snprintf(buffer, size,
                 "its rounds load the links less evenly: the bytes take %s us against %s us",
                 time_text(loser->transfer, mine), time_text(winner->transfer, theirs));
    } else if (loser->rounds > winner->rounds) {
        snprintf(buffer, size, "more rounds, %d against %d: latency %s us against %s us",
                 loser->rounds, winner->rounds, time_text(loser->latency, mine),
                 time_text(winner->latency, theirs));
    } else {
        snprintf(buffer, size, "longer routes in its %d rounds: latency %s us against %s us",
                 loser->rounds, time_text(loser->latency, mine),
                 time_text(winner->latency, theirs));
    }
    return buffer;
}

static const char *chosen_name(const struct strag_algorithm *algorithm)
{
    return algorithm ? algorithm->name : "the previous component";
}

/* ---- Text ---- */

/* Where an algorithm was given the count. */
static void write_blocks(int blocks)
{
    if (blocks)
        printf("%d blocks, ", blocks);
}

/* As the job's verbose lines have it. */
static void write_chosen_blocks(int blocks)
{
    if (blocks)
        printf(" in %d block%s", blocks, blocks == 1 ? "" : "s");
}

/* How far the time is from what no algorithm can beat. */
static void write_text_bound(const struct strag_lower_bound *bound, size_t bytes, double seconds)
{
    char text[48];
    double shared = bound->shared * (double)bytes, one_flow = bound->one_flow * (double)bytes;
    if (!(shared > 0))
        return;
    printf("    %-21s %s us: %.2fx", "lower bound", time_text(shared, text), seconds / shared);
    if (one_flow > shared)
        printf("; with one flow at a time per link %s us: %.2fx", time_text(one_flow, text),
               seconds / one_flow);
    putchar('\n');
}

static void write_text_size(struct explanation *explanation, size_t bytes)
{
    char text[48], why[256];
    const struct strag_algorithm *chosen = strag_table_find(&explanation->table, bytes);
    const struct estimate *winner = estimate_size(explanation, bytes);
    printf("\n%s: %s", size_text(bytes, text), chosen_name(chosen));
    if (explanation->machine->saved)
        write_chosen_blocks(strag_table_entry(&explanation->table, bytes)->blocks);
    if (!chosen)
        printf("; of these %s", winner->candidate->algorithm->name);
    printf(", %s us\n", time_text(winner->seconds, text));
    printf("    %-21s ", winner->candidate->algorithm->name);
    write_blocks(winner->candidate->blocks);
    printf("%d rounds, latency %s us", winner->rounds, time_text(winner->latency, text));
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
        write_blocks(loser->candidate->blocks);
        printf("%s us, ", time_text(loser->seconds, text));
        if (winner->seconds > 0)
            printf("%.2fx: ", loser->seconds / winner->seconds);
        puts(reason(loser, winner, why, sizeof why));
    }
}

/* Said once where the algorithm is refused with each of its counts of blocks. */
static bool is_refused(const struct strag_selection *selection, int c)
{
    const struct strag_candidate *candidate = &selection->candidate[c];
    if (c > 0 && candidate[-1].algorithm == candidate->algorithm)
        return false;
    for (int i = c; i < selection->candidates; i++) {
        if (selection->candidate[i].algorithm == candidate->algorithm &&
            selection->candidate[i].profile)
            return false;
    }
    return true;
}

static void write_text_refused(const struct strag_selection *selection)
{
    const char *title = "\nnot possible here:\n";
    for (int c = 0; c < selection->candidates; c++) {
        if (!is_refused(selection, c))
            continue;
        printf("%s    %-21s %s\n", title, selection->candidate[c].algorithm->name,
               selection->candidate[c].refusal.text);
        title = "";
    }
}

/* The next one from a on that was not compared, but for those that need a straggler and have none.
 * @return its index; where there is none, that of the NULL */
static int find_left_out(const struct explanation *explanation, int a)
{
    const struct strag_selection *selection = explanation->selection;
    const struct strag_problem *problem = &explanation->machine->problem;
    for (; strag_algorithms[a]; a++) {
        const struct strag_algorithm *algorithm = strag_algorithms[a];
        int c = 0;
        if (algorithm->needs_straggler && !(problem->state && problem->state->nstragglers))
            continue;
        while (c < selection->candidates && selection->candidate[c].algorithm != algorithm)
            c++;
        if (c == selection->candidates)
            break;
    }
    return a;
}

static void write_text_left_out(const struct explanation *explanation)
{
    const char *separator = "\nleft out, as nowhere better, or too long to plan: ";
    for (int a = 0; strag_algorithms[a = find_left_out(explanation, a)]; a++) {
        printf("%s%s", separator, strag_algorithms[a]->name);
        separator = ", ";
    }
    if (separator[0] == ',')
        putchar('\n');
}

static void write_table(const struct strag_table *table)
{
    char text[32];
    for (int e = 0; e < table->entries; e++) {
        const struct strag_entry *entry = &table->entry[e];
        printf("    from %-10s %s", size_text(entry->from, text), chosen_name(entry->algorithm));
        printf(entry->blocks ? ", %d blocks\n" : "\n", entry->blocks);
    }
}

static void write_text_table(const struct explanation *explanation)
{
    const struct strag_saved *saved = explanation->machine->saved;
    char text[32];
    switch (explanation->ground) {
    case STRAG_BY_RULE:
        printf("\nby the rule in line %d of %s", explanation->line, explanation->rules);
        break;
    case STRAG_BY_CROWD:
        printf("\n%d ranks share %d processors: by what messages cost there, which the model does "
               "not know",
               saved->circumstances.crowd.n, saved->circumstances.crowd.processors);
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
    write_table(&explanation->table);
}

static void write_text(struct explanation *explanation)
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
}

/* ---- JSON ---- */

/* An algorithm's name, or null for the previous component. */
static void write_json_chosen(const struct strag_algorithm *algorithm)
{
    if (algorithm)
        write_json_string(algorithm->name);
    else
        fputs("null", stdout);
}

static void write_json_estimate(const struct estimate *estimate, const struct estimate *winner,
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
    if (winner->seconds > 0)
        printf(",\"ratio\":%.9g", estimate->seconds / winner->seconds);
    if (bound > 0)
        printf(",\"bound_ratio\":%.9g", estimate->seconds / bound);
    if (estimate != winner) {
        fputs(",\"reason\":", stdout);
        write_json_string(reason(estimate, winner, why, sizeof why));
    }
    putchar('}');
}

static void write_json_size(struct explanation *explanation, size_t bytes)
{
    const struct strag_algorithm *chosen = strag_table_find(&explanation->table, bytes);
    const struct estimate *winner = estimate_size(explanation, bytes);
    printf("{\"bytes\":%zu,\"algorithm\":", bytes);
    write_json_chosen(chosen);
    double bound = explanation->bound.shared * (double)bytes;
    if (bound > 0)
        printf(",\"lower_bound_seconds\":%.9g,\"one_flow_bound_seconds\":%.9g", bound,
               explanation->bound.one_flow * (double)bytes);
    fputs(",\"candidates\":[", stdout);
    for (int e = 0; e < explanation->count; e++) {
        fputs(e ? ",\n" : "\n", stdout);
        write_json_estimate(&explanation->estimates[e], winner, bound);
    }
    fputs("]}", stdout);
}

static void write_json_refused(const struct strag_selection *selection)
{
    const char *comma = "";
    fputs("],\n\"refused\":[", stdout);
    for (int c = 0; c < selection->candidates; c++) {
        if (!is_refused(selection, c))
            continue;
        printf("%s\n{\"algorithm\":\"%s\",\"reason\":", comma,
               selection->candidate[c].algorithm->name);
        write_json_string(selection->candidate[c].refusal.text);
        putchar('}');
        comma = ",";
    }
}

/* Which table it is, where there are two. */
static void write_json_extent(const struct explanation *explanation)
{
    const char *comma = "";
    if (explanation->machine->problem.n <= STRAG_EXPLAINED_RANKS)
        return;
    printf("\"exhaustive\":%s,", explanation->quick ? "false" : "true");
    if (!explanation->quick)
        return;
    fputs("\"left_out\":[", stdout);
    for (int a = 0; strag_algorithms[a = find_left_out(explanation, a)]; a++) {
        printf("%s\"%s\"", comma, strag_algorithms[a]->name);
        comma = ",";
    }
    fputs("],", stdout);
}

static void write_json(struct explanation *explanation)
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
    puts("]}");
}

static const char *const formats[] = {"text", "json", NULL};
static void (*const writers[])(struct explanation *explanation) = {write_text, write_json};

/* ---- What to explain ---- */

/* A rules file, which must be right also where its rules do not hold. NULL: none is given. */
static int read_rules(struct explanation *explanation, struct strag_rules **rules)
{
    struct strag_error err;
    const struct machine *machine = explanation->machine;
    *rules = NULL;
    explanation->rules =
        machine->saved ? machine->saved->rules_file : machine->arguments->value[OPTION_RULES];
    if (!explanation->rules || machine->saved)
        return EXIT_DONE;
    int status = strag_rules_read(explanation->rules, rules, &err);
    if (status == STRAG_OK)
        return EXIT_DONE;
    return complain(machine->command, status == STRAG_ERR_IO ? STRAG_ERR_ARGUMENT : status,
                    "--rules: %s", err.text);
}

/* All that the choice rests on: what options say, or what a job saved. */
static struct strag_circumstances circumstances_of(struct explanation *explanation,
                                                   const struct strag_rules *rules)
{
    const struct machine *machine = explanation->machine;
    struct strag_circumstances made = {
        .problem = machine->problem,
        .model = machine->sourced.model,
        .options = {.minimum = explanation->minimum},
        .rules = rules,
    };
    if (machine->saved) {
        made = machine->saved->circumstances;
        explanation->minimum = made.options.minimum;
    }
    made.options.quick = explanation->quick;
    made.options.progress = terminal_progress();
    return made;
}

/* Where the model was not asked, it still says what it thinks of the candidates.
 * @return STRAG_OK, or why there is nothing to explain */
static int ask_model(const struct strag_circumstances *circumstances, struct strag_choice *choice)
{
    if (choice->rules_status != STRAG_OK)
        return choice->rules_status;
    if (choice->selection)
        return STRAG_OK;
    if (!circumstances->pinned)
        return choice->status;
    return strag_select(&circumstances->problem, &circumstances->model, &circumstances->options,
                        &choice->selection, &choice->why);
}

/* Does this strag choose what the job's did? */
static int compare_with_saved(const struct explanation *explanation)
{
    const struct strag_saved *saved = explanation->machine->saved;
    if (!saved || strag_saved_same_table(&saved->table, &explanation->table))
        return EXIT_DONE;
    puts("\nbut the job ran:");
    write_table(&saved->table);
    return complain(explanation->machine->command, STRAG_ERR_FALSE,
                    "--saved: the job's table, by strag %s, is not this strag's (%s)",
                    saved->version ? saved->version : "of an unknown version", PACKAGE_VERSION);
}

static int explain_choice(struct explanation *explanation, const struct strag_choice *choice,
                          void (*writer)(struct explanation *explanation))
{
    const struct strag_selection *selection = choice->selection;
    explanation->selection = selection;
    explanation->table = choice->table;
    explanation->ground = choice->ground;
    explanation->line = choice->line;
    explanation->estimates = calloc((size_t)selection->candidates, sizeof(struct estimate));
    if (!explanation->estimates)
        return complain(explanation->machine->command, STRAG_ERR_MEMORY, "out of memory");
    writer(explanation);
    free(explanation->estimates);
    return compare_with_saved(explanation);
}

static int explain(struct explanation *explanation, void (*writer)(struct explanation *explanation))
{
    struct strag_error err;
    struct strag_rules *rules;
    const struct machine *machine = explanation->machine;
    int result = read_rules(explanation, &rules);
    if (result != EXIT_DONE)
        return result;
    const struct strag_circumstances circumstances = circumstances_of(explanation, rules);
    struct strag_choice choice;
    strag_choose(&circumstances, &choice);
    int status = ask_model(&circumstances, &choice);
    if (status == STRAG_OK)
        status = strag_lower_bound(&machine->problem, &machine->sourced.model, &explanation->bound,
                                   &err);
    else
        err = choice.rules_status != STRAG_OK ? choice.rules_why : choice.why;
    clear_terminal();
    result = status == STRAG_OK
                 ? explain_choice(explanation, &choice, writer)
                 : complain(machine->command, status, "%s%s",
                            choice.rules_status != STRAG_OK ? "--rules: " : "", err.text);
    strag_selection_free(choice.selection);
    strag_rules_free(rules);
    return result;
}

static bool read_minimum(const struct command *command, const struct arguments *arguments,
                         size_t *minimum)
{
    struct strag_error err;
    const char *text = arguments->value[OPTION_MINIMUM];
    int status = text ? strag_parse_bytes(text, minimum, &err) : STRAG_OK;
    return status == STRAG_OK || refuse_value(command, OPTION_MINIMUM, status, &err);
}

static int run(const struct command *command, const struct arguments *arguments)
{
    struct machine machine;
    struct explanation explanation = {.machine = &machine};
    int format;
    int result = read_machine(command, arguments, &machine);
    if (result == EXIT_DONE && machine.saved && arguments->value[OPTION_BLOCKS])
        result = complain(command, STRAG_ERR_ARGUMENT,
                          "--saved says itself what the job had; leave --blocks out");
    if (result == EXIT_DONE &&
        (!read_word(command, arguments, OPTION_FORMAT, formats, &format) ||
         !read_minimum(command, arguments, &explanation.minimum) ||
         !read_sizes(command, arguments, &explanation.bytes, &explanation.sizes)))
        result = EXIT_USAGE;
    explanation.quick = !arguments->value[OPTION_EXHAUSTIVE] &&
                        (machine.saved ? machine.saved->circumstances.options.quick
                                       : machine.problem.n > STRAG_EXPLAINED_RANKS);
    if (result == EXIT_DONE)
        result = explain(&explanation, writers[format]);
    free(explanation.bytes);
    close_machine(&machine);
    return result;
}

const struct command explain_command = {
    .name = "explain",
    .usage = " -n RANKS" TOPOLOGY_USAGE STATE_USAGE MODEL_USAGE
             " --bytes LIST [--blocks M] [--minimum SIZE] [--rules FILE] [--exhaustive]"
             " [--format text|json]",
    .summary = "Say which algorithm runs at which size, and why the others lose.",
    .details =
        "The fastest by `strag cost` is chosen, unless a rules file says otherwise. At the end\n"
        "stands the whole table: from which size on which algorithm runs. With more than 256 "
        "ranks\n"
        "it is the table that the component makes: candidates that cannot win are left out.",
    .options =
        {
            {OPTION_RANKS, "RANKS", "how many ranks, from 1 (default: as the topology says)"},
            {OPTION_BYTES, "LIST", "sizes of the vector: 32, 2K, 512M; powers of two: 32..1G"},
            {OPTION_BLOCKS, "M",
             "cut the vector into M blocks (default: what is best for each size)"},
            {OPTION_MINIMUM, "SIZE", "shorter vectors are for the previous component (default: 0)"},
            {OPTION_RULES, "FILE", "measured choices; strag(1) describes the file"},
            {OPTION_EXHAUSTIVE, "", "compare all candidates, also with more than 256 ranks"},
            {OPTION_FORMAT, "text|json", "how to show it (default: text)"},
        },
    .groups = {&topology_group, &state_group, &model_group},
    .run = run,
};
