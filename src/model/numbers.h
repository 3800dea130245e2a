/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers of a cost model, one row each, and the origin of each. All that reads, writes or
 * shows them (files, options, parameters, verbose lines) uses this table.
 */
#ifndef STRAG_NUMBERS_H
#define STRAG_NUMBERS_H

#include "base/status.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * ROW(WITH, ID, member of struct strag_model, option and key of a file, unit, least value,
 * description, default). The unit is US, NS (microseconds, nanoseconds) or GBIT (1e9 bits per
 * second). To add a number, add a row: `--OPTION` of the command, `OPTION:` of a model file and the
 * parameter coll_strag_MEMBER follow.
 */
#define STRAG_MODEL_NUMBERS_LIST(ROW, WITH)                                                        \
    ROW(WITH, ALPHA, alpha, "alpha", US, 0, "microseconds for a message between hosts", "1")       \
    ROW(WITH, LOCAL_ALPHA, local_alpha, "local-alpha", US, 0,                                      \
        "microseconds for a message within a host", "0.4; over the PML 4")                         \
    ROW(WITH, OVERHEAD, overhead, "overhead", US, 0,                                               \
        "microseconds at either end of a further message in a round", "a fifth of alpha")          \
    ROW(WITH, BANDWIDTH, bandwidth, "bandwidth", GBIT, 1e-6,                                       \
        "Gbit/s of a link, each direction, where no layout says it", "100")                        \
    ROW(WITH, INJECTION_BANDWIDTH, injection_bandwidth, "injection-bandwidth", GBIT, 0,            \
        "Gbit/s of a host over all links of a grid; 0: no limit", "0")                             \
    ROW(WITH, LOCAL_BANDWIDTH, local_bandwidth, "local-bandwidth", GBIT, 1e-6,                     \
        "Gbit/s that a rank copies within its host", "160; over the PML 128")                      \
    ROW(WITH, LINK_LATENCY, link_latency, "link-latency", NS, 0,                                   \
        "nanoseconds for each link of the network", "100; trees 0")                                \
    ROW(WITH, HOP_LATENCY, hop_latency, "hop-latency", NS, 0,                                      \
        "nanoseconds for each host or switch behind a link", "300; trees 0")                       \
    ROW(WITH, REDUCE_BANDWIDTH, reduce_bandwidth, "reduce-bandwidth", GBIT, 0,                     \
        "Gbit/s that a rank reduces; 0: for free", "160; over the PML 128")

#define STRAG_MODEL_ID(WITH, ID, ...) STRAG_MODEL_##ID,
enum strag_model_id { STRAG_MODEL_NUMBERS_LIST(STRAG_MODEL_ID, ) STRAG_MODEL_NUMBERS };
#undef STRAG_MODEL_ID

#define STRAG_MODEL_NUMBER_MOST 1e9 /* for all numbers, each in its unit */

struct strag_model_number {
    const char *name;      /* "local-alpha" */
    const char *parameter; /* "local_alpha" */
    const char *what;      /* "microseconds for a message within a host" */
    const char *unit;      /* "us", "ns", "Gbit/s" */
    double scale;          /* factor from the unit to seconds, or to bytes per second */
    double least;          /* in the unit; the maximum is STRAG_MODEL_NUMBER_MOST */
    size_t offset;         /* in struct strag_model */
};

/* [enum strag_model_id] */
extern const struct strag_model_number strag_model_numbers[STRAG_MODEL_NUMBERS];

/** The number's member of a model: seconds, or bytes per second. */
double *strag_model_at(struct strag_model *model, int id);
double strag_model_value(const struct strag_model *model, int id);

/**
 * Read a value in the number's unit, as users type it: 45, 0.5, 1e3.
 *
 * @param[out] value  seconds, or bytes per second
 * @return STRAG_OK, or STRAG_ERR_ARGUMENT with the accepted values (the caller prepends the
 *         option's name); on failure `value` is untouched
 */
int strag_model_number_parse(int id, const char *text, double *value, struct strag_error *err);

/* ---- In YAML files ---- */

struct strag_yaml_key;

/**
 * Make the keys for a YAML mapping with numbers.
 *
 * @param[out] keys  STRAG_MODEL_NUMBERS keys, without the closing one
 * @param offset     of a double[STRAG_MODEL_NUMBERS] in the mapping's target: seconds or bytes per
 *                   second
 */
void strag_numbers_keys(struct strag_yaml_key *keys, size_t offset);

/** The number with this key. @return -1 if there is none */
int strag_numbers_find(const char *key);

/** "alpha: 45", without an end of line: in the fewest digits that read back exactly. */
void strag_numbers_write(FILE *stream, int id, double value);

/* ---- Origins ---- */

/* A later origin has priority over all earlier ones. */
enum strag_origin {
    STRAG_FROM_DEFAULT,  /* strag_model_default, or as the transport requires */
    STRAG_FROM_MEASURED, /* measured by the job itself */
    STRAG_FROM_FILE,     /* from a model file */
    STRAG_FROM_USER,     /* from an option or a parameter */
    STRAG_ORIGINS,
};

/** "default", "measured", "file", "user". */
const char *strag_origin_name(enum strag_origin origin);

/* A model with the origins of its numbers. If all origins are zero, it has defaults. */
struct strag_sourced_model {
    struct strag_model model;
    enum strag_origin origin[STRAG_MODEL_NUMBERS];
    int line;              /* of the model file's entry in use; 0 if none is */
    double measured_error; /* relative difference of measured times to the model; below 0 if not
                              known */
};

/** A model of defaults. */
struct strag_sourced_model strag_model_sourced(const struct strag_model *model);

/** Set a number unless its origin has priority over this one. Alpha also sets the overhead if that
 * is a default. The number is rounded to nine digits in its unit, so that files can hold the same
 * number. @return whether it was set */
bool strag_model_set(struct strag_sourced_model *sourced, int id, double value,
                     enum strag_origin origin);

/**
 * The numbers with their origins, cut at `size`: "alpha 45 us (file lab.yaml, line 3), bandwidth
 * 100 Gbit/s (default), ..."
 *
 * @param file  the model file's name; may be NULL if no number is from it
 * @return text
 */
const char *strag_model_sources(const struct strag_sourced_model *sourced, const char *file,
                                char *text, size_t size);

#endif
