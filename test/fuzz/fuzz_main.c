/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a fuzz target without libFuzzer: on the files and folders named; or on the target's corpus,
 * on texts made up from the target's words, and on changed texts of the corpus. STRAG_SEED and
 * STRAG_CASES as in the unit tests; srcdir is the folder with test/ in it.
 */
#include "fuzz.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TEXT_MAX = 200, FILE_MAX = 1 << 16, CORPUS_MAX = 1000 };

struct text {
    char *bytes;
    size_t size;
};

static struct text corpus[CORPUS_MAX];
static int texts;

/* ---- Random numbers ---- */

static uint64_t state;

/* splitmix64 */
static uint64_t next_random(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t below(size_t n)
{
    return n ? (size_t)(next_random() % n) : 0;
}

/* ---- Files ---- */

/* Run on a file and keep it. @return whether that was possible */
static bool run_file(const char *name)
{
    FILE *file = fopen(name, "rb");
    char *bytes = malloc(FILE_MAX);
    if (!file || !bytes) {
        perror(name);
        if (file)
            fclose(file);
        free(bytes);
        return false;
    }
    size_t size = fread(bytes, 1, FILE_MAX, file);
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed || texts == CORPUS_MAX) {
        fprintf(stderr, "%s: cannot be read, or is one of too many\n", name);
        free(bytes);
        return false;
    }
    corpus[texts++] = (struct text){bytes, size};
    LLVMFuzzerTestOneInput((const uint8_t *)bytes, size);
    return true;
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* A file, or all files of a folder, in order. */
static bool run_path(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        perror(path);
        return false;
    }
    if (!S_ISDIR(info.st_mode))
        return run_file(path);
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, visible, alphasort);
    bool good = count > 0;
    if (!good)
        fprintf(stderr, "%s: no files\n", path);
    for (int i = 0; i < count; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        good &= run_file(name);
        free(entries[i]);
    }
    free(entries);
    return good;
}

/* ---- Texts that are made up ---- */

static size_t append(char *text, size_t used, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size && used < FILE_MAX; i++)
        text[used++] = bytes[i];
    return used;
}

static const char *any_word(void)
{
    return fuzz_target.words[below(fuzz_target.nwords)];
}

static size_t make_text(char *text)
{
    size_t used = 0;
    for (uint64_t pieces = below(8); pieces && used < TEXT_MAX; pieces--) {
        const char *word = any_word();
        char any[2] = {(char)(next_random() & 0xff), '\0'};
        if (below(16) == 0)
            word = any;
        used = append(text, used, word, strlen(word));
    }
    return used;
}

/* Change [from, to) of a text into something else. */
static size_t change(char *text, const char *old, size_t size)
{
    size_t from = below(size + 1), to = from + below(size - from + 1);
    if (below(4)) /* mostly a few bytes */
        to = from + below(to - from < 8 ? to - from + 1 : 8);
    size_t used = append(text, 0, old, from);
    const char *word = any_word();
    const struct text *other = &corpus[below((size_t)texts)];
    size_t begin = below(other->size + 1);
    switch (below(5)) {
    case 0: /* nothing */
        break;
    case 1:
        used = append(text, used, word, strlen(word));
        break;
    case 2: /* twice */
        used = append(text, used, old + from, to - from);
        used = append(text, used, old + from, to - from);
        break;
    case 3: {
        char any = (char)(next_random() & 0xff);
        used = append(text, used, &any, 1);
        break;
    }
    default:
        used = append(text, used, other->bytes + begin, below(other->size - begin + 1));
        break;
    }
    return append(text, used, old + to, size - to);
}

static size_t mutate(char *text, char *scratch)
{
    const struct text *old = &corpus[below((size_t)texts)];
    size_t size = change(text, old->bytes, old->size);
    for (size_t more = below(4); more; more--) {
        append(scratch, 0, text, size);
        size = change(text, scratch, size);
    }
    return size;
}

static uint64_t setting(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 0) : usual;
}

static int run_random(void)
{
    uint64_t seed = setting("STRAG_SEED", 1);
    uint64_t cases = setting("STRAG_CASES", (uint64_t)fuzz_target.cases);
    char *text = malloc(FILE_MAX), *scratch = malloc(FILE_MAX);
    if (!text || !scratch) {
        free(text);
        free(scratch);
        fprintf(stderr, "out of memory\n");
        return 1;
    }
    printf("%s: STRAG_SEED=%llu\n", fuzz_target.name, (unsigned long long)seed);
    fflush(stdout);
    state = seed;
    for (uint64_t i = 0; i < cases; i++) {
        size_t size = i % 2 ? mutate(text, scratch) : make_text(text);
        LLVMFuzzerTestOneInput((const uint8_t *)text, size);
    }
    printf("%d files, %llu texts\n", texts, (unsigned long long)cases);
    free(text);
    free(scratch);
    return 0;
}

int main(int argc, char **argv)
{
    bool good = true;
    for (int i = 1; i < argc; i++)
        good &= run_path(argv[i]);
    if (argc == 1) {
        const char *top = getenv("srcdir");
        char folder[4096];
        snprintf(folder, sizeof folder, "%s/test/fuzz/corpus/%s", top ? top : ".",
                 fuzz_target.name);
        good = run_path(folder) && run_random() == 0;
    }
    for (int i = 0; i < texts; i++)
        free(corpus[i].bytes);
    return good ? 0 : 1;
}
