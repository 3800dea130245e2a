/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every rank's part of watching: it notes how long its calls take, and once a window
 *
 *     call w       all ranks   -- struct strag_note [w] -->  rank 0     a gather, not waited for
 *     call w + w/8 rank 0      waits for it if it must, judges
 *                  rank 0      -- struct coll_strag_news -->  all ranks     a broadcast
 *
 * The gather is the communicator's own nonblocking one, started by all ranks within the same call.
 * MPI wants collectives of a communicator in the same order on all ranks, so it cannot be mixed up
 * with the user's; and it goes on in whatever MPI call a rank is. Everybody is in call w + w/8 when
 * rank 0 speaks, so the broadcast waits for nobody. All follow its word from the next call on, and
 * so choose alike: nothing but that word enters the choice.
 *
 * The notes also have what the rank's meter says of its host's links. If rank 0 has a suspicion,
 * its word is to probe them; all do that at once, and it speaks again (coll_strag_links.c).
 *
 * Where a closer look is wanted a nonblocking barrier runs beside each call. It is over when all
 * are there, on all ranks within the time of a few short messages.
 *
 * Whoever runs out of memory says so before the first call is watched, and then none is. An error
 * of the gather, the barrier or the broadcast is one of MPI's own, on this very communicator: the
 * call returns it as any other.
 */
#include "coll_strag_watch.h"

#include <stdlib.h>
#include <string.h>

/* How long to wait, after an error, for what is still under way. */
static const double drain_seconds = 1.0;

/* ---- Nothing may be under way when a communicator or MPI comes to its end ---- */

/* After an error the other ranks may never do their part; then the request is left to its owner. */
static void drain_one(const struct coll_strag_watch *watch, ompi_request_t **request)
{
    double end = coll_strag_seconds() + drain_seconds;
    while (NULL != *request && watch->failed && !REQUEST_COMPLETE(*request) &&
           coll_strag_seconds() < end)
        opal_progress();
    if (NULL != *request && (!watch->failed || REQUEST_COMPLETE(*request))) {
        ompi_request_wait(request, MPI_STATUS_IGNORE);
        *request = NULL;
    }
}

static void drain(mca_coll_strag_module_t *module)
{
    struct coll_strag_watch *watch = module->watch;
    if (NULL == watch || watch->over)
        return;
    watch->over = true;
    coll_strag_report(module, module->pml.super.comm);
    drain_one(watch, &watch->barrier);
    drain_one(watch, &watch->gather);
}

/*
 * An attribute of the communicator is deleted: MPI_Comm_free does that first, in the user's own
 * thread. Later would be too late: as long as messages are under way the communicator is not
 * destroyed, and then it is by the last one of them, in the middle of Open MPI's progress, where
 * nothing can be waited for.
 *
 * An attribute of MPI_COMM_SELF is deleted: MPI_Finalize does that first.
 */
static int deleted(MPI_Comm comm, int key, void *module, void *extra)
{
    mca_coll_strag_component_t *component = &mca_coll_strag_component;
    (void)comm;
    (void)key;
    (void)extra;
    if (module && !component->ended)
        drain(module);
    for (mca_coll_strag_module_t *m = component->modules; !module && m; m = m->next)
        drain(m);
    component->ended = component->ended || !module;
    return MPI_SUCCESS;
}

/* The key is gone with the attribute. */
static bool attach(ompi_communicator_t *comm, mca_coll_strag_module_t *module)
{
    int key;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL) != MPI_SUCCESS)
        return false;
    bool attached = PMPI_Comm_set_attr(comm, key, module) == MPI_SUCCESS;
    PMPI_Comm_free_keyval(&key);
    return attached;
}

/* With sessions alone there is no MPI_COMM_SELF to speak of, and all communicators are freed. */
static bool be_told_of_the_end(ompi_communicator_t *comm, mca_coll_strag_module_t *module)
{
    mca_coll_strag_component_t *component = &mca_coll_strag_component;
    int initialized = 0;
    if (component->ended)
        return false;
    if (!__atomic_exchange_n(&component->attached, true, __ATOMIC_RELAXED) &&
        PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized)
        attach(MPI_COMM_SELF, NULL);
    return attach(comm, module);
}

/* ---- Making one ---- */

/* Memory that a message still uses is left to it. */
void coll_strag_watch_free(mca_coll_strag_module_t *module)
{
    struct coll_strag_watch *watch = module->watch;
    if (NULL == watch || NULL != watch->gather || NULL != watch->barrier)
        return;
    strag_observer_free(watch->observer);
    module->pml.meter = NULL;
    coll_strag_links_free(watch->links);
    if (watch->judge)
        module->selection = NULL;
    coll_strag_judge_free(watch->judge);
    free(watch->notes);
    free(watch);
    module->watch = NULL;
}

static bool make(mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                 const struct strag_rank_location *ranks,
                 const struct coll_strag_decision *decision)
{
    struct strag_observe_options options = strag_observe_default();
    options.window = decision->window;
    struct coll_strag_watch *watch = module->watch = calloc(1, sizeof *watch);
    if (NULL == watch ||
        strag_observer_create(ompi_comm_size(comm), &options, &watch->observer, NULL) != STRAG_OK)
        return false;
    watch->from = decision->watch_from;
    watch->look_always = watch->look = decision->report;
    watch->told.now = watch->told.observed.rank = watch->told.world = -1;
    watch->told.slow.rank = -1;
    strag_observer_notes(watch->observer, &watch->notes_bytes);
    if (decision->links && !coll_strag_links_create(module, comm, &decision->state, &watch->links))
        return false;
    if (watch->links) {
        watch->notes_bytes += sizeof(struct strag_meter_note);
        module->pml.meter = watch->links->meter;
        module->pml.host_of = watch->links->host_of;
    }
    watch->notes = malloc(watch->notes_bytes);
    if (ranks)
        watch->judge = coll_strag_judge_create(module, comm, ranks, decision);
    return watch->notes && (!ranks || watch->judge) && be_told_of_the_end(comm, module);
}

int coll_strag_watch_create(mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                            const struct strag_rank_location *ranks,
                            const struct coll_strag_decision *decision, bool able)
{
    if (decision->watching == COLL_STRAG_WATCH_NOT)
        return OMPI_SUCCESS;
    int ready = able && make(module, comm, ranks, decision);
    int code = module->previous_allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, comm,
                                          module->previous_allreduce_module);
    if (code != OMPI_SUCCESS || !ready)
        coll_strag_watch_free(module);
    return code;
}

/* ---- A window's end ---- */

static int send_notes(struct coll_strag_watch *watch, ompi_communicator_t *comm)
{
    size_t bytes;
    if (NULL != watch->gather) {
        int code = ompi_request_wait(&watch->gather, MPI_STATUS_IGNORE);
        if (code != OMPI_SUCCESS)
            return code;
    }
    const struct strag_note *notes = strag_observer_notes(watch->observer, &bytes);
    memcpy(watch->notes, notes, bytes);
    if (watch->links) {
        struct strag_meter_note note;
        strag_meter_take(watch->links->meter, &note);
        memcpy((char *)watch->notes + bytes, &note, sizeof note);
    }
    void *all = NULL;
    if (watch->judge) {
        coll_strag_judge_turn(watch->judge);
        all = coll_strag_judge_notes(watch->judge);
    }
    const coll_strag_count_t count = (coll_strag_count_t)watch->notes_bytes;
    return comm->c_coll->coll_igather(watch->notes, count, MPI_BYTE, all, count, MPI_BYTE, 0, comm,
                                      &watch->gather, comm->c_coll->coll_igather_module);
}

static void follow(mca_coll_strag_module_t *module, const struct coll_strag_news *news)
{
    struct coll_strag_watch *watch = module->watch;
    watch->look = news->look || watch->look_always;
    watch->told = news->told;
    if (!news->changed)
        return;
    module->state = news->state;
    module->table = news->table;
    module->too_short = coll_strag_too_short(module);
    if (news->replan)
        coll_strag_planned_free(module);
    else
        coll_strag_planned_forget(module);
    memset(module->told, 0, sizeof module->told);
}

static int broadcast_news(mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                          struct coll_strag_news *news)
{
    int code = comm->c_coll->coll_bcast(news, sizeof *news, MPI_BYTE, 0, comm,
                                        comm->c_coll->coll_bcast_module);
    if (code == OMPI_SUCCESS)
        follow(module, news);
    return code;
}

static int probe_links(mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                       struct coll_strag_news *news)
{
    struct coll_strag_watch *watch = module->watch;
    bool changed;
    int code = coll_strag_links_probe(watch->links, comm, news->probe_bytes, &changed);
    if (code != OMPI_SUCCESS)
        return code;
    if (watch->judge)
        coll_strag_judge_links(watch->judge, module, comm, changed, news);
    return broadcast_news(module, comm, news);
}

static int hear_news(mca_coll_strag_module_t *module, ompi_communicator_t *comm)
{
    struct coll_strag_watch *watch = module->watch;
    struct coll_strag_news news;
    memset(&news, 0, sizeof news);
    int code = OMPI_SUCCESS;
    if (watch->judge) {
        code = ompi_request_wait(&watch->gather, MPI_STATUS_IGNORE);
        if (code == OMPI_SUCCESS)
            coll_strag_judge_decide(watch->judge, module, comm, &news);
    }
    if (code == OMPI_SUCCESS)
        code = broadcast_news(module, comm, &news);
    if (code == OMPI_SUCCESS && news.probe)
        code = probe_links(module, comm, &news);
    return code;
}

/* ---- A call ---- */

bool coll_strag_watches(const mca_coll_strag_module_t *module, size_t bytes)
{
    const struct coll_strag_watch *watch = module->watch;
    return watch && bytes >= watch->from && !watch->inside && !watch->failed && !watch->over;
}

/* The barrier is complete, in this thread or another. */
static int all_are_there(ompi_request_t *request)
{
    struct coll_strag_watch *watch = request->req_complete_cb_data;
    watch->reached = coll_strag_seconds();
    return OMPI_SUCCESS;
}

int coll_strag_watch_begin(mca_coll_strag_module_t *module, ompi_communicator_t *comm)
{
    struct coll_strag_watch *watch = module->watch;
    watch->inside = true;
    watch->reached = -1;
    watch->start = coll_strag_seconds();
    if (!watch->look)
        return OMPI_SUCCESS;
    int code =
        comm->c_coll->coll_ibarrier(comm, &watch->barrier, comm->c_coll->coll_ibarrier_module);
    if (code == OMPI_SUCCESS)
        ompi_request_set_callback(watch->barrier, all_are_there, watch);
    return code;
}

/* Everybody is there, and stays until its own barrier is over: that takes no longer than a few
 * short messages. */
static int take_note(struct coll_strag_watch *watch, struct strag_note *note)
{
    double seconds = coll_strag_seconds() - watch->start;
    *note = (struct strag_note){.seconds = (float)seconds, .wait = -1};
    if (NULL == watch->barrier)
        return OMPI_SUCCESS;
    int code = ompi_request_wait(&watch->barrier, MPI_STATUS_IGNORE);
    watch->barrier = NULL;
    if (code == OMPI_SUCCESS && watch->reached >= 0)
        note->wait = (float)(watch->reached - watch->start);
    return code;
}

int coll_strag_watch_end(mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                         const struct coll_strag_watched *call, int code)
{
    struct coll_strag_watch *watch = module->watch;
    struct strag_note note = {.wait = -1};
    if (code == OMPI_SUCCESS)
        code = take_note(watch, &note);
    if (code == OMPI_SUCCESS) {
        if (watch->judge)
            coll_strag_judge_add(watch->judge, call, (double)note.seconds);
        enum strag_observe_step step = strag_observer_add(watch->observer, note);
        if (step == STRAG_OBSERVE_SEND)
            code = send_notes(watch, comm);
        else if (step == STRAG_OBSERVE_DECIDE)
            code = hear_news(module, comm);
    }
    watch->inside = false;
    watch->failed = watch->failed || code != OMPI_SUCCESS;
    return code;
}
