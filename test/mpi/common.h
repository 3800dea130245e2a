/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the MPI test programs: start and end, options, failures with their rank, reproducible
 * values, and the counters by which a test proves that strag really ran.
 *
 * A failure is printed at once and counted; the program continues, so that one run shows them all.
 * test_finish gathers the counts (with MPI_Gather, which strag does not implement) and gives the
 * exit status.
 */
#ifndef TEST_MPI_COMMON_H
#define TEST_MPI_COMMON_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEST_SKIP 77 /* exit status for "skipped", by automake */

/* Persistent collectives: part of MPI 4. Open MPI 4.1 has them as an extension; 5.0, which claims
 * to be MPI 3.1, under MPI 4's names. */
#if OMPI_MAJOR_VERSION >= 5
#define TEST_HAVE_PERSISTENT   1
#define TEST_PERSISTENT(name_) MPI_##name_
#else
#include <mpi-ext.h>
#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
#define TEST_HAVE_PERSISTENT   1
#define TEST_PERSISTENT(name_) MPIX_##name_
#endif
#endif

struct test {
    const char *program;
    int rank, n; /* of MPI_COMM_WORLD */
    uint64_t seed;
    bool expect_strag; /* --expect-strag 0: the program runs over stock Open MPI alone */
    long checks, failures;
};

extern struct test test;

/* An option `--name VALUE`; *value keeps its default where the option is absent. */
struct test_option {
    const char *name; /* without the dashes; a NULL closes the list */
    const char **value;
};

/**
 * MPI_Init_thread, options, and the line that names the seed.
 *
 * `--seed N` and `--expect-strag 0|1` are understood by every program; `options` adds its own, may
 * be NULL. A wrong command line or a missing thread level ends the program with a message.
 *
 * @param level  the least thread support wanted, such as MPI_THREAD_SINGLE
 */
void test_start(int *argc, char ***argv, const char *program, int level,
                const struct test_option *options);

/** Collect the failures of all ranks, finalize MPI, and return the program's exit status. */
int test_finish(void);

/** A number from an option's text; ends the program with a message when it is not in the range. */
long test_number(const char *name, const char *text, long low, long high);

/** End all ranks with a message: something that the test needs is missing. */
void test_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/** Count a check that failed and print it with the rank; at most 20 per rank are printed. */
void test_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Count a check. @return ok */
#define TEST_CHECK(ok_, ...) ((ok_) ? (test.checks++, true) : (test_fail(__VA_ARGS__), false))

/** An MPI call that must succeed; the program ends if it does not. */
#define TEST_MPI(call_) test_mpi_result((call_), #call_, __FILE__, __LINE__)
void test_mpi_result(int code, const char *call, const char *file, int line);

/** malloc that ends the program when there is none. */
void *test_allocate(size_t bytes);

/* strag's counters in this process since MPI_Init. */
struct test_counters {
    unsigned long long calls, delegated;
};

/** Read the counters; zero without strag, where --expect-strag 0 allows that. */
struct test_counters test_counters_read(void);

/**
 * Check that the counters rose by exactly these numbers since `before`; with --expect-strag 0, that
 * they did not change.
 */
void test_counters_moved(struct test_counters before, unsigned long long calls,
                         unsigned long long delegated, const char *what);

/** A counter of the process, by its name, since it was first read; up to 7 of them. */
unsigned long long test_counter_read(const char *name);

/** A performance variable of a communicator, an int, a double or an unsigned long long; -1 without
 * strag, where --expect-strag 0 allows that. */
double test_variable_read(const char *name, MPI_Comm comm);

/** Make a communicator's first two calls, which strag leaves to the previous component if the
 * program has made it and nobody says what is to run. They count as calls, or as delegated. */
void test_pass_first_calls(MPI_Comm comm);

/** A duplicate of a communicator with an info key, such as coll_strag_plan. Its first calls are
 * made. The caller's to free. */
MPI_Comm test_with_key(MPI_Comm comm, const char *key, const char *value);

/** A duplicate of a communicator with an algorithm pinned on it (info key coll_strag_algorithm). */
MPI_Comm test_pinned(MPI_Comm comm, const char *algorithm);

/** A well mixed 64-bit function of one number. */
static inline uint64_t test_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/** The number that belongs to a rank's element, for the seed of this run. */
static inline uint64_t test_value(int rank, uint64_t index)
{
    return test_mix(test.seed ^ test_mix(((uint64_t)rank << 48) ^ index));
}

/** A 64-bit hash of memory. */
uint64_t test_hash(const void *data, size_t bytes);

#endif
