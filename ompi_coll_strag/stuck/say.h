/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages on standard error about calls that stand still, and about other waiting. */
#ifndef COLL_STRAG_STUCK_SAY_H
#define COLL_STRAG_STUCK_SAY_H

#include "choice/explain.h"

#include "run/roster.h"

enum {
    COLL_STRAG_OWN_OPERATOR = 0x7fff, /* an operator of the program's */
    COLL_STRAG_NAMED = 8,             /* ranks of each kind; the others are counted */
};

/* The highest bit of a `what`: the call is MPI_Allreduce_init. */
#define COLL_STRAG_IS_INIT (UINT64_C(1) << 63)

/** What must be the same on all ranks of a call, in addition to its bytes: the operator, if it is
 * MPI's own (bits 48 to 62), blocks (16 to 47), and the outcome of the choice. @return not 0 */
static inline uint64_t coll_strag_what(int outcome, int blocks, ompi_op_t *op)
{
    const int kind = ompi_op_is_intrinsic(op) ? op->o_f_to_c_index : COLL_STRAG_OWN_OPERATOR;
    return (uint64_t)(uint16_t)kind << 48 | (uint64_t)(uint32_t)blocks << 16 |
           (uint16_t)(outcome + 1);
}

static inline int coll_strag_what_outcome(uint64_t what)
{
    return (int)(uint16_t)what - 1;
}

/** Say that another rank has made a different call. */
void coll_strag_say_different(ompi_communicator_t *comm, const struct strag_roster_entry *self,
                              const struct strag_roster_entry *other);

/** Say that another rank has sent a message of a different length.
 * @param number  of this rank's call, as below */
void coll_strag_say_length(ompi_communicator_t *comm, uint64_t number, int rank, size_t expected,
                           size_t received);

/** Say that another rank has freed the communicator. */
void coll_strag_say_gone(ompi_communicator_t *comm, uint64_t number, int rank);

/** Say that another rank has failed, and takes part in no more calls. */
void coll_strag_say_failed(ompi_communicator_t *comm, uint64_t number, int rank);

/** Say who has not entered a call. @param seconds  for which it has stood still */
void coll_strag_say_missing(ompi_communicator_t *comm, const struct strag_roster *roster,
                            const struct strag_roster_entry *self, double seconds);

/** Say whose records rank 0 waits for when a communicator comes to its end.
 * @param function  in which it waits
 * @param ranks     the missing ones; only the first COLL_STRAG_NAMED are read
 * @param seconds   for which it has waited; it waits for `most` seconds */
void coll_strag_say_awaited(ompi_communicator_t *comm, const char *function, const int *ranks,
                            int count, double seconds, double most);

#endif
