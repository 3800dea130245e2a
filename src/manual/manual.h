/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component's reference for users: its parameters, its info keys, its performance variables
 * and its verbose lines. One table of each: the component registers from them, `strag params` and
 * coll_strag(7) show them. Adding a parameter is adding its number and its row.
 */
#ifndef STRAG_MANUAL_H
#define STRAG_MANUAL_H

#include "model/numbers.h"

#include <stdbool.h>
#include <stddef.h>

/* What the name of every parameter, info key and variable begins with; Open MPI adds it to the
 * names that a component registers. */
#define STRAG_PREFIX "coll_strag_"

enum strag_parameter_id {
    /* What runs. */
    STRAG_SET_PRIORITY,
    STRAG_SET_ENABLE,
    STRAG_SET_ALGORITHM,
    STRAG_SET_MINIMUM_SIZE,
    STRAG_SET_RULES,
    STRAG_SET_PLAN,
    STRAG_SET_LEARN,
    STRAG_SET_REPRODUCIBLE,
    /* What it says. */
    STRAG_SET_VERBOSE,
    STRAG_SET_REPORT,
    STRAG_SET_TRACE,
    STRAG_SET_SAVE,
    /* How messages travel. */
    STRAG_SET_SHARED_MEMORY,
    STRAG_SET_SHARED_MEMORY_SIZE,
    STRAG_SET_SEGMENT_SIZE,
    STRAG_SET_TRANSPORT,
    STRAG_SET_DEVICE_BUFFERS,
    /* What the machine looks like, and how fast it is. */
    STRAG_SET_LAYOUT,
    STRAG_SET_TORUS,
    STRAG_SET_PORTS,
    STRAG_SET_STRAGGLER,
    STRAG_SET_SLOWDOWN,
    STRAG_SET_WINDOW,
    STRAG_SET_WATCH_SIZE,
    STRAG_SET_STUCK,
    STRAG_SET_MODEL,
    STRAG_SET_NUMBERS, /* of the cost model, by enum strag_model_id */
    STRAG_PARAMETERS = STRAG_SET_NUMBERS + STRAG_MODEL_NUMBERS
};

/* What a value is: true or false, an integer from 0 on, any text. */
enum strag_parameter_type { STRAG_SWITCH, STRAG_INTEGER, STRAG_TEXT };

struct strag_parameter {
    const char *name;     /* with the prefix */
    const char *standard; /* the default, as a text */
    enum strag_parameter_type type;
    int level;     /* of ompi_info: 1 to 9 */
    bool info_key; /* a communicator's info key of the same name goes before it */
    const char *help;
};

/* [enum strag_parameter_id] */
extern const struct strag_parameter strag_parameters[STRAG_PARAMETERS];

/** "switch", "integer", "text". */
const char *strag_parameter_type_name(enum strag_parameter_type type);

/** Bytes that hold every help text. */
enum { STRAG_HELP_MAX = 2048 };

/** A parameter's help text, with what it accepts, and whether it is an info key. @return text */
const char *strag_parameter_help(enum strag_parameter_id id, char text[STRAG_HELP_MAX]);

/* MPI_T performance variables: counters of a process, and then properties of a communicator. */
enum strag_variable_id {
    STRAG_COUNT_CALLS,
    STRAG_COUNT_DELEGATED,
    STRAG_COUNT_NONBLOCKING,
    STRAG_COUNT_PERSISTENT,
    STRAG_COUNT_SETUPS_ASKED,
    STRAG_COUNT_SETUPS_DERIVED,
    STRAG_COUNTERS,
    STRAG_SAY_LATE_RANK = STRAG_COUNTERS,
    STRAG_SAY_LATE_DELAY,
    STRAG_SAY_LATE_SWITCHES,
    STRAG_SAY_LATE_SAVED,
    STRAG_SAY_LAST_CALLS,
    STRAG_SAY_LAST_AHEAD,
    STRAG_SAY_LAST_SAVED,
    STRAG_SAY_SLOW_RANK,
    STRAG_SAY_SLOW_FACTOR,
    STRAG_SAY_SLOW_PROBES,
    STRAG_SAY_MODEL_ERROR,
    STRAG_VARIABLES
};

struct strag_variable {
    const char *name; /* with the prefix */
    const char *help;
};

/* [enum strag_variable_id] */
extern const struct strag_variable strag_variables[STRAG_VARIABLES];

/* A line that the component writes where coll_strag_verbose is `level` or more. */
struct strag_verbose_line {
    int level;
    const char *form; /* with what varies in CAPITALS, from the line's text on */
    const char *meaning;
};

/** Closed by one without a form. */
extern const struct strag_verbose_line strag_verbose_lines[];

/** What a verbose line begins with, where it is of a communicator. */
extern const char strag_verbose_prefix[];

#endif
