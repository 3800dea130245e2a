/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Integers by 64-bit arithmetic, half and bfloat16 by doubles: these hold any sum or product of two
 * of them exactly, and the nearest number is looked up in a list of all.
 */
#include "reference.h"

#include <math.h>
#include <string.h>

/* ---- Half and bfloat16 ---- */

struct format {
    int digits, exponent_bits;
    double values[1 << 15]; /* by their bits, without the sign; from infinity on unused */
    bool ready;
};

static struct format half = {.digits = 10, .exponent_bits = 5};
static struct format bfloat16 = {.digits = 7, .exponent_bits = 8};

static unsigned infinity_bits(const struct format *format)
{
    return ((1u << format->exponent_bits) - 1) << format->digits;
}

static void prepare(struct format *format)
{
    int bias = (1 << (format->exponent_bits - 1)) - 1;
    for (unsigned bits = 0; bits <= infinity_bits(format) && !format->ready; bits++) {
        unsigned exponent = bits >> format->digits, rest = bits & ((1u << format->digits) - 1);
        double digits = rest + (exponent ? 1u << format->digits : 0u);
        format->values[bits] =
            ldexp(digits, (exponent ? (int)exponent : 1) - bias - format->digits);
    }
    format->ready = true;
}

static double widen(struct format *format, uint16_t bits)
{
    prepare(format);
    double value = format->values[bits & 0x7fff];
    return bits & 0x8000 ? -value : value;
}

/* The nearest; of two, the even one. What would follow the largest stands for infinity. */
static uint16_t narrow(struct format *format, double number)
{
    unsigned low = 0, high = infinity_bits(format);
    double value = fabs(number);
    uint16_t sign = signbit(number) ? 0x8000 : 0;
    prepare(format);
    if (value >= format->values[high])
        return (uint16_t)(sign | high);
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (format->values[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    double below = value - format->values[low], above = format->values[high] - value;
    bool up = above < below || (above == below && low % 2 == 1);
    return (uint16_t)(sign | (up ? high : low));
}

/* ---- Numbers ---- */

static double number_of(enum strag_cuda_op op, double l, double r)
{
    switch (op) {
    case STRAG_CUDA_MAX:
        return r > l ? r : l;
    case STRAG_CUDA_MIN:
        return r < l ? r : l;
    case STRAG_CUDA_SUM:
        return l + r;
    default:
        return l * r;
    }
}

static uint64_t unsigned_of(enum strag_cuda_op op, uint64_t l, uint64_t r)
{
    switch (op) {
    case STRAG_CUDA_MAX:
        return l > r ? l : r;
    case STRAG_CUDA_MIN:
        return l < r ? l : r;
    case STRAG_CUDA_SUM:
        return l + r;
    case STRAG_CUDA_PROD:
        return l * r;
    case STRAG_CUDA_LAND:
        return l && r;
    case STRAG_CUDA_LOR:
        return l || r;
    case STRAG_CUDA_LXOR:
        return !l != !r;
    case STRAG_CUDA_BAND:
        return l & r;
    case STRAG_CUDA_BOR:
        return l | r;
    default:
        return l ^ r;
    }
}

static void reduce_integers(enum strag_cuda_op op, enum strag_cuda_type type, void *out,
                            const void *left, const void *right)
{
    size_t size = strag_cuda_size(type);
    uint64_t l = 0, r = 0, result;
    memcpy(&l, left, size);
    memcpy(&r, right, size);
    if (type <= STRAG_CUDA_INT64 && (op == STRAG_CUDA_MAX || op == STRAG_CUDA_MIN)) {
        unsigned shift = 64 - 8 * (unsigned)size;
        int64_t sl = (int64_t)(l << shift), sr = (int64_t)(r << shift);
        result = (op == STRAG_CUDA_MAX) == (sl > sr) ? l : r;
    } else {
        result = unsigned_of(op, l, r);
    }
    memcpy(out, &result, size);
}

static void reduce_small(enum strag_cuda_op op, struct format *format, void *out, const void *left,
                         const void *right)
{
    uint16_t l, r;
    memcpy(&l, left, sizeof l);
    memcpy(&r, right, sizeof r);
    l = narrow(format, number_of(op, widen(format, l), widen(format, r)));
    memcpy(out, &l, sizeof l);
}

/* ---- Complex numbers ---- */

static void reduce_half_complex(enum strag_cuda_op op, void *out, const void *left,
                                const void *right)
{
    uint16_t l[2], r[2], result[2];
    memcpy(l, left, sizeof l);
    memcpy(r, right, sizeof r);
    float a = (float)widen(&half, l[0]), b = (float)widen(&half, l[1]);
    float c = (float)widen(&half, r[0]), d = (float)widen(&half, r[1]);
    float ac = a * c, bd = b * d, ad = a * d, bc = b * c;
    float re = op == STRAG_CUDA_SUM ? a + c : ac - bd, im = op == STRAG_CUDA_SUM ? b + d : ad + bc;
    result[0] = narrow(&half, re);
    result[1] = narrow(&half, im);
    memcpy(out, result, sizeof result);
}

/* Of float and double, their sums and products as a machine has them, and complex ones. */
#define NUMBERS(type)                                                                              \
    static void reduce_##type(enum strag_cuda_op op, void *out, const void *left,                  \
                              const void *right)                                                   \
    {                                                                                              \
        type l, r;                                                                                 \
        memcpy(&l, left, sizeof l);                                                                \
        memcpy(&r, right, sizeof r);                                                               \
        l = (type)number_of(op, l, r);                                                             \
        memcpy(out, &l, sizeof l);                                                                 \
    }                                                                                              \
    static void reduce_##type##_complex(enum strag_cuda_op op, void *out, const void *left,        \
                                        const void *right)                                         \
    {                                                                                              \
        type l[2], r[2], result[2];                                                                \
        memcpy(l, left, sizeof l);                                                                 \
        memcpy(r, right, sizeof r);                                                                \
        type ac = l[0] * r[0], bd = l[1] * r[1], ad = l[0] * r[1], bc = l[1] * r[0];               \
        result[0] = op == STRAG_CUDA_SUM ? l[0] + r[0] : ac - bd;                                  \
        result[1] = op == STRAG_CUDA_SUM ? l[1] + r[1] : ad + bc;                                  \
        memcpy(out, result, sizeof result);                                                        \
    }

NUMBERS(float)
NUMBERS(double)

/* ---- Pairs ---- */

#define PAIR(name, value_type, place_type)                                                         \
    struct name {                                                                                  \
        value_type value;                                                                          \
        place_type place;                                                                          \
    };                                                                                             \
    static void reduce_##name(enum strag_cuda_op op, void *out, const void *left,                  \
                              const void *right)                                                   \
    {                                                                                              \
        struct name l, r;                                                                          \
        memcpy(&l, left, sizeof l);                                                                \
        memcpy(&r, right, sizeof r);                                                               \
        bool wins = op == STRAG_CUDA_MAXLOC ? l.value > r.value : l.value < r.value;               \
        bool first = l.value == r.value && l.place < r.place;                                      \
        memcpy(out, wins || first ? &l : &r, sizeof l);                                            \
    }

PAIR(int_int, int, int)
PAIR(float_int, float, int)
PAIR(float_float, float, float)
PAIR(double_double, double, double)

typedef void reduce_fn(enum strag_cuda_op op, void *out, const void *left, const void *right);

static reduce_fn *const others[STRAG_CUDA_TYPES] = {
    [STRAG_CUDA_FLOAT] = reduce_float,
    [STRAG_CUDA_DOUBLE] = reduce_double,
    [STRAG_CUDA_HALF_COMPLEX] = reduce_half_complex,
    [STRAG_CUDA_FLOAT_COMPLEX] = reduce_float_complex,
    [STRAG_CUDA_DOUBLE_COMPLEX] = reduce_double_complex,
    [STRAG_CUDA_INT_INT] = reduce_int_int,
    [STRAG_CUDA_FLOAT_INT] = reduce_float_int,
    [STRAG_CUDA_FLOAT_FLOAT] = reduce_float_float,
    [STRAG_CUDA_DOUBLE_DOUBLE] = reduce_double_double,
};

void reference_reduce(enum strag_cuda_op op, enum strag_cuda_type type, void *out, const void *left,
                      const void *right)
{
    if (type <= STRAG_CUDA_UINT64)
        reduce_integers(op, type, out, left, right);
    else if (type == STRAG_CUDA_HALF || type == STRAG_CUDA_BFLOAT16)
        reduce_small(op, type == STRAG_CUDA_HALF ? &half : &bfloat16, out, left, right);
    else
        others[type](op, out, left, right);
}

bool reference_defined(enum strag_cuda_op op, enum strag_cuda_type type)
{
    bool pair = type >= STRAG_CUDA_INT_INT, integer = type <= STRAG_CUDA_UINT64;
    bool complex = type >= STRAG_CUDA_HALF_COMPLEX && type <= STRAG_CUDA_DOUBLE_COMPLEX;
    switch (op) {
    case STRAG_CUDA_MAX:
    case STRAG_CUDA_MIN:
        return !pair && !complex;
    case STRAG_CUDA_SUM:
    case STRAG_CUDA_PROD:
        return !pair;
    case STRAG_CUDA_MAXLOC:
    case STRAG_CUDA_MINLOC:
        return pair;
    default:
        return integer;
    }
}

/* ---- Values ---- */

/* A number with few enough digits to be one of any format. */
static double small_number(uint64_t random)
{
    int digits = (int)(random >> 8 & 127);
    int exponent = (int)(random >> 16 & 7) - 8;
    return ldexp(random & 1 ? -digits : digits, exponent);
}

static void pair_value(enum strag_cuda_type type, uint64_t random, void *out)
{
    int value = (int)(random & 7) - 4, place = (int)(random >> 8 & 15);
    switch (type) {
    case STRAG_CUDA_INT_INT:
        memcpy(out, &(struct int_int){value, place}, sizeof(struct int_int));
        break;
    case STRAG_CUDA_FLOAT_INT:
        memcpy(out, &(struct float_int){(float)value, place}, sizeof(struct float_int));
        break;
    case STRAG_CUDA_FLOAT_FLOAT:
        memcpy(out, &(struct float_float){(float)value, (float)place}, sizeof(struct float_float));
        break;
    default:
        memcpy(out, &(struct double_double){value, place}, sizeof(struct double_double));
        break;
    }
}

static void scalar_value(enum strag_cuda_type type, uint64_t random, void *out)
{
    /* float and double: more digits than their sums and products keep */
    double fine = small_number(random) * (1 + (double)(random >> 40) / (double)(1 << 24));
    float single = (float)fine;
    uint16_t bits;
    switch (type) {
    case STRAG_CUDA_FLOAT:
        memcpy(out, &single, sizeof single);
        break;
    case STRAG_CUDA_DOUBLE:
        memcpy(out, &fine, sizeof fine);
        break;
    default:
        bits = narrow(type == STRAG_CUDA_HALF ? &half : &bfloat16, fine);
        memcpy(out, &bits, sizeof bits);
        break;
    }
}

void reference_value(enum strag_cuda_type type, uint64_t random, void *out)
{
    size_t size = strag_cuda_size(type);
    if (type <= STRAG_CUDA_UINT64) {
        /* any bits, but every fourth one zero, and every eighth a short one */
        uint64_t value = random % 4 == 0 ? 0 : random % 8 == 1 ? 1 + (random >> 62) : random >> 3;
        memcpy(out, &value, size);
    } else if (type >= STRAG_CUDA_INT_INT) {
        memset(out, 0, size);
        pair_value(type, random, out);
    } else if (type >= STRAG_CUDA_HALF_COMPLEX) {
        enum strag_cuda_type part = type == STRAG_CUDA_HALF_COMPLEX    ? STRAG_CUDA_HALF
                                    : type == STRAG_CUDA_FLOAT_COMPLEX ? STRAG_CUDA_FLOAT
                                                                       : STRAG_CUDA_DOUBLE;
        scalar_value(part, random, out);
        scalar_value(part, random * 0x9e3779b97f4a7c15u, (char *)out + size / 2);
    } else {
        scalar_value(type, random, out);
    }
}
