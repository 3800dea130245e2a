/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator's settings: the value of its info key, or else of the parameter. All ranks use
 * rank 0's value. Setup sends it to them, so no key can decide whether or when setup begins.
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

/** When a communicator is made, on its rank 0: warn, once, of keys that do not exist and of invalid
 * values. Costs nothing if the communicator has no info. */
void coll_strag_check_keys(ompi_communicator_t *comm);

/** Does the communicator have, on this rank, a key that describes its ranks or lets them be
 * watched: coll_strag_straggler, coll_strag_slowdown or coll_strag_report? */
bool coll_strag_has_watch_keys(ompi_communicator_t *comm);

/* Hashes of the keys' values when they were recorded. */
struct coll_strag_keys {
    uint64_t hash[COLL_STRAG_KEYS];
};

/** Record the keys when the communicator is made, and on its rank 0 when they are used. Costs
 * nothing if it has no info. */
void coll_strag_note_keys(ompi_communicator_t *comm, struct coll_strag_keys *keys);

/** On the communicator's rank 0, at the end: warn, once, of keys that MPI_Comm_set_info has changed
 * since. (When a communicator is freed, Open MPI has already dropped its keys; MPI_COMM_WORLD has
 * them to the end.) */
void coll_strag_check_late_keys(ompi_communicator_t *comm, const struct coll_strag_keys *keys);

/** Show a warning about info keys, unless it was shown before. */
void coll_strag_warn_of_keys(const struct coll_strag_complaints *complaints);

/** A key's value. @param otherwise  the parameter's, for communicators without the key
 * @return as the key's function of values.h */
int coll_strag_key(ompi_communicator_t *comm, enum coll_strag_key key, int otherwise);

enum { COLL_STRAG_KEY_MAX = MPI_MAX_INFO_VAL + 1 }; /* bytes of a value */

/** The checked text of a key: of coll_strag_straggler or coll_strag_slowdown, for
 * machine/state_text.h; or of coll_strag_plan, for coll_strag_next_file_range.
 * @param text  buffer @return `text`, if the communicator has the key; else the parameter's text */
const char *coll_strag_key_text(ompi_communicator_t *comm, enum coll_strag_key key,
                                char text[COLL_STRAG_KEY_MAX]);

#endif
