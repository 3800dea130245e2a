/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the texts of info keys, and of the parameters of the same names. An invalid text leads to a
 * complaint, and all ranks use the same value instead.
 */
#ifndef COLL_STRAG_VALUES_H
#define COLL_STRAG_VALUES_H

#include "complaints.h"

#include <stddef.h>

/* No algorithm is pinned; or the previous component runs all calls. */
enum { COLL_STRAG_AUTO = -1, COLL_STRAG_PREVIOUS = -2 };

/* coll_strag_device_buffers */
enum coll_strag_device_buffers { COLL_STRAG_IF_ANY, COLL_STRAG_YES, COLL_STRAG_NO };

/* The transport of messages that do not go through shared memory. */
enum coll_strag_transport_kind { COLL_STRAG_PML, COLL_STRAG_UCP, COLL_STRAG_TRANSPORTS };

/* Do messages within a host go through strag's shared memory? WANTED also warns if they cannot. */
enum coll_strag_shared_memory {
    COLL_STRAG_SHARED_NEVER,
    COLL_STRAG_SHARED_WANTED,
    COLL_STRAG_SHARED_AUTO,
};

#ifdef STRAG_HAVE_UCX
enum { COLL_STRAG_WITH_UCX = true };
#else
enum { COLL_STRAG_WITH_UCX = false };
#endif

/** @return an index in strag_algorithms, COLL_STRAG_AUTO or COLL_STRAG_PREVIOUS */
int coll_strag_read_algorithm(const struct coll_strag_source *source);

/** @return links that a host drives at the same time; 0 for auto */
int coll_strag_read_ports(const struct coll_strag_source *source);

/** @return enum coll_strag_transport_kind; COLL_STRAG_TRANSPORTS for auto */
int coll_strag_read_transport(const struct coll_strag_source *source);

/** @param words     a list that ends with NULL
 * @param accepted  the same, for a complaint
 * @return the text's index in the list; `otherwise` if it is none of the words */
int coll_strag_read_word(const struct coll_strag_source *source, const char *const *words,
                         const char *accepted, int otherwise);

/** An info key that is on or off. @return 0 or 1 */
int coll_strag_read_switch(const struct coll_strag_source *source);

/** Check texts that rank 0 reads for each communicator (machine/state_text.h). @return 1; 0 if the
 * text cannot be read, or names a rank that the job does not have */
int coll_strag_check_straggler(const struct coll_strag_source *source);
int coll_strag_check_slowdown(const struct coll_strag_source *source);

/* A file, and the sizes at which it is used: "FILE" or "FILE:FROM-TO". */
struct coll_strag_file_range {
    char file[1024];
    size_t from, to; /* bytes, both included */
};

/** Read the first entry of a list that is not empty.
 * @return the text behind the entry's comma, "" after the last entry; NULL if it is not an entry */
const char *coll_strag_next_file_range(const char *text, struct coll_strag_file_range *range);

/** @return 1; 0 if the text is not such a list, and nothing is used */
int coll_strag_check_plan(const struct coll_strag_source *source);

#endif
