/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of hosts by the hosts' names. In a pattern `{}` is a number, and `{rack}` is a number that
 * names a group; `{rack:2}` has two digits. Larger groups come first. With "i{island}r{rack}n{}"
 * the host i02r13n07 is in the rack i02r13 of the island i02.
 */
#include "machine/layout_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "0123456789";

/* Slingshot: x1000c0s4b1n0 is a node of a board in a slot of chassis 0 of cabinet 1000. Hosts of a
 * chassis share its switches in all slots. */
static const char xname[] = "x{cabinet}c{chassis}s{}b{}n{}";

const char *strag_names_pattern(const char *layout)
{
    const char *pattern = strncmp(layout, "names:", 6) == 0 ? layout + 6 : NULL;
    return pattern && strcmp(pattern, "xname") == 0 ? xname : pattern;
}

/* A number of a pattern. */
struct number {
    bool group;    /* it has a name */
    size_t digits; /* 0 for any number of digits */
    size_t length; /* of its text, "{rack:2}" */
};

static struct number read_number(const char *text)
{
    struct number number = {.group = text[1] != '}' && text[1] != ':'};
    const char *colon = text + strcspn(text, ":}");
    if (*colon == ':')
        number.digits = (size_t)(colon[1] - '0');
    number.length = strcspn(text, "}") + 1;
    return number;
}

/* Is the text "{}", "{NAME}", "{:DIGIT}" or "{NAME:DIGIT}"? */
static bool is_number(const char *text)
{
    const char *end = text + 1;
    while (isalnum((unsigned char)*end) || *end == '_')
        end++;
    if (*end == ':' && end[1] >= '1' && end[1] <= '9')
        end += 2;
    return *end == '}';
}

static int check_pattern(const char *pattern, struct strag_error *err)
{
    bool groups = false, open = false; /* open: a number of any length ends here */
    for (const char *c = pattern; *c;) {
        if (*c != '{' ? !isalnum((unsigned char)*c) && *c != '-' && *c != '_' : !is_number(c))
            return strag_fail(err, STRAG_ERR_ARGUMENT,
                              "the pattern '%s' is wrong from '%s' on; letters, digits, - and _ "
                              "stand for themselves, {} for a number, {rack} for one that names a "
                              "group, {rack:2} for one of 2 digits",
                              strag_quoted(pattern).text, strag_quoted(c).text);
        const struct number number = *c == '{' ? read_number(c) : (struct number){false, 0, 1};
        if (open && (*c == '{' || isdigit((unsigned char)*c)))
            return strag_fail(err, STRAG_ERR_ARGUMENT,
                              "the pattern '%s' has a number that nothing divides from the digits "
                              "behind it; say how many digits it has, like {rack:2}",
                              strag_quoted(pattern).text);
        open = *c == '{' && !number.digits;
        c += number.length;
        groups |= number.group && *c;
    }
    if (groups)
        return STRAG_OK;
    return strag_fail(err, STRAG_ERR_ARGUMENT,
                      "the pattern '%s' names no group of hosts, as r{rack}n{} does",
                      strag_quoted(pattern).text);
}

/* Write the names of the groups, largest first: each is a beginning of the host's name. The host's
 * name is compared up to its first dot. @return the address's end; NULL without a match */
static char *write_groups(const char *pattern, const char *host, char *address)
{
    const char *text = host;
    for (const char *c = pattern; *c;) {
        if (*c != '{') {
            if (*c++ != *text++)
                return NULL;
            continue;
        }
        const struct number number = read_number(c);
        const size_t length = strspn(text, digits);
        if (length < (number.digits ? number.digits : 1))
            return NULL;
        text += number.digits ? number.digits : length;
        c += number.length;
        if (number.group && *c) {
            memcpy(address, host, (size_t)(text - host));
            address += text - host;
            *address++ = '.';
        }
    }
    return *text == '\0' || *text == '.' ? address : NULL;
}

int strag_names_address(const char *pattern, const char *name, const char *host, char **address,
                        struct strag_error *err)
{
    size_t groups = 0;
    int status = check_pattern(pattern, err);
    if (status != STRAG_OK)
        return status;
    for (const char *c = pattern; *c; c++)
        groups += *c == '{';
    char *text = malloc(groups * (strlen(name) + 1) + strlen(host) + 1);
    if (!text)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the names of hosts");
    char *end = write_groups(pattern, name, text);
    if (end) {
        strcpy(end, host);
        *address = text;
        return STRAG_OK;
    }
    free(text);
    return strag_fail(err, STRAG_ERR_ARGUMENT,
                      "host %s: its name is not like '%s', so that its group is not known",
                      strag_quoted(name).text, strag_quoted(pattern).text);
}

int strag_layout_from_names(const char *pattern, const char *const *hosts, int count,
                            struct strag_layout **layout, struct strag_error *err)
{
    int status = STRAG_OK, made = 0;
    struct strag_address *addresses = calloc((size_t)count + 1, sizeof *addresses);
    if (!addresses)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d hosts", count);
    for (; made < count && status == STRAG_OK; made += status == STRAG_OK) {
        char *address = NULL;
        if (pattern)
            status = strag_names_address(pattern, hosts[made], hosts[made], &address, err);
        addresses[made] = (struct strag_address){hosts[made], pattern ? address : hosts[made]};
    }
    if (status == STRAG_OK)
        status = strag_layout_from_addresses(addresses, count, layout, err);
    for (int i = 0; pattern && i < made; i++)
        free((char *)(uintptr_t)addresses[i].address);
    free(addresses);
    return status;
}
