/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the texts of parameters and info keys mean. If one means nothing, there is a complaint,
 * and all ranks take the same value instead.
 */
#ifndef COLL_STRAG_VALUES_H
#define COLL_STRAG_VALUES_H

#include "complaints.h"

#include "machine/layout.h"

/* No algorithm is pinned; or the previous component runs all calls. */
enum { COLL_STRAG_AUTO = -1, COLL_STRAG_PREVIOUS = -2 };

/* coll_strag_device_buffers */
enum coll_strag_device_buffers { COLL_STRAG_IF_ANY, COLL_STRAG_YES, COLL_STRAG_NO };

/* What messages go over, but for those through shared memory. */
enum coll_strag_transport_kind { COLL_STRAG_PML, COLL_STRAG_UCP, COLL_STRAG_TRANSPORTS };

/* Do messages within a host go through memory of our own? WANTED: warn where they cannot. */
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

/** @return links that a host drives at the same time; 0: auto */
int coll_strag_read_ports(const struct coll_strag_source *source);

/** @return enum coll_strag_transport_kind; COLL_STRAG_TRANSPORTS: auto */
int coll_strag_read_transport(const struct coll_strag_source *source);

/** @return enum coll_strag_device_buffers */
int coll_strag_read_device_buffers(const struct coll_strag_source *source);

/** @return enum coll_strag_shared_memory */
int coll_strag_read_shared_memory(const struct coll_strag_source *source);

/** @return enum strag_reproducible */
int coll_strag_read_reproducible(const struct coll_strag_source *source);

/** @param[out] file  the file that is named; "": none @return whether a report is wanted */
bool coll_strag_read_report(const struct coll_strag_source *source, const char **file);

/** An info key that is on or off. @return 0 or 1 */
int coll_strag_read_switch(const struct coll_strag_source *source);

/** Texts that rank 0 reads for each communicator (machine/state_text.h). @return 1; or 0: they
 * cannot be read, or name a rank that the job does not have */
int coll_strag_check_straggler(const struct coll_strag_source *source);
int coll_strag_check_slowdown(const struct coll_strag_source *source);

/* A file, and the sizes at which it is to be used: "FILE" or "FILE:FROM-TO". */
struct coll_strag_file_range {
    char file[1024];
    size_t from, to; /* bytes, both included */
};

enum { COLL_STRAG_FILES_MAX = 16 }; /* such entries of coll_strag_plan, between commas */

/** Read the first entry of a list that is not empty.
 * @return what follows its comma, "" behind the last one; NULL: it is none */
const char *coll_strag_next_file_range(const char *text, struct coll_strag_file_range *range);

/** @return 1; or 0: it is no such list, and nothing is used */
int coll_strag_check_plan(const struct coll_strag_source *source);

/** @return bytes, low to high; if the text is `word`, or no such size: `otherwise` */
size_t coll_strag_read_size(const struct coll_strag_source *source, const char *word,
                            size_t otherwise, size_t low, size_t high, const char *accepted);

/** A number of the cost model. @param id  enum strag_model_id @return seconds, or bytes per second;
 * below 0: the text is empty, or no such number */
double coll_strag_read_number(const struct coll_strag_source *source, int id);

/** @return an integer from 0 to `most`; or `otherwise` */
int coll_strag_read_integer(const struct coll_strag_source *source, int most, int otherwise);

/** The grid of coll_strag_torus. @return the caller's to free; NULL: none, or a bad one */
struct strag_layout *coll_strag_read_grid(const struct coll_strag_source *source);

#endif
