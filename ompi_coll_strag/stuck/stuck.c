/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck.h"

#include "compat/failures.h"
#include "mpi/queue.h"
#include "user/settings.h"

#include "base/status.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Seconds between two ticks: half a second, or a sixteenth of the time after which missing ranks
 * are named, if that is shorter. Between two ticks a healthy job pays for a look at a clock. */
static const double tick_longest = 0.5, ticks_before_saying = 16;

/* A rank in a call that has had no tick for this many ticks has been stopped. A rank in no call
 * that has had none for half as many is outside of MPI. */
static const double ticks_until_silent = 8;

/* All that is examined. A tick does not wait for the lock: a thread that finds it taken leaves the
 * tick to the other one. Nor does it take the lock again, when its messages make progress. */
static struct {
    pthread_mutex_t lock;
    struct coll_strag_stuck *first, *next; /* next: to be examined in this tick */
    double tick, due;                      /* seconds: between two ticks; when the next one is */
    bool registered;
} list = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool examining; /* this thread has the lock */

/* ---- What a rank knows of its own call ---- */

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct strag_shm *shm_of(const struct coll_strag_stuck *stuck)
{
    return __atomic_load_n(stuck->examined.shm, __ATOMIC_ACQUIRE);
}

/* The running call; if there is none, but setup goes on in progress, the last call made. */
static uint64_t running(const struct coll_strag_stuck *stuck)
{
    const uint64_t number = __atomic_load_n(&stuck->running, __ATOMIC_RELAXED);
    return number || !__atomic_load_n(&stuck->in_setup, __ATOMIC_RELAXED)
               ? number
               : __atomic_load_n(&stuck->entered, __ATOMIC_RELAXED);
}

static unsigned moves_of(const struct coll_strag_stuck *stuck)
{
    const struct coll_strag_stuck_examined *examined = &stuck->examined;
    const struct coll_strag_transport *transport =
        __atomic_load_n(examined->transport, __ATOMIC_ACQUIRE);
    const struct strag_shm *shm = shm_of(stuck);
    return (shm ? strag_shm_moves(shm) : 0) + __atomic_load_n(&transport->moves, __ATOMIC_RELAXED) +
           __atomic_load_n(&stuck->setup_moves, __ATOMIC_RELAXED);
}

/* The call that this rank is in, or was in last. Another thread may begin the next one meanwhile:
 * then neither bytes nor what are known. */
static struct strag_roster_entry call_of(const struct coll_strag_stuck *stuck)
{
    const uint64_t number = running(stuck);
    const uint64_t entered = __atomic_load_n(&stuck->entered, __ATOMIC_RELAXED);
    const bool said =
        __atomic_load_n(&stuck->said, __ATOMIC_RELAXED) == (number ? number : entered);
    struct strag_roster_entry call = {
        .rank = ompi_comm_rank(stuck->examined.comm),
        .state = number ? STRAG_ROSTER_RUNS : STRAG_ROSTER_ELSEWHERE,
        .number = number ? number : entered,
        .bytes = number || said ? __atomic_load_n(&stuck->bytes, __ATOMIC_RELAXED) : 0,
        .what = said ? __atomic_load_n(&stuck->what, __ATOMIC_RELAXED) : 0,
        .first = coll_strag_stuck_first(stuck),
    };
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* coll_strag_stuck_begin has its pair */
    if (running(stuck) != number || __atomic_load_n(&stuck->entered, __ATOMIC_RELAXED) != entered)
        call.bytes = call.what = 0;
    return call;
}

static struct strag_roster_entry self_of(const struct coll_strag_stuck *stuck, double now)
{
    const struct coll_strag_stuck_examined *examined = &stuck->examined;
    struct strag_roster_entry self = call_of(stuck);
    const uint64_t number = self.state == STRAG_ROSTER_RUNS ? self.number : 0;
    if (number && number == examined->number && now - examined->since >= list.tick)
        self.state = STRAG_ROSTER_WAITS;
    const struct coll_strag_transport *transport =
        __atomic_load_n(examined->transport, __ATOMIC_ACQUIRE);
    if (coll_strag_failed(examined->failure) != MPI_SUCCESS ||
        (number &&
         __atomic_load_n(&transport->draining, __ATOMIC_RELAXED) == (unsigned)number + 1)) {
        self.state = STRAG_ROSTER_FAILED;
        self.what = coll_strag_undecided(examined->failure) != OMPI_SUCCESS;
        self.first = self.what ? 0 : self.first;
    }
    return self;
}

/* Is the call to end with an error? */
static bool has_ended(const struct coll_strag_stuck_examined *examined)
{
    return examined->number && examined->news && examined->news->ended == examined->number;
}

/* ---- The end of a call ---- */

static bool is_alone(const struct coll_strag_stuck *stuck)
{
    const struct strag_shm *shm = shm_of(stuck);
    return shm && strag_shm_is_alone(shm);
}

static void doom(struct coll_strag_stuck *stuck, int code)
{
    struct coll_strag_stuck_examined *examined = &stuck->examined;
    struct coll_strag_transport *transport = *examined->transport;
    struct strag_shm *shm = shm_of(stuck);
    examined->news->ended = examined->number;
    examined->since = seconds_now();
    /* messages of the call may be left */
    if (!is_alone(stuck) || __atomic_load_n(&stuck->in_setup, __ATOMIC_RELAXED))
        coll_strag_note_failure(examined->failure, code, false);
    coll_strag_transport_doom(transport, examined->number, code);
    if (shm)
        strag_shm_doom(shm, examined->number);
}

/* Was a rank in MPI a moment ago? */
static bool runs(const struct strag_shm_wait *wait, double now, double ticks)
{
    return now - 1e-3 * (double)wait->ran < ticks * list.tick;
}

/* Does this rank tell the user why the call ends? Not if another one on its host has. */
static bool tells_why(const struct coll_strag_stuck *stuck)
{
    struct strag_shm *shm = shm_of(stuck);
    return !shm || strag_shm_tells_why(shm, stuck->examined.number);
}

/* Has a rank said what its call is? Not if setup goes on in its nonblocking calls. */
static bool is_said(const struct strag_roster_entry *entry)
{
    return entry->bytes || entry->what;
}

/* Calls of MPI_Allreduce_init that strag handles are compared once all ranks have made them
 * (call/persistent.c). */
static bool is_compared(const struct strag_roster_entry *entry)
{
    return (entry->what & COLL_STRAG_IS_INIT) != 0 &&
           coll_strag_what_outcome(entry->what) != COLL_STRAG_OUTCOME_PREVIOUS;
}

/* Has another rank made a different call of the same number? It may have returned from it. */
static bool differs(const struct strag_roster_entry *self, const struct strag_roster_entry *other)
{
    return other->number == self->number && other->state != STRAG_ROSTER_FAILED && is_said(self) &&
           is_said(other) && !(is_compared(self) && is_compared(other)) &&
           (other->bytes != self->bytes ||
            (other->what && self->what && other->what != self->what));
}

static void end_different(struct coll_strag_stuck *stuck, const struct strag_roster_entry *self,
                          const struct strag_roster_entry *other)
{
    if (tells_why(stuck))
        coll_strag_say_different(stuck->examined.comm, self, other);
    if ((self->what | other->what) & COLL_STRAG_IS_INIT) /* its messages use the PML */
        coll_strag_note_failure(stuck->examined.failure, MPI_ERR_TRUNCATE, false);
    doom(stuck, MPI_ERR_TRUNCATE);
}

static void end_failed(struct coll_strag_stuck *stuck, const struct strag_roster_entry *other)
{
    if (tells_why(stuck))
        coll_strag_say_failed(stuck->examined.comm, stuck->examined.number, other->rank);
    coll_strag_note_failure(stuck->examined.failure, MPI_ERR_OTHER, other->what);
    doom(stuck, MPI_ERR_OTHER);
}

static void end_gone(struct coll_strag_stuck *stuck, int rank)
{
    if (tells_why(stuck))
        coll_strag_say_gone(stuck->examined.comm, stuck->examined.number, rank);
    doom(stuck, MPI_ERR_TRUNCATE);
}

/* ---- Messages ---- */

/* Retain a communicator, unless another thread has just begun to destroy it.
 * @return false if it is being destroyed, and must be left alone */
static bool retain_alive(ompi_communicator_t *comm)
{
    int32_t *references = (int32_t *)(uintptr_t) & ((opal_object_t *)comm)->obj_reference_count;
    int32_t count = __atomic_load_n(references, __ATOMIC_RELAXED);
    while (count > 0) {
        if (__atomic_compare_exchange_n(references, &count, count + 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return true;
    }
    return false;
}

static void tell(struct coll_strag_stuck *stuck, int rank, struct strag_roster *roster, double now)
{
    const struct strag_roster_entry self = self_of(stuck, now);
    struct coll_strag_stuck_news *news = stuck->examined.news;
    struct coll_strag_stuck_partner *partner = coll_strag_stuck_partner(news, rank);
    if (partner)
        partner->asks = false;
    coll_strag_stuck_send(stuck->examined.comm, stuck->examined.id, rank, &self, roster);
}

/* A partner has said something that ends the call: does it say so for the second time? */
static bool is_sure(struct coll_strag_stuck_partner *partner, uint64_t number, double now)
{
    if (!partner)
        return false;
    if (partner->bad_call == number)
        return now - partner->bad_since >= list.tick / 2;
    partner->bad_call = number;
    partner->bad_since = now;
    return false;
}

/* Take in a message about calls that may or may not stand still on this rank. */
static void take(struct coll_strag_stuck *stuck, const struct strag_roster_message *message,
                 size_t bytes, double now)
{
    struct coll_strag_stuck_news *news = stuck->examined.news;
    const struct strag_roster_entry *other = &message->self, self = self_of(stuck, now);
    struct coll_strag_stuck_partner *partner = coll_strag_stuck_partner(news, other->rank);
    if (partner) {
        partner->asked = false;
        partner->asks = other->state == STRAG_ROSTER_WAITS;
    }
    if (news->roster->number == self.number)
        strag_roster_read(news->roster, message, bytes);
    if (self.state != STRAG_ROSTER_WAITS) {
        if (other->state == STRAG_ROSTER_WAITS) /* this rank does not wait: it only answers */
            tell(stuck, other->rank, NULL, now);
        return;
    }
    const bool failed = other->state == STRAG_ROSTER_FAILED, tells = other->first && !self.first;
    const bool gone = other->state == STRAG_ROSTER_GONE && other->number < self.number;
    if (!(failed || gone || tells || differs(&self, other)) || !is_sure(partner, self.number, now))
        return;
    if (tells)
        (void)coll_strag_stuck_know_first(stuck, other->first);
    if (failed)
        end_failed(stuck, other);
    else if (gone)
        end_gone(stuck, other->rank);
    else if (differs(&self, other))
        end_different(stuck, &self, other);
}

/* Another rank waits in a persistent request that this one does not have: has this one failed? */
static void answer_failed(struct coll_strag_stuck *own, const struct strag_roster_message *asked,
                          double now)
{
    const struct strag_roster_entry self = self_of(own, now);
    if (self.state == STRAG_ROSTER_FAILED && asked->self.state == STRAG_ROSTER_WAITS)
        coll_strag_stuck_send(own->examined.comm, asked->id, asked->self.rank, &self, NULL);
}

/* @param[out] own  the communicator's calls; NULL if it is not here, or not any more
 * @return the calls that the message is about; NULL if they are not here */
static struct coll_strag_stuck *find(const struct coll_strag_stuck_received *received,
                                     struct coll_strag_stuck **own)
{
    struct coll_strag_stuck *found = NULL;
    *own = NULL;
    for (struct coll_strag_stuck *stuck = list.first; stuck; stuck = stuck->examined.next) {
        if (!coll_strag_stuck_is_about(received, stuck->examined.comm))
            continue;
        if (stuck->examined.id == 0)
            *own = stuck;
        if (stuck->examined.id == received->message.id)
            found = stuck;
    }
    return found;
}

/* Take in all messages that have come. Sending makes progress, which may free the communicator. */
static void receive(double now)
{
    const struct coll_strag_stuck_received *received;
    while ((received = coll_strag_stuck_receive()) != NULL) {
        struct coll_strag_stuck *own, *found = find(received, &own);
        struct coll_strag_stuck *stuck = found ? found : own;
        if (!stuck)
            coll_strag_freed_answer(received);
        if (!stuck || !retain_alive(stuck->examined.comm))
            continue;
        ompi_communicator_t *comm = stuck->examined.comm;
        const bool able = coll_strag_stuck_have_news(&stuck->examined.news, comm);
        if (able && found)
            take(found, &received->message, received->bytes, now);
        else if (able)
            answer_failed(own, &received->message, now);
        OBJ_RELEASE(comm);
    }
}

/* ---- A call that stands still ---- */

static void ask_partners(struct coll_strag_stuck *stuck, double now)
{
    struct coll_strag_stuck_news *news = stuck->examined.news;
    for (int p = 0; p < news->npartners; p++) {
        if (news->partners[p].asked)
            continue;
        news->partners[p].asked = true;
        tell(stuck, news->partners[p].rank, news->roster, now);
    }
}

/* The rank that speaks next asks the ranks that it will name: if few ranks wait, only their
 * partners have been asked so far. */
static void ask_missing(struct coll_strag_stuck *stuck, double now)
{
    struct coll_strag_stuck_news *news = stuck->examined.news;
    int missing[COLL_STRAG_NAMED];
    const int count = strag_roster_missing(news->roster, missing, COLL_STRAG_NAMED);
    if (is_alone(stuck) || news->asked_missing > news->roster->said)
        return;
    news->asked_missing = news->roster->said + 1;
    for (int i = 0; i < count && i < COLL_STRAG_NAMED; i++) {
        if (!coll_strag_stuck_partner(news, missing[i]))
            tell(stuck, missing[i], NULL, now);
    }
}

/* The number of ticks in which news reaches all ranks: 1 if they share memory. */
static int exchanges_of(const struct coll_strag_stuck *stuck)
{
    return is_alone(stuck) ? 1 : strag_roster_exchanges(ompi_comm_size(stuck->examined.comm));
}

/* Has the call stood still so long that a rank may have failed? Memory does not show that. */
static bool is_silent(const struct coll_strag_stuck *stuck, double now)
{
    return stuck->examined.number && now - stuck->examined.since >= ticks_until_silent * list.tick;
}

/* Seconds of standing still after which missing ranks are named again. They double each time, and
 * are long enough for all ranks that wait to hear of each other. */
static double say_at(const struct coll_strag_stuck *stuck)
{
    const struct strag_roster *roster = stuck->examined.news->roster;
    const double least = 2 * exchanges_of(stuck) * list.tick;
    const double limit = (double)coll_strag_settings.stuck *
                         (double)(UINT64_C(1) << (roster->said < 32 ? roster->said : 32));
    return limit > least ? limit : least;
}

/* A rank of this host is in the call, too: has it been stopped, has it spoken, does it claim to? */
static void read_wait(struct strag_roster *roster, struct strag_roster_entry *other,
                      const struct strag_shm_wait *wait, double now)
{
    if (!runs(wait, now, ticks_until_silent)) {
        other->state = STRAG_ROSTER_STOPPED;
        return;
    }
    if (wait->number != roster->number)
        return;
    strag_roster_has_said(roster, (uint32_t)wait->said);
    if (wait->claims)
        strag_roster_note_claim(roster, other->rank);
}

/* Find a rank of this host that has made a different call of the number. @return whether one has */
static bool find_different(const struct coll_strag_stuck *stuck,
                           const struct strag_roster_entry *self, struct strag_roster_entry *other)
{
    const struct strag_shm *shm = shm_of(stuck);
    for (int rank = 0; shm && rank < ompi_comm_size(stuck->examined.comm); rank++) {
        const int index = strag_shm_index(shm, rank);
        struct strag_shm_entered call = {0, 0, 0};
        if (index >= 0 && rank != self->rank)
            strag_shm_entered(shm, index, self->number, &call);
        *other = (struct strag_roster_entry){rank,       STRAG_ROSTER_RUNS, 0, call.number,
                                             call.bytes, call.what,         0};
        if (call.number && differs(self, other))
            return true;
    }
    return false;
}

/* Read what the host's ranks have said in the memory that they share. */
static void read_host(struct coll_strag_stuck *stuck, const struct strag_roster_entry *self,
                      double now)
{
    const struct strag_shm *shm = shm_of(stuck);
    const int n = ompi_comm_size(stuck->examined.comm);
    for (int rank = 0; shm && rank < n; rank++) {
        const int index = strag_shm_index(shm, rank);
        struct strag_shm_entered call;
        if (index < 0 || rank == self->rank)
            continue;
        struct strag_roster_entry other = {.rank = rank, .state = STRAG_ROSTER_RUNS};
        const struct strag_shm_wait wait = strag_shm_read_wait(shm, index);
        other.number = strag_shm_entered(shm, index, self->number, &call);
        if (call.number) {
            other.number = call.number;
            other.bytes = call.bytes;
            other.what = call.what;
            read_wait(stuck->examined.news->roster, &other, &wait, now);
        } else {
            other.state = STRAG_ROSTER_ELSEWHERE;
        }
        if (call.number || runs(&wait, now, ticks_until_silent / 2))
            strag_roster_note(stuck->examined.news->roster, &other);
        else
            strag_roster_forget(stuck->examined.news->roster, rank);
    }
}

/* Not if all ranks have made a delegated call, which may take long by itself. */
static bool is_worth_saying(const struct strag_roster *roster,
                            const struct strag_roster_entry *self)
{
    int first;
    return roster->nothers > 0 || strag_roster_missing(roster, &first, 1) > 0 ||
           coll_strag_what_outcome(self->what) != COLL_STRAG_OUTCOME_PREVIOUS;
}

static void say(struct coll_strag_stuck *stuck, const struct strag_roster_entry *self, double now)
{
    struct coll_strag_stuck_examined *examined = &stuck->examined;
    struct strag_roster *roster = examined->news->roster;
    const double still = now - examined->since, at = say_at(stuck);
    const double spread = 2 * exchanges_of(stuck) * list.tick;
    if (coll_strag_settings.stuck <= 0)
        return;
    if (still >= at - spread)
        strag_roster_claim(roster);
    if (still >= at - spread / 2 && strag_roster_speaks(roster))
        ask_missing(stuck, now);
    /* a rank that hardly gets a processor has few ticks, and knows little */
    if (examined->news->ticks++ < 2 * exchanges_of(stuck) + 1 || still < at ||
        (!strag_roster_speaks(roster) && still < at + spread))
        return;
    strag_roster_has_said(roster, roster->said + 1);
    if (!is_worth_saying(roster, self))
        return;
    struct strag_standstill *standstill = &examined->news->standstill;
    standstill->times++;
    standstill->number = self->number;
    standstill->bytes = self->bytes;
    standstill->seconds = still;
    standstill->missing = strag_roster_missing(roster, standstill->first, STRAG_ROSTER_OTHERS);
    coll_strag_say_missing(examined->comm, roster, self, still);
}

/* ---- Ticks ---- */

/* The call has stood still for a tick at least. */
static void examine_still(struct coll_strag_stuck *stuck, double now)
{
    struct coll_strag_stuck_examined *examined = &stuck->examined;
    struct coll_strag_stuck_news *news = examined->news;
    if (news->roster->number != examined->number) {
        strag_roster_begin(news->roster, examined->number);
        news->ticks = 0;
        news->asked_missing = 0;
        for (int p = 0; p < news->npartners; p++)
            news->partners[p].asked = false;
    }
    const struct strag_roster_entry self = self_of(stuck, now);
    struct strag_roster_entry other;
    strag_roster_tick(news->roster);
    if (find_different(stuck, &self, &other)) {
        end_different(stuck, &self, &other);
        return;
    }
    read_host(stuck, &self, now);
    if (!is_alone(stuck) || is_silent(stuck, now))
        ask_partners(stuck, now);
    say(stuck, &self, now);
}

/* Say in shared memory that this rank is in MPI, and whether it waits. */
static void say_wait(const struct coll_strag_stuck *stuck, double now)
{
    const struct coll_strag_stuck_examined *examined = &stuck->examined;
    struct strag_shm *shm = shm_of(stuck);
    struct strag_shm_wait wait = {.ran = (uint64_t)(1e3 * now), .number = examined->number};
    if (examined->number && examined->news && examined->news->roster->number == examined->number) {
        wait.said = examined->news->roster->said;
        wait.claims = strag_roster_speaks(examined->news->roster);
    }
    if (shm)
        strag_shm_say_wait(shm, &wait);
}

/* Answer partners if this rank does not wait any more. While it waits, its own next question to a
 * partner is the answer. */
static void answer_partners(struct coll_strag_stuck *stuck, double now)
{
    struct coll_strag_stuck_news *news = stuck->examined.news;
    if (self_of(stuck, now).state == STRAG_ROSTER_WAITS)
        return;
    for (int p = 0; p < news->npartners; p++) {
        if (news->partners[p].asks)
            tell(stuck, news->partners[p].rank, NULL, now);
    }
}

static void examine(struct coll_strag_stuck *stuck, double now)
{
    struct coll_strag_stuck_examined *examined = &stuck->examined;
    const uint64_t number = running(stuck);
    const unsigned moves = moves_of(stuck);
    if (coll_strag_failure(examined->comm) != OMPI_SUCCESS) /* all calls end by themselves */
        return;
    if (examined->news)
        answer_partners(stuck, now);
    if (number != examined->number || moves != examined->moves) {
        examined->number = number;
        examined->moves = moves;
        examined->since = now;
    } else if (has_ended(examined)) {
        if (is_silent(stuck, now)) /* it waits for other messages than the call's own */
            coll_strag_note_failure(examined->failure, MPI_ERR_OTHER, false);
    } else if (number && now - examined->since >= list.tick &&
               coll_strag_stuck_have_news(&examined->news, examined->comm)) {
        examine_still(stuck, now);
    }
    say_wait(stuck, now);
}

/* Open MPI calls this once in eight calls of its progress. Sending a message or looking for one
 * makes progress, which may free the communicator, but must not free a request that is examined. */
static int tick(void)
{
    const double now = seconds_now();
    if (now < list.due || examining || pthread_mutex_trylock(&list.lock) != 0)
        return 0;
    examining = true;
    coll_strag_queues_hold(true);
    list.due = now + list.tick / 2;
    coll_strag_stuck_free_sent();
    receive(now);
    for (struct coll_strag_stuck *stuck = list.first; stuck; stuck = list.next) {
        ompi_communicator_t *comm = stuck->examined.comm;
        list.next = stuck->examined.next;
        if (!retain_alive(comm))
            continue;
        examine(stuck, now);
        OBJ_RELEASE(comm);
    }
    coll_strag_queues_hold(false);
    examining = false;
    pthread_mutex_unlock(&list.lock);
    return 0;
}

/* ---- What is examined ---- */

static void lock(void)
{
    if (!examining)
        pthread_mutex_lock(&list.lock);
}

static void unlock(void)
{
    if (!examining)
        pthread_mutex_unlock(&list.lock);
}

/* @return a rank of this host that has freed the communicator; n if there is none */
static int find_gone(const struct strag_shm *shm, int n)
{
    int rank = 0;
    while (rank < n && (!shm || !strag_shm_is_gone(shm, rank)))
        rank++;
    return rank;
}

void coll_strag_stuck_tell_why(struct coll_strag_stuck *stuck)
{
    struct coll_strag_stuck_examined *examined = &stuck->examined;
    const struct coll_strag_transport *transport = *examined->transport;
    const double now = seconds_now();
    const struct strag_shm *shm = shm_of(stuck);
    const int n = ompi_comm_size(examined->comm), gone = find_gone(shm, n);
    struct strag_roster_entry other;
    lock();
    const struct strag_roster_entry self = self_of(stuck, now);
    examined->number = self.number;
    if (coll_strag_stuck_have_news(&examined->news, examined->comm) && !has_ended(examined) &&
        tells_why(stuck)) {
        if (find_different(stuck, &self, &other))
            coll_strag_say_different(examined->comm, &self, &other);
        else if (transport->other >= 0)
            coll_strag_say_length(examined->comm, self.number, transport->other,
                                  transport->expected, transport->received);
        else if (gone < n)
            coll_strag_say_gone(examined->comm, self.number, gone);
    }
    if (examined->news)
        examined->news->ended = self.number;
    unlock();
}

static void begin_ticks(void)
{
    const double seconds = (double)coll_strag_settings.stuck / ticks_before_saying;
    list.tick = seconds > 0 && seconds < tick_longest ? seconds : tick_longest;
    list.due = seconds_now() + list.tick;
    list.registered = opal_progress_register_lp(tick) == OPAL_SUCCESS;
}

void coll_strag_stuck_watch(struct coll_strag_stuck *stuck, ompi_communicator_t *comm,
                            struct strag_shm *const *shm,
                            struct coll_strag_transport *const *transport,
                            struct coll_strag_failure *failure, int32_t id)
{
    struct coll_strag_stuck_examined *examined = &stuck->examined;
    *examined = (struct coll_strag_stuck_examined){
        .comm = comm, .id = id, .shm = shm, .transport = transport, .failure = failure};
    lock();
    examined->next = list.first;
    list.first = stuck;
    if (!list.registered)
        begin_ticks();
    unlock();
}

void coll_strag_stuck_begin_setup(struct coll_strag_stuck *stuck)
{
    __atomic_store_n(&stuck->what, 0, __ATOMIC_RELAXED);
    if (stuck->running == 0) /* no blocking call waits for it */
        __atomic_store_n(&stuck->bytes, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&stuck->in_setup, true, __ATOMIC_RELAXED);
}

void coll_strag_stuck_end_setup(struct coll_strag_stuck *stuck)
{
    __atomic_store_n(&stuck->in_setup, false, __ATOMIC_RELAXED);
}

struct strag_standstill coll_strag_stuck_standstill(const struct coll_strag_stuck *stuck)
{
    struct strag_standstill standstill = {.times = 0};
    lock();
    if (stuck->examined.news)
        standstill = stuck->examined.news->standstill;
    unlock();
    return standstill;
}

void coll_strag_stuck_forget(struct coll_strag_stuck *stuck)
{
    struct coll_strag_stuck_examined *examined = &stuck->examined;
    struct coll_strag_stuck **link = &list.first;
    lock();
    while (*link && *link != stuck)
        link = &(*link)->examined.next;
    if (*link) {
        *link = examined->next;
        if (list.next == stuck)
            list.next = examined->next;
        coll_strag_stuck_free_news(examined->news);
        if (examined->id == 0) {
            const struct strag_roster_entry self = call_of(stuck);
            coll_strag_freed_note(examined->comm, &self);
        }
        *examined = (struct coll_strag_stuck_examined){.comm = NULL};
    }
    unlock();
}

void coll_strag_stuck_close(void)
{
    if (list.registered)
        opal_progress_unregister(tick);
    list.registered = false;
    list.first = NULL; /* what is left belongs to requests that were never freed */
    coll_strag_stuck_close_news();
}
