/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The byte counters of the lab's links, as the kernel shows them of any process's network.
 */
#include "allreduce_lab.h"

#include <stdlib.h>
#include <string.h>

static void open_lines(struct links *links, FILE *file)
{
    struct link_end end;
    while (fscanf(file, "%31s %15s %63s", end.name, end.interface, end.path) == 3) {
        void *more = realloc(links->ends, ((size_t)links->count + 1) * sizeof *links->ends);
        if (!more)
            bench_die("the links", "out of memory");
        links->ends = more;
        links->ends[links->count++] = end;
    }
}

void links_open(struct links *links, const char *path, int contenders)
{
    FILE *file = fopen(path, "r");
    if (!file)
        bench_die(path, "cannot be read");
    open_lines(links, file);
    fclose(file);
    if (links->count == 0)
        bench_die(path, "names no links");
    links->last = calloc((size_t)links->count, sizeof *links->last);
    links->totals = calloc((size_t)links->count * (size_t)contenders, sizeof *links->totals);
    if (!links->last || !links->totals)
        bench_die("the links", "out of memory");
}

/* A line is "name: " and 16 numbers: 8 of what came in, then 8 of what went out, each time bytes
 * and packets first. @return whether it is the interface's line */
static bool parse_line(const char *line, const char *interface, struct link_count *count)
{
    enum { SENT_BYTES = 8, SENT_PACKETS = 9 };
    const char *name = line + strspn(line, " ");
    size_t length = strcspn(name, ":");
    if (length != strlen(interface) || strncmp(name, interface, length) != 0)
        return false;
    char *at = (char *)name + length + 1;
    for (int column = 0; column <= SENT_PACKETS; column++) {
        unsigned long long value = strtoull(at, &at, 10);
        if (column == SENT_BYTES)
            count->bytes = value;
        if (column == SENT_PACKETS)
            count->packets = value;
    }
    return true;
}

/* The counters of an end; those of the next ends in the same place too. @return how many */
static int read_place(const struct links *links, int first, struct link_count *now)
{
    char line[512];
    const char *path = links->ends[first].path;
    int end = first;
    while (end < links->count && strcmp(links->ends[end].path, path) == 0)
        end++;
    FILE *file = fopen(path, "r");
    if (!file)
        bench_die(path, "cannot be read");
    int found = 0;
    while (fgets(line, sizeof line, file)) {
        for (int i = first; i < end; i++)
            found += parse_line(line, links->ends[i].interface, &now[i]);
    }
    fclose(file);
    if (found != end - first)
        bench_die(path, "lacks an interface");
    return end - first;
}

void links_read(struct links *links, int contender)
{
    struct link_count *now = calloc((size_t)links->count + 1, sizeof *now);
    if (!now)
        bench_die("the links", "out of memory");
    for (int i = 0; i < links->count;)
        i += read_place(links, i, now);
    for (int i = 0; i < links->count && contender >= 0; i++) {
        struct link_count *total = &links->totals[contender * links->count + i];
        total->bytes += now[i].bytes - links->last[i].bytes;
        total->packets += now[i].packets - links->last[i].packets;
    }
    if (links->count)
        memcpy(links->last, now, (size_t)links->count * sizeof *now);
    free(now);
}

void links_reset(struct links *links, int contenders)
{
    for (int i = 0; i < links->count * contenders; i++)
        links->totals[i] = (struct link_count){0, 0};
}

void links_close(struct links *links)
{
    free(links->ends);
    free(links->last);
    free(links->totals);
}
