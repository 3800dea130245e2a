/* SPDX-License-Identifier: BSD-3-Clause */
#include "files.h"

#include "user/log.h"
#include "user/settings.h"

#include <pthread.h>
#include <string.h>

enum file { LAYOUT, RULES, MODELS, FILES };

static struct {
    pthread_mutex_t lock;
    bool read[FILES];
    struct strag_layout *layout;
    struct strag_rules *rules;
    struct strag_models *models;
} files = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int read_one(enum file file, const char *name, struct strag_error *err)
{
    switch (file) {
    case LAYOUT:
        return strag_layout_read(name, &files.layout, err);
    case RULES:
        return strag_rules_read(name, &files.rules, err);
    default:
        return strag_models_read(name, &files.models, err);
    }
}

static void need(enum file file, const char *name, enum coll_strag_warning warning)
{
    struct strag_error err;
    pthread_mutex_lock(&files.lock);
    if (name[0] && !files.read[file] && read_one(file, name, &err) != STRAG_OK) {
        coll_strag_log(NULL, "%s", err.text);
        coll_strag_warn(warning, name, err.text);
    }
    files.read[file] = true;
    pthread_mutex_unlock(&files.lock);
}

const struct strag_layout *coll_strag_layout(void)
{
    need(LAYOUT, coll_strag_settings.layout_file, COLL_STRAG_WARN_LAYOUT);
    return files.layout;
}

const struct strag_rules *coll_strag_rules(void)
{
    need(RULES, coll_strag_settings.rules_file, COLL_STRAG_WARN_RULES);
    return files.rules;
}

const struct strag_models *coll_strag_models(void)
{
    need(MODELS, coll_strag_settings.model_file, COLL_STRAG_WARN_MODEL);
    return files.models;
}

void coll_strag_files_free(void)
{
    strag_layout_free(files.layout);
    strag_rules_free(files.rules);
    strag_models_free(files.models);
    files.layout = NULL;
    files.rules = NULL;
    files.models = NULL;
    memset(files.read, 0, sizeof files.read);
}
