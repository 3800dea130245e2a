/* SPDX-License-Identifier: BSD-3-Clause */
#include "staging_internal.h"

#include <stdlib.h>

struct strag_staging *strag_staging_create(const struct strag_staging_options *options)
{
    struct strag_staging *staging = calloc(1, sizeof *staging);
    if (!staging)
        return NULL;
    staging->options = *options;
    staged_reducer_init(staging);
    return staging;
}

void strag_staging_free(struct strag_staging *staging)
{
    free(staging);
}

struct strag_reducer *strag_staging_reducer(struct strag_staging *staging)
{
    return &staging->reducer;
}

struct strag_transport *strag_staging_transport(struct strag_staging *staging,
                                                struct strag_transport *inner)
{
    int t = 0;
    while (t < staging->ntransports && staging->transports[t].inner != inner)
        t++;
    if (t == staging->ntransports)
        staged_transport_init(&staging->transports[staging->ntransports++], staging, inner);
    return &staging->transports[t].super;
}
