/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lab's benchmark: what its files share.
 *
 *     allreduce_lab.c   options, the measurement, results
 *     links.c           the byte counters of the lab's links
 */
#ifndef ALLREDUCE_LAB_H
#define ALLREDUCE_LAB_H

#include "../common.h"

/* What went out of one end of a link. */
struct link_count {
    unsigned long long bytes, packets;
};

struct links {
    int count;
    struct link_end {
        char name[32], interface[16], path[64];
    } * ends;
    struct link_count *last;   /* the counters when they were last read */
    struct link_count *totals; /* [contender][end]: what its calls sent */
};

/**
 * Read which links there are: lines NAME INTERFACE PATH, where PATH is /proc/PID/net/dev of a
 * process that lives at that end of the link.
 */
void links_open(struct links *links, const char *file, int contenders);

/** Read all counters. @param contender  whose totals the difference goes to; -1: nobody's */
void links_read(struct links *links, int contender);

/** Forget the totals. */
void links_reset(struct links *links, int contenders);

void links_close(struct links *links);

#endif
