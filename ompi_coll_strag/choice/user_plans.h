/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans from files (coll_strag_plan, the info key, `plan` in a rules file): rank 0 of a
 * communicator reads and proves them, sends them to all in setup, and each rank keeps what it needs
 * for its own part. They take precedence over the table. One that cannot be used is warned of.
 */
#ifndef COLL_STRAG_USER_PLANS_H
#define COLL_STRAG_USER_PLANS_H

#include "user/settings.h"

#include "plan/given.h"

/* Which file is asked for at which sizes. */
struct coll_strag_wanted_plan {
    const char *file;
    size_t from, to; /* bytes, both included */
    const char *who; /* asks for it, for messages: "coll_strag_plan" */
    bool keyed;      /* by an info key */
};

/* Of one communicator. */
struct coll_strag_given {
    int plans;
    struct coll_strag_given_plan {
        uint64_t from, to;
        const struct strag_algorithm *algorithm; /* the process's, to its end */
    } plan[];
};

/** What runs at a size. @param given  NULL: there are none @return NULL: what the table says */
static inline const struct strag_algorithm *
coll_strag_given_find(const struct coll_strag_given *given, size_t bytes)
{
    for (int p = 0; given && p < given->plans; p++)
        if (bytes >= given->plan[p].from && bytes <= given->plan[p].to)
            return given->plan[p].algorithm;
    return NULL;
}

/** How long the shortest vectors are that one of them runs. SIZE_MAX: none does */
size_t coll_strag_given_shortest(const struct coll_strag_given *given);

/**
 * On rank 0: read the file, if it was not read yet, and prove it; if it is for as many ranks as the
 * communicator has, pack it. The first that holds for a size is the one that runs.
 *
 * @param[in,out] bytes, size  it is appended to these; NULL and 0 at first; the caller's to free
 */
void coll_strag_given_add(ompi_communicator_t *comm, const struct coll_strag_wanted_plan *wanted,
                          char **bytes, size_t *size);

/** On all ranks, from rank 0's bytes. @return the caller's to free; NULL: out of memory */
struct coll_strag_given *coll_strag_given_unpack(ompi_communicator_t *comm, const void *bytes,
                                                 size_t size);

/** Free all plans, at the end. */
void coll_strag_given_close(void);

#endif
