#ifndef COLL_STRAG_WATCH_H
#define COLL_STRAG_WATCH_H
#include "previous.h"
#include "table.h"
#include "transport_pml.h"
enum coll_strag_change { COLL_STRAG_NO_CHANGE, COLL_STRAG_NEW_TABLE, COLL_STRAG_NEW_LINKS };
struct coll_strag_watch;
struct coll_strag_watch_options {
    struct coll_strag_basis basis;
    const struct coll_strag_previous *previous;
    struct coll_strag_decision *decision;
    struct strag_selection **selection;
    const struct strag_topology *topology;
    struct coll_strag_pml_transport *pml;
    const struct strag_rank_location *ranks;
};
int coll_strag_watch_create(const struct coll_strag_watch_options *options, bool able,
                            struct coll_strag_watch **watch);
void coll_strag_watch_free(struct coll_strag_watch *watch);
bool coll_strag_watches(const struct coll_strag_watch *watch, size_t bytes);
int coll_strag_watch_begin(struct coll_strag_watch *watch);
int coll_strag_watch_end(struct coll_strag_watch *watch, size_t bytes, int choice, int blocks,
                         int code, enum coll_strag_change *change);
#endif
