/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbose lines (coll_strag_verbose, coll_base_verbose), and warnings. */
#ifndef COLL_STRAG_LOG_H
#define COLL_STRAG_LOG_H

#include "compat/compat.h"

#include "base/status.h"

/* The kinds of warnings. Only rank 0 warns of wrong parameters of the job. Ranks on other hosts
 * also warn of files and devices, which may differ there. */
enum coll_strag_warning {
    /* once each */
    COLL_STRAG_WARN_PARAMETERS,
    COLL_STRAG_WARN_NO_HOST,
    COLL_STRAG_WARN_DIFFERENT,
    COLL_STRAG_WARN_NOT_EVERYWHERE,
    COLL_STRAG_WARN_LAYOUT,
    COLL_STRAG_WARN_TORUS,
    COLL_STRAG_WARN_RULES,
    COLL_STRAG_WARN_MODEL,
    COLL_STRAG_WARN_PLAN,
    COLL_STRAG_WARN_KEYED_PLAN, /* the job's rank 0 need not be in the communicator */
    COLL_STRAG_WARN_SAVE,
    COLL_STRAG_WARN_NOT_WRITTEN,
    COLL_STRAG_WARN_PINNED,
    COLL_STRAG_WARN_NO_UCP,
    COLL_STRAG_WARN_LOST,
    COLL_STRAG_WARN_NOT_SHARED,
    COLL_STRAG_WARN_COPIED,
    COLL_STRAG_WARN_NO_PLUGIN,

    /* whenever coll_strag_show is called */
    COLL_STRAG_WARN_INFO_KEYS,
    COLL_STRAG_WARN_WRONG_VERSION,
    COLL_STRAG_WARN_NO_COMPANIONS,
    COLL_STRAG_WARN_DIFFERENT_CALLS,
    COLL_STRAG_WARN_FAILED_RANK,
    COLL_STRAG_WARN_STUCK,
    COLL_STRAG_WARN_AWAITED,
};

/* A warning's text, and the processes that show it. */
struct coll_strag_text {
    const char *text; /* has one or two %s: for what cannot be used, and why */
    enum { ANY_RANK, FIRST_RANK, FIRST_AND_OTHER_HOSTS, ONE_PER_HOST } who;
};

/* [enum coll_strag_warning] */
extern const struct coll_strag_text coll_strag_texts[];

/* The version of strag, such as 1.2.0. */
extern const char coll_strag_version[];

/** The name of a rank's host. @return "unknown host" if Open MPI does not know it */
const char *coll_strag_host_of(ompi_communicator_t *comm, int rank);

/** Open a stream for verbose lines, if `verbose` is above 0. */
void coll_strag_log_open(int verbose);
void coll_strag_log_close(void);

/* Are verbose lines printed? */
extern bool coll_strag_logging;

/** Print a verbose line. It begins with the communicator's name, id and size.
 * @param comm  NULL if the line is about no communicator */
void coll_strag_log(ompi_communicator_t *comm, const char *format, ...) STRAG_PRINTF(2, 3);

/** Does this process warn of the job's parameters? Not in a job that another job has spawned: its
 * parameters are the other job's. */
bool coll_strag_speaks(void);

/** Warn once per process and kind. @param what, why  for the text's %s */
void coll_strag_warn(enum coll_strag_warning warning, const char *what, const char *why);

/** Another process has shown this warning: this one need not. */
void coll_strag_warned(enum coll_strag_warning warning);

/** Show a warning at every call. @param what, why  for the text's %s */
void coll_strag_show(enum coll_strag_warning warning, const char *what, const char *why);

#endif
