/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a fuzz target without libFuzzer: on the files named, or on texts made up from the characters
 * and words that the targets look for. STRAG_SEED and STRAG_CASES as in the unit tests.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 200 };

static const char *const words[] = {
    "0",         "1",      "2",          "7",          "8",
    "9",         "16",     "32",         "255",        "256",
    "1000",      "1024",   "2147483647", "2147483648", "K",
    "M",         "G",      "T",          "k",          "t",
    "..",        "..",     ",",          ",",          ".",
    "-",         "+",      "e",          "E3",         "0x10",
    "inf",       "nan",    " ",          "\n",         "1e3",
    "0.5",       "1e-9",   "1e999",      "16777216T",  "P",
    "\t",        "2..256", "1..1",       "8..32",      "3..5",
    "16777215T", "%s",     "%n",         "\xff",       "000",
    "1K..1G",    "1..8T",  "32K..1M",    "9..2",       "18446744073709551615",
};

static uint64_t state;

/* splitmix64 */
static uint64_t next_random(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t make_text(char *text)
{
    size_t used = 0;
    for (uint64_t pieces = next_random() % 8; pieces; pieces--) {
        const char *word = words[next_random() % (sizeof words / sizeof *words)];
        char any[2] = {(char)(next_random() & 0xff), '\0'};
        if (next_random() % 16 == 0)
            word = any;
        for (; *word && used < TEXT_MAX; word++)
            text[used++] = *word;
    }
    return used;
}

static int run_file(const char *name)
{
    uint8_t data[1 << 16];
    FILE *file = fopen(name, "rb");
    if (!file) {
        perror(name);
        return 1;
    }
    size_t size = fread(data, 1, sizeof data, file);
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed) {
        fprintf(stderr, "%s: cannot be read\n", name);
        return 1;
    }
    LLVMFuzzerTestOneInput(data, size);
    return 0;
}

static uint64_t setting(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 0) : usual;
}

int main(int argc, char **argv)
{
    int failures = 0;
    for (int i = 1; i < argc; i++)
        failures += run_file(argv[i]);
    if (argc > 1)
        return failures ? 1 : 0;

    uint64_t seed = setting("STRAG_SEED", 1), cases = setting("STRAG_CASES", 300000);
    printf("%s: STRAG_SEED=%llu\n", argv[0], (unsigned long long)seed);
    fflush(stdout);
    state = seed;
    for (uint64_t i = 0; i < cases; i++) {
        char text[TEXT_MAX];
        size_t size = make_text(text);
        LLVMFuzzerTestOneInput((const uint8_t *)text, size);
    }
    printf("%llu texts\n", (unsigned long long)cases);
    return 0;
}
