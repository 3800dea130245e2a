/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums for each host, and one open interval: from the last end on, if it may count. Room is made in
 * groups of hosts, when the first message goes to one: most plans have few partners. A group for
 * which there is none is not measured.
 */
#include "detect/meter.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct lane {
    int in_flight; /* sends */
    double bytes, seconds;
};

enum {
    GROUP_BITS = 2, /* 4 hosts, or more if there are very many */
    MORE = 8,       /* groups for which room is made at a time */
    NOT_MEASURED = UINT16_MAX,
};

struct strag_meter {
    int busy;      /* hosts with sends in flight */
    bool counting; /* since `mark`, sends were waiting for a single host */
    double mark;   /* the last end */
    int groups, bits;
    int made, room;     /* groups with lanes, and for how many there is room */
    struct lane *lanes; /* [room << bits] */
    uint16_t group[];   /* [groups]: which lanes, counted from 1; 0: nothing was sent there yet */
};

struct strag_meter *strag_meter_create(int hosts)
{
    int bits = GROUP_BITS;
    while ((hosts - 1) >> bits >= NOT_MEASURED - 1)
        bits++;
    const int groups = (hosts - 1) >> bits;
    struct strag_meter *meter =
        calloc(1, sizeof *meter + ((size_t)groups + 1) * sizeof *meter->group);
    if (meter) {
        meter->groups = groups + 1;
        meter->bits = bits;
    }
    return meter;
}

void strag_meter_free(struct strag_meter *meter)
{
    if (meter)
        free(meter->lanes);
    free(meter);
}

/* @return [1 << bits]; NULL: they are not measured */
static struct lane *lanes_of(const struct strag_meter *meter, int group)
{
    const unsigned number = meter->group[group];
    return number && number != NOT_MEASURED ? meter->lanes + ((size_t)(number - 1) << meter->bits)
                                            : NULL;
}

/* @return NULL: it is not measured */
static struct lane *find_lane(const struct strag_meter *meter, int host)
{
    struct lane *lanes = lanes_of(meter, host >> meter->bits);
    return lanes ? &lanes[host & ((1 << meter->bits) - 1)] : NULL;
}

/* @return its number, or NOT_MEASURED: there is no room */
static uint16_t make_group(struct strag_meter *meter)
{
    if (meter->made == meter->room) {
        const size_t more = (size_t)MORE << meter->bits,
                     before = (size_t)meter->room << meter->bits;
        struct lane *lanes = realloc(meter->lanes, (before + more) * sizeof *lanes);
        if (!lanes)
            return NOT_MEASURED;
        memset(lanes + before, 0, more * sizeof *lanes);
        meter->lanes = lanes;
        meter->room += MORE;
    }
    return (uint16_t)++meter->made;
}

void strag_meter_begin(struct strag_meter *meter, int host)
{
    uint16_t *group = &meter->group[host >> meter->bits];
    if (!*group)
        *group = make_group(meter);
    struct lane *lane = find_lane(meter, host);
    if (!lane || lane->in_flight++ > 0)
        return;
    meter->busy++;
    meter->counting = false;
}

void strag_meter_end(struct strag_meter *meter, int host, size_t bytes, double now)
{
    struct lane *lane = find_lane(meter, host);
    if (!lane)
        return;
    if (meter->counting) {
        lane->bytes += (double)bytes;
        lane->seconds += now - meter->mark;
    }
    if (--lane->in_flight == 0)
        meter->busy--;
    meter->counting = meter->busy == 1 && lane->in_flight > 0;
    meter->mark = now;
}

/* @return bytes per second; 0: it does not count */
static double rate_of(const struct lane *lane, double least)
{
    return lane->seconds > least ? lane->bytes / lane->seconds : 0;
}

double strag_meter_take(struct strag_meter *meter, double least,
                        double (*slower)(const void *context, int host), const void *context)
{
    double best = 0;
    for (int g = 0; g < meter->groups; g++) {
        struct lane *lanes = lanes_of(meter, g);
        for (int i = 0; lanes && i < 1 << meter->bits; i++) {
            const double rate = rate_of(&lanes[i], least);
            if (rate > 0)
                best = fmax(best, rate * slower(context, (g << meter->bits) + i));
            lanes[i].bytes = lanes[i].seconds = 0;
        }
    }
    meter->counting = false;
    return best;
}
