/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading YAML event by event, with libyaml. A mapping is read with a table of its keys, so that
 * unknown and repeated ones are found. Anchors and aliases are refused.
 */
#ifndef STRAG_LAYOUT_YAML_H
#define STRAG_LAYOUT_YAML_H

#include "machine/layout_internal.h"

#include <yaml.h>

struct strag_yaml {
    struct strag_source source;
    const char *text;
    size_t length;
    yaml_parser_t parser;
    yaml_event_t event; /* at hand */
    const char *key;    /* whose value is read */
};

/**
 * Reads one value. On entry its first event is at hand, on success its last one.
 *
 * @param target  what the caller of the list gave, or the mapping's plus the key's offset
 */
typedef int strag_yaml_reader(struct strag_yaml *yaml, void *target);

/* A mapping's keys, at most 32; one without a name ends the table. */
struct strag_yaml_key {
    const char *name;
    strag_yaml_reader *read;
    size_t offset; /* of what it fills in, in the mapping's target */
};

/** Read one document. */
int strag_yaml_read(const struct strag_source *source, const char *text, size_t length,
                    strag_yaml_reader *reader, void *target);

/** Go to the next event. */
int strag_yaml_next(struct strag_yaml *yaml);

/** The line of the event at hand. */
int strag_yaml_line(const struct strag_yaml *yaml);

/** @param what  for messages, "switch" */
int strag_yaml_mapping(struct strag_yaml *yaml, const char *what, const struct strag_yaml_key *keys,
                       void *target);

/** @param what  for messages, "switches" @param reader  reads one of them */
int strag_yaml_list(struct strag_yaml *yaml, const char *what, strag_yaml_reader *reader,
                    void *target);

/** Any value, which is ignored. */
int strag_yaml_skip(struct strag_yaml *yaml, void *target);

/** @param target  struct strag_text *, its text the caller's to free; not empty, no NUL in it */
int strag_yaml_text(struct strag_yaml *yaml, void *target);

/** @param target  bool * */
int strag_yaml_bool(struct strag_yaml *yaml, void *target);

/** @param target  int *, from 0 on */
int strag_yaml_integer(struct strag_yaml *yaml, void *target);

/** @param target  double *, bytes per second; written as Gbit/s */
int strag_yaml_gbit(struct strag_yaml *yaml, void *target);

#endif
