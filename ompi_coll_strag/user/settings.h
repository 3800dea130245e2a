/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values of the process's MCA parameters. They are read once, when the component is opened, and
 * not written after that.
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
    bool learn; /* learn the machine's speed from calls */
    int priority;
    bool priority_set; /* by the user */
    int verbose;
    int pinned;    /* as coll_strag_read_algorithm */
    int ports;     /* as in struct strag_problem */
    int transport; /* enum coll_strag_transport_kind; COLL_STRAG_TRANSPORTS for auto */
    enum coll_strag_shared_memory shared_memory;
    size_t shared_memory_size; /* bytes of addresses in a process */
    enum coll_strag_device_buffers device_buffers;
    bool devices;            /* there may be buffers in a device's memory (wire/device_buffer.c) */
    size_t segment;          /* bytes; 0 for the length that rank 0 finds best */
    size_t minimum;          /* bytes, for auto */
    bool minimum_set;        /* by the user; else it is lower if all ranks share memory */
    size_t watch_from;       /* bytes: shorter calls are not watched */
    int stuck;               /* seconds until a call that stands still is reported; 0 for never */
    int window;              /* calls; 0 for 2, then 4, then 8, with pauses */
    bool report;             /* at the end of each communicator */
    const char *report_file; /* the report's file; "" for stderr */
    enum strag_reproducible reproducible;
    const char *layout_file, *rules_file, *model_file; /* "" if not configured */
    const char *trace_file;                            /* "" if not configured */
    const char *save_file;                             /* "" if not configured; may have a %c */
    const char *straggler, *slowdown;                  /* checked: can be read */
    struct strag_layout *grid; /* coll_strag_torus; NULL if not configured */
    const char *grid_text;
    const char *plan;                   /* a checked list for coll_strag_file_range; "" for none */
    bool has_layout_or_rules;           /* a layout, rules, a plan or a grid is configured */
    double number[STRAG_MODEL_NUMBERS]; /* seconds or bytes per second; below 0 if not set */
};

extern struct coll_strag_settings coll_strag_settings;

/** Register the component's parameters. */
void coll_strag_settings_register(const mca_base_component_t *component);

/** Read the parameters' texts. Rank 0 of the job warns, once, of invalid values and of names that
 * are not parameters. */
void coll_strag_settings_read(void);

void coll_strag_settings_free(void);

#endif
