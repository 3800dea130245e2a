/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzing the reader of plans, and the proof of what it lets pass.
 */
#include "../../tools/compact.h"
#include "fuzz.h"
#include "layout_check.h"

#include "plan/plan_file.h"

#include <stdlib.h>
#include <string.h>

static const char *const words[] = {
    "{\"strag-plan\":1,",
    "\"algorithm\":\"a\",",
    "\"n\":2,",
    "\"n\":3,",
    "\"blocks\":2,",
    "\"denominator\":4,\"numerators\":[0,1,4],",
    "\"claim\":{\"rounds\":2,\"chain\":1,\"ports\":1},",
    "\"claim\":{\"straggler\":1,\"before\":1,\"in_step\":true},",
    "\"bounds\":[0,0.5,1],",
    "\"ranks\":[",
    "{\"rank\":0,\"ops\":[",
    "\"groups\":[{\"ranks\":[0,2,1],\"ops\":[",
    "{\"repeat\":2,\"ops\":[",
    "{\"kind\":\"send\",\"peer\":1,\"first\":0,\"count\":1,\"round\":0}",
    "{\"kind\":\"recv_reduce\",\"peer\":[1,1],\"first\":[0,-1,1],\"count\":2,\"round\":[0,0,1]}",
    ",\"own_left\":true",
    ",\"after\":[0]",
    ",\"stage\":\"x\"",
    "]}",
    "}",
    "]",
    "[",
    ",",
    ":",
    "-1",
    "0",
    "1",
    "7",
    "2147483648",
    "1e3",
    "null",
    "\"",
    "\\u0000",
    "\xff",
};

const struct fuzz_target fuzz_target = {"plans", 5000, words, sizeof words / sizeof *words};

/* Proofs that take more would take most of the time; and so would finding what is repeated in more
 * operations. */
static const struct strag_effort most = {1 << 21, 1 << 23};
enum { OPERATIONS_MOST = 1 << 14 };

/* What is as short as can be says the same. */
static void check_compact(const struct strag_given *given, int n)
{
    const struct strag_problem problem = {.n = n};
    struct strag_instance instance;
    struct strag_given *compact = NULL;
    struct strag_error err = {""};
    check(strag_instance_open(&instance, &given->row, &problem, &err) == STRAG_OK,
          "no instance of what was proved");
    check(compact_plans(&instance, NULL, &compact, &err) == STRAG_OK, "no compact form");
    const int status = strag_given_prove(compact, &most, NULL, NULL, &err);
    check(status == STRAG_OK || status == STRAG_ERR_LIMIT, "the compact form is another plan");
    strag_given_free(compact);
    strag_instance_close(&instance);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct strag_error err = {""};
    struct strag_given *given = NULL;
    int status = strag_plan_file_parse((const char *)data, size, "FILE", &most, &given, &err);
    if (status != STRAG_OK) {
        check(!given, "a result in spite of a refusal");
        check_message(status == STRAG_ERR_LIMIT ? STRAG_ERR_ARGUMENT : status, &err, "FILE:");
        return 0;
    }
    check(given != NULL, "no plan");
    status = strag_given_prove(given, &most, NULL, NULL, &err);
    if (status == STRAG_OK && given->operations <= OPERATIONS_MOST)
        check_compact(given, strag_given_ranks(given));
    check(status == STRAG_OK || status == STRAG_ERR_LIMIT || status == STRAG_ERR_FALSE,
          "neither proved nor refused");
    check(status == STRAG_OK || err.text[0], "no reason");
    strag_given_free(given);
    return 0;
}
