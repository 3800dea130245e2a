/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's mistakes, a line each, which one warning shows. */
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
    const char *name; /* for the warning */
    const char *text;
    struct coll_strag_complaints *complaints; /* NULL if this rank does not warn */
};

/** Is the text this word? */
bool coll_strag_source_is(const struct coll_strag_source *source, const char *word);

/**
 * Add a line.
 *
 * @param nearest   the nearest accepted name; NULL if the accepted values are not names
 * @param accepted  the accepted values
 * @param used      the value that is used instead
 */
void coll_strag_complain(const struct coll_strag_source *source, const char *reason,
                         const char *nearest, const char *accepted, const char *used);

/** Complain of every coll_strag_NAME that the user sets and that is not a parameter: in the
 * environment, into which --mca puts it, and in Open MPI's parameter files. Open MPI ignores such
 * names, so a misspelt one would have no effect, and nobody would notice. */
void coll_strag_find_unknown(struct coll_strag_complaints *complaints);

#endif
