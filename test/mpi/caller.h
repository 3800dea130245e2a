/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One random, checked MPI_Allreduce on any communicator: of any count, type and operator,
 * predefined or not; MPI_IN_PLACE on some ranks only; equal type signatures by different types.
 * Everything follows from a number that all ranks of the communicator know.
 *
 * A result is compared with a serial reduction: bit by bit, unless it is a rounded sum or product,
 * which must be as near as rounding explains. A communicator's ranks compare a hash of all their
 * results from time to time: whatever was rounded, the bits are the same on all of them.
 *
 * So that these comparisons can be shown to see what they are for, a caller can do something wrong.
 */
#ifndef TEST_MPI_CALLER_H
#define TEST_MPI_CALLER_H

#include "common.h"

/* A communicator, as this rank sees it. */
struct caller_comm {
    MPI_Comm comm;
    char name[64]; /* for messages */
    int n, rank;
    long calls;    /* since it was opened */
    uint64_t hash; /* of all results */
};

/* What a caller does wrong, once, on purpose. */
enum caller_fault {
    CALLER_NO_FAULT,
    CALLER_FAULT_ELEMENT,  /* an element of a result is wrong */
    CALLER_FAULT_BITS,     /* a rounded sum's last bit is: no other rank has these bits */
    CALLER_FAULT_BEHIND,   /* a byte behind the receive buffer was written */
    CALLER_FAULT_OPERATOR, /* an operator is given another type than it expects */
    CALLER_FAULTS
};

/* One thread's buffers and counts. */
struct caller {
    size_t bytes; /* of the longest vector */
    char *send, *receive, *pool, *expected;
    uint32_t *words;  /* of derived types: a packed vector */
    long made;        /* calls that strag was asked for: two ranks or more, and elements */
    long checks;      /* all results */
    long wrong;       /* of them */
    long fault_after; /* this many calls */
    enum caller_fault fault;
};

/** List all pairs of type and operator; once, after MPI_Init. */
void caller_prepare(void);

/** @param bytes  at most, of a vector. To be freed with caller_free. */
void caller_create(struct caller *caller, size_t bytes);
void caller_free(struct caller *caller);

/** Do something wrong on this rank. @param text  "none", or "element:N", "bits:N", "behind:N",
 * "operator:N": after N calls */
void caller_spoil(struct caller *caller, const char *text);

/** Examine a communicator, and make its first calls: long ones of types with gaps crash Open MPI's
 * own ring. The caller's it is to free. @param name  copied */
struct caller_comm caller_open(MPI_Comm comm, const char *name);

/** One call. @param random  decides what; the same on all ranks */
void caller_call(struct caller *caller, struct caller_comm *comm, uint64_t random);

/** Compare the results of all ranks of the communicator. */
void caller_compare(struct caller *caller, const struct caller_comm *comm);

/**
 * Check that strag's counters moved by all calls that it was asked for (or more: Open MPI makes
 * some itself, such as one in MPI_Comm_split_type); with mpirun's --mca coll_strag_minimum_size 0
 * it must have run most of them. The first rank prints the numbers.
 *
 * @param made  of all callers since `before`
 */
void caller_ran(struct test_counters before, unsigned long long made);

/** Add what the caller has found to the program's counts. */
void caller_count(const struct caller *caller);

#endif
