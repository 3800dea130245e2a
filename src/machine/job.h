/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places a job's ranks on a machine: makes a topology from every rank's own location.
 *
 *     STRAG_JOB_ON_FILE       a layout file: hosts are found by their names, or ranks by their
 *                             numbers if a coordinates file has these
 *     STRAG_JOB_ON_GRID       a grid that the hosts fill, ordered by their lowest ranks
 *     STRAG_JOB_BY_ADDRESSES  the hosts' own addresses, if all have one; else one switch
 *     STRAG_JOB_BY_NAMES      groups that follow from the hosts' names by a pattern
 *     STRAG_JOB_FLAT          one switch
 *
 * If a layout cannot be used, the hosts are on one switch.
 */
#ifndef STRAG_JOB_H
#define STRAG_JOB_H

#include "machine/layout.h"

enum {
    STRAG_HOST_MAX = 72,     /* bytes of a host's name with its NUL; Linux allows 64 */
    STRAG_ADDRESS_MAX = 184, /* of its address, too */
};

/* A rank's own location. Sent between processes of one program as it stands in memory. */
struct strag_rank_location {
    char host[STRAG_HOST_MAX];
    char address[STRAG_ADDRESS_MAX]; /* as SLURM_TOPOLOGY_ADDR; "" if there is none */
    struct strag_core core;
    int32_t world;     /* rank in the job */
    double link_speed; /* bytes per second of the host's links; 0 if not known */
};

enum strag_job_source {
    STRAG_JOB_FLAT,
    STRAG_JOB_ON_FILE,
    STRAG_JOB_ON_GRID,
    STRAG_JOB_BY_ADDRESSES,
    STRAG_JOB_BY_NAMES,
};

struct strag_job {
    const struct strag_rank_location *ranks; /* [n] */
    int n;
    bool part; /* these are some of the job's ranks: fewer hosts than the grid's are no error */
    enum strag_job_source source;
    const struct strag_layout *layout; /* if there is a file or a grid */
    const char *pattern;               /* of names */
};

/**
 * @param[out] topology  the caller's to free; untouched on failure
 * @param[out] why       the reason why the layout (or the addresses) could not be used, or "".
 *                       Unlike other messages it may have two lines
 * @return STRAG_OK, also if the layout is not used; or STRAG_ERR_MEMORY, with a text in `why`
 */
int strag_job_topology(const struct strag_job *job, struct strag_topology **topology,
                       struct strag_error *why);

/** Are both names of one host, where one may lack the domain? */
bool strag_same_host_name(const char *a, const char *b);

#endif
