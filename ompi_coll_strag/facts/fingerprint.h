/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process's version of strag, and its parameters that take effect without a message. Ranks
 * compare them before they exchange messages. Each process publishes its fingerprint with Open
 * MPI's modex while MPI_Init runs; from then on others can look it up without the process's help.
 */
#ifndef COLL_STRAG_FINGERPRINT_H
#define COLL_STRAG_FINGERPRINT_H

#include "compat/compat.h"

/* Why calls are recorded; bits. */
enum { COLL_STRAG_NOTES_REPORT = 1, COLL_STRAG_NOTES_TRACE = 2 };

struct coll_strag_fingerprint {
    char version[24]; /* of strag; "" if the process does not have it, or has it switched off */
    uint64_t form;    /* hash of the algorithms' names, and of the sizes of setup's messages */
    int32_t priority; /* this and the rest as in struct coll_strag_settings */
    int32_t pinned;
    int32_t has_layout_or_rules;
    int32_t reproducible; /* enum strag_reproducible */
    int32_t noting;       /* calls are recorded: COLL_STRAG_NOTES_... */
    uint64_t minimum, watch_from;
};

/* Bytes of a text that describes a difference. */
enum { COLL_STRAG_DIFFERENCE_MAX = 128 };

/** Publish this process's, once its parameters are known, if strag is not switched off. */
void coll_strag_fingerprint_publish(void);

void coll_strag_fingerprint_free(void);

/** Look up the fingerprint of a communicator's rank. */
void coll_strag_fingerprint_find(ompi_communicator_t *comm, int rank,
                                 struct coll_strag_fingerprint *fingerprint);

/** Why a communicator's rank 0 wants calls to be recorded. @return COLL_STRAG_NOTES_...; 0 if it
 * does not, or if this process cannot record them */
int coll_strag_fingerprint_notes(ompi_communicator_t *comm);

/** Is it of a process with the same build, with which this one can exchange messages? */
bool coll_strag_fingerprint_is_ours(const struct coll_strag_fingerprint *theirs);

/** Does it keep this process from running allreduces with the fingerprint's process?
 * @param[out] why  COLL_STRAG_DIFFERENCE_MAX bytes; or NULL */
bool coll_strag_fingerprint_differs(const struct coll_strag_fingerprint *theirs, char *why);

/** Are its parameters different from those of the communicator's rank 0, which are used?
 * @param[out] what  the difference; else as `why` */
bool coll_strag_fingerprint_varies(const struct coll_strag_fingerprint *theirs,
                                   const struct coll_strag_fingerprint *first, char *what);

#endif
