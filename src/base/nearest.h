/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the names that exist was meant by one that does not. */
#ifndef STRAG_NEAREST_H
#define STRAG_NEAREST_H

/* The nearest name so far. All zero: none was offered. */
struct strag_nearest {
    const char *name; /* the caller's */
    int distance;     /* letters that were added, left out, changed, or swapped with the next one */
};

/**
 * Compare one more name that exists.
 *
 * @param wrong  the one that does not
 * @param name   of names that are equally near, the first one offered stays
 */
void strag_nearest_offer(struct strag_nearest *nearest, const char *wrong, const char *name);

/** " (nearest: ring)", or "" if no name is so near that it may be meant. @return text */
const char *strag_nearest_text(const struct strag_nearest *nearest, const char *wrong,
                               char text[64]);

#endif
