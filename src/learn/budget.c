/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/budget.h"

#include "detect/thresholds.h"

#include <math.h>

/* Calls. After longer ones the watch has to be there when a program's calls get longer; if no time
 * is left, a window costs next to nothing. */
enum { LONGEST_PAUSE = 1 << 14 };

void strag_budget_add_call(struct strag_budget *budget, double seconds)
{
    budget->calls += seconds < 0 ? budget->call : seconds;
}

void strag_budget_add_window(struct strag_budget *budget, double seconds)
{
    budget->spent += seconds;
    budget->window = seconds;
}

double strag_budget_left(const struct strag_budget *budget)
{
    if (budget->unlimited)
        return INFINITY;
    return STRAG_FIRST_GRANT * budget->call + STRAG_WATCH_SHARE * budget->calls - budget->spent;
}

/* The number of calls of whose time `seconds` are this share. */
static int calls_for(const struct strag_budget *budget, double seconds, double share)
{
    const double calls = seconds > 0 && budget->call > 0 ? seconds / share / budget->call : 0;
    return calls < LONGEST_PAUSE ? (int)calls : LONGEST_PAUSE;
}

int strag_budget_pause(const struct strag_budget *budget, bool soon)
{
    const int due = calls_for(budget, -strag_budget_left(budget), STRAG_WATCH_SHARE);
    const int quiet = soon ? 0 : calls_for(budget, budget->window, STRAG_WATCH_SHARE / 2);
    return due > quiet ? due : quiet;
}
