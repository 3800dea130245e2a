/* SPDX-License-Identifier: BSD-3-Clause */
#include "detect/meter.h"

#include <math.h>

static bool is_free(const struct strag_meter_lane *lane)
{
    return lane->in_flight == 0 && !(lane->bytes > 0);
}

/* @return NULL if the host has none */
static struct strag_meter_lane *find_lane(struct strag_meter *meter, int host)
{
    for (int i = 0; i < STRAG_METER_LANES; i++) {
        struct strag_meter_lane *lane = &meter->lanes[i];
        if (lane->host == host && !is_free(lane))
            return lane;
    }
    return NULL;
}

/* None is taken while sends are in flight without a lane: they may be to this host. */
static struct strag_meter_lane *take_lane(struct strag_meter *meter, int host)
{
    for (int i = 0; i < STRAG_METER_LANES && meter->others == 0; i++) {
        struct strag_meter_lane *lane = &meter->lanes[i];
        if (is_free(lane)) {
            *lane = (struct strag_meter_lane){.host = host};
            return lane;
        }
    }
    return NULL;
}

void strag_meter_begin(struct strag_meter *meter, int host)
{
    struct strag_meter_lane *lane = find_lane(meter, host);
    if (!lane)
        lane = take_lane(meter, host);
    if (lane && lane->in_flight++ > 0)
        return;
    meter->busy += lane != NULL;
    meter->others += lane == NULL;
    meter->counting = false;
}

void strag_meter_end(struct strag_meter *meter, int host, size_t bytes, double now)
{
    struct strag_meter_lane *lane = find_lane(meter, host);
    if (lane && meter->counting) {
        lane->bytes += (double)bytes;
        lane->seconds += now - meter->mark;
    }
    meter->others -= lane == NULL;
    if (lane && --lane->in_flight == 0)
        meter->busy--;
    meter->counting = lane && lane->in_flight > 0 && meter->busy == 1 && meter->others == 0;
    meter->mark = now;
}

double strag_meter_take(struct strag_meter *meter, double least,
                        double (*slower)(const void *context, int host), const void *context)
{
    double best = 0;
    for (int i = 0; i < STRAG_METER_LANES; i++) {
        struct strag_meter_lane *lane = &meter->lanes[i];
        if (lane->seconds > least)
            best = fmax(best, lane->bytes / lane->seconds * slower(context, lane->host));
        lane->bytes = lane->seconds = 0;
    }
    meter->counting = false;
    return best;
}
