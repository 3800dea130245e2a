/* SPDX-License-Identifier: BSD-3-Clause */
#include "info_keys.h"

#include "base/text.h"
#include "manual/manual.h"

#include <pthread.h>
#include <string.h>

static const char prefix[] = STRAG_PREFIX;

/* The keys that exist, with the functions that read or check their values. */
static const struct {
    enum strag_parameter_id parameter; /* of the same name */
    int (*read)(const struct coll_strag_source *source);
    const char *const *text; /* the parameter's text, if coll_strag_key_text reads the key */
    const char *wrong;       /* used instead of the text if that is invalid */
} keys[COLL_STRAG_KEYS] = {
    [COLL_STRAG_KEY_ALGORITHM] = {STRAG_SET_ALGORITHM, coll_strag_read_algorithm},
    [COLL_STRAG_KEY_PLAN] = {STRAG_SET_PLAN, coll_strag_check_plan, &coll_strag_settings.plan, ""},
    [COLL_STRAG_KEY_PORTS] = {STRAG_SET_PORTS, coll_strag_read_ports},
    [COLL_STRAG_KEY_TRANSPORT] = {STRAG_SET_TRANSPORT, coll_strag_read_transport},
    [COLL_STRAG_KEY_REPORT] = {STRAG_SET_REPORT, coll_strag_read_switch},
    [COLL_STRAG_KEY_STRAGGLER] = {STRAG_SET_STRAGGLER, coll_strag_check_straggler,
                                  &coll_strag_settings.straggler, "auto"},
    [COLL_STRAG_KEY_SLOWDOWN] = {STRAG_SET_SLOWDOWN, coll_strag_check_slowdown,
                                 &coll_strag_settings.slowdown, "auto"},
};

static const char *key_name(int key)
{
    return strag_parameters[keys[key].parameter].name;
}

/* Does the communicator have a key of strag? Called for each new communicator: nearly all of them
 * have keys of Open MPI. */
static bool has_keys(ompi_communicator_t *comm)
{
    opal_info_t *info = comm->super.s_info;
    opal_info_entry_t *entry;
    bool found = false;
    if (NULL == info)
        return false;
    OPAL_THREAD_LOCK(info->i_lock);
    OPAL_LIST_FOREACH(entry, &info->super, opal_info_entry_t)
    {
        /* anywhere in the name: Open MPI renames keys of MPI_Comm_set_info (compat/compat.h) */
        found = found || strstr(COLL_STRAG_INFO_NAME(entry), prefix);
    }
    OPAL_THREAD_UNLOCK(info->i_lock);
    return found;
}

/* Get the text of a key. @return whether the communicator has the key */
static bool get_key(ompi_communicator_t *comm, enum coll_strag_key key,
                    char text[COLL_STRAG_KEY_MAX])
{
    return has_keys(comm) && coll_strag_info(comm, key_name(key), text, COLL_STRAG_KEY_MAX);
}

/* ---- Mistakes ---- */

static void complain_unknown(const struct coll_strag_source *source, const char *name)
{
    char accepted[256] = "";
    struct strag_nearest nearest = {NULL, 0};
    for (int k = 0; k < COLL_STRAG_KEYS; k++) {
        strag_nearest_offer(&nearest, name, key_name(k));
        strag_append(accepted, sizeof accepted, "%s%s", k ? ", " : "", key_name(k));
    }
    coll_strag_complain(source, "no such info key", nearest.name, accepted, "nothing");
}

static void check_key(ompi_communicator_t *comm, const char *name,
                      struct coll_strag_complaints *complaints)
{
    char text[COLL_STRAG_KEY_MAX], called[MPI_MAX_INFO_KEY + 16];
    const struct coll_strag_source source = {called, text, complaints};
    int k = 0;
    if (strncmp(name, prefix, strlen(prefix)) != 0 ||
        !coll_strag_info(comm, name, text, sizeof text))
        return;
    snprintf(called, sizeof called, "%s (info key)", name);
    while (k < COLL_STRAG_KEYS && strcmp(name, key_name(k)) != 0)
        k++;
    if (k < COLL_STRAG_KEYS)
        (void)keys[k].read(&source);
    else
        complain_unknown(&source, name);
}

/* Programs repeat a mistake with many communicators. The hash of each text that has been shown is
 * kept. If there is no room for another hash, no further text is shown. */
static bool is_new(const char *text)
{
    static struct {
        pthread_mutex_t lock;
        uint64_t hash[32];
        int count;
    } shown = {.lock = PTHREAD_MUTEX_INITIALIZER};
    const uint64_t hash = strag_hash(STRAG_HASH_START, text, strlen(text));
    int h = 0;
    pthread_mutex_lock(&shown.lock);
    while (h < shown.count && shown.hash[h] != hash)
        h++;
    const bool fresh = h == shown.count && h < (int)(sizeof shown.hash / sizeof *shown.hash);
    if (fresh)
        shown.hash[shown.count++] = hash;
    pthread_mutex_unlock(&shown.lock);
    return fresh;
}

void coll_strag_warn_of_keys(const struct coll_strag_complaints *complaints)
{
    if (complaints->length && is_new(complaints->text))
        coll_strag_show(COLL_STRAG_WARN_INFO_KEYS, complaints->text, "");
}

void coll_strag_check_keys(ompi_communicator_t *comm)
{
    if (ompi_comm_rank(comm) != 0 || !has_keys(comm))
        return;
    struct coll_strag_complaints complaints = {.length = 0};
    opal_info_entry_t *entry;
    OPAL_LIST_FOREACH(entry, &comm->super.s_info->super, opal_info_entry_t)
    {
        check_key(comm, COLL_STRAG_INFO_NAME(entry), &complaints);
    }
    coll_strag_warn_of_keys(&complaints);
}

/* @return 0 if the communicator does not have the key @param[out] text  the key's */
static uint64_t key_hash(ompi_communicator_t *comm, enum coll_strag_key key,
                         char text[COLL_STRAG_KEY_MAX])
{
    return get_key(comm, key, text) ? strag_hash(STRAG_HASH_START, text, strlen(text)) | 1 : 0;
}

void coll_strag_note_keys(ompi_communicator_t *comm, struct coll_strag_keys *recorded)
{
    char text[COLL_STRAG_KEY_MAX];
    for (int k = 0; k < COLL_STRAG_KEYS; k++)
        recorded->hash[k] = key_hash(comm, (enum coll_strag_key)k, text);
}

void coll_strag_check_late_keys(ompi_communicator_t *comm, const struct coll_strag_keys *recorded)
{
    struct coll_strag_complaints complaints = {.length = 0};
    char text[COLL_STRAG_KEY_MAX], called[64];
    if (ompi_comm_rank(comm) != 0)
        return;
    for (int k = 0; k < COLL_STRAG_KEYS; k++) {
        const uint64_t hash = key_hash(comm, (enum coll_strag_key)k, text);
        if (hash == 0 || hash == recorded->hash[k])
            continue;
        const struct coll_strag_source source = {called, text, &complaints};
        snprintf(called, sizeof called, "%s (info key)", key_name(k));
        coll_strag_complain(&source, "set by MPI_Comm_set_info, too late", NULL,
                            "a key given to MPI_Comm_dup_with_info or MPI_Comm_split_type",
                            "what was there before");
    }
    coll_strag_warn_of_keys(&complaints);
}

bool coll_strag_has_watch_keys(ompi_communicator_t *comm)
{
    char text[COLL_STRAG_KEY_MAX];
    return get_key(comm, COLL_STRAG_KEY_STRAGGLER, text) ||
           get_key(comm, COLL_STRAG_KEY_SLOWDOWN, text) ||
           get_key(comm, COLL_STRAG_KEY_REPORT, text);
}

/* ---- Values ---- */

int coll_strag_key(ompi_communicator_t *comm, enum coll_strag_key key, int otherwise)
{
    char text[COLL_STRAG_KEY_MAX];
    const struct coll_strag_source source = {key_name(key), text, NULL};
    return get_key(comm, key, text) ? keys[key].read(&source) : otherwise;
}

const char *coll_strag_key_text(ompi_communicator_t *comm, enum coll_strag_key key,
                                char text[COLL_STRAG_KEY_MAX])
{
    const struct coll_strag_source source = {key_name(key), text, NULL};
    if (!get_key(comm, key, text))
        return *keys[key].text;
    return keys[key].read(&source) ? text : keys[key].wrong;
}
