/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files are read once in a process. A received plan is kept, once, until the process ends, since
 * stores that communicators share have plans made from it.
 */
#include "user_plans.h"

#include "user/log.h"

#include "base/text.h"
#include "base/units.h"
#include "plan/plan_proof.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A file, on rank 0. */
struct file {
    struct file *next;
    struct strag_given *given; /* NULL if it cannot be used; there was a warning then */
    bool proved;               /* by FILE.proof */
    bool ready;                /* proved by FILE.proof or in this process */
    char name[];
};

/* A rank's part of a received plan. */
struct part {
    struct part *next;
    uint64_t hash;
    size_t size;
    int rank; /* ALL on rank 0, which also prices plans */
    struct strag_given *given;
};

enum { ALL = -1 };

static struct {
    pthread_mutex_t lock;
    struct file *files;
    struct part *parts;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Sent before each plan. */
struct label {
    uint64_t size, from, to;
};

size_t coll_strag_given_shortest(const struct coll_strag_given *given)
{
    size_t shortest = SIZE_MAX;
    for (int p = 0; given && p < given->plans; p++)
        if (given->plan[p].from < shortest)
            shortest = given->plan[p].from;
    return shortest;
}

/* ---- Files ---- */

static void refuse(ompi_communicator_t *comm, struct file *file,
                   const struct coll_strag_wanted_plan *wanted, int status,
                   const struct strag_error *err)
{
    char what[256], why[sizeof err->text + 160];
    snprintf(what, sizeof what, "%.160s (%.80s)", file->name, wanted->who);
    snprintf(why, sizeof why, "%s%s", err->text,
             status == STRAG_ERR_LIMIT
                 ? ". In a job all ranks would wait; `strag verify --plan FILE --proof` proves it "
                   "once and writes FILE.proof, which jobs accept"
                 : "");
    coll_strag_log(comm, "%s: %s", file->name, why);
    coll_strag_warn(wanted->keyed ? COLL_STRAG_WARN_KEYED_PLAN : COLL_STRAG_WARN_PLAN, what, why);
    strag_given_free(file->given);
    file->given = NULL;
}

/* Read a file for the first time. The caller has the lock. @return NULL if out of memory */
static struct file *add_file(ompi_communicator_t *comm, const struct coll_strag_wanted_plan *wanted)
{
    struct strag_error err;
    struct file *file = calloc(1, sizeof *file + strlen(wanted->file) + 1);
    if (NULL == file)
        return NULL;
    strcpy(file->name, wanted->file);
    const int status =
        strag_plan_proof_read(wanted->file, &strag_given_in_job, &file->given, &file->proved, &err);
    if (status != STRAG_OK)
        refuse(comm, file, wanted, status, &err);
    file->ready = file->proved;
    file->next = kept.files;
    kept.files = file;
    return file;
}

/* The caller has the lock. @return whether this communicator can use the plan */
static bool suits(ompi_communicator_t *comm, struct file *file,
                  const struct coll_strag_wanted_plan *wanted)
{
    struct strag_error err;
    if (NULL == file->given)
        return false;
    const int n = file->given->head.n;
    if (n != ompi_comm_size(comm)) {
        coll_strag_log(comm, "%s is not used: it is for %s", file->name,
                       strag_units_count(n, "rank").text);
        return false;
    }
    const int status = file->ready
                           ? STRAG_OK
                           : strag_given_prove(file->given, &strag_given_in_job, NULL, NULL, &err);
    if (status != STRAG_OK) {
        refuse(comm, file, wanted, status, &err);
        return false;
    }
    file->ready = true;
    coll_strag_log(comm, "%s: %s is proved%s, %s of %s", file->name, file->given->head.name,
                   file->proved ? " by what is in FILE.proof" : "",
                   strag_units_count((long long)file->given->operations, "operation").text,
                   strag_units_count(n, "rank").text);
    return true;
}

/* @return NULL if this communicator cannot use the plan */
static const struct strag_given *find_file(ompi_communicator_t *comm,
                                           const struct coll_strag_wanted_plan *wanted)
{
    pthread_mutex_lock(&kept.lock);
    struct file *file = kept.files;
    while (file && strcmp(file->name, wanted->file) != 0)
        file = file->next;
    if (NULL == file)
        file = add_file(comm, wanted);
    const struct strag_given *given = file && suits(comm, file, wanted) ? file->given : NULL;
    pthread_mutex_unlock(&kept.lock);
    return given;
}

/* ---- Sending ---- */

void coll_strag_given_add(ompi_communicator_t *comm, const struct coll_strag_wanted_plan *wanted,
                          char **bytes, size_t *size)
{
    const struct strag_given *given = find_file(comm, wanted);
    void *plan = NULL;
    size_t length = 0;
    if (NULL == given)
        return;
    const int status = strag_given_pack(given, &plan, &length);
    const struct label label = {length, wanted->from, wanted->to};
    char *longer = status == STRAG_OK ? realloc(*bytes, *size + sizeof label + length) : NULL;
    if (longer) {
        memcpy(longer + *size, &label, sizeof label);
        memcpy(longer + *size + sizeof label, plan, length);
        *bytes = longer;
        *size += sizeof label + length;
    } else {
        coll_strag_log(comm, "%s: out of memory, and not used", wanted->file);
    }
    if (status == STRAG_OK)
        free(plan);
}

/* ---- Receiving ---- */

/* The caller has the lock. @return NULL if out of memory */
static const struct part *add_part(const void *bytes, size_t size, uint64_t hash, int rank)
{
    struct part *part = calloc(1, sizeof *part);
    if (NULL == part || strag_given_unpack(bytes, size, rank, &part->given, NULL) != STRAG_OK) {
        free(part);
        return NULL;
    }
    part->hash = hash;
    part->size = size;
    part->rank = rank;
    part->next = kept.parts;
    kept.parts = part;
    return part;
}

static const struct strag_algorithm *find_part(const void *bytes, size_t size, int rank)
{
    const uint64_t hash = strag_hash(STRAG_HASH_START, bytes, size);
    pthread_mutex_lock(&kept.lock);
    const struct part *part = kept.parts;
    while (part && (part->hash != hash || part->size != size || part->rank != rank))
        part = part->next;
    if (NULL == part)
        part = add_part(bytes, size, hash, rank);
    pthread_mutex_unlock(&kept.lock);
    return part ? &part->given->row : NULL;
}

struct coll_strag_given *coll_strag_given_unpack(ompi_communicator_t *comm, const void *bytes,
                                                 size_t size)
{
    const int me = ompi_comm_rank(comm);
    const char *next = bytes;
    struct label label;
    int plans = 0;
    for (size_t at = 0; at < size; at += sizeof label + label.size, plans++)
        memcpy(&label, next + at, sizeof label);
    struct coll_strag_given *given = malloc(sizeof *given + (size_t)plans * sizeof *given->plan);
    if (NULL == given)
        return NULL;
    given->plans = plans;
    for (int p = 0; p < plans; p++) {
        memcpy(&label, next, sizeof label);
        given->plan[p] = (struct coll_strag_given_plan){
            label.from, label.to, find_part(next + sizeof label, label.size, me ? me : ALL)};
        next += sizeof label + label.size;
        if (NULL == given->plan[p].algorithm) {
            free(given);
            return NULL;
        }
    }
    return given;
}

void coll_strag_given_close(void)
{
    while (kept.files) {
        struct file *file = kept.files;
        kept.files = file->next;
        strag_given_free(file->given);
        free(file);
    }
    while (kept.parts) {
        struct part *part = kept.parts;
        kept.parts = part->next;
        strag_given_free(part->given);
        free(part);
    }
}
