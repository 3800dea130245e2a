/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What judging watched calls takes of rank 0's processor, and of its memory, with up to 131,072
 * ranks: 100,000 calls, all in windows without a pause, which is as often as it can be.
 *
 *     watch
 *
 * A line for each number of ranks and each kind of job, as CSV. Merging the samples of rank 0's
 * children in the tree is part of it; sending is not. The rank that is late is found again and
 * again, and no plan helps, so that each window does all that a window may do but making tables.
 */
#include "detect/window.h"
#include "learn/judge.h"
#include "model/select.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 100000, HOSTS = 8, BYTES = 1 << 20 };

enum kind { NOBODY, ONE, ANOTHER, KINDS };

static const char *const names[KINDS] = {"nobody late", "one rank late",
                                         "another one late in each call"};

struct job {
    int n;
    enum kind kind;
    struct strag_judge *judge;
    struct strag_window window;
    bool look; /* waits are measured */
    long calls, windows;
    double seconds, longest; /* of the processor: all windows, and the longest */
};

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Every state has the usual table: no plan helps. As in struct strag_judge_options. */
static void make(void *context, const struct strag_state_record *state,
                 const struct strag_sourced_model *model, struct strag_judge_table *made)
{
    (void)state;
    (void)model;
    *made = (struct strag_judge_table){.table = *(const struct strag_table *)context};
}

static void make_any(void *context, const struct strag_state_record *state,
                     const struct strag_sourced_model *model, struct strag_selection **made,
                     double *price)
{
    (void)context;
    (void)state;
    (void)model;
    *made = NULL;
    *price = 0;
}

/* The rank that is late in a call; -1: none. */
static int late_rank(const struct job *job, long call)
{
    const unsigned random = (unsigned)call * 2654435761u;
    return job->kind == NOBODY ? -1 : job->kind == ONE ? 5 : 1 + (int)(random % (job->n - 1u));
}

/* What rank 0 gets of a call: its children's samples, one of which has the late rank in it. */
static void merge_children(const struct job *job, long call, struct strag_call_sample *merged)
{
    int late = late_rank(job, call);
    for (int child = job->n / 2; child > 0; child /= 2, late = -1) {
        struct strag_call_sample sample = strag_call_sample_none();
        strag_call_sample_add(&sample, late == child ? child + 1 : child, 401e-6,
                              job->look ? 201e-6 : -1);
        if (late >= 0)
            strag_call_sample_add(&sample, late, 202e-6, job->look ? 0 : -1);
        strag_call_sample_merge(merged, &sample);
    }
}

static void judge_window(struct job *job)
{
    struct strag_call_sample *samples = job->window.sample;
    const double start = cpu_seconds();
    for (int c = 0; c < job->window.filled; c++)
        merge_children(job, job->calls + c, &samples[c]);
    const struct strag_judgement judgement =
        strag_judge_window(job->judge, samples, job->window.filled, NULL);
    const double took = cpu_seconds() - start;
    job->seconds += took;
    job->longest = took > job->longest ? took : job->longest;
    job->windows++;
    job->look = judgement.look;
    strag_judge_spent(job->judge, 0); /* so that there is no pause */
    strag_window_start(&job->window, &judgement.next);
}

static void run(struct job *job, const struct strag_table *table)
{
    static const double stay = 4e-4; /* seconds of a call on rank 0 */
    const struct strag_entry *entry = strag_table_entry(table, BYTES);
    const struct strag_watched_call call = {
        BYTES, 0, entry->algorithm, entry->blocks, STRAG_DYNAMIC_OUTSIDE, -1, false};
    for (job->calls = 0; job->calls < CALLS; job->calls++) {
        const bool sampled = strag_window_has(&job->window, BYTES, 0);
        strag_judge_add(job->judge, &call, sampled ? stay : -1);
        if (strag_window_end(&job->window, 0, sampled, stay, job->look ? 2e-4 : -1) ==
            STRAG_WINDOW_DECIDE)
            judge_window(job);
    }
}

/* @return whether there was memory for it */
static bool print_job(int n, enum kind kind, struct strag_selection *selection)
{
    static const struct strag_state_record quiet = {.nslow = 0};
    const size_t before = mallinfo2().uordblks;
    const struct strag_judge_options options = {.n = n,
                                                .calls = STRAG_WINDOW_CALLS,
                                                .stragglers = true,
                                                .dynamic = STRAG_DYNAMIC_AUTO,
                                                .make = make,
                                                .make_any = make_any,
                                                .context = &selection->table};
    const struct strag_judge_table usual = {selection->table, selection};
    struct job job = {.n = n, .kind = kind, .judge = strag_judge_create(&options, &quiet, &usual)};
    if (!job.judge)
        return false;
    const size_t bytes = mallinfo2().uordblks - before + sizeof job.window;
    const struct strag_window_order first = strag_judge_first(options.calls, false);
    strag_window_start(&job.window, &first);
    run(&job, &usual.table);
    printf("%d,%s,%ld,%.2f,%.1f,%.0f,%.1f\n", n, names[kind], job.windows,
           1e6 * job.seconds / CALLS, 1e6 * job.seconds / (double)job.windows, 1e6 * job.longest,
           (double)bytes / 1024);
    fflush(stdout);
    strag_judge_free(job.judge); /* and the selection */
    return true;
}

/* The table of 8 hosts: judging does not depend on the plans. @return NULL: out of memory */
static struct strag_selection *select_table(void)
{
    const struct strag_model model = strag_model_default(STRAG_NETWORK_TREE);
    const struct strag_select_options options = {.quick = true};
    const struct strag_problem problem = {.n = HOSTS};
    struct strag_selection *selection = NULL;
    struct strag_error err;
    return strag_select(&problem, &model, &options, &selection, &err) == STRAG_OK ? selection
                                                                                  : NULL;
}

int main(void)
{
    static const int ranks[] = {8, 1000, 4096, 10000, 16384, 65536, 131072};
    printf("ranks,job,windows,us a call,us a window,longest us,KiB\n");
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            struct strag_selection *selection = select_table();
            if (!selection || !print_job(ranks[i], (enum kind)kind, selection)) {
                fprintf(stderr, "watch: out of memory\n");
                return 1;
            }
        }
    }
    return 0;
}
