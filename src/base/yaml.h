/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading YAML with libyaml. A table lists a mapping's keys, so that unknown and repeated ones are
 * errors; messages begin with FILE:LINE.
 *
 * Readers visit only the nodes that a format defines, to a fixed depth: an alias to a node that
 * contains it cannot cause endless recursion.
 */
#ifndef STRAG_YAML_H
#define STRAG_YAML_H

#include "base/text.h"

#include <yaml.h>

struct strag_yaml {
    struct strag_source source;
    yaml_document_t document;
    const char *key; /* of the value being read */
};

/**
 * Reads one value.
 *
 * @param target  the list's target, or the mapping's plus the key's offset
 */
typedef int strag_yaml_reader(struct strag_yaml *yaml, const yaml_node_t *node, void *target);

/* A mapping's keys, at most 32; one without a name ends the table. */
struct strag_yaml_key {
    const char *name;
    strag_yaml_reader *read;
    size_t offset; /* of the member it sets, in the mapping's target */
};

/* A kind of file. */
struct strag_yaml_format {
    strag_yaml_reader *read; /* the document's root */
    const char *empty;       /* message for a file without a document */
    bool aliases;            /* are anchors and aliases accepted? */
};

/** Read one document. */
int strag_yaml_read(const struct strag_source *source, const char *text, size_t length,
                    const struct strag_yaml_format *format, void *target);

/** Where a node begins, from 1. */
int strag_yaml_line(const yaml_node_t *node);

/** Refuse: "FILE:LINE: message". @return STRAG_ERR_ARGUMENT */
#define strag_yaml_fail(yaml, node, ...)                                                           \
    strag_source_fail(&(yaml)->source, strag_yaml_line(node), __VA_ARGS__)

/**
 * @param what  for messages, "switch"
 * @param keys  messages for a value that is not a mapping name the first one
 */
int strag_yaml_mapping(struct strag_yaml *yaml, const yaml_node_t *node, const char *what,
                       const struct strag_yaml_key *keys, void *target);

/** @param what  for messages, "switches" @param reader  reads one of them */
int strag_yaml_list(struct strag_yaml *yaml, const yaml_node_t *node, const char *what,
                    strag_yaml_reader *reader, void *target);

/** Any value, which is ignored. */
int strag_yaml_skip(struct strag_yaml *yaml, const yaml_node_t *node, void *target);

/** @param target  struct strag_text *, its text the caller's to free; not empty, no NUL in it */
int strag_yaml_text(struct strag_yaml *yaml, const yaml_node_t *node, void *target);

/** @param target  bool * */
int strag_yaml_bool(struct strag_yaml *yaml, const yaml_node_t *node, void *target);

/** @param target  int *, from 0 on */
int strag_yaml_integer(struct strag_yaml *yaml, const yaml_node_t *node, void *target);

/** "KEY: NEEDED is needed, not 'VALUE'". @return STRAG_ERR_ARGUMENT */
int strag_yaml_fail_value(const struct strag_yaml *yaml, const yaml_node_t *node,
                          const char *needed);

enum { STRAG_YAML_VALUE_MAX = 64 }; /* bytes of a short value, and the end */

/** A short single value, with '?' for what would spoil a message. @param text
 * STRAG_YAML_VALUE_MAX bytes @return STRAG_OK or STRAG_ERR_ARGUMENT */
int strag_yaml_value(const struct strag_yaml *yaml, const yaml_node_t *node, char *text);

/** One of some words. @param words  closed by NULL
 * @param[out] found  its index; untouched on failure
 * @return STRAG_OK or STRAG_ERR_ARGUMENT */
int strag_yaml_word(struct strag_yaml *yaml, const yaml_node_t *node, const char *const *words,
                    int *found);

/** A real number from 0 on. @param target  double * */
int strag_yaml_real(struct strag_yaml *yaml, const yaml_node_t *node, void *target);

/** The version of a format, of which there is only 1. @param target  bool *: it is there */
int strag_yaml_version(struct strag_yaml *yaml, const yaml_node_t *node, void *target);

/** A single value; NULL: it is a list or a mapping, or has a NUL in it. */
const char *strag_yaml_scalar(const yaml_node_t *node);

#endif
