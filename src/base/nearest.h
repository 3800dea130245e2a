/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the existing name that was meant by one that does not exist. */
#ifndef STRAG_NEAREST_H
#define STRAG_NEAREST_H

/* The nearest name so far; zeroed before the first. */
struct strag_nearest {
    const char *name; /* the caller's */
    int distance;     /* letters added, left out, changed, or swapped with the next one */
};

/**
 * Compare a further existing name.
 *
 * @param wrong  the name that does not exist
 * @param name   of equally near names, the first one offered stays
 */
void strag_nearest_offer(struct strag_nearest *nearest, const char *wrong, const char *name);

/** Write " (nearest: ring)", or "" if no name is near enough. @return text */
const char *strag_nearest_text(const struct strag_nearest *nearest, const char *wrong,
                               char text[64]);

#endif
