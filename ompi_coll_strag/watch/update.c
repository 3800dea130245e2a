/* SPDX-License-Identifier: BSD-3-Clause */
#include "update.h"

#include "choice/table.h"

#include <string.h>

bool coll_strag_update_has_news(const struct coll_strag_update *update)
{
    return update->change != STRAG_CHANGE_NOTHING || update->dynamic;
}

void coll_strag_news_fill(const struct strag_judge *judge, struct coll_strag_news *news)
{
    const struct strag_sourced_model *model = strag_judge_model(judge);
    memset(news, 0, sizeof *news);
    if (model)
        news->measured = coll_strag_measured_of(model);
    news->state = *strag_judge_state(judge);
    news->table = strag_judge_current(judge)->table;
    coll_strag_table_pack(&news->table);
    news->policy = *strag_judge_policy(judge);
    coll_strag_table_pack(&news->policy.table);
}

void coll_strag_news_unpack(struct coll_strag_news *news)
{
    coll_strag_table_unpack(&news->table);
    coll_strag_table_unpack(&news->policy.table);
}
