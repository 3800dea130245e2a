/* SPDX-License-Identifier: BSD-3-Clause */
#include "detect/window.h"

#include <math.h>

/* After this many calls of other sizes an experiment's window ends with the calls that it has. */
enum { WAIT_LIMIT = 64 };

/* ---- What ranks have measured ---- */

static const struct strag_time no_time = {-1, INFINITY};

struct strag_call_sample strag_call_sample_none(void)
{
    struct strag_call_sample none = {.sum = 0};
    for (int i = 0; i < STRAG_SHORTEST; i++)
        none.stay[i] = none.wait[i] = no_time;
    return none;
}

/* A time that was not measured is below 0, and so stays first. */
static void insert(struct strag_time *shortest, struct strag_time time)
{
    for (int i = 0; i < STRAG_SHORTEST; i++) {
        const struct strag_time moved = shortest[i];
        if (time.seconds > moved.seconds ||
            (time.seconds >= moved.seconds && (uint32_t)time.rank >= (uint32_t)moved.rank))
            continue;
        shortest[i] = time;
        time = moved;
    }
}

void strag_call_sample_merge(struct strag_call_sample *sample,
                             const struct strag_call_sample *other)
{
    for (int i = 0; i < STRAG_SHORTEST; i++) {
        insert(sample->stay, other->stay[i]);
        insert(sample->wait, other->wait[i]);
    }
    sample->longest = fmaxf(sample->longest, other->longest);
    sample->sum += other->sum;
}

void strag_call_sample_add(struct strag_call_sample *sample, int rank, double stay, double wait)
{
    insert(sample->stay, (struct strag_time){rank, (float)stay});
    insert(sample->wait, (struct strag_time){rank, (float)wait});
    sample->longest = fmaxf(sample->longest, (float)stay);
    sample->sum += (float)stay;
}

const struct strag_time *strag_call_sample_order(const struct strag_call_sample *sample)
{
    return sample->wait[0].seconds >= 0 ? sample->wait : sample->stay;
}

/* @return 0 if there is no other rank */
static double first_gap(const struct strag_time *order)
{
    const double gap = (double)order[1].seconds - (double)order[0].seconds;
    return gap < INFINITY ? gap : 0;
}

double strag_call_sample_seconds(const struct strag_call_sample *sample, int n)
{
    return fmin((double)sample->longest, 2 * (double)sample->sum / n) - first_gap(sample->stay);
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
