/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the unit tests share: cmocka, repeatable random numbers, settings from the environment, and
 * plans that may be changed.
 *
 *     STRAG_SEED        seed of all random choices (default 1); every test prints it
 *     STRAG_CASES       how many random cases a test runs (each test has its own default)
 *     STRAG_CASES_MOST  the default, but this many at most
 *     STRAG_TEST_FULL   of what is left out for its time all
 */
#ifndef STRAG_TEST_SUPPORT_H
#define STRAG_TEST_SUPPORT_H

#include "model/numbers.h"
#include "plan/algorithm.h"
#include "plan/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/** TEST(name) { ... }: one of this program's tests, which run in the order of their lines. The main
 * of a program that has no other is in tests.c. */
#define TEST(name)                                                                                 \
    static void name(void **);                                                                     \
    __attribute__((constructor)) static void name##_is_a_test(void)                                \
    {                                                                                              \
        test_add(#name, name, __LINE__);                                                           \
    }                                                                                              \
    static void name(void **unused)

void test_add(const char *name, CMUnitTestFunction test, int line);

/* A stream of random numbers that its seed repeats. */
struct rng {
    uint64_t state;
};

uint64_t rng_next(struct rng *rng);

/** 0 .. n-1; n is at least 1. */
unsigned rng_below(struct rng *rng, unsigned n);

/** True once in `n` times. */
bool rng_one_in(struct rng *rng, unsigned n);

/** A number that differs in about half its bits whenever one bit of x does. */
uint64_t scramble(uint64_t x);

/** STRAG_SEED; printed with the test's name, so that a failure can be repeated. */
uint64_t support_seed(const char *test);

/** Is the run to be short, as with sanitizers? Then of tests that try all cases some will do.
 * @return whether STRAG_CASES_MOST is set */
bool support_is_short(void);

/** Is the run to be long? @return whether STRAG_TEST_FULL is set */
bool support_is_full(void);

/** STRAG_CASES, or `usual` but at most STRAG_CASES_MOST. */
long support_cases(long usual);

/** The two differ by 1e-9 at most, relative to b if |b| is large. */
void assert_near(double a, double b);

/** What this thread has got of processors, in seconds: a limit of that holds on a busy machine. */
double support_thread_seconds(void);

/** Are all numbers, and ties, the same? Origins do not count. */
bool support_same_model(const struct strag_model *a, const struct strag_model *b);

/** The algorithm of that name; the test fails if there is none. */
const struct strag_algorithm *support_algorithm(const char *name);

/** The problem of n ranks; rank 1 is late for algorithms that need a late rank. */
struct strag_problem support_problem(const struct strag_algorithm *algorithm, int n);

/** n, or the next number of ranks that the algorithm can plan. */
int support_ranks(const struct strag_algorithm *algorithm, int n);

/** All plans of an algorithm for n ranks; the test fails if they cannot be made. */
struct strag_plan **support_plans(const struct strag_algorithm *algorithm, int n);

/** One rank's plan; the test fails if it cannot be made. */
struct strag_plan *support_plan(const char *algorithm, const struct strag_problem *problem,
                                int rank);

/** What was measured when all ranks' plans were proved; the test fails if they are wrong. */
struct strag_measure support_verified(const char *algorithm, const struct strag_problem *problem);

/** There is no plan with this many ports, for this reason. Frees the topology. */
void support_refused(const char *algorithm, struct strag_topology *topology, int ports,
                     const char *why);

/** All plans of a problem. @param[out] plans  [n] */
int support_create_all(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                       struct strag_plan **plans, struct strag_error *err);

/** The index of the lowest node with both ranks below it. */
int support_ancestor(const struct strag_topology *topology, int a, int b);

/** Free the plans and the array. */
void support_plans_free(struct strag_plan **plans, int n);

/** What is built of some rounds alone is what the plan has there: for every rank, from any round to
 * any other. */
void support_some_rounds(const struct strag_algorithm *algorithm,
                         const struct strag_problem *problem);

/** How many rounds there are, how many runs of identical ones, and the longest period of such. */
struct same_rounds {
    int rounds, runs, period;
};

/** Rounds that an algorithm calls identical (strag_instance_same_rounds) carry the same traffic;
 * the test fails if they do not. */
struct same_rounds support_same_rounds(const struct strag_algorithm *algorithm,
                                       const struct strag_problem *problem);

/** A copy that can be changed and freed by itself; it has room for `more` operations and waits. */
struct strag_plan *support_clone(const struct strag_plan *plan, int more);

/** Copies of all plans. */
struct strag_plan **support_clone_all(struct strag_plan *const *plans, int n, int more);

/** Take operation `op` out of a clone, and out of all lists of waits. */
void support_drop_op(struct strag_plan *plan, int op);

/** Put a copy of operation `op` behind it; later waits for `op` wait for the copy as well as long
 * as there is room, so that only one thing is wrong. The clone needs room for 1 + its waits. */
void support_duplicate_op(struct strag_plan *plan, int op);

/** Let operations `op` and `op` + 1 change places; waits are renumbered. */
void support_swap_ops(struct strag_plan *plan, int op);

/** Take the wait at `index` of operation `op` away. */
void support_drop_wait(struct strag_plan *plan, int op, int index);

#endif
