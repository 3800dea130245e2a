/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When each rank calls: stragglers, and by how much they are late.
 */
#include "allreduce_lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void arrivals_read_delays(struct arrivals *arrivals, char *text)
{
    char *rest = NULL;
    arrivals->ndelays = 0;
    for (char *item; (item = strtok_r(text, ",", &rest)); text = NULL) {
        if (arrivals->ndelays == DELAYS_MAX)
            bench_die("--delay", "too many of them");
        char *high = strchr(item, '-');
        if (high)
            *high++ = '\0';
        struct delay *delay = &arrivals->delays[arrivals->ndelays++];
        delay->low = bench_real("--delay", item, 0, 1e9);
        delay->exponential = high && strcmp(high, "exp") == 0;
        delay->high =
            high && !delay->exponential ? bench_real("--delay", high, 0, 1e9) : delay->low;
    }
}

void arrivals_prepare(struct arrivals *arrivals, int n)
{
    const char *text = arrivals->stragglers;
    arrivals->n = n;
    arrivals->late = calloc((size_t)n, sizeof *arrivals->late);
    if (!arrivals->late)
        bench_die("the ranks", "out of memory");
    if (!text || strcmp(text, "random") == 0)
        return;
    if (strcmp(text, "all") == 0) {
        memset(arrivals->late, true, (size_t)n * sizeof *arrivals->late);
        return;
    }
    char copy[1024], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *item = strtok_r(copy, ",", &rest); item; item = strtok_r(NULL, ",", &rest))
        arrivals->late[bench_integer("--late", item, 0, n - 1)] = true;
}

void arrivals_free(struct arrivals *arrivals)
{
    free(arrivals->late);
    arrivals->late = NULL;
}

/* The next random number from 0 to 1, of Steele, Lea and Flood's SplitMix64. */
static double draw(struct arrivals *arrivals)
{
    uint64_t mixed = arrivals->random += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    mixed ^= mixed >> 31;
    return (double)(mixed >> 11) * 0x1p-53;
}

/* Of calls that follow one another these cover 0 to 1 evenly, by multiples of the golden section:
 * the mean delay of twenty calls does not depend on the seed, as that of independent ones would. */
static double spread(const struct arrivals *arrivals, int number)
{
    return fmod(0.6180339887498949 * ((double)arrivals->seed + number + 1), 1);
}

static double delay_of(const struct delay *delay, double random)
{
    return delay->exponential ? -delay->low * log(1 - random)
                              : delay->low + (delay->high - delay->low) * random;
}

/* Seconds of a delay of 1. */
static double unit(const struct arrivals *arrivals, size_t bytes)
{
    return arrivals->mbit > 0 ? 8e-6 * (double)bytes / arrivals->mbit : 1e-6;
}

void arrivals_draw(struct arrivals *arrivals, const struct delay *delay, size_t bytes, int number,
                   double *late)
{
    const double seconds = unit(arrivals, bytes);
    const int calls_most = 1 << 20; /* ... of a seed that have numbers of their own */
    arrivals->random = (uint64_t)arrivals->seed * calls_most + (uint64_t)(number + 1);
    int last = (int)(draw(arrivals) * arrivals->n);
    bool random = arrivals->stragglers && strcmp(arrivals->stragglers, "random") == 0;
    for (int r = 0; r < arrivals->n; r++) {
        double drawn = draw(arrivals), jitter = arrivals->jitter * draw(arrivals);
        double delayed = delay_of(delay, random ? spread(arrivals, number) : drawn);
        bool is_late = random ? r == last : arrivals->late[r];
        late[r] = seconds * (jitter + (is_late ? delayed : 0));
    }
}

void arrivals_print(FILE *file, const struct arrivals *arrivals, const struct delay *delay,
                    size_t bytes)
{
    double us = 1e6 * unit(arrivals, bytes);
    fprintf(file, "%g-", us * delay->low);
    if (delay->exponential)
        fputs("exp", file);
    else
        fprintf(file, "%g", us * delay->high);
}
