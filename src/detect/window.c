/* SPDX-License-Identifier: BSD-3-Clause */
#include "detect/window.h"

#include <math.h>

/* Calls of other sizes after which an experiment's window ends with what it has. */
enum { WAIT_LIMIT = 64 };

/* ---- What ranks have measured ---- */

struct strag_call_sample strag_call_sample_none(void)
{
    const struct strag_shortest none = {-1, INFINITY, INFINITY};
    return (struct strag_call_sample){none, none, 0, 0};
}

static bool is_before(const struct strag_shortest *a, const struct strag_shortest *b)
{
    return a->least < b->least || (a->least <= b->least && (uint32_t)a->rank < (uint32_t)b->rank);
}

/* One that was not measured stays so: its `least` is below 0, and so below all others. */
static struct strag_shortest shortest(struct strag_shortest a, struct strag_shortest b)
{
    struct strag_shortest first = is_before(&a, &b) ? a : b;
    const struct strag_shortest *other = is_before(&a, &b) ? &b : &a;
    first.second = fminf(first.second, other->least);
    return first;
}

void strag_call_sample_merge(struct strag_call_sample *sample,
                             const struct strag_call_sample *other)
{
    sample->stay = shortest(sample->stay, other->stay);
    sample->wait = shortest(sample->wait, other->wait);
    sample->longest = fmaxf(sample->longest, other->longest);
    sample->sum += other->sum;
}

void strag_call_sample_add(struct strag_call_sample *sample, int rank, double stay, double wait)
{
    const struct strag_call_sample own = {
        {rank, (float)stay, INFINITY}, {rank, (float)wait, INFINITY}, (float)stay, (float)stay};
    strag_call_sample_merge(sample, &own);
}

double strag_call_sample_delay(const struct strag_call_sample *sample)
{
    const struct strag_shortest *of = sample->wait.least >= 0 ? &sample->wait : &sample->stay;
    return of->second < INFINITY ? (double)of->second - (double)of->least : 0;
}

double strag_call_sample_seconds(const struct strag_call_sample *sample, int n)
{
    const double delay = (double)sample->stay.second - (double)sample->stay.least;
    return fmin((double)sample->longest, 2 * (double)sample->sum / n) - delay;
}

/* ---- Which calls ---- */

void strag_window_start(struct strag_window *window, const struct strag_window_order *order)
{
    window->order = *order;
    window->passed = window->filled = 0;
    window->full = false;
    for (int c = 0; c < STRAG_WINDOW_CALLS; c++)
        window->sample[c] = strag_call_sample_none();
}

bool strag_window_has(const struct strag_window *window, size_t bytes, int operation)
{
    const struct strag_window_order *order = &window->order;
    return !window->full && window->passed >= order->pause &&
           (order->bytes == 0 || (order->bytes == bytes && order->operation == operation));
}

bool strag_window_runs_rival(const struct strag_window *window, size_t bytes, int operation)
{
    return window->order.bytes > 0 && strag_window_has(window, bytes, operation) &&
           (window->order.rival_runs >> window->filled & 1);
}

enum strag_window_step strag_window_end(struct strag_window *window, int rank, bool sampled,
                                        double stay, double wait)
{
    const struct strag_window_order *order = &window->order;
    if (window->full)
        return STRAG_WINDOW_DECIDE;
    if (sampled)
        strag_call_sample_add(&window->sample[window->filled++], rank, stay, wait);
    else
        window->passed++;
    window->full = window->filled >= order->calls || window->passed >= order->pause + WAIT_LIMIT;
    return window->full ? STRAG_WINDOW_SEND : STRAG_WINDOW_NOTHING;
}
