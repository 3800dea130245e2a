/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll/strag: MPI_Allreduce by plans.
 *
 *     coll_strag_component.c      parameters, opening, companions of `--mca coll strag`
 *     coll_strag_module.c         one per communicator: take it or decline it
 *     coll_strag_allreduce.c      the entry point: choose an algorithm, or hand the call on
 *     coll_strag_transport_pml.c  the engine's messages over the PML
 *     coll_strag_reducer.c        the engine's arithmetic over MPI's operators
 *     compat/                     what differs between Open MPI's versions
 */
#ifndef COLL_STRAG_H
#define COLL_STRAG_H

#include "compat/compat.h"

#include "algorithm.h"
#include "engine.h"

#include <pthread.h>
#include <stdbool.h>

/* Algorithms are told apart by their index in strag_algorithms; so many fit. */
#define COLL_STRAG_ALGORITHMS_MAX 16

/* Why a call goes to the previous component. */
enum coll_strag_reason {
    COLL_STRAG_NOT_COMMUTATIVE = COLL_STRAG_ALGORITHMS_MAX,
    COLL_STRAG_NO_BYTES,
    COLL_STRAG_EXTENT,
    COLL_STRAG_TOO_SHORT,
};

/* Temporary space that is not in use, kept for the next call of any communicator. */
struct coll_strag_space {
    struct coll_strag_space *next;
    size_t bytes;
};

struct mca_coll_strag_component_t {
    mca_coll_base_component_t super;

    /* parameters, as registered */
    bool enable;
    int priority;
    int verbose;
    char *algorithm_text;
    char *segment_text;
    char *minimum_text;

    /* what they mean */
    int stream;        /* of our own for verbose lines, or -1: the coll framework's */
    int pinned;        /* index in strag_algorithms, or -1: auto */
    size_t segment;    /* bytes */
    size_t minimum;    /* bytes, for auto */
    bool priority_set; /* by the user */

    bool telling; /* somebody wants verbose lines */

    /* Calls are counted per communicator, without atomics; here are those of freed ones. */
    struct coll_strag_count {
        unsigned long long calls;     /* that strag has run */
        unsigned long long delegated; /* that it has handed on */
    } freed;
    pthread_mutex_t modules_lock; /* guards freed and modules */
    struct mca_coll_strag_module_t *modules;

    pthread_mutex_t space_lock;
    struct coll_strag_space *space; /* free ones, the last used first */
    int nspaces;
};
typedef struct mca_coll_strag_component_t mca_coll_strag_component_t;

OMPI_DECLSPEC extern mca_coll_strag_component_t mca_coll_strag_component;

/* An outstanding message of the transport. */
struct coll_strag_message {
    struct strag_transfer *transfer;
    ompi_request_t *request;
    size_t bytes; /* expected, for a receive */
    bool send;
};

/* The engine's transport over the PML: for one communicator, and one call at a time. */
struct coll_strag_transport {
    struct strag_transport super;
    ompi_communicator_t *comm;
    ompi_datatype_t *dtype;
    size_t size;   /* bytes of data in an element */
    int mpi_error; /* the first one */
    struct coll_strag_message *messages;
    size_t nmessages, room;
};

/* The engine's reducer over MPI's operators, in host memory. */
struct coll_strag_reducer {
    struct strag_reducer super;
    ompi_op_t *op;
    ompi_datatype_t *dtype;
    ptrdiff_t extent;      /* bytes from one element to the next */
    ptrdiff_t true_lb;     /* where an element's data begins */
    ptrdiff_t true_extent; /* bytes from its first data to its last */
};

struct mca_coll_strag_module_t {
    mca_coll_base_module_t super;

    bool enabled;
    size_t too_short; /* bytes: shorter calls are handed on at once, untold */
    struct coll_strag_count count;
    mca_coll_base_module_allreduce_fn_t previous_allreduce;
    mca_coll_base_module_t *previous_allreduce_module;

    /* what auto runs below and from `limit` bytes: indices in strag_algorithms */
    size_t limit;
    int below, above;

    /* by algorithm, made when first used */
    struct strag_plan *plans[COLL_STRAG_ALGORITHMS_MAX];
    struct strag_engine *engines[COLL_STRAG_ALGORITHMS_MAX];
    struct coll_strag_transport transport;

    struct mca_coll_strag_module_t *next, **link; /* in the component's list */

    /* by size class: which outcomes (algorithm or reason) were told to the user, one bit each */
    uint32_t told[65];
};
typedef struct mca_coll_strag_module_t mca_coll_strag_module_t;

OBJ_CLASS_DECLARATION(mca_coll_strag_module_t);

/* module */
mca_coll_base_module_t *mca_coll_strag_comm_query(ompi_communicator_t *comm, int *priority);

/* allreduce */
int mca_coll_strag_allreduce(const void *sbuf, void *rbuf, coll_strag_count_t count,
                             ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                             mca_coll_base_module_t *module);

/** The calls of this process so far. */
void coll_strag_count(struct coll_strag_count *total);

/** A line for users who asked for it (coll_strag_verbose, coll_base_verbose). */
void coll_strag_tell(const char *format, ...) STRAG_PRINTF(1, 2);

/** The index of an algorithm in strag_algorithms. */
int coll_strag_index(const struct strag_algorithm *algorithm);

/* transport */
void coll_strag_transport_init(struct coll_strag_transport *transport, ompi_communicator_t *comm);
void coll_strag_transport_free(struct coll_strag_transport *transport);

/** Get ready for one call. */
void coll_strag_transport_begin(struct coll_strag_transport *transport, ompi_datatype_t *dtype,
                                size_t size);

/* reducer */
int coll_strag_reducer_init(struct coll_strag_reducer *reducer, ompi_op_t *op,
                            ompi_datatype_t *dtype);

/** Free all temporary space that is kept. */
void coll_strag_spaces_free(void);

#endif
