/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages on standard error about a call that stands still, and of other waiting. */
#ifndef COLL_STRAG_STUCK_SAY_H
#define COLL_STRAG_STUCK_SAY_H

#include "choice/explain.h"

#include "run/roster.h"

enum {
    COLL_STRAG_OWN_OPERATOR = 0x7fff, /* the program's */
    COLL_STRAG_NAMED = 8,             /* ranks of each kind; of more the number is given */
};

/* Of what must be the same: it is a call of MPI_Allreduce_init. */
#define COLL_STRAG_IS_INIT (UINT64_C(1) << 63)

/** What must be the same on all ranks of a call, in addition to its bytes: the operator, as far as
 * it is MPI's own, blocks, and the outcome of its choice, from the top but one bit. @return not 0
 */
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

/** Another rank has made another call. */
void coll_strag_say_different(ompi_communicator_t *comm, const struct strag_roster_entry *self,
                              const struct strag_roster_entry *other);

/** Another rank has sent a message of another length. @param number  of this rank's call */
void coll_strag_say_length(ompi_communicator_t *comm, uint64_t number, int rank, size_t expected,
                           size_t received);

/** Another rank has freed the communicator. @param number  of this rank's call */
void coll_strag_say_gone(ompi_communicator_t *comm, uint64_t number, int rank);

/** Another rank has failed, and takes part in no more calls. @param number  of this rank's call */
void coll_strag_say_failed(ompi_communicator_t *comm, uint64_t number, int rank);

/** Who has not entered a call. @param seconds  it has stood still */
void coll_strag_say_missing(ompi_communicator_t *comm, const struct strag_roster *roster,
                            const struct strag_roster_entry *self, double seconds);

/** Whose records rank 0 waits for when a communicator comes to its end.
 * @param function  in which it waits
 * @param ranks     the missing ones, of which the first COLL_STRAG_NAMED are read
 * @param seconds   it has waited, and waits at most */
void coll_strag_say_awaited(ompi_communicator_t *comm, const char *function, const int *ranks,
                            int count, double seconds, double most);

#endif
