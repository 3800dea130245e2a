/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every predefined type and operator, which pairs of them are valid, and values for them that
 * neither overflow nor become NaN, and that let rounding show the order of a floating-point sum.
 */
#ifndef TEST_MPI_ELEMENTS_H
#define TEST_MPI_ELEMENTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELEMENT_OPS       12
#define ELEMENT_RANKS_MAX 16 /* the values are chosen for at most this many ranks */
#define ELEMENT_BYTES_MAX 32

/* How one number is stored. */
enum scalar {
    SCALAR_NONE,
    SCALAR_INT8,
    SCALAR_UINT8,
    SCALAR_INT16,
    SCALAR_UINT16,
    SCALAR_INT32,
    SCALAR_UINT32,
    SCALAR_INT64,
    SCALAR_UINT64,
    SCALAR_FLOAT,
    SCALAR_DOUBLE,
    SCALAR_LONG_DOUBLE,
    SCALAR_FLOAT128 /* a Fortran REAL*16 where that is not the long double */
};

/* The groups of the MPI standard's table of valid operators. */
enum group {
    GROUP_C_INTEGER,
    GROUP_FORTRAN_INTEGER,
    GROUP_FLOATING,
    GROUP_LOGICAL,
    GROUP_COMPLEX,
    GROUP_BYTE,
    GROUP_MULTI_LANGUAGE,
    GROUP_PAIR,
    GROUP_NONE /* none is valid */
};

struct element {
    const char *name;
    MPI_Datatype type;
    enum group group;
    bool fortran; /* exists only where Open MPI was built with Fortran */
    enum scalar scalar[2];
    size_t offset[2]; /* bytes; of the second number, if there is one */
    int size;         /* of MPI_Type_size; 0: the type does not exist here */
    MPI_Aint extent;
    bool padded;                           /* some bytes of an element are padding */
    unsigned char mask[ELEMENT_BYTES_MAX]; /* 0xff: the byte is not padding */
};

struct element_op {
    const char *name;
    MPI_Op op;
};

extern struct element elements[];
extern const int elements_count;
extern const struct element_op element_ops[ELEMENT_OPS];

/** Fill in sizes, extents and masks. To be called once, after MPI_Init. */
void elements_prepare(void);

/** Does the standard permit them together? */
bool element_standard(const struct element *element, int op);

/** Does MPI_Reduce_local accept them together? */
bool element_accepted(const struct element *element, int op);

/** Write one element's value for an operator; `random` decides which, `rank` owns it. */
void element_value(const struct element *element, int op, int rank, uint64_t random, void *out);

/** Is one element of a rounded sum or product another one, but for rounding? For values that
 * element_value wrote, of ELEMENT_RANKS_MAX ranks. Neither may be NaN. */
bool element_near(const struct element *element, const void *one, const void *other);

/** Set the padding bytes of `count` elements to zero, so that memory can be compared. */
void element_canonical(const struct element *element, void *data, size_t count);

#endif
