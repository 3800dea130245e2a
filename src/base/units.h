/* SPDX-License-Identifier: BSD-3-Clause */
/* Times and sizes as people write them: three digits and a unit. */
#ifndef STRAG_UNITS_H
#define STRAG_UNITS_H

#include <stdint.h>

struct strag_units {
    char text[24];
};

/** "84.2 ms", "0.8 us", "6.25 ms", "1234 s". @param seconds  0 or more */
struct strag_units strag_units_time(double seconds);

/** "8 B", "256 KiB", "1.5 MiB"; powers of 1024. */
struct strag_units strag_units_bytes(double bytes);

/** "0.7 %", "96 %". @param share  of 1 */
struct strag_units strag_units_share(double share);

#endif
