/* SPDX-License-Identifier: BSD-3-Clause */
#include "values.h"

#include "algorithms/table.h"
#include "base/parse.h"
#include "machine/state_text.h"

#include <limits.h>
#include <string.h>

/* ---- Words ---- */

int coll_strag_read_word(const struct coll_strag_source *source, const char *const *words,
                         const char *accepted, int otherwise)
{
    int index = 0;
    while (words[index] && !coll_strag_source_is(source, words[index]))
        index++;
    if (words[index])
        return index;
    coll_strag_complain(source, "not a value of this parameter", NULL, accepted, words[otherwise]);
    return otherwise;
}

int coll_strag_read_algorithm(const struct coll_strag_source *source)
{
    char accepted[STRAG_NAMES_MAX + 32] = "auto, previous, ";
    const size_t length = strlen(accepted);
    struct strag_nearest nearest = {NULL, 0};
    if (coll_strag_source_is(source, "auto"))
        return COLL_STRAG_AUTO;
    if (coll_strag_source_is(source, "previous"))
        return COLL_STRAG_PREVIOUS;
    for (int a = 0; strag_algorithms[a]; a++)
        if (coll_strag_source_is(source, strag_algorithms[a]->name))
            return a;
    strag_algorithms_offer(&nearest, source->text);
    strag_nearest_offer(&nearest, source->text, "previous");
    strag_nearest_offer(&nearest, source->text, "auto");
    strag_algorithm_names(accepted + length, sizeof accepted - length);
    coll_strag_complain(source, "no such algorithm", nearest.name, accepted, "auto");
    return COLL_STRAG_AUTO;
}

int coll_strag_read_ports(const struct coll_strag_source *source)
{
    int ports;
    if (coll_strag_source_is(source, "auto"))
        return 0;
    if (strag_parse_integer(source->text, 1, 2 * STRAG_DIMS_MAX, &ports, NULL) == STRAG_OK)
        return ports;
    coll_strag_complain(source, "not a number of links", NULL, "auto, or 1 to 16", "auto");
    return 0;
}

int coll_strag_read_transport(const struct coll_strag_source *source)
{
    static const char *const words[] = {
        [COLL_STRAG_PML] = "pml",
        [COLL_STRAG_UCP] = "ucp",
        [COLL_STRAG_TRANSPORTS] = "auto",
        NULL,
    };
    if (COLL_STRAG_WITH_UCX || !coll_strag_source_is(source, "ucp"))
        return coll_strag_read_word(source, words,
                                    COLL_STRAG_WITH_UCX ? "auto, pml, ucp" : "auto, pml",
                                    COLL_STRAG_TRANSPORTS);
    coll_strag_complain(source, "strag was built without UCX", NULL, "auto, pml", "auto");
    return COLL_STRAG_TRANSPORTS;
}

int coll_strag_read_switch(const struct coll_strag_source *source)
{
    static const char *const words[] = {"0", "1", "false", "true", "no", "yes", NULL};
    return coll_strag_read_word(source, words, "0, false or no; 1, true or yes", 0) % 2;
}

/* ---- Ranks and hosts ---- */

/* The number is known before MPI_COMM_WORLD exists. */
static int ranks_of_job(void)
{
    const int ranks = ompi_proc_world_size();
    return ranks > 0 ? ranks : INT_MAX;
}

static int check(const struct coll_strag_source *source,
                 int (*check_text)(const char *text, int job, struct strag_error *err),
                 const char *accepted)
{
    struct strag_error err;
    if (check_text(source->text, ranks_of_job(), &err) == STRAG_OK)
        return 1;
    coll_strag_complain(source, err.text, NULL, accepted, "auto");
    return 0;
}

int coll_strag_check_straggler(const struct coll_strag_source *source)
{
    return check(source, strag_state_check_straggler, strag_straggler_accepted);
}

int coll_strag_check_slowdown(const struct coll_strag_source *source)
{
    return check(source, strag_state_check_slow, strag_slow_accepted);
}

/* ---- Files ---- */

/* Read "64K-1M", or "64K-" for 64K and longer. */
static bool parse_range(const char *text, struct coll_strag_file_range *range)
{
    char from[32];
    const char *dash = strchr(text, '-');
    range->to = SIZE_MAX;
    if (NULL == dash || dash - text >= (ptrdiff_t)sizeof from)
        return false;
    snprintf(from, sizeof from, "%.*s", (int)(dash - text), text);
    return strag_parse_bytes(from, &range->from, NULL) == STRAG_OK &&
           (dash[1] == '\0' || strag_parse_bytes(dash + 1, &range->to, NULL) == STRAG_OK) &&
           range->from <= range->to;
}

/* If a digit follows the last colon of an entry, sizes begin there. */
const char *coll_strag_next_file_range(const char *text, struct coll_strag_file_range *range)
{
    const size_t length = strcspn(text, ",");
    if (length == 0 || length >= sizeof range->file || strcmp(text + length, ",") == 0)
        return NULL;
    snprintf(range->file, sizeof range->file, "%.*s", (int)length, text);
    range->from = 0;
    range->to = SIZE_MAX;
    char *colon = strrchr(range->file, ':');
    if (colon && colon[1] >= '0' && colon[1] <= '9') {
        *colon = '\0';
        if (colon == range->file || !parse_range(colon + 1, range))
            return NULL;
    }
    return text + length + (text[length] == ',');
}

enum { FILES_MAX = 16 };

int coll_strag_check_plan(const struct coll_strag_source *source)
{
    struct coll_strag_file_range range;
    const char *text = source->text;
    for (int f = 0; text && *text && f < FILES_MAX; f++)
        text = coll_strag_next_file_range(text, &range);
    if (text && *text == '\0')
        return 1;
    coll_strag_complain(source, "not files, or sizes that are not FROM-TO", NULL,
                        "FILE, FILE:FROM-TO or FILE:FROM-, with sizes such as 64K, up to 16 of "
                        "these between commas",
                        "none");
    return 0;
}
