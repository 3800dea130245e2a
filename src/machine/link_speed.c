/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/link_speed.h"

#include "base/c_locale.h"
#include "base/text.h"

#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 64 };

static const double megabit = 1e6 / 8, gigabit = 1e9 / 8; /* bytes */

/* ---- Files ---- */

/* Read the first line of a file. @return false if there is none, or if the path is too long */
static bool read_line(const char *folder, const char *name, char *line)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return false;
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    bool found = fgets(line, LINE_MAX_BYTES, file) != NULL;
    fclose(file);
    return found;
}

static bool exists(const char *folder, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length > 0 && (size_t)length < sizeof path && access(path, F_OK) == 0;
}

typedef double speed_function(const char *folder);

/* The sum over all folders that match a pattern. */
static double sum(const char *root, const char *pattern, speed_function *speed)
{
    char path[PATH_MAX];
    glob_t found;
    double total = 0;
    int length = snprintf(path, sizeof path, "%s/%s", root, pattern);
    if (length < 0 || (size_t)length >= sizeof path || glob(path, GLOB_NOSORT, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
        total += speed(found.gl_pathv[i]);
    globfree(&found);
    return total;
}

/* The number at a line's beginning. */
static double number_of(const char *line, char **end)
{
    const locale_t before = strag_c_locale_enter();
    const double number = strtod(line, end);
    strag_c_locale_leave(before);
    return number;
}

/* ---- InfiniBand, and devices that present themselves as such ---- */

static double port_speed(const char *folder)
{
    char line[LINE_MAX_BYTES], *end;
    if (!read_line(folder, "state", line) || !strstr(line, "ACTIVE"))
        return 0;
    if (!read_line(folder, "rate", line))
        return 0;
    double rate = number_of(line, &end);
    return end != line && rate > 0 && strncmp(end, " Gb/sec", 7) == 0 ? rate * gigabit : 0;
}

/* ---- Network interfaces ---- */

static double interface_speed(const char *folder)
{
    char line[LINE_MAX_BYTES], *end;
    const char *slash = strrchr(folder, '/');
    if (strcmp(slash + 1, "lo") == 0 || exists(folder, "master"))
        return 0;
    if (!read_line(folder, "operstate", line) ||
        (strncmp(line, "up", 2) != 0 && strncmp(line, "unknown", 7) != 0))
        return 0;
    if (!read_line(folder, "speed", line))
        return 0;
    double speed = number_of(line, &end);
    return end != line && speed > 0 ? speed * megabit : 0;
}

static double hardware_speed(const char *folder)
{
    return exists(folder, "device") || exists(folder, "bonding") ? interface_speed(folder) : 0;
}

double strag_link_speed(const char *root)
{
    double speed = sum(root, "class/infiniband/*/ports/*", port_speed);
    if (!(speed > 0))
        speed = sum(root, "class/net/*", hardware_speed);
    if (!(speed > 0))
        speed = sum(root, "class/net/*", interface_speed);
    return speed;
}

double strag_link_speed_usual(double *speeds, int count)
{
    int unknown = 0;
    if (count == 0)
        return 0;
    qsort(speeds, (size_t)count, sizeof *speeds, strag_compare_double);
    while (unknown < count && !(speeds[unknown] > 0))
        unknown++;
    int known = count - unknown;
    return 2 * known < count ? 0 : speeds[unknown + known / 2];
}

/* ---- Several hosts ---- */

static double uplink(const struct strag_topology *topology, int rank)
{
    return topology->nodes[topology->host_node[rank]].uplink;
}

void strag_link_speed_compare(const struct strag_topology *topology,
                              const struct strag_rank_location *ranks, double slow,
                              struct strag_state_record *state)
{
    double *speeds = malloc((size_t)topology->n * sizeof *speeds), fastest = 0;
    if (!speeds)
        return; /* then all hosts count as equal */
    for (int rank = 0; rank < topology->n; rank++) {
        speeds[rank] = ranks[rank].link_speed;
        fastest = uplink(topology, rank) > fastest ? uplink(topology, rank) : fastest;
    }
    double usual = fastest > 0 ? 0 : strag_link_speed_usual(speeds, topology->n);
    free(speeds);
    for (int leaf = 0, node = -1; leaf < topology->n; leaf++) {
        int rank = topology->leaf_rank[leaf];
        double speed = ranks[rank].link_speed;
        if (topology->host_node[rank] != node && speed > 0 && usual > slow * speed)
            strag_state_add_slow(state, rank, usual / speed);
        node = topology->host_node[rank];
    }
}
