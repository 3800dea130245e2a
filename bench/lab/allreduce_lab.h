/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lab's benchmark: what its files share.
 *
 *     allreduce_lab.c   options, the measurement, results
 *     contender.c       communicators on which different components and algorithms run
 *     links.c           the byte counters of the lab's links
 */
#ifndef ALLREDUCE_LAB_H
#define ALLREDUCE_LAB_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { CONTENDERS_MAX = 32 };

/* One way to run MPI_Allreduce. */
struct contender {
    const char *name;
    MPI_Comm comm;
    size_t most; /* bytes: with longer vectors it does not take part */
};

/** End the whole job with a message. */
void lab_die(const char *what, const char *why) __attribute__((noreturn));

/**
 * Make a communicator as the text says: NAME[,KEY=VALUE...]
 *
 *     NAME,most=1048576                           only for vectors of up to so many bytes
 *     NAME,ompi_comm_coll_preference=^strag       info keys of the communicator;
 *     NAME,cvar:coll_tuned_allreduce_algorithm=4  an integer control variable of MPI_T, set while
 *                                                 the communicator is made
 *
 * Values end at commas; in a value `+` stands for a comma. Collective.
 */
void contender_create(struct contender *contender, char *text);

/* What coll/strag did in a stretch of calls. */
struct strag_count {
    unsigned long long calls, delegated;
};

/** Find strag's counters; without the component they stay at zero. */
void strag_count_open(void);

struct strag_count strag_count_read(void);

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
