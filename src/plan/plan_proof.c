/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/plan_proof.h"

#include "base/file.h"
#include "base/text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { PROOF_VERSION = 1, PROOF_MAX = 4096 /* bytes of such a file */ };

/* @return false if it is too long */
static bool name_proof(const char *file, char *name, size_t size)
{
    const int length = snprintf(name, size, "%s.proof", file);
    return length > 0 && (size_t)length < size;
}

int strag_plan_proof_write(const char *file, const struct strag_given *given,
                           const struct strag_measure *measure, const char *version,
                           struct strag_error *err)
{
    char name[PATH_MAX];
    struct strag_output output;
    struct strag_error why = {"the name is too long"};
    bool good =
        name_proof(file, name, sizeof name) && strag_output_open(&output, name, &why) == STRAG_OK;
    if (good) {
        fprintf(output.stream,
                "{\"strag-proof\":%d,\"plan\":\"%016" PRIx64 "\",\"bytes\":%zu,\"n\":%d,",
                PROOF_VERSION, given->hash, given->bytes, measure->n);
        fprintf(output.stream,
                "\"algorithm\":\"%s\",\"blocks\":%d,\"rounds\":%d,\"operations\":%" PRId64,
                given->head.name, measure->blocks, measure->rounds, given->operations);
        fputs(",\"strag\":", output.stream);
        strag_json_string(version, output.stream);
        fputs("}\n", output.stream);
        good = strag_output_close(&output, true, &why) == STRAG_OK;
    }
    return good ? STRAG_OK
                : strag_fail(err, STRAG_ERR_IO, "%s: %.900s", strag_name_end(name), why.text);
}

static json_int_t integer_of(json_t *proof, const char *key)
{
    return json_integer_value(json_object_get(proof, key)); /* 0 if it is no integer */
}

/* For how many ranks is this text a proved plan? 0 if there is no record of a proof. */
static json_int_t ranks_proved(const char *file, const char *text, size_t length)
{
    char name[PATH_MAX], hash[17], *said = NULL;
    size_t bytes = 0;
    json_error_t error;
    if (!name_proof(file, name, sizeof name) ||
        strag_file_read(name, PROOF_MAX, &said, &bytes, NULL) != STRAG_OK)
        return 0;
    json_t *proof = json_loadb(said, bytes, JSON_REJECT_DUPLICATES, &error);
    free(said);
    snprintf(hash, sizeof hash, "%016" PRIx64, strag_hash(STRAG_HASH_START, text, length));
    const char *proved = json_string_value(json_object_get(proof, "plan"));
    const bool same = integer_of(proof, "strag-proof") == PROOF_VERSION && proved &&
                      strcmp(proved, hash) == 0 && integer_of(proof, "bytes") == (json_int_t)length;
    const json_int_t n = same ? integer_of(proof, "n") : 0;
    json_decref(proof);
    return n;
}

int strag_plan_proof_read(const char *file, const struct strag_effort *most,
                          struct strag_given **given, bool *proved, struct strag_error *err)
{
    char *text = NULL;
    size_t length = 0;
    int status = strag_file_read(file, STRAG_PLAN_FILE_MAX, &text, &length, err);
    if (status != STRAG_OK)
        return status;
    const json_int_t n = ranks_proved(file, text, length);
    status = strag_plan_file_parse(text, length, file, n ? NULL : most, given, err);
    free(text);
    *proved = status == STRAG_OK && strag_given_ranks(*given) == n;
    return status;
}
