/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the user has set for one communicator: its info key, or else the parameter. All ranks use
 * rank 0's value. They hear of it in the setup, so that no key decides whether or when that begins.
 */
#ifndef COLL_STRAG_INFO_KEYS_H
#define COLL_STRAG_INFO_KEYS_H

#include "settings.h"

/** On the communicator's rank 0, when it is made: warn, once, of keys that do not exist and of
 * values that mean nothing. Costs nothing if the communicator has no info. */
void coll_strag_check_keys(ompi_communicator_t *comm);

/** Does the communicator have one of those keys on this rank that describe its ranks, or that they
 * are to be watched: coll_strag_straggler, coll_strag_slowdown, coll_strag_report? */
bool coll_strag_has_watch_keys(ompi_communicator_t *comm);

/* What the keys were when they were read. */
struct coll_strag_keys {
    uint64_t hash[7];
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

/** coll_strag_algorithm: as coll_strag_read_algorithm.
 * @param otherwise  rank 0's parameter, for communicators without the key */
int coll_strag_pinned(ompi_communicator_t *comm, int otherwise);

/** coll_strag_ports: how many links a host drives at the same time; 0: as suits the algorithm. */
int coll_strag_ports(ompi_communicator_t *comm);

/** coll_strag_transport: as coll_strag_read_transport. */
int coll_strag_transport_wanted(ompi_communicator_t *comm);

/** coll_strag_report. */
bool coll_strag_report_wanted(ompi_communicator_t *comm);

enum { COLL_STRAG_KEY_MAX = MPI_MAX_INFO_VAL + 1 }; /* bytes of a value */

/** coll_strag_straggler and coll_strag_slowdown, as machine/state_text.h reads them.
 * @param buffer  [COLL_STRAG_KEY_MAX], for an info key's. @return it, or the parameter */
const char *coll_strag_straggler(ompi_communicator_t *comm, char *buffer);
const char *coll_strag_slowdown(ompi_communicator_t *comm, char *buffer);

/** coll_strag_plan, checked; as coll_strag_next_file_range reads it; "": none.
 * @param buffer      [COLL_STRAG_KEY_MAX], for an info key's
 * @param[out] keyed  it is the key's
 * @return it, or the parameter */
const char *coll_strag_plan_wanted(ompi_communicator_t *comm, char *buffer, bool *keyed);

#endif
