/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzing the reader of stragglers and slow links.
 */
#include "fuzz.h"
#include "layout_check.h"

#include "machine/state_text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {
    "0",   "1",    "7",    "2147483647", ":",  ":",    ":2",  ":1.5", ",",    ",",
    ".",   "host", "a.",   "a.x",        "a",  "b",    "1e3", "1000", "-1",   "%",
    "inf", "nan",  "auto", " ",          "\n", "none", "0x",  "1:2",  "a:3,", "\xff",
};

const struct fuzz_target fuzz_target = {"state", 300000, words, sizeof words / sizeof *words};

static void check_straggler(const char *text, const struct strag_rank_location *ranks)
{
    struct strag_error err = {""};
    struct strag_state_record state = {.nstragglers = 0};
    int status = strag_state_read_straggler(text, ranks, 3, &state, &err);
    check(status == strag_state_check_straggler(text, INT_MAX, NULL),
          "the ranks decide what can be read");
    check(status == STRAG_OK ? !err.text[0] : err.text[0] != '\0', "a message, or none");
    check(status == STRAG_OK || !state.nstragglers, "a straggler in spite of a refusal");
    for (int i = 0; i < state.nstragglers; i++)
        check(state.straggler[i].rank >= 0 && state.straggler[i].rank < 3 &&
                  state.straggler[i].delay >= 0,
              "a straggler that there is not");
}

static void check_slow(const char *text, const struct strag_rank_location *ranks)
{
    struct strag_error err = {""};
    struct strag_state_record state = {.nslow = 0};
    int status = strag_state_read_slow(text, ranks, 3, &state, &err);
    check(status == strag_state_check_slow(text, INT_MAX, NULL),
          "the ranks decide what can be read");
    check(status == STRAG_OK ? !err.text[0] : err.text[0] != '\0', "a message, or none");
    check(status == STRAG_OK || !state.nslow, "slow links in spite of a refusal");
    check(state.nslow <= STRAG_SLOW_MAX, "too many slow links");
    for (int s = 0; s < state.nslow; s++)
        check(state.slow[s].rank >= 0 && state.slow[s].rank < 3 && state.slow[s].factor > 1 &&
                  state.slow[s].factor <= 1000,
              "a slow link that there is not");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct strag_rank_location ranks[3] = {
        {.host = "a.x", .world = 0}, {.host = "a.y", .world = 7}, {.host = "host", .world = 1}};
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    check_straggler(text, ranks);
    check_slow(text, ranks);
    free(text);
    return 0;
}
