/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the user has set for one communicator: its info key, or else the parameter. All ranks use
 * rank 0's value. They hear of it in the setup, so that no key decides whether or when that begins.
 */
#ifndef COLL_STRAG_INFO_KEYS_H
#define COLL_STRAG_INFO_KEYS_H

#include "settings.h"

enum coll_strag_key {
    COLL_STRAG_KEY_ALGORITHM,
    COLL_STRAG_KEY_PLAN,
    COLL_STRAG_KEY_PORTS,
    COLL_STRAG_KEY_TRANSPORT,
    COLL_STRAG_KEY_REPORT,
    COLL_STRAG_KEY_STRAGGLER,
    COLL_STRAG_KEY_SLOWDOWN,
    COLL_STRAG_KEYS
};

/** On the communicator's rank 0, when it is made: warn, once, of keys that do not exist and of
 * values that mean nothing. Costs nothing if the communicator has no info. */
void coll_strag_check_keys(ompi_communicator_t *comm);

/** Does the communicator have one of those keys on this rank that describe its ranks, or that they
 * are to be watched: coll_strag_straggler, coll_strag_slowdown, coll_strag_report? */
bool coll_strag_has_watch_keys(ompi_communicator_t *comm);

/* What the keys were when they were read. */
struct coll_strag_keys {
    uint64_t hash[COLL_STRAG_KEYS];
};

/** Note them, when the communicator is made, and on its rank 0 when they are used. Costs nothing
 * where it has no info. */
void coll_strag_note_keys(ompi_communicator_t *comm, struct coll_strag_keys *keys);

/** On its rank 0, at the end: warn, once, of keys that MPI_Comm_set_info has changed since. (Open
 * MPI has forgotten the keys where a communicator was freed; MPI_COMM_WORLD has them to the end.)
 */
void coll_strag_check_late_keys(ompi_communicator_t *comm, const struct coll_strag_keys *keys);

/** Show a warning of such keys, unless it was shown before. */
void coll_strag_warn_of_keys(const struct coll_strag_complaints *complaints);

/** A key's value. @param otherwise  the parameter's, for communicators without the key
 * @return as what values.h has for it */
int coll_strag_key(ompi_communicator_t *comm, enum coll_strag_key key, int otherwise);

enum { COLL_STRAG_KEY_MAX = MPI_MAX_INFO_VAL + 1 }; /* bytes of a value */

/** The text of a key, checked: coll_strag_straggler's or coll_strag_slowdown's, as
 * machine/state_text.h reads them, or coll_strag_plan's, as coll_strag_next_file_range does.
 * @param text  room for it @return `text`, if it is the key's; else the parameter */
const char *coll_strag_key_text(ompi_communicator_t *comm, enum coll_strag_key key,
                                char text[COLL_STRAG_KEY_MAX]);

#endif
