/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzing what options say: dimensions, HammingMeshes, trees, lists of hosts, the hosts' own
 * addresses, and patterns of their names.
 */
#include "fuzz.h"
#include "layout_check.h"

#include <stdlib.h>
#include <string.h>

static const char *const words[] = {
    "1",  "2",    "3",          "8",     "16",     "64",          "x",
    "x",  ":",    ":",          "(",     ")",      "((2,3),4)",   ",",
    "@",  "@100", "2147483647", "0",     "n[1-4]", "n[01-16,20]", "[",
    "]",  "-",    "a",          ".",     "s0.s1.", "pod:1:0:2",   "1x1x1x1x1x1x1x1",
    "n1", "n2",   "\n",         "\xff",  "s0",     "1e3",         "{",
    "}",  "{a}",  "{:2}",       "{b:1}", "r1n",
};

const struct fuzz_target fuzz_target = {"layout_dims", 20000, words, sizeof words / sizeof *words};

/* Does a text make more hosts than is worth the time? */
static bool is_huge(const char *text)
{
    double product = 1;
    for (const char *c = text; *c;) {
        char *end;
        double number = strtod(c, &end);
        if (end != c && number > 1)
            product *= number;
        c = end == c ? c + 1 : end;
    }
    return product > 4096;
}

static void fuzz_grids(const char *text)
{
    struct strag_error err = {""};
    for (int network = STRAG_NETWORK_TREE; network <= STRAG_NETWORK_HAMMINGMESH; network++) {
        struct strag_layout *layout = NULL;
        int status =
            strag_layout_from_dims(text, (enum strag_network)network, network == 1, &layout, &err);
        check_layout(status, layout, &err);
    }
}

static void fuzz_tree(const char *text)
{
    struct strag_error err = {""};
    struct strag_layout *layout = NULL;
    int status = strag_layout_from_tree(text, &layout, &err);
    check_layout(status, layout, &err);
}

static void fuzz_hosts(const char *text)
{
    struct strag_error err = {""};
    char **names = NULL;
    int count = -1;
    int status = strag_hosts_expand(text, &names, &count, &err);
    if (status != STRAG_OK) {
        check(!names && count == -1, "a refused list changed the result");
        check_message(status, &err, "");
        return;
    }
    check(count >= 1, "an empty list");
    if (!strchr(text, '[') && count == 1)
        check(strcmp(names[0], text) == 0, "a name that is changed");
    for (int i = 0; i < count; i++) {
        check(*names[i] && !strpbrk(names[i], "[] \n"), "a name that is none");
        free(names[i]);
    }
    free(names);
}

/* Lines HOST ADDRESS; also, all addresses are the hosts' own where there is no blank. */
static void fuzz_addresses(char *text)
{
    enum { MANY = 32 };
    struct strag_address addresses[MANY];
    int count = 0;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line && count < MANY;
         line = strtok_r(NULL, "\n", &rest)) {
        char *blank = strchr(line, ' ');
        if (blank)
            *blank++ = '\0';
        addresses[count++] = (struct strag_address){line, blank ? blank : line};
    }
    struct strag_error err = {""};
    struct strag_layout *layout = NULL;
    int status = strag_layout_from_addresses(addresses, count, &layout, &err);
    check_layout(status, layout, &err);
}

/* The first line is the pattern, the others are hosts. */
static void fuzz_names(char *text)
{
    enum { MANY = 32 };
    const char *hosts[MANY];
    int count = 0;
    char *rest = NULL, *pattern = strtok_r(text, "\n", &rest);
    for (char *host = strtok_r(NULL, "\n", &rest); host && count < MANY;
         host = strtok_r(NULL, "\n", &rest))
        hosts[count++] = host;
    struct strag_error err = {""};
    struct strag_layout *layout = NULL;
    if (count == 0)
        return;
    int status = strag_layout_from_names(pattern, hosts, count, &layout, &err);
    check_layout(status, layout, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (!is_huge(text))
        fuzz_grids(text);
    fuzz_tree(text);
    fuzz_hosts(text);
    char *copy = strdup(text);
    if (copy)
        fuzz_names(copy);
    free(copy);
    fuzz_addresses(text);
    free(text);
    return 0;
}
