/* SPDX-License-Identifier: BSD-3-Clause */
#include "fingerprint.h"

#include "decision.h"
#include "user/log.h"
#include "user/settings.h"

#include "algorithms/table.h"
#include "base/text.h"
#include "shm/shm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The component's own key would not do: it contains the version. */
static char key[] = "coll.strag.fingerprint";

/* Bytes of a fingerprint's text, and the number of its fields. */
enum { TEXT_MAX = 192, FIELDS = 9 };

static struct {
    opal_mutex_t lock; /* guards the rest; several threads may make communicators */
    bool has_same;
    opal_bitmap_t same; /* by rank in this job: processes with this one's fingerprint */
    struct coll_strag_fingerprint own;
    char text[TEXT_MAX]; /* `own` as it is published */
} state = {.lock = OPAL_MUTEX_STATIC_INIT};

/* ---- Publishing ---- */

static uint64_t find_form(void)
{
    const size_t sizes[] = {sizeof(struct coll_strag_rank_info), sizeof(struct coll_strag_hosts),
                            sizeof(struct coll_strag_decision),  sizeof(struct strag_shm_info),
                            sizeof(struct coll_strag_offer),     sizeof(struct coll_strag_entry)};
    uint64_t value = strag_hash(STRAG_HASH_START, sizes, sizeof sizes);
    for (int a = 0; strag_algorithms[a]; a++)
        value = strag_hash(value, strag_algorithms[a]->name, strlen(strag_algorithms[a]->name) + 1);
    return value;
}

/* Fields that another version has written differently are 0, and so is form then. */
static void read_text(const char *text, struct coll_strag_fingerprint *to)
{
    *to = (struct coll_strag_fingerprint){.form = 0};
    int read = sscanf(text,
                      "%23s %" SCNx64 " %" SCNi32 " %" SCNi32 " %" SCNi32 " %" SCNu64 " %" SCNu64
                      " %" SCNi32 " %" SCNi32,
                      to->version, &to->form, &to->priority, &to->pinned, &to->has_layout_or_rules,
                      &to->minimum, &to->watch_from, &to->reproducible, &to->noting);
    if (read != FIELDS)
        to->form = 0;
}

void coll_strag_fingerprint_publish(void)
{
    const struct coll_strag_settings *settings = &coll_strag_settings;
    struct coll_strag_fingerprint *own = &state.own;
    int code;
    snprintf(own->version, sizeof own->version, "%s", coll_strag_version);
    own->form = find_form();
    own->priority = settings->priority;
    own->pinned = settings->pinned;
    own->has_layout_or_rules = settings->has_layout_or_rules;
    own->minimum = settings->minimum;
    own->watch_from = settings->watch_from;
    own->reproducible = (int32_t)settings->reproducible;
    own->noting = (settings->report ? COLL_STRAG_NOTES_REPORT : 0) |
                  (settings->trace_file[0] ? COLL_STRAG_NOTES_TRACE : 0);
    snprintf(state.text, sizeof state.text, /* the version comes first in all versions */
             "%s %" PRIx64 " %" PRIi32 " %" PRIi32 " %" PRIi32 " %" PRIu64 " %" PRIu64 " %" PRIi32
             " %" PRIi32,
             own->version, own->form, own->priority, own->pinned, own->has_layout_or_rules,
             own->minimum, own->watch_from, own->reproducible, own->noting);
    OBJ_CONSTRUCT(&state.same, opal_bitmap_t);
    state.has_same = opal_bitmap_init(&state.same, 64) == OPAL_SUCCESS;
    OPAL_MODEX_SEND_VALUE(code, COLL_STRAG_MODEX_ALL, key, state.text, COLL_STRAG_MODEX_TEXT);
    if (code != OPAL_SUCCESS)
        coll_strag_log(NULL,
                       "the version of strag could not be published (error %d): other processes "
                       "will not use strag with this one",
                       code);
}

void coll_strag_fingerprint_free(void)
{
    if (state.has_same)
        OBJ_DESTRUCT(&state.same);
    state.has_same = false;
}

/* ---- Looking up ---- */

/*
 * Find the fingerprint of the process with this name; all 0 if it has none. A process of this job
 * with the same fingerprint as this one is looked up once. A fingerprint that has not come when the
 * modex has ended will not come, and waiting for it would take seconds. Fingerprints of this job
 * are in this process then; those of a job that was spawned or connected to are on the host.
 */
static void find(const opal_process_name_t *name, struct coll_strag_fingerprint *fingerprint)
{
    const bool in_job = name->jobid == OPAL_PROC_MY_NAME.jobid;
    const bool remembered = state.has_same && in_job;
    if ((in_job && name->vpid == OPAL_PROC_MY_NAME.vpid) ||
        (remembered && opal_bitmap_is_set_bit(&state.same, (int)name->vpid))) {
        *fingerprint = state.own;
        return;
    }
    const bool over = opal_pmix_collect_all_data && !opal_pmix_base_async_modex;
    char *text = coll_strag_modex_text(name, key,
                                       !in_job ? COLL_STRAG_MODEX_HOST
                                       : over  ? COLL_STRAG_MODEX_HERE
                                               : COLL_STRAG_MODEX_WAIT);
    *fingerprint = (struct coll_strag_fingerprint){.form = 0};
    if (text)
        read_text(text, fingerprint);
    if (text && remembered && strcmp(text, state.text) == 0)
        opal_bitmap_set_bit(&state.same, (int)name->vpid); /* if this fails, look it up again */
    free(text);
}

void coll_strag_fingerprint_find(ompi_communicator_t *comm, int rank,
                                 struct coll_strag_fingerprint *fingerprint)
{
    const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, rank);
    opal_mutex_lock(&state.lock);
    find(&name, fingerprint);
    opal_mutex_unlock(&state.lock);
}

/* ---- Comparing ---- */

bool coll_strag_fingerprint_is_ours(const struct coll_strag_fingerprint *theirs)
{
    return theirs->version[0] != '\0' && strcmp(theirs->version, state.own.version) == 0 &&
           theirs->form == state.own.form;
}

int coll_strag_fingerprint_notes(ompi_communicator_t *comm)
{
    struct coll_strag_fingerprint first;
    if (state.own.version[0] == '\0')
        return 0;
    coll_strag_fingerprint_find(comm, 0, &first);
    return coll_strag_fingerprint_is_ours(&first) ? first.noting : 0;
}

bool coll_strag_fingerprint_differs(const struct coll_strag_fingerprint *theirs, char *why)
{
    const struct coll_strag_fingerprint *own = &state.own;
    char unused[COLL_STRAG_DIFFERENCE_MAX];
    why = why ? why : unused;
    if (theirs->version[0] == '\0' || (theirs->form == own->form && theirs->priority <= 0))
        snprintf(why, COLL_STRAG_DIFFERENCE_MAX, "it has no strag, or has it switched off");
    else if (strcmp(theirs->version, own->version) != 0)
        snprintf(why, COLL_STRAG_DIFFERENCE_MAX, "it has version %s, others have %s",
                 theirs->version, own->version);
    else if (theirs->form != own->form)
        snprintf(why, COLL_STRAG_DIFFERENCE_MAX, "it has another build of version %s",
                 own->version);
    else
        return false;
    return true;
}

static const char *name_of_pinned(int pinned)
{
    if (pinned < 0)
        return pinned == COLL_STRAG_PREVIOUS ? "previous" : "auto";
    return strag_algorithms[pinned]->name;
}

bool coll_strag_fingerprint_varies(const struct coll_strag_fingerprint *theirs,
                                   const struct coll_strag_fingerprint *first, char *what)
{
    static const char form[] = "coll_strag_%s is %" PRIu64 " there, and %" PRIu64 " on rank 0";
    const size_t size = COLL_STRAG_DIFFERENCE_MAX;
    char unused[COLL_STRAG_DIFFERENCE_MAX];
    what = what ? what : unused;
    if (theirs->pinned != first->pinned)
        snprintf(what, size, "coll_strag_algorithm is %s there, and %s on rank 0",
                 name_of_pinned(theirs->pinned), name_of_pinned(first->pinned));
    else if (theirs->minimum != first->minimum)
        snprintf(what, size, form, "minimum_size", theirs->minimum, first->minimum);
    else if (theirs->watch_from != first->watch_from)
        snprintf(what, size, form, "watch_size", theirs->watch_from, first->watch_from);
    else if (theirs->priority != first->priority)
        snprintf(what, size, form, "priority", (uint64_t)theirs->priority,
                 (uint64_t)first->priority);
    else if (theirs->reproducible != first->reproducible)
        snprintf(what, size, "coll_strag_reproducible is %s there, and %s on rank 0",
                 strag_reproducible_names[theirs->reproducible],
                 strag_reproducible_names[first->reproducible]);
    else if (theirs->has_layout_or_rules != first->has_layout_or_rules)
        snprintf(what, size, "coll_strag_layout, _torus, _rules or _plan is set %s, but not %s",
                 first->has_layout_or_rules ? "on rank 0" : "there",
                 first->has_layout_or_rules ? "there" : "on rank 0");
    else
        return false;
    return true;
}
