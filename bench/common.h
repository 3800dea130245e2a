/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the benchmarks share: contenders, the values that are reduced, and reading options.
 */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { CONTENDERS_MAX = 32 };

/* One way to run MPI_Allreduce. */
struct contender {
    const char *name;
    MPI_Comm comm;
    size_t most; /* bytes: not with longer vectors */
};

/** The program's name, for messages; defined by it. */
extern const char bench_program[];

/** End the whole job with a message. */
void bench_die(const char *what, const char *why) __attribute__((noreturn));

/* ---- Options; what is not accepted ends the job ---- */

int bench_integer(const char *option, const char *text, int low, int high);

double bench_real(const char *option, const char *text, double low, double high);

/** Bytes of whole floats: 64K..16M or 4,100,2K. @param[in,out] bytes  freed first; the caller's */
void bench_sizes(const char *text, size_t **bytes, int *count);

/** A file to append to; the header is written where it is new. */
FILE *bench_open_csv(const char *path, const char *header);

/* ---- Calls ---- */

/** Page-aligned zeros, the caller's to free. */
void *bench_allocate(size_t bytes);

/** A rank's contribution: small integers, whose sums are exact in any order. */
float bench_value(int rank, size_t index);

/** Is that the sum over n ranks? @param contender  its name, for the message */
void bench_check(const float *result, size_t count, int n, const char *contender);

/** The contender at `position` of turn `number`: forwards and backwards alternate, and every second
 * time another one begins. */
int bench_turn(int contenders, int number, int position);

/** For qsort of doubles. */
int bench_compare(const void *a, const void *b);

/* ---- Contenders (contender.c) ---- */

/**
 * Make a communicator as the text says: NAME[,KEY=VALUE...]
 *
 *     NAME,most=1048576                           only for vectors of up to this many bytes
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

#endif
