/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/units.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* From here on, rounding to three digits gives a fourth one. */
static const double next_unit = 999.5;

struct strag_units strag_units_time(double seconds)
{
    struct strag_units units;
    if (1e6 * seconds < 0.001)
        snprintf(units.text, sizeof units.text, "0 us");
    else if (1e6 * seconds < next_unit)
        snprintf(units.text, sizeof units.text, "%.3g us", 1e6 * seconds);
    else if (1e3 * seconds < next_unit)
        snprintf(units.text, sizeof units.text, "%.3g ms", 1e3 * seconds);
    else
        snprintf(units.text, sizeof units.text, seconds < next_unit ? "%.3g s" : "%.0f s", seconds);
    return units;
}

struct strag_units strag_units_bytes(double bytes)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    const int last = (int)(sizeof names / sizeof *names) - 1;
    struct strag_units units;
    int unit = 0;
    while (unit < last && bytes >= 1024) {
        bytes /= 1024;
        unit++;
    }
    /* 1000 to 1023 have four digits in any unit */
    snprintf(units.text, sizeof units.text, bytes < next_unit ? "%.3g %s" : "%.0f %s", bytes,
             names[unit]);
    return units;
}

struct strag_units strag_units_share(double share)
{
    struct strag_units units;
    snprintf(units.text, sizeof units.text, share > 0 && share < 0.0095 ? "%.1g %%" : "%.0f %%",
             100 * share);
    return units;
}

struct strag_units strag_units_count(long long count, const char *noun)
{
    const char *end = noun + strlen(noun);
    const bool hisses = end[-1] == 's' || end[-1] == 'x' || strcmp(end - 2, "ch") == 0;
    struct strag_units units;
    snprintf(units.text, sizeof units.text, "%lld %s%s", count, noun,
             count == 1 ? ""
             : hisses   ? "es"
                        : "s");
    return units;
}
