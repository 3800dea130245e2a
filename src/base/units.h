/* SPDX-License-Identifier: BSD-3-Clause */
/* Times, sizes and counts as people write them: a number, and its unit or noun. */
#ifndef STRAG_UNITS_H
#define STRAG_UNITS_H

struct strag_units {
    char text[48];
};

/** "84.2 ms", "0.8 us", "6.25 ms", "1234 s". @param seconds  0 or more */
struct strag_units strag_units_time(double seconds);

/** "8 B", "256 KiB", "1.5 MiB"; powers of 1024. */
struct strag_units strag_units_bytes(double bytes);

/** "0.7 %", "96 %". @param share  of 1 */
struct strag_units strag_units_share(double share);

/** "1 rank", "3 ranks", "2 switches". @param noun  a noun whose plural ends in s or es, "rank" */
struct strag_units strag_units_count(long long count, const char *noun);

#endif
