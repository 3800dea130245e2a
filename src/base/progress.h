/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far a computation of seconds has come, for programs that show it.
 *
 * Functions that take long have a parameter `const struct strag_progress *`, which may be NULL.
 * They call its functions often, from the thread that called them. So these must return quickly,
 * and must not change the data that is being worked on.
 */
#ifndef STRAG_PROGRESS_H
#define STRAG_PROGRESS_H

#include <stdint.h>

struct strag_progress {
    /** The next step begins. @param name  "swing", "matching"; a text that stays valid
     * @param index  from 0  @param steps  how many there are */
    void (*step)(void *context, const char *name, int index, int steps);
    /** Reports progress within the step. @param total  at least 1 */
    void (*part)(void *context, int64_t done, int64_t total);
    void *context;
};

static inline void strag_progress_step(const struct strag_progress *progress, const char *name,
                                       int index, int steps)
{
    if (progress)
        progress->step(progress->context, name, index, steps);
}

static inline void strag_progress_part(const struct strag_progress *progress, int64_t done,
                                       int64_t total)
{
    if (progress)
        progress->part(progress->context, done, total);
}

#endif
