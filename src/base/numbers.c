/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/numbers.h"

#include <stdlib.h>
#include <string.h>

bool strag_numbers_make(const int32_t *values, int n, struct strag_numbers *numbers)
{
    const size_t count = (size_t)n;
    bool narrow = true;
    for (int i = 0; i < n; i++)
        narrow = narrow && values[i] <= UINT16_MAX;
    *numbers = (struct strag_numbers){
        .narrow = narrow ? malloc(count * sizeof *numbers->narrow) : NULL,
        .wide = narrow ? NULL : malloc(count * sizeof *numbers->wide),
    };
    if (numbers->wide)
        memcpy(numbers->wide, values, count * sizeof *values);
    for (int i = 0; numbers->narrow && i < n; i++)
        numbers->narrow[i] = (uint16_t)values[i];
    return numbers->narrow || numbers->wide;
}

void strag_numbers_free(struct strag_numbers *numbers)
{
    free(numbers->narrow);
    free(numbers->wide);
}
