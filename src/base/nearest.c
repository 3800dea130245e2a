/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The distance of two names is the least number of slips between them: a letter added, left out,
 * changed, or swapped with the next one (optimal string alignment). rows[i][j] is the distance of
 * the first i letters of one name and the first j of the other; three rows of the table are enough.
 */
#include "base/nearest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { COMPARED = 63 }; /* letters; further ones count as equal */

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int distance(const char *a, const char *b)
{
    const int m = (int)strnlen(a, COMPARED), n = (int)strnlen(b, COMPARED);
    int rows[3][COMPARED + 1];
    for (int j = 0; j <= n; j++)
        rows[0][j] = j;
    for (int i = 1; i <= m; i++) {
        int *row = rows[i % 3];
        const int *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            row[j] = least(above[j - 1] + (a[i - 1] != b[j - 1]), least(above[j], row[j - 1]) + 1);
            if (swapped)
                row[j] = least(row[j], second[j - 2] + 1);
        }
    }
    return rows[m % 3][n];
}

void strag_nearest_offer(struct strag_nearest *nearest, const char *wrong, const char *name)
{
    const int far = distance(wrong, name);
    if (!nearest->name || far < nearest->distance)
        *nearest = (struct strag_nearest){name, far};
}

/* A name is near with at most two slips, and fewer than in every second letter. */
const char *strag_nearest_text(const struct strag_nearest *nearest, const char *wrong,
                               char text[64])
{
    const bool near = nearest->name && nearest->distance > 0 && nearest->distance <= 2 &&
                      2 * nearest->distance < (int)strlen(wrong);
    snprintf(text, 64, "%s%.40s%s", near ? " (nearest: " : "", near ? nearest->name : "",
             near ? ")" : "");
    return text;
}
