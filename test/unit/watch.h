/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport and the reducer that watch an engine. For world.c. */
#ifndef STRAG_TEST_WATCH_H
#define STRAG_TEST_WATCH_H

#include "world.h"

/** Keep the first problem of a rank. */
void watch_problem(struct member *member, const char *format, ...) STRAG_PRINTF(2, 3);

/** Put the rank's transport and reducer in order for a call. */
void watch_begin(struct member *member);

/** Free what the call left. */
void watch_end(struct member *member);

/** Nothing in flight, nothing being reduced, temporary space given back? Notes a problem if not.
 */
void watch_check_clean(struct member *member);

/** Where an element of the rank's input or output is. */
void *world_vector(const struct member *member, bool output, size_t element);

#endif
