/* SPDX-License-Identifier: BSD-3-Clause */
#include "update.h"

#include "table.h"

#include <string.h>

bool coll_strag_update_has_news(const struct coll_strag_update *update)
{
    bool news = update->change != STRAG_CHANGE_NOTHING || update->dynamic;
    for (int t = 0; t < STRAG_TRIALS_AT_ONCE; t++)
        news = news || update->begun[t];
    return news;
}

void coll_strag_news_fill(const struct strag_judge *judge, const struct strag_learner *learner,
                          struct coll_strag_news *news)
{
    memset(news, 0, sizeof *news);
    if (learner)
        news->measured = coll_strag_measured_of(strag_learner_model(learner));
    news->state = *strag_judge_state(judge);
    news->table = strag_judge_current(judge)->table;
    coll_strag_table_pack(&news->table);
    for (int t = 0; t < STRAG_TRIALS_AT_ONCE; t++) {
        news->trials[t] = strag_judge_trials(judge)[t];
        coll_strag_trial_pack(&news->trials[t]);
    }
    news->policy = *strag_judge_policy(judge);
    coll_strag_table_pack(&news->policy.table);
}

void coll_strag_news_unpack(const struct coll_strag_update *update, struct coll_strag_news *news)
{
    for (int t = 0; t < STRAG_TRIALS_AT_ONCE; t++) {
        if (update->begun[t])
            coll_strag_trial_unpack(&news->trials[t]);
    }
    coll_strag_table_unpack(&news->table);
    coll_strag_table_unpack(&news->policy.table);
}
