/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * User plans: plans from files (coll_strag_plan, the info key, `plan` in a rules file). Rank 0 of a
 * communicator reads and proves them, and sends them to all in setup; each rank keeps its own part.
 * They take precedence over the table. If a plan cannot be used, there is a warning.
 */
#ifndef COLL_STRAG_USER_PLANS_H
#define COLL_STRAG_USER_PLANS_H

#include "user/settings.h"

#include "plan/given.h"

/* A file that the user has configured, and its sizes. */
struct coll_strag_wanted_plan {
    const char *file;
    size_t from, to; /* bytes, both included */
    const char *who; /* where it is configured, for messages: "coll_strag_plan" */
    bool keyed;      /* by an info key */
};

/* The user plans of one communicator. */
struct coll_strag_given {
    int plans;
    struct coll_strag_given_plan {
        uint64_t from, to;
        const struct strag_algorithm *algorithm; /* kept until the process ends */
    } plan[];
};

/** The user plan for a size. @param given  NULL if there are none @return NULL if there is none */
static inline const struct strag_algorithm *
coll_strag_given_find(const struct coll_strag_given *given, size_t bytes)
{
    for (int p = 0; given && p < given->plans; p++)
        if (bytes >= given->plan[p].from && bytes <= given->plan[p].to)
            return given->plan[p].algorithm;
    return NULL;
}

/** The length of the shortest vectors that a user plan runs, bytes. SIZE_MAX if there is none */
size_t coll_strag_given_shortest(const struct coll_strag_given *given);

/**
 * On rank 0: read the file, unless it was read before. If the plan is for as many ranks as the
 * communicator has, prove it and pack it. The first plan for a size is the one that runs.
 *
 * @param[in,out] bytes, size  the plan is appended; NULL and 0 at first; the caller's to free
 */
void coll_strag_given_add(ompi_communicator_t *comm, const struct coll_strag_wanted_plan *wanted,
                          char **bytes, size_t *size);

/** On all ranks, from rank 0's bytes. @return the caller's to free; NULL if out of memory */
struct coll_strag_given *coll_strag_given_unpack(ompi_communicator_t *comm, const void *bytes,
                                                 size_t size);

/** Free all plans, at the end. */
void coll_strag_given_close(void);

#endif
