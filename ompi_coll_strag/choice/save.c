/* SPDX-License-Identifier: BSD-3-Clause */
#include "save.h"

#include "user/file_name.h"

#include "model/saved.h"

static struct coll_strag_files files = {COLL_STRAG_WARN_SAVE, .lock = PTHREAD_MUTEX_INITIALIZER};

static void write_saved(const void *what, FILE *stream)
{
    (void)strag_saved_write(what, stream);
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
    coll_strag_file_write(&files, settings->save_file, inputs->comm, 0, write_saved, &what);
}
