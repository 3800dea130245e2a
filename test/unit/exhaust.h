/* SPDX-License-Identifier: BSD-3-Clause */
/* Every allocation fails once. The program is linked as memory.h says. */
#ifndef STRAG_TEST_EXHAUST_H
#define STRAG_TEST_EXHAUST_H

#include "base/status.h"

#include <stdbool.h>

/* What is tried: returns a status, and frees what it made. `made` says whether something was put
 * into the result. */
typedef int attempt_function(const void *what, struct strag_error *err, bool *made);

/** Let the first, second, third ... allocation fail, until there are no more: each time the attempt
 * must say STRAG_ERR_MEMORY, make nothing and keep nothing. @return how many allocations */
long exhaust(const char *name, attempt_function *attempt, const void *what);

#endif
