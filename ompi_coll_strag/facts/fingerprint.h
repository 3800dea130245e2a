/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What must be the same on all ranks before they can talk: strag, the same version of it, and the
 * parameters that decide without a message. Each process publishes it with Open MPI's modex while
 * MPI_Init runs; from then on others can look it up without the process's help.
 */
#ifndef COLL_STRAG_FINGERPRINT_H
#define COLL_STRAG_FINGERPRINT_H

#include "compat/compat.h"

/* What calls are recorded for; bits. */
enum { COLL_STRAG_NOTES_REPORT = 1, COLL_STRAG_NOTES_TRACE = 2 };

struct coll_strag_fingerprint {
    char version[24]; /* of strag; "": the process has none, or has it switched off */
    uint64_t form;    /* hash of the algorithms, and of what ranks send each other in setup */
    int32_t priority; /* this and the rest as in struct coll_strag_settings */
    int32_t pinned;
    int32_t has_layout_or_rules;
    int32_t reproducible; /* enum strag_reproducible */
    int32_t noting;       /* calls are recorded: COLL_STRAG_NOTES_... */
    uint64_t minimum, watch_from;
};

/* Room for a difference in words. */
enum { COLL_STRAG_DIFFERENCE_MAX = 128 };

/** Let other processes know this one's; when its parameters are known, and strag is not switched
 * off. */
void coll_strag_fingerprint_publish(void);

void coll_strag_fingerprint_free(void);

/** That of a rank of a communicator. */
void coll_strag_fingerprint_find(ompi_communicator_t *comm, int rank,
                                 struct coll_strag_fingerprint *fingerprint);

/** What does a communicator's rank 0 want calls to be recorded for? @return COLL_STRAG_NOTES_...;
 * 0: nothing, or this process cannot */
int coll_strag_fingerprint_notes(ompi_communicator_t *comm);

/** Does it belong to a process with the same build, which can be talked to? */
bool coll_strag_fingerprint_is_ours(const struct coll_strag_fingerprint *theirs);

/** Does it keep this process from running allreduces with the one that has it?
 * @param[out] why  COLL_STRAG_DIFFERENCE_MAX bytes; or NULL */
bool coll_strag_fingerprint_differs(const struct coll_strag_fingerprint *theirs, char *why);

/** Does it have other parameters than the communicator's rank 0, whose hold?
 * @param[out] what  as `why` */
bool coll_strag_fingerprint_varies(const struct coll_strag_fingerprint *theirs,
                                   const struct coll_strag_fingerprint *first, char *what);

#endif
