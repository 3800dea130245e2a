/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predefined types, operators and values; see elements.h.
 */
#include "elements.h"

#include "common.h"

#include <float.h>
#include <math.h>

enum { MAX, MIN, SUM, PROD, LAND, BAND, LOR, BOR, LXOR, BXOR, MAXLOC, MINLOC };

const struct element_op element_ops[ELEMENT_OPS] = {
    {"MPI_MAX", MPI_MAX},   {"MPI_MIN", MPI_MIN},       {"MPI_SUM", MPI_SUM},
    {"MPI_PROD", MPI_PROD}, {"MPI_LAND", MPI_LAND},     {"MPI_BAND", MPI_BAND},
    {"MPI_LOR", MPI_LOR},   {"MPI_BOR", MPI_BOR},       {"MPI_LXOR", MPI_LXOR},
    {"MPI_BXOR", MPI_BXOR}, {"MPI_MAXLOC", MPI_MAXLOC}, {"MPI_MINLOC", MPI_MINLOC},
};

#define INT_SCALAR(type_)                                                                          \
    ((type_)-1 < (type_)1 ? (1 == sizeof(type_)   ? SCALAR_INT8                                    \
                             : 2 == sizeof(type_) ? SCALAR_INT16                                   \
                             : 4 == sizeof(type_) ? SCALAR_INT32                                   \
                                                  : SCALAR_INT64)                                  \
                          : (1 == sizeof(type_)   ? SCALAR_UINT8                                   \
                             : 2 == sizeof(type_) ? SCALAR_UINT16                                  \
                             : 4 == sizeof(type_) ? SCALAR_UINT32                                  \
                                                  : SCALAR_UINT64))

/* The label is a parameter of its own, since a name that passes through a second macro is expanded.
 */
#define ROW(label_, name_, group_, fortran_, scalar_, second_, offset_)                            \
    {                                                                                              \
        .name = label_, .type = name_, .group = group_, .fortran = fortran_,                       \
        .scalar = {scalar_, second_}, .offset = {                                                  \
            0,                                                                                     \
            offset_                                                                                \
        }                                                                                          \
    }
#define ONE(name_, group_, fortran_, scalar_)                                                      \
    ROW(#name_, name_, group_, fortran_, scalar_, SCALAR_NONE, 0)
#define C_INT(name_, type_)                                                                        \
    ROW(#name_, name_, GROUP_C_INTEGER, false, INT_SCALAR(type_), SCALAR_NONE, 0)
#define F_INT(name_, type_)                                                                        \
    ROW(#name_, name_, GROUP_FORTRAN_INTEGER, true, INT_SCALAR(type_), SCALAR_NONE, 0)
#define COMPLEX(name_, fortran_, scalar_, type_)                                                   \
    ROW(#name_, name_, GROUP_COMPLEX, fortran_, scalar_, scalar_, sizeof(type_))
#define PAIR(name_, fortran_, scalar_, second_, offset_)                                           \
    ROW(#name_, name_, GROUP_PAIR, fortran_, scalar_, second_, offset_)

struct long_double_int {
    long double value;
    int index;
};

/* REAL*16 is stored as the long double or as IEEE quadruple: elements_prepare checks which. */
struct element elements[] = {
    C_INT(MPI_CHAR, char),
    C_INT(MPI_SIGNED_CHAR, signed char),
    C_INT(MPI_UNSIGNED_CHAR, unsigned char),
    C_INT(MPI_SHORT, short),
    C_INT(MPI_UNSIGNED_SHORT, unsigned short),
    C_INT(MPI_INT, int),
    C_INT(MPI_UNSIGNED, unsigned),
    C_INT(MPI_LONG, long),
    C_INT(MPI_UNSIGNED_LONG, unsigned long),
    C_INT(MPI_LONG_LONG, long long),
    C_INT(MPI_UNSIGNED_LONG_LONG, unsigned long long),
    C_INT(MPI_INT8_T, int8_t),
    C_INT(MPI_UINT8_T, uint8_t),
    C_INT(MPI_INT16_T, int16_t),
    C_INT(MPI_UINT16_T, uint16_t),
    C_INT(MPI_INT32_T, int32_t),
    C_INT(MPI_UINT32_T, uint32_t),
    C_INT(MPI_INT64_T, int64_t),
    C_INT(MPI_UINT64_T, uint64_t),
    ONE(MPI_AINT, GROUP_MULTI_LANGUAGE, false, INT_SCALAR(MPI_Aint)),
    ONE(MPI_OFFSET, GROUP_MULTI_LANGUAGE, false, INT_SCALAR(MPI_Offset)),
    ONE(MPI_COUNT, GROUP_MULTI_LANGUAGE, false, INT_SCALAR(MPI_Count)),
    ONE(MPI_BYTE, GROUP_BYTE, false, SCALAR_UINT8),
    ONE(MPI_C_BOOL, GROUP_LOGICAL, false, SCALAR_UINT8),
    ONE(MPI_CXX_BOOL, GROUP_LOGICAL, false, SCALAR_UINT8),
    ONE(MPI_FLOAT, GROUP_FLOATING, false, SCALAR_FLOAT),
    ONE(MPI_DOUBLE, GROUP_FLOATING, false, SCALAR_DOUBLE),
    ONE(MPI_LONG_DOUBLE, GROUP_FLOATING, false, SCALAR_LONG_DOUBLE),
    COMPLEX(MPI_C_FLOAT_COMPLEX, false, SCALAR_FLOAT, float),
    COMPLEX(MPI_C_DOUBLE_COMPLEX, false, SCALAR_DOUBLE, double),
    COMPLEX(MPI_C_LONG_DOUBLE_COMPLEX, false, SCALAR_LONG_DOUBLE, long double),
    COMPLEX(MPI_CXX_FLOAT_COMPLEX, false, SCALAR_FLOAT, float),
    COMPLEX(MPI_CXX_DOUBLE_COMPLEX, false, SCALAR_DOUBLE, double),
    COMPLEX(MPI_CXX_LONG_DOUBLE_COMPLEX, false, SCALAR_LONG_DOUBLE, long double),
    PAIR(MPI_FLOAT_INT, false, SCALAR_FLOAT, SCALAR_INT32, 4),
    PAIR(MPI_DOUBLE_INT, false, SCALAR_DOUBLE, SCALAR_INT32, 8),
    PAIR(MPI_LONG_INT, false, INT_SCALAR(long), SCALAR_INT32, sizeof(long)),
    PAIR(MPI_2INT, false, SCALAR_INT32, SCALAR_INT32, 4),
    PAIR(MPI_SHORT_INT, false, SCALAR_INT16, SCALAR_INT32, 4),
    PAIR(MPI_LONG_DOUBLE_INT, false, SCALAR_LONG_DOUBLE, SCALAR_INT32,
         offsetof(struct long_double_int, index)),
    ONE(MPI_WCHAR, GROUP_NONE, false, SCALAR_NONE),
    ONE(MPI_PACKED, GROUP_NONE, false, SCALAR_NONE),

    ONE(MPI_LOGICAL, GROUP_LOGICAL, true, SCALAR_INT32),
    F_INT(MPI_INTEGER, int32_t),
    ONE(MPI_REAL, GROUP_FLOATING, true, SCALAR_FLOAT),
    ONE(MPI_DOUBLE_PRECISION, GROUP_FLOATING, true, SCALAR_DOUBLE),
    COMPLEX(MPI_COMPLEX, true, SCALAR_FLOAT, float),
    COMPLEX(MPI_DOUBLE_COMPLEX, true, SCALAR_DOUBLE, double),
    PAIR(MPI_2REAL, true, SCALAR_FLOAT, SCALAR_FLOAT, 4),
    PAIR(MPI_2DOUBLE_PRECISION, true, SCALAR_DOUBLE, SCALAR_DOUBLE, 8),
    PAIR(MPI_2INTEGER, true, SCALAR_INT32, SCALAR_INT32, 4),
    ONE(MPI_CHARACTER, GROUP_NONE, true, SCALAR_UINT8),
#ifdef MPI_LOGICAL1
    ONE(MPI_LOGICAL1, GROUP_NONE, true, SCALAR_INT8),
#endif
#ifdef MPI_LOGICAL2
    ONE(MPI_LOGICAL2, GROUP_NONE, true, SCALAR_INT16),
#endif
#ifdef MPI_LOGICAL4
    ONE(MPI_LOGICAL4, GROUP_NONE, true, SCALAR_INT32),
#endif
#ifdef MPI_LOGICAL8
    ONE(MPI_LOGICAL8, GROUP_NONE, true, SCALAR_INT64),
#endif
#ifdef MPI_INTEGER1
    F_INT(MPI_INTEGER1, int8_t),
#endif
#ifdef MPI_INTEGER2
    F_INT(MPI_INTEGER2, int16_t),
#endif
#ifdef MPI_INTEGER4
    F_INT(MPI_INTEGER4, int32_t),
#endif
#ifdef MPI_INTEGER8
    F_INT(MPI_INTEGER8, int64_t),
#endif
#ifdef MPI_REAL4
    ONE(MPI_REAL4, GROUP_FLOATING, true, SCALAR_FLOAT),
    COMPLEX(MPI_COMPLEX8, true, SCALAR_FLOAT, float),
#endif
#ifdef MPI_REAL8
    ONE(MPI_REAL8, GROUP_FLOATING, true, SCALAR_DOUBLE),
    COMPLEX(MPI_COMPLEX16, true, SCALAR_DOUBLE, double),
#endif
#ifdef MPI_REAL16
    ONE(MPI_REAL16, GROUP_FLOATING, true, SCALAR_FLOAT128),
    COMPLEX(MPI_COMPLEX32, true, SCALAR_FLOAT128, long double),
#endif
};

const int elements_count = (int)(sizeof(elements) / sizeof(elements[0]));

/* The bytes of a number that have a meaning. */
static size_t scalar_bytes(enum scalar scalar)
{
    switch (scalar) {
    case SCALAR_INT8:
    case SCALAR_UINT8:
        return 1;
    case SCALAR_INT16:
    case SCALAR_UINT16:
        return 2;
    case SCALAR_INT32:
    case SCALAR_UINT32:
    case SCALAR_FLOAT:
        return 4;
    case SCALAR_INT64:
    case SCALAR_UINT64:
    case SCALAR_DOUBLE:
        return 8;
    case SCALAR_LONG_DOUBLE: /* x87: 80 bits in 16 bytes */
        return 64 == LDBL_MANT_DIG ? 10 : sizeof(long double);
    case SCALAR_FLOAT128:
        return 16;
    case SCALAR_NONE:
        break;
    }
    return 0;
}

static bool scalar_floating(enum scalar scalar)
{
    return scalar >= SCALAR_FLOAT;
}

static bool scalar_unsigned(enum scalar scalar)
{
    return SCALAR_UINT8 == scalar || SCALAR_UINT16 == scalar || SCALAR_UINT32 == scalar ||
           SCALAR_UINT64 == scalar;
}

static void store_integer(enum scalar scalar, int64_t value, void *out)
{
    /* The low bytes of a two's complement number are the shorter number. */
    const size_t bytes = scalar_bytes(scalar);
    for (size_t i = 0; i < bytes; i++) {
        size_t at = __ORDER_LITTLE_ENDIAN__ == __BYTE_ORDER__ ? i : bytes - 1 - i;
        ((unsigned char *)out)[at] = (unsigned char)((uint64_t)value >> (8 * i));
    }
}

#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 quadruple;
#else
typedef long double quadruple;
#endif

static void store_floating(enum scalar scalar, long double value, void *out)
{
    float single = (float)value;
    double twice = (double)value;
    quadruple quad = (quadruple)value / 3; /* to use the bits that a long double lacks */
    switch (scalar) {
    case SCALAR_FLOAT:
        memcpy(out, &single, sizeof(single));
        break;
    case SCALAR_DOUBLE:
        memcpy(out, &twice, sizeof(twice));
        break;
    case SCALAR_LONG_DOUBLE:
        memcpy(out, &value, scalar_bytes(scalar));
        break;
    default:
        memcpy(out, &quad, sizeof(quad));
        break;
    }
}

/* Is a REAL*16 the C long double? Then 1.5 + 1.5 is 3. */
static bool real16_is_long_double(MPI_Datatype type)
{
    const long double a[2] = {1.5L, 1.5L}; /* two, as the type may be the complex one */
    long double b[2] = {1.5L, 1.5L};
    return MPI_SUCCESS == MPI_Reduce_local(a, b, 1, type, MPI_SUM) && 3.0L == b[0];
}

void elements_prepare(void)
{
    TEST_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int i = 0; i < elements_count; i++) {
        struct element *element = &elements[i];
        MPI_Aint lower;
        TEST_MPI(MPI_Type_size(element->type, &element->size));
        TEST_MPI(MPI_Type_get_extent(element->type, &lower, &element->extent));
        size_t meaningful = 0;
        for (int k = 0; k < 2; k++) {
            if (SCALAR_FLOAT128 == element->scalar[k] && real16_is_long_double(elements[i].type))
                element->scalar[k] = SCALAR_LONG_DOUBLE;
            memset(element->mask + element->offset[k], 0xff, scalar_bytes(element->scalar[k]));
            meaningful += scalar_bytes(element->scalar[k]);
        }
        element->padded = (MPI_Aint)meaningful != element->extent;
    }
    TEST_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

bool element_standard(const struct element *element, int op)
{
    const bool arithmetic = op <= PROD, extreme = op <= MIN;
    const bool logical = LAND == op || LOR == op || LXOR == op;
    const bool bitwise = BAND == op || BOR == op || BXOR == op;
    switch (element->group) {
    case GROUP_C_INTEGER:
        return arithmetic || logical || bitwise;
    case GROUP_FORTRAN_INTEGER:
    case GROUP_MULTI_LANGUAGE:
        return arithmetic || bitwise;
    case GROUP_FLOATING:
        return arithmetic;
    case GROUP_LOGICAL:
        return logical;
    case GROUP_COMPLEX:
        return arithmetic && !extreme;
    case GROUP_BYTE:
        return bitwise;
    case GROUP_PAIR:
        return MAXLOC == op || MINLOC == op;
    case GROUP_NONE:
        break;
    }
    return false;
}

bool element_accepted(const struct element *element, int op)
{
    long double in[4] = {0}, inout[4] = {0};
    if (0 == element->size)
        return false;
    TEST_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    int code = MPI_Reduce_local(in, inout, 1, element->type, element_ops[op].op);
    TEST_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    return MPI_SUCCESS == code;
}

/* A value that is true (not 0 in an integer type) with a probability of `sixteenths` / 16. */
static int64_t logical_value(const struct element *element, uint64_t random, unsigned sixteenths)
{
    if (random % 16 >= sixteenths)
        return 0;
    return GROUP_C_INTEGER == element->group ? (int64_t)(random >> 4) % 100 + 1 : 1;
}

/* Sums and products must not overflow with ELEMENT_RANKS_MAX ranks, in any order: 8-bit sums
 * saturate in Open MPI's op/avx, and signed overflow is undefined everywhere. */
static int64_t integer_value(const struct element *element, enum scalar scalar, int op, int rank,
                             uint64_t random)
{
    const bool narrow = scalar_bytes(scalar) <= 2, wide = 8 == scalar_bytes(scalar);
    const uint64_t range = narrow ? 8 : wide ? (uint64_t)1 << 58 : (uint64_t)1 << 27;
    const bool negative = !scalar_unsigned(scalar) && 0 != (random >> 63);
    int64_t value;
    switch (op) {
    case SUM:
        value = (int64_t)((random >> 4) % range);
        break;
    case PROD: /* 2^6 fits in 8 bits, 3^16 in 32 bits */
        value = 1 + (int64_t)(random % (narrow ? 1 + (rank < 6) : 3));
        break;
    case LAND:
        return logical_value(element, random, 15);
    case LOR:
        return logical_value(element, random, 1);
    case LXOR:
        return logical_value(element, random, 8);
    case BAND: /* each bit is set with 15/16, so that some survive 16 ranks */
        return (int64_t)(random | test_mix(random) | test_mix(random + 1) | test_mix(random + 2));
    case BOR:
        return (int64_t)(random & test_mix(random) & test_mix(random + 1) & test_mix(random + 2));
    case MAXLOC:
    case MINLOC: /* few values, so that ties are broken by the index */
        return (int64_t)(random % 5) - 2;
    default:
        return (int64_t)random;
    }
    return negative ? -value : value;
}

/* Magnitudes from 1/16 to 16 with random mantissas and signs: rounding depends on the order. For a
 * product from 1/2 to 2, so that it stays in the range. No zeros: -0 and 0 compare equal. */
static long double floating_value(int op, uint64_t random)
{
    if (MAXLOC == op || MINLOC == op)
        return (long double)(random % 5) - 2.5L;
    const int exponent = PROD == op ? 0 : (int)(random % 8) - 4;
    const long double mantissa = 1.0L + (long double)(random >> 4 & 0xfffffffffffffffu) / 0x1p60L;
    long double value = mantissa;
    for (int i = 0; i < exponent; i++)
        value *= 2;
    for (int i = 0; i > exponent; i--)
        value /= 2;
    if (PROD == op && 0 != (random & 1))
        value /= 2;
    return 0 != (random & 8) ? -value : value;
}

void element_value(const struct element *element, int op, int rank, uint64_t random, void *out)
{
    memset(out, 0, (size_t)element->extent);
    for (int k = 0; k < 2 && SCALAR_NONE != element->scalar[k]; k++) {
        const enum scalar scalar = element->scalar[k];
        char *at = (char *)out + element->offset[k];
        if (GROUP_PAIR == element->group && 1 == k) { /* the index: not the same on two ranks */
            int64_t index = (int64_t)(random >> 32 & 0xfff) * ELEMENT_RANKS_MAX + rank;
            if (scalar_floating(scalar))
                store_floating(scalar, (long double)index, at);
            else
                store_integer(scalar, index, at);
        } else if (scalar_floating(scalar)) {
            store_floating(scalar, floating_value(op, random), at);
        } else {
            store_integer(scalar, integer_value(element, scalar, op, rank, random), at);
        }
        random = GROUP_PAIR == element->group ? random : test_mix(random);
    }
}

static long double load_floating(enum scalar scalar, const void *from)
{
    float single;
    double twice;
    long double extended = 0;
    quadruple quad;
    switch (scalar) {
    case SCALAR_FLOAT:
        memcpy(&single, from, sizeof(single));
        return single;
    case SCALAR_DOUBLE:
        memcpy(&twice, from, sizeof(twice));
        return twice;
    case SCALAR_LONG_DOUBLE:
        memcpy(&extended, from, scalar_bytes(scalar));
        return extended;
    default:
        memcpy(&quad, from, sizeof(quad));
        return (long double)quad;
    }
}

/* The values that are summed are 1/16 at least, and a float's sum of 16 has an error of 2.5e-4 at
 * most. Products are judged by their size, of both parts of a complex number together. */
bool element_near(const struct element *element, const void *one, const void *other)
{
    long double apart = 0, size = 0;
    bool numbers = true;
    for (int k = 0; k < 2 && SCALAR_NONE != element->scalar[k]; k++) {
        const long double a =
            load_floating(element->scalar[k], (const char *)one + element->offset[k]);
        const long double b =
            load_floating(element->scalar[k], (const char *)other + element->offset[k]);
        numbers = numbers && a == a && b == b;
        apart = fmaxl(apart, fabsl(a - b));
        size = fmaxl(size, fmaxl(fabsl(a), fabsl(b)));
    }
    return numbers && apart <= 1e-3L + 1e-5L * size;
}

void element_canonical(const struct element *element, void *data, size_t count)
{
    if (!element->padded)
        return;
    unsigned char *at = data;
    for (size_t i = 0; i < count; i++, at += element->extent)
        for (MPI_Aint k = 0; k < element->extent; k++)
            at[k] &= element->mask[k];
}
