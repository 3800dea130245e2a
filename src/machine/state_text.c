/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/state_text.h"

#include "base/parse.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const double long_delay = 1; /* seconds, if none is given */

enum { FACTOR_MAX = 1000, RANK_MAX = INT_MAX - 1 };

const char strag_straggler_accepted[] = "auto, dynamic, none, or RANK[:MICROSECONDS][,...]";
const char strag_slow_accepted[] = "auto, none, or WHO:FACTOR[,...], WHO a rank or a host";

static bool names_nothing(const char *text)
{
    return text[0] == '\0' || strcmp(text, "none") == 0 || strcmp(text, "auto") == 0;
}

bool strag_state_is_dynamic(const char *text)
{
    return strcmp(text, "dynamic") == 0;
}

bool strag_state_names_straggler(const char *text)
{
    return !names_nothing(text) && !strag_state_is_dynamic(text);
}

static int parse_straggler(const char *text, struct strag_straggler *straggler,
                           struct strag_error *err)
{
    char rank[32], delay[32] = "";
    const size_t length = strcspn(text, ",:"), end = strcspn(text, ",");
    *straggler = (struct strag_straggler){0, long_delay * 1e6};
    if (length >= sizeof rank || end - length > sizeof delay)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "'%.20s' is too long for a rank or a delay",
                          text);
    snprintf(rank, sizeof rank, "%.*s", (int)length, text);
    int status = strag_parse_integer(rank, 0, RANK_MAX, &straggler->rank, err);
    if (status == STRAG_OK && end > length) {
        snprintf(delay, sizeof delay, "%.*s", (int)(end - length - 1), text + length + 1);
        status = strag_parse_real(delay, 0, 1e12, "microseconds", &straggler->delay, err);
    }
    straggler->delay *= 1e-6;
    return status;
}

int strag_state_parse_stragglers(const char *text, struct strag_state_record *named,
                                 struct strag_error *err)
{
    named->nstragglers = 0;
    for (const char *rest = text; rest;) {
        struct strag_straggler next;
        int status = parse_straggler(rest, &next, err);
        for (int i = 0; status == STRAG_OK && i < named->nstragglers; i++) {
            if (named->straggler[i].rank == next.rank)
                status = strag_fail(err, STRAG_ERR_ARGUMENT, "rank %d is named twice", next.rank);
        }
        if (status == STRAG_OK && named->nstragglers == STRAG_STRAGGLERS_MAX)
            status = strag_fail(err, STRAG_ERR_ARGUMENT, "at most %d stragglers are accepted",
                                STRAG_STRAGGLERS_MAX);
        if (status != STRAG_OK)
            return status;
        strag_state_add_straggler(named, next);
        rest = strchr(rest, ',');
        rest = rest ? rest + 1 : NULL;
    }
    return STRAG_OK;
}

int strag_state_read_straggler(const char *text, const struct strag_rank_location *ranks, int n,
                               struct strag_state_record *state, struct strag_error *err)
{
    struct strag_state_record named;
    if (!strag_state_names_straggler(text))
        return STRAG_OK;
    const int status = strag_state_parse_stragglers(text, &named, err);
    for (int i = 0; status == STRAG_OK && i < named.nstragglers; i++) {
        for (int r = 0; r < n; r++) {
            if (ranks[r].world == named.straggler[i].rank)
                strag_state_add_straggler(state,
                                          (struct strag_straggler){r, named.straggler[i].delay});
        }
    }
    return status;
}

int strag_state_next_slow(const char **rest, double most, const char *form,
                          struct strag_slow_item *item, struct strag_error *err)
{
    const char *text = *rest;
    char factor[64];
    int length = (int)strcspn(text, ","), colon = length - 1;
    *rest = text[length] ? text + length + 1 : NULL;
    while (colon >= 0 && text[colon] != ':')
        colon--;
    if (colon < 1 || colon >= (int)sizeof item->who || length - colon > (int)sizeof factor)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "'%.*s' is not %s", length < 40 ? length : 40,
                          text, form);
    snprintf(item->who, sizeof item->who, "%.*s", colon, text);
    snprintf(factor, sizeof factor, "%.*s", length - colon - 1, text + colon + 1);
    return strag_parse_real(factor, 1, most, NULL, &item->factor, err);
}

/* @return -1 if it is none of the ranks */
static int find_rank(const char *who, const struct strag_rank_location *ranks, int n)
{
    int world;
    bool number = strag_parse_integer(who, 0, RANK_MAX, &world, NULL) == STRAG_OK;
    for (int rank = 0; rank < n; rank++) {
        if (number ? ranks[rank].world == world : strag_same_host_name(ranks[rank].host, who))
            return rank;
    }
    return -1;
}

int strag_state_read_slow(const char *text, const struct strag_rank_location *ranks, int n,
                          struct strag_state_record *state, struct strag_error *err)
{
    struct strag_state_record read = *state;
    struct strag_slow_item item;
    const char *rest = names_nothing(text) ? NULL : text;
    while (rest && *(rest += strspn(rest, ","))) {
        int status = strag_state_next_slow(&rest, FACTOR_MAX, "WHO:FACTOR", &item, err);
        if (status != STRAG_OK)
            return status;
        int rank = find_rank(item.who, ranks, n);
        if (rank >= 0)
            strag_state_add_slow(&read, rank, item.factor);
    }
    *state = read;
    return STRAG_OK;
}

bool strag_state_next_elsewhere(const char **rest, const struct strag_rank_location *ranks, int n,
                                struct strag_slow_item *item)
{
    while (*rest && *(*rest += strspn(*rest, ","))) {
        int rank;
        if (strag_state_next_slow(rest, FACTOR_MAX, "WHO:FACTOR", item, NULL) != STRAG_OK)
            return false;
        if (strag_parse_integer(item->who, 0, RANK_MAX, &rank, NULL) != STRAG_OK &&
            find_rank(item->who, ranks, n) < 0)
            return true;
    }
    return false;
}

/* ---- Checking ---- */

static int check_rank(int rank, int job, struct strag_error *err)
{
    if (rank < job)
        return STRAG_OK;
    return strag_fail(err, STRAG_ERR_ARGUMENT, "there is no rank %d; the job's are 0 to %d", rank,
                      job - 1);
}

int strag_state_check_straggler(const char *text, int job, struct strag_error *err)
{
    struct strag_state_record named;
    if (!strag_state_names_straggler(text))
        return STRAG_OK;
    int status = strag_state_parse_stragglers(text, &named, err);
    for (int i = 0; status == STRAG_OK && i < named.nstragglers; i++)
        status = check_rank(named.straggler[i].rank, job, err);
    return status;
}

int strag_state_check_slow(const char *text, int job, struct strag_error *err)
{
    struct strag_slow_item item;
    const char *rest = names_nothing(text) ? NULL : text;
    int status = STRAG_OK, rank;
    while (status == STRAG_OK && rest && *(rest += strspn(rest, ","))) {
        status = strag_state_next_slow(&rest, FACTOR_MAX, "WHO:FACTOR", &item, err);
        if (status == STRAG_OK &&
            strag_parse_integer(item.who, 0, RANK_MAX, &rank, NULL) == STRAG_OK)
            status = check_rank(rank, job, err);
    }
    return status;
}
