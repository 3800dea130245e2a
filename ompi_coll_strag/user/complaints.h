/* SPDX-License-Identifier: BSD-3-Clause */
/* What a user got wrong, a line each, and the warning that shows all of them. */
#ifndef COLL_STRAG_COMPLAINTS_H
#define COLL_STRAG_COMPLAINTS_H

#include "log.h"

#include "base/nearest.h"

#include <stdbool.h>

struct coll_strag_complaints {
    char text[4096];
    size_t length;
};

/* A text to be read: the value of a parameter, or of an info key. */
struct coll_strag_source {
    const char *name; /* as the warning calls it */
    const char *text;
    struct coll_strag_complaints *complaints; /* NULL: this rank does not warn */
};

/** Is the text this word? */
bool coll_strag_source_is(const struct coll_strag_source *source, const char *word);

/**
 * Add a line.
 *
 * @param nearest   of what is accepted; NULL: that is no list of names
 * @param accepted  what can be used
 * @param used      what is used instead
 */
void coll_strag_complain(const struct coll_strag_source *source, const char *reason,
                         const char *nearest, const char *accepted, const char *used);

/** Complain of every coll_strag_NAME that a user sets and that is none: in the environment, which
 * is where --mca leads, and in Open MPI's parameter files. Open MPI takes no notice of them, so
 * that a misspelt one would have no effect, without a word. */
void coll_strag_find_unknown(struct coll_strag_complaints *complaints);

#endif
