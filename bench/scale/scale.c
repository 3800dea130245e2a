/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rank 0 spends on a table, and any rank on its plan, for machines of up to 131,072 ranks.
 *
 *     scale [--most RANKS] [--only TEXT] [--runs NUMBER]
 *
 * A line for every machine and state, as CSV: CPU time and peak memory of the quick table, as the
 * component makes it, beyond those of the topology, and how many operations and messages were
 * examined for it; and the CPU time of the most expensive plan of one rank that the table names.
 * "late" and "slow" rows are what re-planning takes. Each line is made several
 * times (5, by default), in processes of their own, so that memory is counted from the start; of
 * each number it has the least: other processes make caches and clocks slower, and nothing makes
 * them faster.
 */
#include "machines.h"

#include "model/select.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The size from which on `coll_strag` runs calls by default (ompi_coll_strag/user/settings.c). */
enum { MINIMUM = 8192 };

struct options {
    int most; /* ranks */
    int runs;
    const char *only;
};

static const struct strag_slow one_slow[] = {{77, 2}}, three_slow[] = {{5, 1.5}, {77, 2}, {300, 4}};
static const struct strag_straggler one_late[] = {{99, 5e-3}};

static const struct variant {
    const char *name;
    struct strag_state state;
} variants[] = {
    {"", {0}},
    {"one slow", {1, one_slow, 0, NULL}},
    {"three slow", {3, three_slow, 0, NULL}},
    {"one late", {0, NULL, 1, one_late}},
    {"slow and late", {1, one_slow, 1, one_late}},
};

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double peak_mib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

/* The most expensive of the table's plans, of a rank in the middle. */
struct worst {
    double seconds;
    const char *name; /* static */
    int blocks;
};

/* Of one process; or the least of several. */
struct result {
    double table_seconds, table_mib;
    int64_t examined; /* strag_selection.examined */
    struct worst worst;
};

static int plan_all(const struct strag_problem *problem, const struct strag_table *table,
                    struct worst *worst, struct strag_error *err)
{
    *worst = (struct worst){0, "", 0};
    for (int e = 0; e < table->entries; e++) {
        const struct strag_entry *entry = &table->entry[e];
        struct strag_problem cut = *problem;
        struct strag_plan *plan;
        cut.blocks = entry->blocks;
        if (!entry->algorithm)
            continue;
        double begin = cpu_seconds();
        int status = strag_plan_create(entry->algorithm, &cut, problem->n / 2, &plan, err);
        if (status != STRAG_OK)
            return status;
        double took = cpu_seconds() - begin;
        if (took > worst->seconds)
            *worst = (struct worst){took, entry->algorithm->name, plan->bounds.blocks};
        strag_plan_free(plan);
    }
    return STRAG_OK;
}

static int measure(const struct variant *variant, const struct strag_topology *topology,
                   struct result *result, struct strag_error *err)
{
    const struct strag_model model = strag_model_default(topology->network);
    const struct strag_select_options options = {.minimum = MINIMUM, .quick = true};
    const struct strag_problem problem = {
        .n = topology->n, .topology = topology, .state = &variant->state};
    struct strag_selection *selection;
    double before = peak_mib(), begin = cpu_seconds();
    int status = strag_select(&problem, &model, &options, &selection, err);
    result->table_seconds = cpu_seconds() - begin;
    result->table_mib = peak_mib() - before;
    if (status != STRAG_OK)
        return status;
    result->examined = selection->examined;
    status = plan_all(&problem, &selection->table, &result->worst, err);
    strag_selection_free(selection);
    return status;
}

/* @param result  in memory that both processes share  @return did it go well? */
static bool in_a_process(const struct machine *machine, const struct variant *variant,
                         const struct strag_topology *topology, struct result *result)
{
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        struct strag_error err;
        bool failed = measure(variant, topology, result, &err) != STRAG_OK;
        if (failed)
            fprintf(stderr, "scale: %s: %s\n", machine->name, err.text);
        _exit(failed);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static void keep_least(struct result *least, const struct result *result)
{
    least->table_seconds = fmin(least->table_seconds, result->table_seconds);
    least->table_mib = fmin(least->table_mib, result->table_mib);
    least->examined = result->examined; /* the same in each process */
    if (result->worst.seconds < least->worst.seconds)
        least->worst = result->worst;
}

/* A line. @return did it go well? */
static bool print_least(const struct machine *machine, const struct variant *variant,
                        const struct strag_topology *topology, int runs, struct result *shared)
{
    struct result least = {INFINITY, INFINITY, 0, {INFINITY, "", 0}};
    for (int r = 0; r < runs; r++) {
        if (!in_a_process(machine, variant, topology, shared))
            return false;
        keep_least(&least, shared);
    }
    printf("%d,\"%s\",\"%s\",%.1f,%.1f,%" PRId64 ",%.3f,%s,%d\n", topology->n, machine->name,
           variant->name, 1e3 * least.table_seconds, least.table_mib, least.examined,
           1e3 * least.worst.seconds, least.worst.name, least.worst.blocks);
    fflush(stdout);
    return true;
}

/* Has the machine all ranks that are slow or late? */
static bool has_ranks(const struct strag_topology *topology, const struct strag_state *state)
{
    bool all = true;
    for (int i = 0; i < state->nslow; i++)
        all = all && state->slow[i].rank < topology->n;
    for (int i = 0; i < state->nstragglers; i++)
        all = all && state->straggler[i].rank < topology->n;
    return all;
}

static bool run(const struct machine *machine, const struct options *options, struct result *shared)
{
    struct strag_topology *topology;
    struct strag_error err;
    bool good = true;
    if (options->only && !strstr(machine->name, options->only))
        return true;
    if (machine->make(machine, &topology, &err) != STRAG_OK) {
        fprintf(stderr, "scale: %s: %s\n", machine->name, err.text);
        return false;
    }
    for (size_t v = 0; topology->n <= options->most && v < sizeof variants / sizeof *variants; v++)
        if (has_ranks(topology, &variants[v].state))
            good = print_least(machine, &variants[v], topology, options->runs, shared) && good;
    strag_topology_free(topology);
    return good;
}

int main(int argc, char **argv)
{
    struct options options = {.most = 1 << 17, .runs = 5};
    bool good = true;
    for (int a = 1; a < argc; a += 2) {
        if (a + 1 < argc && strcmp(argv[a], "--most") == 0) {
            options.most = atoi(argv[a + 1]);
        } else if (a + 1 < argc && strcmp(argv[a], "--only") == 0) {
            options.only = argv[a + 1];
        } else if (a + 1 < argc && strcmp(argv[a], "--runs") == 0) {
            options.runs = atoi(argv[a + 1]);
        } else {
            fprintf(stderr, "usage: scale [--most RANKS] [--only TEXT-IN-A-MACHINE'S-NAME] "
                            "[--runs NUMBER]\n");
            return 2;
        }
    }
    struct result *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("scale");
        return 1;
    }
    printf("ranks,machine,state,table ms,table MiB,examined,plan ms,algorithm,blocks\n");
    fflush(stdout);
    for (const struct machine *machine = machines; machine->name; machine++)
        good = run(machine, &options, shared) && good;
    return good ? 0 : 1;
}
