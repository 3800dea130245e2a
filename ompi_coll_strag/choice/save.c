/* SPDX-License-Identifier: BSD-3-Clause */
#include "save.h"

#include "user/file_name.h"
#include "user/log.h"

#include "base/file.h"
#include "model/saved.h"

#include <limits.h>
#include <pthread.h>

/* One at a time: threads may save communicators under one name. */
static struct {
    pthread_mutex_t lock;
    int most; /* ranks of the largest communicator that was saved under a name without %c */
} saved = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Is this communicator to be saved? With the lock held. */
static bool is_wanted(const ompi_communicator_t *comm)
{
    const char *name = coll_strag_settings.save_file;
    const int n = ompi_comm_size((ompi_communicator_t *)comm);
    if (name[0] == '\0')
        return false;
    if (coll_strag_file_each(name))
        return true;
    if (!coll_strag_speaks())
        return false;
    if (n <= saved.most)
        return false;
    saved.most = n;
    return true;
}

static int write_file(const char *name, const struct strag_saved *what, struct strag_error *err)
{
    struct strag_output out;
    const int status = strag_output_open(&out, name, err);
    if (status != STRAG_OK)
        return status;
    (void)strag_saved_write(what, out.stream); /* closing says the same */
    return strag_output_close(&out, true, err);
}

void coll_strag_save(const struct coll_strag_table_inputs *inputs,
                     const struct coll_strag_decision *decision)
{
    const struct coll_strag_settings *settings = &coll_strag_settings;
    const struct strag_state state = strag_state_of(&decision->state);
    const struct strag_saved what = {
        .version = coll_strag_version,
        .communicator = inputs->comm->c_name,
        .circumstances = coll_strag_circumstances(inputs, decision, &state),
        .model = inputs->model,
        .model_file = settings->model_file,
        .rules_file = settings->rules_file,
        .reproducible = decision->reproducible,
        .shared_memory = inputs->all_shared ? STRAG_SHARED_ALL
                         : inputs->shared   ? STRAG_SHARED_HOSTS
                                            : STRAG_SHARED_NONE,
        .table = decision->table,
        .line = decision->line,
    };
    char name[PATH_MAX];
    struct strag_error err = {"the name is too long"};
    pthread_mutex_lock(&saved.lock);
    const bool wanted = is_wanted(inputs->comm);
    const bool written =
        wanted && coll_strag_file_name(settings->save_file, inputs->comm, name, sizeof name) &&
        write_file(name, &what, &err) == STRAG_OK;
    pthread_mutex_unlock(&saved.lock);
    if (!wanted)
        return;
    if (!written) {
        coll_strag_log(inputs->comm, "%s: %s", name, err.text);
        coll_strag_warn(COLL_STRAG_WARN_SAVE, name, err.text);
        return;
    }
    coll_strag_log(inputs->comm, "saved in %s", name);
}
