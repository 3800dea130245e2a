/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the user has set by MCA parameters of the process.
 *
 * Read once, when the component is opened, and not written after that.
 */
#ifndef COLL_STRAG_SETTINGS_H
#define COLL_STRAG_SETTINGS_H

#include "compat/compat.h"
#include "values.h"

#include "machine/layout.h"
#include "model/choice.h"
#include "model/numbers.h"

struct coll_strag_settings {
    bool enable;
    bool learn; /* from calls how fast the machine is */
    int priority;
    bool priority_set; /* by the user */
    int verbose;
    int pinned;    /* as coll_strag_read_algorithm */
    int ports;     /* as in struct strag_problem */
    int transport; /* enum coll_strag_transport_kind; COLL_STRAG_TRANSPORTS: auto */
    enum coll_strag_shared_memory shared_memory;
    size_t shared_memory_size; /* bytes of addresses in a process */
    enum coll_strag_device_buffers device_buffers;
    bool devices;            /* there may be buffers in a device's memory (wire/device_buffer.c) */
    size_t segment;          /* bytes; 0: as rank 0 finds best */
    size_t minimum;          /* bytes, for auto */
    bool minimum_set;        /* by the user; else it is lower where all ranks share memory */
    size_t watch_from;       /* bytes: shorter calls are not watched */
    int stuck;               /* seconds until it is said that a call stands still; 0: never */
    int window;              /* calls; 0: as suits the number of ranks */
    bool report;             /* at the end of each communicator */
    const char *report_file; /* into which it is written; "": it goes to stderr */
    enum strag_reproducible reproducible;
    const char *layout_file, *rules_file, *model_file; /* "": none */
    const char *trace_file;                            /* likewise */
    const char *save_file;                             /* "": none; may have a %c */
    const char *straggler, *slowdown;                  /* checked: these can be read */
    struct strag_layout *grid;                         /* coll_strag_torus; NULL: none */
    const char *grid_text;
    const char *plan;                   /* checked: coll_strag_file_range; "": none */
    bool has_layout_or_rules;           /* by a layout, rules, a plan or a grid */
    double number[STRAG_MODEL_NUMBERS]; /* seconds or bytes per second; below 0: not set */
};

extern struct coll_strag_settings coll_strag_settings;

/** Register the parameters. @param component  whose they are */
void coll_strag_settings_register(const mca_base_component_t *component);

/** Find out what their texts mean. Rank 0 of the job warns, once, of those that mean nothing and of
 * names that are no parameter's. */
void coll_strag_settings_read(void);

void coll_strag_settings_free(void);

#endif
