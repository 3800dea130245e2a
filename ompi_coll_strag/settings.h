/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the user has set: MCA parameters of the process, and info keys of a communicator.
 *
 * Read once, when the component is opened, and not written after that.
 */
#ifndef COLL_STRAG_SETTINGS_H
#define COLL_STRAG_SETTINGS_H

#include "compat/compat.h"

#include "machine/layout.h"

#include <stdbool.h>

/* No algorithm is pinned. */
enum { COLL_STRAG_AUTO = -1 };

/* The numbers of the cost model. */
enum coll_strag_number {
    COLL_STRAG_ALPHA,
    COLL_STRAG_LOCAL_ALPHA,
    COLL_STRAG_BANDWIDTH,
    COLL_STRAG_LOCAL_BANDWIDTH,
    COLL_STRAG_LINK_LATENCY,
    COLL_STRAG_HOP_LATENCY,
    COLL_STRAG_REDUCE_BANDWIDTH,
    COLL_STRAG_NUMBERS,
};

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

struct coll_strag_settings {
    bool enable;
    int priority;
    bool priority_set; /* by the user */
    int verbose;
    int pinned;    /* index in strag_algorithms, or COLL_STRAG_AUTO */
    int ports;     /* as in struct strag_problem */
    int transport; /* enum coll_strag_transport_kind; COLL_STRAG_TRANSPORTS: auto */
    enum coll_strag_shared_memory shared_memory;
    enum coll_strag_device_buffers device_buffers;
    bool devices;      /* there may be buffers in a device's memory (device.c) */
    size_t segment;    /* bytes; 0: as rank 0 finds best */
    size_t minimum;    /* bytes, for auto */
    bool minimum_set;  /* by the user; else it is lower where all ranks share memory */
    size_t watch_from; /* bytes: shorter calls are not watched */
    int window;        /* calls; 0: as suits the number of ranks */
    bool report;       /* at the end of each communicator */
    bool reproducible;
    const char *layout_file, *rules_file; /* "": none */
    const char *straggler, *slowdown;     /* checked: these can be read */
    struct strag_layout *grid;            /* coll_strag_torus; NULL: none */
    const char *grid_text;
    bool has_layout_or_rules;          /* by a layout, rules or a grid */
    double number[COLL_STRAG_NUMBERS]; /* seconds or bytes per second; below 0: not set */
};

extern struct coll_strag_settings coll_strag_settings;

/** Register the parameters. @param component  whose they are */
void coll_strag_settings_register(const mca_base_component_t *component);

/** Find out what their texts mean; warn once of those that mean nothing. */
void coll_strag_settings_read(void);

void coll_strag_settings_free(void);

/** Warn that an info key cannot be used. @param used  what is used instead */
void coll_strag_settings_bad_key(const char *key, const char *text, const char *reason,
                                 const char *accepted, const char *used);

/*
 * For a communicator: its info key, or else the parameter. All ranks use rank 0's value, but for
 * the pinned algorithm, which they must set alike.
 */

/** coll_strag_algorithm: an index in strag_algorithms, or COLL_STRAG_AUTO.
 * @param otherwise  rank 0's parameter, for communicators without the key */
int coll_strag_pinned(ompi_communicator_t *comm, int otherwise);

/** coll_strag_ports: how many links a host drives at the same time; 0: as suits the algorithm. */
int coll_strag_ports(ompi_communicator_t *comm);

/** coll_strag_transport. @param ucp_takes_device  asked for auto: are there buffers in a device's
 * memory that UCX would take from there? */
enum coll_strag_transport_kind coll_strag_transport_wanted(ompi_communicator_t *comm,
                                                           bool (*ucp_takes_device)(void));

/** coll_strag_report. */
bool coll_strag_report_wanted(ompi_communicator_t *comm);

#endif
