/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads YAML with libyaml. A table lists a mapping's keys, and unknown and repeated keys are
 * errors. Messages begin with FILE:LINE.
 *
 * Readers visit only the nodes that a format defines, to a fixed depth, so an alias to a node that
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

/* A key of a mapping. A table has at most 32 keys, and ends with one without a name. */
struct strag_yaml_key {
    const char *name;
    strag_yaml_reader *read;
    size_t offset; /* in the mapping's target: of the member that the key sets */
};

/* A kind of file. */
struct strag_yaml_format {
    strag_yaml_reader *read; /* reads the document's root */
    const char *empty;       /* message for a file without a document */
    bool aliases;            /* are anchors and aliases accepted? */
};

/** Read one document. */
int strag_yaml_read(const struct strag_source *source, const char *text, size_t length,
                    const struct strag_yaml_format *format, void *target);

/** The line where a node begins, from 1. */
int strag_yaml_line(const yaml_node_t *node);

/** Refuse a node: "FILE:LINE: message". @return STRAG_ERR_ARGUMENT */
#define strag_yaml_fail(yaml, node, ...)                                                           \
    strag_source_fail(&(yaml)->source, strag_yaml_line(node), __VA_ARGS__)

/**
 * @param what  for messages, "switch"
 * @param keys  if the value is not a mapping, the message names the first key
 */
int strag_yaml_mapping(struct strag_yaml *yaml, const yaml_node_t *node, const char *what,
                       const struct strag_yaml_key *keys, void *target);

/** @param what  for messages, "switches" @param reader  reads one of them */
int strag_yaml_list(struct strag_yaml *yaml, const yaml_node_t *node, const char *what,
                    strag_yaml_reader *reader, void *target);

/** Ignore a value. */
int strag_yaml_skip(struct strag_yaml *yaml, const yaml_node_t *node, void *target);

/** @param target  struct strag_text *; its text is the caller's to free, not empty, and has no
 * NUL */
int strag_yaml_text(struct strag_yaml *yaml, const yaml_node_t *node, void *target);

/** @param target  bool * */
int strag_yaml_bool(struct strag_yaml *yaml, const yaml_node_t *node, void *target);

/** @param target  int *; the number is at least 0 */
int strag_yaml_integer(struct strag_yaml *yaml, const yaml_node_t *node, void *target);

/** "KEY: NEEDED is needed, not 'VALUE'". @return STRAG_ERR_ARGUMENT */
int strag_yaml_fail_value(const struct strag_yaml *yaml, const yaml_node_t *node,
                          const char *needed);

enum { STRAG_YAML_VALUE_MAX = 64 }; /* bytes of a short value with its NUL */

/** Copy a short single value, with '?' for control characters. @param text  STRAG_YAML_VALUE_MAX
 * bytes @return STRAG_OK or STRAG_ERR_ARGUMENT */
int strag_yaml_value(const struct strag_yaml *yaml, const yaml_node_t *node, char *text);

/** Read one of some words. @param words  NULL after the last one
 * @param[out] found  its index; untouched on failure
 * @return STRAG_OK or STRAG_ERR_ARGUMENT */
int strag_yaml_word(struct strag_yaml *yaml, const yaml_node_t *node, const char *const *words,
                    int *found);

/** Read a real number of at least 0. @param target  double * */
int strag_yaml_real(struct strag_yaml *yaml, const yaml_node_t *node, void *target);

/** Read the version of a format, which must be 1. @param target  bool *, set to true */
int strag_yaml_version(struct strag_yaml *yaml, const yaml_node_t *node, void *target);

/** A single value; NULL for a list or a mapping, or if it contains a NUL. */
const char *strag_yaml_scalar(const yaml_node_t *node);

#endif
