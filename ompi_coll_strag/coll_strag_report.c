/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rank slows the job down: a line for each communicator when it comes to its end, and
 * performance variables of a communicator at any time.
 */
#include "coll_strag_watch.h"

#include <string.h>

/* A part of a line. */
struct part {
    char text[192];
};

static void part(struct part *part, const char *format, ...) STRAG_PRINTF(2, 3);

static void part(struct part *part, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(part->text, sizeof part->text, format, args);
    va_end(args);
}

/* "84.2 ms" */
static struct part time_part(double seconds)
{
    struct part text;
    if (seconds < 1e-3)
        part(&text, "%.3g us", 1e6 * seconds);
    else if (seconds < 1)
        part(&text, "%.3g ms", 1e3 * seconds);
    else
        part(&text, "%.4g s", seconds);
    return text;
}

/* "rank 5", and which one it is in MPI_COMM_WORLD, if another */
static struct part rank_part(const struct coll_strag_told *told)
{
    struct part text;
    if (told->world == told->observed.rank)
        part(&text, "rank %d", told->observed.rank);
    else
        part(&text, "rank %d (%d in MPI_COMM_WORLD)", told->observed.rank, told->world);
    return text;
}

static struct part saved_part(const struct coll_strag_told *told)
{
    struct part text;
    double saved = told->observed.saved;
    if (told->from == 0)
        part(&text, "it was waited for");
    else
        part(&text, "going ahead without it from call %llu on %s %s of %s (modelled)",
             (unsigned long long)told->from, saved < 0 ? "lost" : "saved",
             time_part(saved < 0 ? -saved : saved).text, time_part(told->seconds).text);
    return text;
}

/* A line of its own, where there ever was a slow host. */
static void report_slow(const struct coll_strag_watch *watch, const char *name)
{
    const struct coll_strag_slowed *slow = &watch->told.slow;
    struct part until = {""}, more = {""};
    if (slow->rank < 0)
        return;
    if (slow->to != 0)
        part(&until, " to call %llu", (unsigned long long)slow->to);
    if (slow->now > 1)
        part(&more, "; %d hosts have slow links now", (int)slow->now);
    fprintf(stderr,
            "strag: %s: host %s's link was %.3g times slower than others, from call %llu%s%s\n",
            name, coll_strag_judge_host(watch->judge, slow->rank), slow->factor,
            (unsigned long long)slow->from, until.text, more.text);
}

/* "MPI_COMM_WORLD" */
static struct part name_part(const ompi_communicator_t *comm)
{
    struct part text;
    char cid[32];
    if (comm->c_name[0])
        part(&text, "%s", comm->c_name);
    else
        part(&text, "communicator %s", coll_strag_cid(comm, cid, sizeof cid));
    return text;
}

/* A rank that was last in fewer calls is not what slows the job down. */
static const double most = 0.5;

void coll_strag_report(mca_coll_strag_module_t *module, ompi_communicator_t *comm)
{
    const struct coll_strag_watch *watch = module->watch;
    const struct coll_strag_told *told = &watch->told;
    const struct strag_observed *observed = &told->observed;
    if (!watch->look_always || NULL == watch->judge || told->calls == 0)
        return;
    const struct part name = name_part(comm);
    report_slow(watch, name.text);
    if (observed->rank < 0)
        fprintf(stderr, "strag: %s: no rank was late in %llu calls\n", name.text,
                (unsigned long long)observed->calls);
    else if (observed->share < most && told->from == 0)
        fprintf(stderr,
                "strag: %s: no rank was late in most of %llu calls; most often last was %s (host "
                "%s), in %.0f %%, median %s\n",
                name.text, (unsigned long long)observed->calls, rank_part(told).text,
                coll_strag_judge_host(watch->judge, observed->rank), 100 * observed->share,
                time_part(observed->median).text);
    else
        fprintf(stderr,
                "strag: %s: %s (host %s) was last in %.0f %% of %llu calls, median %s, 95 %% below "
                "%s; %s\n",
                name.text, rank_part(told).text,
                coll_strag_judge_host(watch->judge, observed->rank), 100 * observed->share,
                (unsigned long long)observed->calls, time_part(observed->median).text,
                time_part(observed->percentile95).text, saved_part(told).text);
}

/* ---- Performance variables ---- */

enum {
    LATE_RANK,
    LATE_DELAY,
    LATE_MOST,
    LATE_SHARE,
    LATE_MEDIAN,
    SWITCHES,
    SAVED,
    SLOW_RANK,
    SLOW_FACTOR,
    PROBES,
    VARIABLES
};

static const struct variable {
    const char *name, *help;
    mca_base_var_type_t type;
} variables[VARIABLES] = {
    [LATE_RANK] = {"late_rank", "The rank of the communicator that is late now; -1: none",
                   MCA_BASE_VAR_TYPE_INT},
    [LATE_DELAY] = {"late_delay", "Seconds that it is late by; 0: none is",
                    MCA_BASE_VAR_TYPE_DOUBLE},
    [LATE_MOST] = {"late_most", "The one that was last most often, so far; -1: none ever was",
                   MCA_BASE_VAR_TYPE_INT},
    [LATE_SHARE] = {"late_share", "In which share of the calls that were looked at closely it was",
                    MCA_BASE_VAR_TYPE_DOUBLE},
    [LATE_MEDIAN] = {"late_median", "Seconds that it was late by, in the median of these calls",
                     MCA_BASE_VAR_TYPE_DOUBLE},
    [SWITCHES] = {"late_switches", "How often another rank, or none, was found to be late",
                  MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG},
    [SAVED] = {"late_saved",
               "Seconds that going ahead without late ranks has saved, as modelled; below 0: lost",
               MCA_BASE_VAR_TYPE_DOUBLE},
    [SLOW_RANK] = {"slow_rank", "A rank on the host with the slowest link now; -1: none is slow",
                   MCA_BASE_VAR_TYPE_INT},
    [SLOW_FACTOR] = {"slow_factor", "How many times slower than others that link is; 1: none is",
                     MCA_BASE_VAR_TYPE_DOUBLE},
    [PROBES] = {"slow_probes", "How often the links of all hosts were probed",
                MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG},
};

/* What is known of a communicator. @return NULL: its calls are not watched */
static const struct coll_strag_told *told_of(const void *comm)
{
    for (const mca_coll_strag_module_t *m = mca_coll_strag_component.modules; m; m = m->next) {
        if (m->pml.super.comm == comm && m->watch)
            return &m->watch->told;
    }
    return NULL;
}

static int read_variable(const struct mca_base_pvar_t *pvar, void *value, void *comm)
{
    static const struct coll_strag_told nothing = {.now = -1, .observed.rank = -1, .world = -1};
    mca_coll_strag_component_t *component = &mca_coll_strag_component;
    const struct variable *variable = pvar->ctx;
    pthread_mutex_lock(&component->modules_lock);
    const struct coll_strag_told *told = told_of(comm);
    if (NULL == told)
        told = &nothing;
    switch (variable - variables) {
    case LATE_RANK:
        *(int *)value = told->now;
        break;
    case LATE_DELAY:
        *(double *)value = told->delay;
        break;
    case LATE_MOST:
        *(int *)value = told->observed.rank;
        break;
    case LATE_SHARE:
        *(double *)value = told->observed.share;
        break;
    case LATE_MEDIAN:
        *(double *)value = told->observed.median;
        break;
    case SWITCHES:
        *(unsigned long long *)value = (unsigned long long)told->observed.switches;
        break;
    case SAVED:
        *(double *)value = told->observed.saved;
        break;
    case SLOW_RANK:
        *(int *)value = told->slow.now > 0 ? told->slow.rank : -1;
        break;
    case SLOW_FACTOR:
        *(double *)value = told->slow.now > 0 ? told->slow.factor : 1;
        break;
    default:
        *(unsigned long long *)value = told->slow.probes;
        break;
    }
    pthread_mutex_unlock(&component->modules_lock);
    return OPAL_SUCCESS;
}

void coll_strag_report_register(void)
{
    for (int v = 0; v < VARIABLES; v++)
        mca_base_component_pvar_register(
            &mca_coll_strag_component.super.collm_version, variables[v].name, variables[v].help,
            OPAL_INFO_LVL_4, MPI_T_PVAR_CLASS_GENERIC, variables[v].type, NULL, MPI_T_BIND_MPI_COMM,
            MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS, read_variable, NULL, NULL,
            (void *)&variables[v]);
}
