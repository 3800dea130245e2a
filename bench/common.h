/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the benchmarks share: contenders, the values that are reduced, and reading options.
 */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <getopt.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { CONTENDERS_MAX = 32 };

/* How 4.1 and later ones name the persistent allreduce. */
#if OMPI_MAJOR_VERSION >= 5
#define BENCH_ALLREDUCE_INIT MPI_Allreduce_init
#else
#include <mpi-ext.h>
#define BENCH_ALLREDUCE_INIT MPIX_Allreduce_init
#endif

enum contender_call { CALL_BLOCKING, CALL_NONBLOCKING, CALL_PERSISTENT };

/* One way to run MPI_Allreduce. */
struct contender {
    const char *name;
    MPI_Comm comm;
    enum contender_call call;
    double late;           /* a rank is late by this many times a usual call (bench/allreduce.c) */
    const char *component; /* of Open MPI, which is to run it; NULL: whichever is chosen */
    size_t most;           /* bytes: not with longer vectors */
    int from;              /* its first timed call has this number: before it, others call alone */
    bool pinned;           /* an algorithm is, by an info key */
    char *text;            /* where the name is */
};

/* What the command line says, and what is made of it. */
struct bench {
    size_t *bytes; /* [sizes] */
    int sizes;
    int iterations, warmup;
    double seconds;
    bool check;
    const char *output;
    char *specs[CONTENDERS_MAX];
    int ncontenders;
    /* bench_prepare: */
    int rank, n;
    struct contender unmeasured;
    MPI_Comm sync; /* its: for all communication that is not measured */
    struct contender contenders[CONTENDERS_MAX];
    float *send, *receive; /* room for the longest vector */
};

/** End the whole job with a message. */
void bench_die(const char *what, const char *why) __attribute__((noreturn));

/* ---- Options; what is not accepted ends the job ---- */

int bench_integer(const char *option, const char *text, int low, int high);

double bench_real(const char *option, const char *text, double low, double high);

/** Set the sizes, bytes of whole floats: 64K..16M or 4,100,2K. */
void bench_sizes(struct bench *bench, const char *text);

void bench_add_contender(struct bench *bench, char *spec);

/* The options of all benchmarks, for getopt_long. */
#define BENCH_LETTERS "C:s:i:t:w:co:"
#define BENCH_OPTIONS                                                                              \
    {"contender", required_argument, NULL, 'C'}, {"sizes", required_argument, NULL, 's'},          \
        {"iterations", required_argument, NULL, 'i'}, {"seconds", required_argument, NULL, 't'},   \
        {"warmup", required_argument, NULL, 'w'}, {"check", no_argument, NULL, 'c'},               \
    {                                                                                              \
        "output", required_argument, NULL, 'o'                                                     \
    }

/** Read all options. @param own  takes a program's own, from optarg; false: it has no such option
 */
void bench_read_options(struct bench *bench, int argc, char **argv, const char *usage,
                        const struct option *known, const char *letters, bool (*own)(int letter));

/** A file to append to; the header is written where it is new. */
FILE *bench_open_csv(const char *path, const char *header);

/* ---- Calls ---- */

/** The ranks, the contenders, the buffers, and strag's counters. A contender whose component does
 * not run here is left out, which rank 0 says. Collective. */
void bench_prepare(struct bench *bench);

/** Free all that bench_prepare and the options made, and finalize MPI. Collective. */
void bench_finish(struct bench *bench);

/** Close a file of results, if it is not NULL. */
void bench_close(FILE *file, const char *path);

/** Page-aligned zeros, the caller's to free. */
void *bench_allocate(size_t bytes);

/** Set this rank's contribution: small integers, whose sums are exact in any order. */
void bench_fill(struct bench *bench, size_t count);

/** Before a call that is checked. */
void bench_clear(struct bench *bench, size_t count);

/** Has the contender received the sum over all ranks? */
void bench_check(const struct bench *bench, int contender, size_t count);

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
 *     NAME,from=30                                only from the timed calls number 30 on
 *     NAME,call=nonblocking, call=persistent      by MPI_Iallreduce, or MPI_Start
 *     NAME,late=1                                 a rank is late, by this many times a usual call
 *     NAME,component=han                          if that component of Open MPI runs here
 *     NAME,ompi_comm_coll_preference=^strag       info keys of the communicator;
 *     NAME,cvar:coll_tuned_allreduce_algorithm=4  an integer control variable of MPI_T, set while
 *                                                 the communicator is made
 *
 * Values end at commas; in a value `+` stands for a comma. Collective.
 */
void contender_create(struct contender *contender, const char *text);

/** Where an algorithm is pinned: make as many short calls as go to the previous component before
 * all ranks hear of the info key. Collective. */
void contender_settle(const struct contender *contender);

/** Does the component that the contender names run its calls? One that declines leaves them to
 * strag, whose counters say so if it is the component of the highest priority. Collective.
 * @param sync  of the same ranks; strag does not run its calls */
bool contender_runs(const struct contender *contender, MPI_Comm sync);

/** Collective. */
void contender_free(struct contender *contender);

/* What coll/strag did in a stretch of calls. */
struct strag_count {
    unsigned long long calls, delegated;
};

/** Find strag's counters; without the component they stay at zero. */
void strag_count_open(void);

/** Has Open MPI loaded strag? */
bool strag_count_found(void);

struct strag_count strag_count_read(void);

#endif
