/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * out = left (op) right on a device, for every operator and type that a device supports.
 *
 * This is plain C for compilers of hosts and devices: tests run the same functions on the host, for
 * all lengths and alignments. kernels.cu makes kernels of them.
 *
 * A vector is processed in packs of 16 bytes, which begin where `out` is aligned. Thread t of n
 * takes packs t, t + n, t + 2n ..., IN_FLIGHT of them at a time, so that several loads are in
 * flight before the first is used; neighbouring threads touch neighbouring packs:
 *
 *     out     |  head  |  pack 0  |  pack 1  |  pack 2  |  ...  |  tail  |      aligned packs
 *     right        |  head  |  pack 0  |  pack 1  |  pack 2  |  ...              other alignment:
 *                |   chunk   |   chunk   |   chunk   |   chunk   |                 aligned chunks
 *
 * An input that is not aligned as `out` is loaded in aligned chunks, two for each pack, which are
 * shifted together. The second chunk is the next thread's first, so it is in the cache. No chunk
 * reaches beyond the vector: packs at the ends for which one would are part of head and tail, which
 * are loaded byte by byte. If `out` is not even aligned to its elements, there is no head, and
 * packs are stored byte by byte.
 *
 * The result has the same bits as that of Open MPI's operators: right is their target, left their
 * source. Complex products use the textbook's formula, without a multiply-add.
 */
#ifndef STRAG_CUDA_KERNELS_H
#define STRAG_CUDA_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__CUDACC__) || defined(__CUDA__)
#define STRAG_DEVICE static __attribute__((device, always_inline)) inline
#else
#define STRAG_DEVICE static inline
#endif

enum { STRAG_PACK = 16, STRAG_IN_FLIGHT = 4 };

/* A kernel's argument. `out` is `left` or `right`, or disjoint from both. */
struct strag_job {
    void *out;
    const void *left, *right;
    size_t elements;
};

struct __attribute__((aligned(16))) strag_pack {
    uint32_t word[4];
};

typedef struct strag_pack strag_operator(struct strag_pack left, struct strag_pack right);

/* ---- Loading and storing ---- */

STRAG_DEVICE struct strag_pack strag_load(const char *address)
{
    return *(const struct strag_pack *)address;
}

/* Load a pack from any address. All chunks that contain a byte of the pack are read. */
STRAG_DEVICE struct strag_pack strag_load_shifted(const char *address)
{
    unsigned shift = (unsigned)((uintptr_t)address % STRAG_PACK), bits = shift % 4 * 8;
    struct strag_pack low = strag_load(address - shift), high, pack;
    uint32_t w[6], v[5];
    if (shift == 0)
        return low;
    high = strag_load(address - shift + STRAG_PACK);
    w[0] = shift & 8 ? low.word[2] : low.word[0];
    w[1] = shift & 8 ? low.word[3] : low.word[1];
    w[2] = shift & 8 ? high.word[0] : low.word[2];
    w[3] = shift & 8 ? high.word[1] : low.word[3];
    w[4] = shift & 8 ? high.word[2] : high.word[0];
    w[5] = shift & 8 ? high.word[3] : high.word[1];
    for (int i = 0; i < 5; i++) { /* values, not addresses, so that they stay in registers */
        const uint32_t first = w[i], second = w[i + 1];
        v[i] = shift & 4 ? second : first;
    }
    for (int i = 0; i < 4; i++)
        pack.word[i] = (uint32_t)((((uint64_t)v[i + 1] << 32) | v[i]) >> bits);
    return pack;
}

STRAG_DEVICE void strag_store(char *address, struct strag_pack pack)
{
    *(struct strag_pack *)address = pack;
}

STRAG_DEVICE struct strag_pack strag_load_bytes(const char *address, unsigned bytes)
{
    struct strag_pack pack = {{0, 0, 0, 0}};
    for (unsigned i = 0; i < bytes; i++)
        pack.word[i / 4] |= (uint32_t)(uint8_t)address[i] << (i % 4 * 8);
    return pack;
}

STRAG_DEVICE void strag_store_bytes(char *address, struct strag_pack pack, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        address[i] = (char)(uint8_t)(pack.word[i / 4] >> (i % 4 * 8));
}

/* ---- A vector ---- */

/* How a vector is divided into head, packs and tail. */
struct strag_cut {
    size_t head;         /* bytes before the first pack */
    size_t first, packs; /* packs from `first` to `packs` - 1 are processed as packs */
    int shifted;         /* inputs or output are not aligned as the packs are */
    int bytewise;        /* the output is not even aligned to its elements */
};

STRAG_DEVICE struct strag_cut strag_cut(const struct strag_job *job, unsigned size)
{
    struct strag_cut cut = {0, 0, 0, 0, 0};
    size_t bytes = job->elements * size;
    size_t head = (0 - (uintptr_t)job->out) % STRAG_PACK;
    size_t left, right, shift;
    cut.bytewise = head % size != 0;
    cut.head = cut.bytewise ? 0 : head;
    if (bytes < cut.head + STRAG_PACK) {
        cut.head = 0;
        return cut;
    }
    left = ((uintptr_t)job->left + cut.head) % STRAG_PACK;
    right = ((uintptr_t)job->right + cut.head) % STRAG_PACK;
    shift = left > right ? left : right;
    cut.packs = (bytes - cut.head) / STRAG_PACK;
    cut.shifted = shift != 0 || cut.bytewise;
    /* Chunks begin `shift` bytes before their pack, and end 32 - shift after that. */
    cut.first = shift > cut.head;
    shift = left && (right == 0 || left < right) ? left : right;
    if (shift && cut.head + STRAG_PACK * (cut.packs + 1) - shift > bytes)
        cut.packs--;
    if (cut.first > cut.packs)
        cut.first = cut.packs;
    return cut;
}

/* Process packs whose inputs are aligned as `out` is. */
STRAG_DEVICE void strag_aligned_packs(const struct strag_job *job, const struct strag_cut *cut,
                                      size_t thread, size_t threads, strag_operator *apply)
{
    const char *left = (const char *)job->left + cut->head;
    const char *right = (const char *)job->right + cut->head;
    char *out = (char *)job->out + cut->head;
    size_t p = cut->first + thread;
    for (; p + (STRAG_IN_FLIGHT - 1) * threads < cut->packs; p += STRAG_IN_FLIGHT * threads) {
        struct strag_pack l[STRAG_IN_FLIGHT], r[STRAG_IN_FLIGHT];
        for (int i = 0; i < STRAG_IN_FLIGHT; i++)
            l[i] = strag_load(left + (p + (size_t)i * threads) * STRAG_PACK);
        for (int i = 0; i < STRAG_IN_FLIGHT; i++)
            r[i] = strag_load(right + (p + (size_t)i * threads) * STRAG_PACK);
        for (int i = 0; i < STRAG_IN_FLIGHT; i++)
            strag_store(out + (p + (size_t)i * threads) * STRAG_PACK, apply(l[i], r[i]));
    }
    for (; p < cut->packs; p += threads)
        strag_store(out + p * STRAG_PACK,
                    apply(strag_load(left + p * STRAG_PACK), strag_load(right + p * STRAG_PACK)));
}

/* Process packs at any alignment. */
STRAG_DEVICE void strag_shifted_packs(const struct strag_job *job, const struct strag_cut *cut,
                                      size_t thread, size_t threads, strag_operator *apply)
{
    const char *left = (const char *)job->left + cut->head;
    const char *right = (const char *)job->right + cut->head;
    char *out = (char *)job->out + cut->head;
    for (size_t p = cut->first + thread; p < cut->packs; p += threads) {
        struct strag_pack l = strag_load_shifted(left + p * STRAG_PACK);
        struct strag_pack r = strag_load_shifted(right + p * STRAG_PACK);
        if (cut->bytewise)
            strag_store_bytes(out + p * STRAG_PACK, apply(l, r), STRAG_PACK);
        else
            strag_store(out + p * STRAG_PACK, apply(l, r));
    }
}

/* The work of thread `thread` of `threads`. @param size  bytes of an element: 1, 2, 4, 8 or 16 */
STRAG_DEVICE void strag_run(const struct strag_job *job, size_t thread, size_t threads,
                            unsigned size, strag_operator *apply)
{
    struct strag_cut cut = strag_cut(job, size);
    size_t before = (cut.head + cut.first * STRAG_PACK) / size;
    size_t within = (cut.packs - cut.first) * STRAG_PACK / size;
    if (cut.shifted)
        strag_shifted_packs(job, &cut, thread, threads, apply);
    else
        strag_aligned_packs(job, &cut, thread, threads, apply);
    for (size_t i = thread; i < job->elements - within; i += threads) {
        size_t at = (i < before ? i : i + within) * size;
        struct strag_pack left = strag_load_bytes((const char *)job->left + at, size);
        struct strag_pack right = strag_load_bytes((const char *)job->right + at, size);
        strag_store_bytes((char *)job->out + at, apply(left, right), size);
    }
}

/* ---- Types ---- */

typedef int8_t strag_int8;
typedef int16_t strag_int16;
typedef int32_t strag_int32;
typedef int64_t strag_int64;
typedef uint8_t strag_uint8;
typedef uint16_t strag_uint16;
typedef uint32_t strag_uint32;
typedef uint64_t strag_uint64;
typedef float strag_float;
typedef double strag_double;
typedef uint16_t strag_half;
typedef uint16_t strag_bfloat16;

#define STRAG_COMPLEX_TYPE(name, real)                                                             \
    typedef struct {                                                                               \
        real re, im;                                                                               \
    } strag_##name;
STRAG_COMPLEX_TYPE(half_complex, uint16_t)
STRAG_COMPLEX_TYPE(float_complex, float)
STRAG_COMPLEX_TYPE(double_complex, double)

/* A value, and the index at which it was found. */
#define STRAG_PAIR_TYPE(name, value_type, index_type)                                              \
    typedef struct {                                                                               \
        value_type value;                                                                          \
        index_type index;                                                                          \
    } strag_##name;
STRAG_PAIR_TYPE(int_int, int32_t, int32_t)
STRAG_PAIR_TYPE(float_int, float, int32_t)
STRAG_PAIR_TYPE(float_float, float, float)
STRAG_PAIR_TYPE(double_double, double, double)

/* Half and bfloat16 are computed as float. A float has more than twice their digits, so rounding
 * twice gives the same result as rounding once. */

union strag_bits {
    float number;
    uint32_t bits;
};

STRAG_DEVICE float strag_from_bfloat16(uint16_t value)
{
    union strag_bits result;
    result.bits = (uint32_t)value << 16;
    return result.number;
}

STRAG_DEVICE uint16_t strag_to_bfloat16(float number)
{
    union strag_bits value;
    value.number = number;
    if ((value.bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)((value.bits >> 16) | 0x40u); /* not a number */
    return (uint16_t)((value.bits + 0x7fffu + ((value.bits >> 16) & 1u)) >> 16);
}

#if defined(__CUDA_ARCH__)
STRAG_DEVICE float strag_from_half(uint16_t value)
{
    float result;
    __asm__("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value));
    return result;
}

/* The result is in a 32-bit register: from a 16-bit one ptxas of CUDA 13.0 stores a byte as the
 * half's value converted to an integer (seen on an H100; test/cuda/nvcc.sh looks for it). */
STRAG_DEVICE uint16_t strag_to_half(float number)
{
    uint32_t result;
    __asm__("{\n\t"
            ".reg .b16 low, high;\n\t"
            "cvt.rn.f16.f32 low, %1;\n\t"
            "mov.b16 high, 0;\n\t"
            "mov.b32 %0, {low, high};\n\t"
            "}"
            : "=r"(result)
            : "f"(number));
    return (uint16_t)result;
}
#else
STRAG_DEVICE float strag_from_half(uint16_t value)
{
    union strag_bits result;
    uint32_t sign = (uint32_t)(value & 0x8000u) << 16, rest = value & 0x7fffu;
    if (rest >= 0x7c00u) { /* infinite, or not a number */
        result.bits = 0x7f800000u | (rest & 0x3ffu) << 13;
    } else {
        /* As a float's bits the value is 2^112 times too small, also if it is subnormal. */
        union strag_bits scale;
        scale.bits = (127u + 112u) << 23;
        result.bits = rest << 13;
        result.number *= scale.number;
    }
    result.bits |= sign;
    return result.number;
}

STRAG_DEVICE uint16_t strag_to_half(float number)
{
    union strag_bits value, magic;
    uint32_t sign, result;
    value.number = number;
    sign = value.bits >> 16 & 0x8000u;
    value.bits &= 0x7fffffffu;
    if (value.bits > 0x7f800000u) {
        result = 0x7fffu;
    } else if (value.bits >= 0x477ff000u) { /* 65520 and more */
        result = 0x7c00u;
    } else if (value.bits < 0x38800000u) { /* subnormal: adding 0.5 puts its bits at the end */
        magic.bits = 126u << 23;
        value.number += magic.number;
        result = value.bits - magic.bits;
    } else {
        result = (value.bits - (112u << 23) + 0xfffu + (value.bits >> 13 & 1u)) >> 13;
    }
    return (uint16_t)(sign | result);
}
#endif

/* ---- Operators on elements: l is the left operand, r the right one ---- */

#define STRAG_MAX(type, l, r)  ((r) > (l) ? (r) : (l))
#define STRAG_MIN(type, l, r)  ((r) < (l) ? (r) : (l))
#define STRAG_SUM(type, l, r)  ((type)((l) + (r)))
#define STRAG_PROD(type, l, r) ((type)((l) * (r)))
#define STRAG_LAND(type, l, r) ((type)((l) != 0 && (r) != 0))
#define STRAG_LOR(type, l, r)  ((type)((l) != 0 || (r) != 0))
#define STRAG_LXOR(type, l, r) ((type)(((l) != 0) != ((r) != 0)))
#define STRAG_BAND(type, l, r) ((type)((l) & (r)))
#define STRAG_BOR(type, l, r)  ((type)((l) | (r)))
#define STRAG_BXOR(type, l, r) ((type)((l) ^ (r)))

/* Without the cast, factors of 16 bits would be multiplied as signed numbers, and overflow. */
#define STRAG_PROD16(type, l, r) ((type)((uint32_t)(l) * (r)))

#define STRAG_ELEMENTS(op, name, expression)                                                       \
    STRAG_DEVICE struct strag_pack strag_##op##_##name(struct strag_pack left,                     \
                                                       struct strag_pack right)                    \
    {                                                                                              \
        union {                                                                                    \
            struct strag_pack pack;                                                                \
            strag_##name element[STRAG_PACK / sizeof(strag_##name)];                               \
        } a, b;                                                                                    \
        a.pack = left;                                                                             \
        b.pack = right;                                                                            \
        for (unsigned i = 0; i < STRAG_PACK / sizeof(strag_##name); i++) {                         \
            const strag_##name l = a.element[i], r = b.element[i];                                 \
            b.element[i] = expression;                                                             \
        }                                                                                          \
        return b.pack;                                                                             \
    }

#define STRAG_NUMBERS(op, OP)                                                                      \
    STRAG_ELEMENTS(op, float, STRAG_##OP(float, l, r))                                             \
    STRAG_ELEMENTS(op, double, STRAG_##OP(double, l, r))                                           \
    STRAG_ELEMENTS(op, half,                                                                       \
                   strag_to_half(STRAG_##OP(float, strag_from_half(l), strag_from_half(r))))       \
    STRAG_ELEMENTS(                                                                                \
        op, bfloat16,                                                                              \
        strag_to_bfloat16(STRAG_##OP(float, strag_from_bfloat16(l), strag_from_bfloat16(r))))

#define STRAG_UNSIGNED(op, OP)                                                                     \
    STRAG_ELEMENTS(op, uint8, STRAG_##OP(uint8_t, l, r))                                           \
    STRAG_ELEMENTS(op, uint32, STRAG_##OP(uint32_t, l, r))                                         \
    STRAG_ELEMENTS(op, uint64, STRAG_##OP(uint64_t, l, r))

#define STRAG_EXTREMES(op, OP)                                                                     \
    STRAG_UNSIGNED(op, OP)                                                                         \
    STRAG_ELEMENTS(op, uint16, STRAG_##OP(uint16_t, l, r))                                         \
    STRAG_ELEMENTS(op, int8, STRAG_##OP(int8_t, l, r))                                             \
    STRAG_ELEMENTS(op, int16, STRAG_##OP(int16_t, l, r))                                           \
    STRAG_ELEMENTS(op, int32, STRAG_##OP(int32_t, l, r))                                           \
    STRAG_ELEMENTS(op, int64, STRAG_##OP(int64_t, l, r))                                           \
    STRAG_NUMBERS(op, OP)

STRAG_EXTREMES(max, MAX)
STRAG_EXTREMES(min, MIN)

STRAG_UNSIGNED(sum, SUM)
STRAG_ELEMENTS(sum, uint16, STRAG_SUM(uint16_t, l, r))
STRAG_NUMBERS(sum, SUM)
STRAG_UNSIGNED(prod, PROD)
STRAG_ELEMENTS(prod, uint16, STRAG_PROD16(uint16_t, l, r))
STRAG_NUMBERS(prod, PROD)

STRAG_UNSIGNED(land, LAND)
STRAG_ELEMENTS(land, uint16, STRAG_LAND(uint16_t, l, r))
STRAG_UNSIGNED(lor, LOR)
STRAG_ELEMENTS(lor, uint16, STRAG_LOR(uint16_t, l, r))
STRAG_UNSIGNED(lxor, LXOR)
STRAG_ELEMENTS(lxor, uint16, STRAG_LXOR(uint16_t, l, r))

STRAG_ELEMENTS(band, uint8, STRAG_BAND(uint8_t, l, r))
STRAG_ELEMENTS(bor, uint8, STRAG_BOR(uint8_t, l, r))
STRAG_ELEMENTS(bxor, uint8, STRAG_BXOR(uint8_t, l, r))

#define STRAG_COMPLEX(name, real)                                                                  \
    STRAG_DEVICE strag_##name strag_add_##name(strag_##name l, strag_##name r)                     \
    {                                                                                              \
        strag_##name sum = {l.re + r.re, l.im + r.im};                                             \
        return sum;                                                                                \
    }                                                                                              \
    STRAG_DEVICE strag_##name strag_multiply_##name(strag_##name l, strag_##name r)                \
    {                                                                                              \
        strag_##name product = {l.re * r.re - l.im * r.im, l.re * r.im + l.im * r.re};             \
        return product;                                                                            \
    }                                                                                              \
    STRAG_ELEMENTS(sum, name, strag_add_##name(l, r))                                              \
    STRAG_ELEMENTS(prod, name, strag_multiply_##name(l, r))

STRAG_COMPLEX(float_complex, float)
STRAG_COMPLEX(double_complex, double)

STRAG_DEVICE strag_float_complex strag_widen(strag_half_complex value)
{
    strag_float_complex wide = {strag_from_half(value.re), strag_from_half(value.im)};
    return wide;
}

STRAG_DEVICE strag_half_complex strag_narrow(strag_float_complex value)
{
    strag_half_complex narrow = {strag_to_half(value.re), strag_to_half(value.im)};
    return narrow;
}

STRAG_ELEMENTS(sum, half_complex,
               strag_narrow(strag_add_float_complex(strag_widen(l), strag_widen(r))))
STRAG_ELEMENTS(prod, half_complex,
               strag_narrow(strag_multiply_float_complex(strag_widen(l), strag_widen(r))))

/* Of two equal values the result is the one with the lower index. */
#define STRAG_LOCATE(op, name, compare)                                                            \
    STRAG_DEVICE strag_##name strag_choose_##op##_##name(strag_##name l, strag_##name r)           \
    {                                                                                              \
        if (l.value compare r.value) {                                                             \
            r.value = l.value;                                                                     \
            r.index = l.index;                                                                     \
        } else if (l.value == r.value && l.index < r.index) {                                      \
            r.index = l.index;                                                                     \
        }                                                                                          \
        return r;                                                                                  \
    }                                                                                              \
    STRAG_ELEMENTS(op, name, strag_choose_##op##_##name(l, r))
#define STRAG_PAIRS(name)                                                                          \
    STRAG_LOCATE(maxloc, name, >)                                                                  \
    STRAG_LOCATE(minloc, name, <)

STRAG_PAIRS(int_int)
STRAG_PAIRS(float_int)
STRAG_PAIRS(float_float)
STRAG_PAIRS(double_double)

/* ---- All kernels: X(op, type) ---- */

#define STRAG_LIST_UNSIGNED(X, op) X(op, uint8) X(op, uint16) X(op, uint32) X(op, uint64)
#define STRAG_LIST_SIGNED(X, op)   X(op, int8) X(op, int16) X(op, int32) X(op, int64)
#define STRAG_LIST_NUMBERS(X, op)  X(op, float) X(op, double) X(op, half) X(op, bfloat16)
#define STRAG_LIST_COMPLEX(X, op)  X(op, half_complex) X(op, float_complex) X(op, double_complex)
#define STRAG_LIST_PAIRS(X, op)                                                                    \
    X(op, int_int) X(op, float_int) X(op, float_float) X(op, double_double)
#define STRAG_LIST_EXTREMES(X, op)                                                                 \
    STRAG_LIST_UNSIGNED(X, op)                                                                     \
    STRAG_LIST_SIGNED(X, op)                                                                       \
    STRAG_LIST_NUMBERS(X, op)
#define STRAG_LIST_ARITHMETIC(X, op)                                                               \
    STRAG_LIST_UNSIGNED(X, op)                                                                     \
    STRAG_LIST_NUMBERS(X, op)                                                                      \
    STRAG_LIST_COMPLEX(X, op)

#define STRAG_KERNELS(X)                                                                           \
    STRAG_LIST_EXTREMES(X, max)                                                                    \
    STRAG_LIST_EXTREMES(X, min)                                                                    \
    STRAG_LIST_ARITHMETIC(X, sum)                                                                  \
    STRAG_LIST_ARITHMETIC(X, prod)                                                                 \
    STRAG_LIST_UNSIGNED(X, land)                                                                   \
    STRAG_LIST_UNSIGNED(X, lor)                                                                    \
    STRAG_LIST_UNSIGNED(X, lxor)                                                                   \
    X(band, uint8)                                                                                 \
    X(bor, uint8)                                                                                  \
    X(bxor, uint8)                                                                                 \
    STRAG_LIST_PAIRS(X, maxloc)                                                                    \
    STRAG_LIST_PAIRS(X, minloc)

#endif
