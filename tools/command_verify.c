/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strag verify: prove that the plans of all ranks are an allreduce, for one n or for many.
 */
#include "base/parse.h"
#include "commands.h"
#include "plan/plan_proof.h"
#include "terminal.h"
#include "topology_options.h"

#include "config.h"

#include <stdlib.h>

enum { TEXT, JSON };

static const char *const formats[] = {"text", "json", NULL};
static const char opening[] = "{\"verified\":[";

/* What is proved, and how results are written. */
struct proofs {
    struct machine machine;
    struct algorithms named;
    const struct strag_given *given; /* NULL if no plan is from a file */
    const char *proof;               /* that file if its proof is to be written, else NULL */
    int format;
    int written; /* so far */
};

static void write_text(const struct strag_algorithm *algorithm, const struct strag_measure *measure)
{
    printf("verified %s n=%d blocks=%d rounds=%d sent-max=%.6gxS sent-total=%.6gxS "
           "reduce-max=%.6g",
           algorithm->name, measure->n, measure->blocks, measure->rounds - measure->before,
           measure->sent_max, measure->sent_total, measure->reduce_max);
    if (measure->waits)
        printf(" rounds-before=%d", measure->before);
    putchar('\n');
}

static void write_json(const struct strag_algorithm *algorithm, const struct strag_measure *measure,
                       bool first)
{
    printf("%s\n{\"algorithm\":\"%s\",\"n\":%d,\"blocks\":%d,\"rounds\":%d,"
           "\"rounds_before\":%d,\"sent_max\":%.9g,\"sent_total\":%.9g,\"reduce_max\":%.9g}",
           first ? opening : ",", algorithm->name, measure->n, measure->blocks,
           measure->rounds - measure->before, measure->before, measure->sent_max,
           measure->sent_total, measure->reduce_max);
}

static bool is_given(const struct proofs *proofs, const struct strag_algorithm *algorithm)
{
    return proofs->given && algorithm == &proofs->given->row;
}

static int prove(const struct proofs *proofs, const struct strag_algorithm *algorithm,
                 struct strag_measure *measure, struct strag_error *err)
{
    const struct strag_problem *problem = &proofs->machine.problem;
    struct strag_effort effort = strag_effort_any;
    if (is_given(proofs, algorithm) && problem->n == strag_given_ranks(proofs->given))
        return strag_given_prove(proofs->given, &strag_given_asked, terminal_progress(), measure,
                                 err);
    return strag_verify_within(algorithm, problem, &effort, terminal_progress(), measure, NULL,
                               err);
}

/* Prove one n, or with 0 the machine's ranks. After EXIT_FALSE, other proofs may follow. */
static int verify_one(struct proofs *proofs, const struct strag_algorithm *algorithm, int n)
{
    struct machine *machine = &proofs->machine;
    struct strag_error err;
    struct strag_measure measure;
    int result = place_ranks(machine, n);
    if (result != EXIT_DONE)
        return result;
    if (proofs->named.all && !strag_algorithm_suits(algorithm, &machine->state))
        return EXIT_DONE;
    int status = prove(proofs, algorithm, &measure, &err);
    if (status == STRAG_ERR_UNSUPPORTED && proofs->named.all)
        return EXIT_DONE;
    if (status != STRAG_OK)
        return complain(machine->command, status, "%s n=%d: %s%s", algorithm->name,
                        machine->problem.n, err.text, straggler_wanted(machine, algorithm));
    clear_terminal();
    if (proofs->proof && is_given(proofs, algorithm)) {
        status =
            strag_plan_proof_write(proofs->proof, proofs->given, &measure, PACKAGE_VERSION, &err);
        if (status != STRAG_OK)
            return complain(machine->command, status, "--proof: %s", err.text);
    }
    if (proofs->format == JSON)
        write_json(algorithm, &measure, proofs->written == 0);
    else
        write_text(algorithm, &measure);
    proofs->written++;
    fflush(stdout);
    return EXIT_DONE;
}

static int verify_ranks(struct proofs *proofs, int n)
{
    int result = EXIT_DONE;
    for (int a = 0; a < proofs->named.count && result != EXIT_USAGE && !ferror(stdout); a++) {
        int one = verify_one(proofs, proofs->named.algorithm[a], n);
        result = one == EXIT_DONE ? result : one;
    }
    return result;
}

static int verify_list(struct proofs *proofs, const struct strag_interval *intervals, int count)
{
    int result = EXIT_DONE;
    for (int i = 0; i < count; i++) {
        int n = intervals[i].first;
        for (; n <= intervals[i].last && result != EXIT_USAGE && !ferror(stdout); n++) {
            int one = verify_ranks(proofs, n);
            result = one == EXIT_DONE ? result : one;
        }
    }
    return result;
}

static int run_on(const struct command *command, const struct arguments *arguments,
                  struct proofs *proofs)
{
    struct strag_interval *intervals = NULL;
    struct strag_error err;
    int count = 0;
    const char *ranks = arguments->value[OPTION_RANKS];
    if (!read_word(command, arguments, OPTION_FORMAT, formats, &proofs->format))
        return EXIT_USAGE;
    const int status =
        ranks ? strag_parse_intervals(ranks, 1, RANKS_MAX, &intervals, &count, &err) : STRAG_OK;
    if (status != STRAG_OK)
        return complain(command, status, "%s: %s", option_name(OPTION_RANKS), err.text);
    int result = open_machine(command, arguments, &proofs->machine);
    if (result == EXIT_DONE && proofs->machine.kind == OPTIONS &&
        !need_option(command, arguments, OPTION_RANKS))
        result = EXIT_USAGE;
    if (result == EXIT_DONE)
        result = ranks ? verify_list(proofs, intervals, count) : verify_ranks(proofs, 0);
    free(intervals);
    if (proofs->format == JSON && (proofs->written || result != EXIT_USAGE))
        printf("%s]}\n", proofs->written ? "" : opening);
    close_machine(&proofs->machine);
    return result;
}

static int run(const struct command *command, const struct arguments *arguments)
{
    struct file_plan plan;
    struct proofs proofs = {.format = TEXT};
    int result = EXIT_USAGE;
    if (!open_file_plan(command, arguments, &plan))
        return EXIT_USAGE;
    proofs.given = plan.given;
    proofs.proof = arguments->value[OPTION_PROOF] ? arguments->value[OPTION_PLAN] : NULL;
    if (arguments->value[OPTION_PROOF] && !plan.given)
        complain(command, STRAG_ERR_ARGUMENT,
                 "--proof is for a plan from a file; give --plan FILE");
    else if (read_algorithms(command, &plan, NULL, &proofs.named))
        result = run_on(command, &plan.arguments, &proofs);
    close_file_plan(&plan);
    return result;
}

const struct command verify_command = {
    .name = "verify",
    .usage =
        " ALGORITHM[,ALGORITHM...]|all -n RANKS[,RANKS|FIRST..LAST...]" TOPOLOGY_USAGE STATE_USAGE
        " [--blocks M] [--root R] [--plan FILE [--proof]]"
        " [--format text|json]",
    .summary = "Prove that the plans of all ranks are an allreduce.",
    .details =
        "Every rank ends with every contribution exactly once and with the same bits, sends and\n"
        "receives match, nothing can deadlock, and rounds, bytes and ports are as the algorithm\n"
        "claims. One line for each n (S is the vector):\n"
        "  verified ring n=8 blocks=8 rounds=14 sent-max=1.75xS sent-total=14xS reduce-max=0.875\n"
        "Where the others go ahead of a straggler, rounds counts from its arrival, and\n"
        "rounds-before=.. follows. all leaves out what cannot be planned.",
    .takes_algorithm = true,
    .options =
        {
            {OPTION_RANKS, "RANKS", "how many ranks; also a list with ranges: 2..256,1000,1024"},
            {OPTION_BLOCKS, "M", "cut the vector into M blocks (default: the algorithm chooses)"},
            {OPTION_ROOT, "R", "direct with one block: rank R sums up, 0 or 1 (default: 0)"},
            {OPTION_PLAN, "FILE", "a plan from a file, instead of ALGORITHM or next to it"},
            {OPTION_PROOF, "", "write FILE.proof, so that jobs need not prove the plan again"},
            {OPTION_FORMAT, "text|json", "how to show it (default: text)"},
        },
    .groups = {&topology_group, &state_group},
    .run = run,
};
