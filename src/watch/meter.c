/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums for each host, and one open interval: from the last end on, if it may count. Room is made in
 * groups of hosts, when the first message goes to one: most plans have few partners. A group for
 * which there is none is not measured.
 */
#include "watch/meter.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct lane {
    int in_flight; /* sends */
    double bytes, seconds;
};

struct strag_meter {
    int busy;      /* hosts with sends in flight */
    bool counting; /* since `mark`, sends were waiting for a single host */
    double mark;   /* the last end */
    int groups;
    struct group *group[]; /* NULL: nothing was sent there yet */
};

enum { GROUP = 8 }; /* hosts */

struct group {
    bool measured;
    struct lane lanes[]; /* [GROUP], if it is */
};

/* There is no room for it. */
static struct group not_measured;

struct strag_meter *strag_meter_create(int hosts)
{
    const int groups = (hosts + GROUP - 1) / GROUP;
    struct strag_meter *meter = calloc(1, sizeof *meter + (size_t)groups * sizeof *meter->group);
    if (meter)
        meter->groups = groups;
    return meter;
}

void strag_meter_free(struct strag_meter *meter)
{
    for (int g = 0; meter && g < meter->groups; g++) {
        if (meter->group[g] != &not_measured)
            free(meter->group[g]);
    }
    free(meter);
}

/* @return NULL: it is not measured */
static struct lane *find_lane(const struct strag_meter *meter, int host)
{
    struct group *group = meter->group[host / GROUP];
    return group && group->measured ? &group->lanes[host % GROUP] : NULL;
}

static struct group *make_group(void)
{
    struct group *group = calloc(1, sizeof *group + GROUP * sizeof *group->lanes);
    if (!group)
        return &not_measured;
    group->measured = true;
    return group;
}

void strag_meter_begin(struct strag_meter *meter, int host)
{
    if (!meter->group[host / GROUP])
        meter->group[host / GROUP] = make_group();
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

/* The host with the most seconds; those in the note have none left. @return -1: none has any */
static int find_longest(const struct strag_meter *meter)
{
    int longest = -1;
    double most = 0;
    for (int g = 0; g < meter->groups; g++) {
        for (int i = 0; meter->group[g] && meter->group[g]->measured && i < GROUP; i++) {
            if (meter->group[g]->lanes[i].seconds <= most)
                continue;
            longest = g * GROUP + i;
            most = meter->group[g]->lanes[i].seconds;
        }
    }
    return longest;
}

void strag_meter_take(struct strag_meter *meter, struct strag_meter_note *note)
{
    for (int i = 0; i < STRAG_METER_HOSTS; i++) {
        int host = find_longest(meter);
        note->to[i] = (struct strag_drained){.host = host};
        if (host < 0)
            continue;
        struct lane *lane = find_lane(meter, host);
        note->to[i].bytes = (float)lane->bytes;
        note->to[i].seconds = (float)lane->seconds;
        lane->seconds = 0;
    }
    for (int g = 0; g < meter->groups; g++) {
        for (int i = 0; meter->group[g] && meter->group[g]->measured && i < GROUP; i++)
            meter->group[g]->lanes[i].bytes = meter->group[g]->lanes[i].seconds = 0;
    }
    meter->counting = false;
}
