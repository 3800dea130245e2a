/* SPDX-License-Identifier: BSD-3-Clause */
#include "record.h"

#include "compat/components.h"
#include "compat/world.h"
#include "facts/state.h"
#include "report.h"
#include "user/file_name.h"
#include "user/log.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How many communicators may be traced at the same time: a trace takes up to 640 KiB. */
enum { TRACES_MOST = 16 };

/* What a rank sends, followed by its calls' times and the events of its trace. */
struct record {
    char host[STRAG_HOST_MAX];
    int32_t world, kept;
    uint64_t events;
    uint64_t every, clock;
    double seconds;
    struct strag_standstill standstill;
};

static int traces; /* of communicators that exist; atomic */

static double job_start; /* when MPI_Init opened the component */

void coll_strag_ledger_open(void)
{
    job_start = coll_strag_seconds();
}

struct coll_strag_ledger *coll_strag_ledger_create(coll_strag_module_t *module,
                                                   ompi_communicator_t *comm, int noting)
{
    const int room = strag_ledger_room(ompi_comm_size(comm));
    struct coll_strag_ledger *ledger = calloc(1, sizeof *ledger);
    if (NULL == ledger)
        return NULL;
    ledger->notes = strag_ledger_begin(malloc((size_t)room * sizeof(struct strag_stay)), room);
    ledger->noting = noting;
    if ((noting & COLL_STRAG_NOTES_TRACE) &&
        __atomic_add_fetch(&traces, 1, __ATOMIC_RELAXED) <= TRACES_MOST)
        ledger->trace =
            strag_trace_create(strag_trace_room(ompi_comm_size(comm)), coll_strag_seconds);
    ledger->module = module;
    ledger->comm = comm;
    pthread_mutex_init(&ledger->lock, NULL);
    return ledger;
}

void coll_strag_ledger_free(struct coll_strag_ledger *ledger)
{
    if (NULL == ledger)
        return;
    coll_strag_teardown_leave(&ledger->teardown);
    pthread_mutex_destroy(&ledger->lock);
    if (ledger->noting & COLL_STRAG_NOTES_TRACE)
        (void)__atomic_sub_fetch(&traces, 1, __ATOMIC_RELAXED);
    strag_trace_free(ledger->trace);
    free(ledger->notes.stays);
    free(ledger);
}

void coll_strag_ledger_note(struct coll_strag_ledger *ledger, enum strag_ledger_kind kind,
                            int outcome, size_t bytes, const struct strag_stay *stay)
{
    const bool threads = opal_using_threads();
    if (threads)
        pthread_mutex_lock(&ledger->lock);
    strag_ledger_add(&ledger->notes, kind, outcome, bytes, stay);
    if (threads)
        pthread_mutex_unlock(&ledger->lock);
}

/* ---- The end ---- */

/* The offset of the events in a record, after the times. */
static size_t events_at(int kept)
{
    return sizeof(struct record) + (size_t)kept * sizeof(struct strag_stay);
}

/* Bytes of a record at most; the same on all ranks. */
static size_t record_room(const struct coll_strag_ledger *ledger)
{
    const int n = ompi_comm_size(ledger->comm);
    const size_t events = ledger->noting & COLL_STRAG_NOTES_TRACE ? strag_trace_room(n) : 0;
    return events_at(strag_ledger_room(n)) + events * sizeof(struct strag_trace_event);
}

/* The same number in processes that read the same clock, which starts when the kernel does, and is
 * shifted by the process's time namespace. */
static uint64_t clock_id(void)
{
    char text[128] = "";
    FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (!boot || !fgets(text, sizeof text, boot))
        snprintf(text, sizeof text, "%s", opal_process_info.nodename);
    if (boot)
        fclose(boot);
    const size_t length = strlen(text);
    const ssize_t more = readlink("/proc/self/ns/time", text + length, sizeof text - length);
    return strag_hash(STRAG_HASH_START, text, length + (more > 0 ? (size_t)more : 0));
}

/* @return NULL if out of memory */
static void *make_record(const struct coll_strag_ledger *ledger, size_t *bytes)
{
    const struct strag_ledger *notes = &ledger->notes;
    struct record *record = calloc(1, record_room(ledger));
    if (NULL == record)
        return NULL;
    if (gethostname(record->host, sizeof record->host - 1) != 0)
        record->host[0] = '\0';
    record->world = coll_strag_world_size() > 0 ? ompi_comm_rank(&ompi_mpi_comm_world.comm) : -1;
    record->kept = notes->kept;
    record->every = notes->every;
    record->seconds = notes->seconds;
    record->standstill = coll_strag_stuck_standstill(&ledger->module->stuck);
    record->clock = clock_id();
    if (notes->kept > 0)
        memcpy(record + 1, notes->stays, (size_t)notes->kept * sizeof *notes->stays);
    struct strag_trace_event *events = (void *)((char *)record + events_at(notes->kept));
    if (ledger->trace)
        record->events = strag_trace_read(ledger->trace, events);
    *bytes = events_at(notes->kept) + (size_t)record->events * sizeof *events;
    return record;
}

/* When MPI ends, messages of all communicators are posted before any is waited for. Every rank with
 * a ledger does this, which all ranks have or none: whether rank 0 reports, a rank cannot know if
 * it has not completed setup. */
static void begin_end(struct coll_strag_teardown *teardown)
{
    struct coll_strag_ledger *ledger =
        COLL_STRAG_OWNER(teardown, struct coll_strag_ledger, teardown);
    size_t bytes = 0;
    void *record = make_record(ledger, &bytes);
    ledger->collecting = true;
    coll_strag_collect_begin(&ledger->collect, ledger->comm, record, bytes, record_room(ledger));
}

/* What has come from all ranks, on rank 0. */
struct records {
    int n;
    struct strag_rank_location *ranks; /* [n] */
    struct strag_stays *stays;         /* [n] */
    struct strag_trace_rank *traces;   /* [n] */
    struct strag_standstill *longest;  /* of all */
};

static void read_records(const struct coll_strag_ledger *ledger, const struct records *records)
{
    for (int rank = 0; rank < records->n; rank++) {
        size_t bytes;
        const struct record *record = coll_strag_collect_of(&ledger->collect, rank, &bytes);
        struct strag_rank_location *location = &records->ranks[rank];
        location->world = -1;
        records->traces[rank].host = location->host;
        if (NULL == record || bytes < sizeof *record)
            continue;
        memcpy(location->host, record->host, sizeof record->host);
        location->world = record->world;
        if (record->standstill.seconds > records->longest->seconds)
            *records->longest = record->standstill;
        records->stays[rank] =
            (struct strag_stays){.stays = (const struct strag_stay *)(record + 1),
                                 .kept = record->kept,
                                 .every = record->every,
                                 .clock = record->clock,
                                 .seconds = record->seconds};
        records->traces[rank].events =
            (struct strag_trace_event *)(void *)((char *)record + events_at(record->kept));
        records->traces[rank].count = (size_t)record->events;
    }
}

/* Why strag looks for stragglers, or does not, and what it has found. */
static void add_watch(const struct coll_strag_module *module, struct strag_account *account)
{
    const struct coll_strag_decision *decision = &module->decision;
    account->needed = strag_calls_to_name(account->n);
    if (!coll_strag_is_set_up(module)) {
        account->watch = STRAG_ACCOUNT_NOT_YET;
        return;
    }
    account->watch = decision->watching == COLL_STRAG_WATCH_SWITCH ? STRAG_ACCOUNT_WATCHES
                                                                   : STRAG_ACCOUNT_CONFIGURED_OFF;
    account->dynamic = decision->dynamic != STRAG_DYNAMIC_NEVER;
    if (!module->watch)
        return;
    account->summary = strag_judge_summary(module->watch->judge);
    account->model = coll_strag_watch_model(module->watch);
    account->model_file = coll_strag_settings.model_file;
}

/* The communicator's name in the report. */
static void name_communicator(const ompi_communicator_t *comm, char *name, size_t size)
{
    char cid[32];
    if (comm->c_name[0])
        snprintf(name, size, "%s", comm->c_name);
    else
        snprintf(name, size, "communicator %s", coll_strag_cid(comm, cid, sizeof cid));
}

static void make_report(const struct coll_strag_ledger *ledger, const struct records *records,
                        const char *name, const char *const *outcomes)
{
    struct strag_loss loss;
    struct strag_account account = {
        .name = name,
        .n = records->n,
        .ranks = records->ranks,
        .run = coll_strag_seconds() - job_start,
        .ledger = &ledger->notes,
        .loss = &loss,
        .standstill = records->longest->times ? records->longest : NULL,
        .outcomes = outcomes,
        .algorithms = COLL_STRAG_OUTCOME_PREVIOUS,
        .previous = ledger->previous,
        .declined = ledger->declined,
        .not_asked = ledger->not_asked,
    };
    if (strag_loss_find(records->stays, records->n, &loss) != STRAG_OK)
        return;
    if (!ledger->declined)
        add_watch(ledger->module, &account);
    coll_strag_report(&account);
}

static struct coll_strag_files trace_files = {COLL_STRAG_WARN_NOT_WRITTEN,
                                              .lock = PTHREAD_MUTEX_INITIALIZER};

static void write_trace(const void *job, FILE *stream)
{
    strag_trace_json(job, stream);
}

/* Times are converted to rank 0's clock. */
static void make_trace(const struct coll_strag_ledger *ledger, const struct records *records,
                       const char *name, const char *const *outcomes)
{
    const struct strag_common common = strag_common_find(records->stays, records->n);
    const struct strag_trace_job job = {
        .name = name, .ranks = records->traces, .n = records->n, .outcomes = outcomes};
    struct strag_clocks *clocks;
    size_t events = 0;
    if (strag_clocks_find(records->stays, records->n, &common, &clocks) != STRAG_OK)
        return;
    for (int r = 0; r < records->n; r++) {
        for (size_t e = 0; e < records->traces[r].count; e++) {
            struct strag_trace_event *event = &records->traces[r].events[e];
            event->begin = strag_clocks_shift(clocks, r, event->begin);
            event->end = strag_clocks_shift(clocks, r, event->end);
        }
        events += records->traces[r].count;
    }
    strag_clocks_free(clocks);
    strag_trace_sort(&job);
    coll_strag_file_write(&trace_files, coll_strag_settings.trace_file, ledger->comm, events,
                          write_trace, &job);
}

/* On rank 0: is there a report? Its info key may say something else than the parameter. */
static bool is_reported(const struct coll_strag_ledger *ledger)
{
    const struct coll_strag_decision *decision = &ledger->module->decision;
    const bool decided = !ledger->declined && coll_strag_is_set_up(ledger->module) &&
                         decision->window > 0; /* 0 if nothing had to be decided */
    return decided ? decision->report : ledger->noting & COLL_STRAG_NOTES_REPORT;
}

/* On rank 0. */
static void report(const struct coll_strag_ledger *ledger)
{
    const size_t n = (size_t)ompi_comm_size(ledger->comm);
    const char *outcomes[COLL_STRAG_OUTCOMES];
    char name[MPI_MAX_OBJECT_NAME + 32];
    struct strag_standstill longest = {.times = 0};
    const struct records records = {
        .n = (int)n,
        .ranks = calloc(n, sizeof *records.ranks),
        .stays = calloc(n, sizeof *records.stays),
        .traces = calloc(n, sizeof *records.traces),
        .longest = &longest,
    };
    const bool trace = ledger->noting & COLL_STRAG_NOTES_TRACE;
    coll_strag_outcome_names(outcomes);
    name_communicator(ledger->comm, name, sizeof name);
    if (records.ranks && records.stays && records.traces) {
        read_records(ledger, &records);
        if (is_reported(ledger))
            make_report(ledger, &records, name, outcomes);
        if (trace)
            make_trace(ledger, &records, name, outcomes);
    }
    free(records.ranks);
    free(records.stays);
    free(records.traces);
}

static void end_ledger(struct coll_strag_teardown *teardown)
{
    struct coll_strag_ledger *ledger =
        COLL_STRAG_OWNER(teardown, struct coll_strag_ledger, teardown);
    if (!ledger->collecting)
        begin_end(teardown);
    const bool first = ompi_comm_rank(ledger->comm) == 0,
               final = coll_strag_teardown_is_final(ledger->comm);
    const double wait_limit = final   ? COLL_STRAG_COLLECT_WAIT_LIMIT
                              : first ? COLL_STRAG_COLLECT_IN_FREE
                                      : COLL_STRAG_COLLECT_BRIEFLY;
    const bool all = coll_strag_collect_wait(&ledger->collect, wait_limit);
    if (first)
        report(ledger);
    if (!all && !first && !final)
        coll_strag_collect_leave(&ledger->collect);
    coll_strag_collect_free(&ledger->collect);
    ledger->collecting = false;
}

/* Called at the first call: a communicator without calls is not reported. */
static void attach(struct coll_strag_ledger *ledger)
{
    if (ledger->attached)
        return;
    ledger->attached = true;
    if (!ledger->module->attribute) {
        coll_strag_log(ledger->comm, "not reported: out of memory, or freed before its first call");
        return;
    }
    coll_strag_teardown_attach(&ledger->teardown, ledger->comm, begin_end, end_ledger);
}

/* Only the vector's length is examined before a choice is made: until then it is the reason. */
uint32_t coll_strag_ledger_enter(struct coll_strag_ledger *ledger)
{
    const struct coll_strag_choice choice = {
        .reason = ledger->declined ? COLL_STRAG_DECLINED
                                   : (enum coll_strag_reason)ledger->module->decision.reason};
    attach(ledger);
    ledger->outcome = coll_strag_outcome(&choice);
    return ledger->number = ledger->entered++;
}

void coll_strag_ledger_leave(struct coll_strag_ledger *ledger, uint32_t number, size_t bytes,
                             const struct strag_stay *stay)
{
    coll_strag_ledger_note(ledger, STRAG_LEDGER_BLOCKING, ledger->outcome, bytes, stay);
    if (!ledger->trace)
        return;
    ledger->trace->call = number; /* calls that were begun before may have run meanwhile */
    strag_trace_call(ledger->trace, stay->begin, stay->end, bytes, ledger->outcome);
}

void coll_strag_ledger_begin_late(coll_strag_module_t *module, ompi_communicator_t *comm)
{
    int priority;
    struct coll_strag_ledger *ledger =
        coll_strag_ledger_create(module, comm, COLL_STRAG_NOTES_REPORT);
    if (NULL == ledger)
        return;
    ledger->previous =
        coll_strag_component_below(comm, module->previous.allreduce_module, &priority);
    ledger->notes.watched_from = module->decision.watch_from;
    module->ledger = ledger;
    attach(ledger);
}
