/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/summary.h"

#include "base/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A rank that was last in fewer calls is not what slows the job down. */
static const double most_calls = 0.5;

/* A part of a line. */
struct part {
    char text[192];
};

static struct part part(const char *format, ...) STRAG_PRINTF(1, 2);

static struct part part(const char *format, ...)
{
    struct part part;
    va_list args;
    va_start(args, format);
    vsnprintf(part.text, sizeof part.text, format, args);
    va_end(args);
    return part;
}

/* "rank 5", and which one it is in MPI_COMM_WORLD, if another; its host */
static struct part rank_part(const struct strag_watch_summary *summary,
                             const struct strag_rank_location *ranks)
{
    const int rank = summary->observed.rank, world = summary->world;
    const char *host = ranks[rank].host;
    return world == rank ? part("rank %d (host %s)", rank, host)
                         : part("rank %d (%d in MPI_COMM_WORLD) (host %s)", rank, world, host);
}

static struct part saved_part(const struct strag_watch_summary *summary)
{
    double saved = summary->observed.saved;
    if (summary->ahead_from == 0)
        return part("it was waited for");
    return part("going ahead without it from call %llu on %s %s of %s (modelled)",
                (unsigned long long)summary->ahead_from, saved < 0 ? "lost" : "saved",
                strag_units_time(saved < 0 ? -saved : saved).text,
                strag_units_time(summary->seconds).text);
}

/* @return characters */
static size_t add_slowest(const struct strag_slowest *slowest, const char *name,
                          const struct strag_rank_location *ranks, char *text, size_t size)
{
    struct part until = {""}, more = {""};
    if (slowest->rank < 0)
        return 0;
    if (slowest->to != 0)
        until = part(" to call %llu", (unsigned long long)slowest->to);
    if (slowest->hosts > 1)
        more = part("; %d hosts have slow links now", (int)slowest->hosts);
    snprintf(text, size,
             "strag: %s: host %s's link was %.3g times slower than others, from call %llu%s%s\n",
             name, ranks[slowest->rank].host, slowest->factor, (unsigned long long)slowest->from,
             until.text, more.text);
    return strlen(text);
}

/* "that saved 12.1 s (measured: 24 % +- 2 % of ...)" */
static struct part dynamic_saved_part(const struct strag_dynamic_summary *dynamic)
{
    if (!(dynamic->error > 0))
        return part("what that saves was not measured");
    return part("that %s %s (measured: %.0f %% +- %.0f %% of the time from the last arrival on)",
                dynamic->saved < 0 ? "lost" : "saved", strag_units_time(fabs(dynamic->saved)).text,
                100 * dynamic->saves, 100 * dynamic->error);
}

/* No call has waited for the last rank. @return characters */
static size_t add_dynamic(const struct strag_watch_summary *summary, const char *name, char *text,
                          size_t size)
{
    const struct strag_dynamic_summary *dynamic = &summary->dynamic;
    if (dynamic->calls == 0)
        return 0;
    snprintf(text, size, "strag: %s: %llu of %llu calls went ahead without the last rank; %s\n",
             name, (unsigned long long)dynamic->ahead, (unsigned long long)dynamic->calls,
             dynamic_saved_part(dynamic).text);
    return strlen(text);
}

/* Who came last how often, how much later than the others, and what that comes to.
 * @return characters */
static size_t add_arrivals(const struct strag_observed *observed, const char *name, char *text,
                           size_t size)
{
    struct part often = {""};
    const double all = observed->waited + observed->spent;
    if (observed->calls == 0 || !(observed->often[0].share > 0))
        return 0;
    for (int i = 0; i < STRAG_OFTEN && observed->often[i].share > 0; i++)
        often = part("%s%srank %d in %.0f %%", often.text, i ? ", " : "", observed->often[i].rank,
                     100 * observed->often[i].share);
    snprintf(text, size,
             "strag: %s: last was %s of %llu calls; all others were there before it by %s in the "
             "median, 25 %% below %s, 75 %% below %s, 95 %% below %s, %s at most; by %s in all, "
             "%.0f %% of these calls' time (measured)\n",
             name, often.text, (unsigned long long)observed->calls,
             strag_units_time(observed->any_median).text,
             strag_units_time(observed->any_quarter).text,
             strag_units_time(observed->any_three_quarters).text,
             strag_units_time(observed->any_percentile95).text,
             strag_units_time(observed->any_longest).text, strag_units_time(observed->waited).text,
             all > 0 ? 100 * observed->waited / all : 0);
    return strlen(text);
}

void strag_watch_summary_text(const struct strag_watch_summary *summary, const char *name,
                              const struct strag_rank_location *ranks, char *text, size_t size)
{
    const struct strag_observed *observed = &summary->observed;
    const unsigned long long calls = observed->calls;
    const double percent = 100 * observed->share;
    size_t used = add_slowest(&summary->slowest, name, ranks, text, size);
    used += add_arrivals(observed, name, text + used, size - used);
    used += add_dynamic(summary, name, text + used, size - used);
    text += used;
    size -= used;
    if (observed->rank < 0)
        snprintf(text, size, "strag: %s: no rank was late in %llu calls\n", name, calls);
    else if (observed->share < most_calls && summary->ahead_from == 0)
        snprintf(text, size,
                 "strag: %s: no rank was late in most of %llu calls; most often last was %s, in "
                 "%.0f %%, median %s\n",
                 name, calls, rank_part(summary, ranks).text, percent,
                 strag_units_time(observed->median).text);
    else
        snprintf(text, size,
                 "strag: %s: %s was last in %.0f %% of %llu calls, median %s, 95 %% below %s; %s\n",
                 name, rank_part(summary, ranks).text, percent, calls,
                 strag_units_time(observed->median).text,
                 strag_units_time(observed->percentile95).text, saved_part(summary).text);
}

struct strag_watch_summary strag_watch_summary_none(void)
{
    return (struct strag_watch_summary){
        .straggler = -1, .observed.rank = -1, .world = -1, .slowest.rank = -1, .model_error = -1};
}

void strag_watch_model_text(const struct strag_watch_summary *summary, const char *name,
                            const struct strag_sourced_model *model, const char *file, char *text,
                            size_t size)
{
    char sources[768];
    struct part fits = {""};
    if (summary->model_error >= 0)
        fits = part("; calls take what it says to %.2g %%", 100 * summary->model_error);
    strag_model_sources(model, file, sources, sizeof sources);
    snprintf(text, size, "strag: %s: model: %s%s\n", name, sources, fits.text);
}
