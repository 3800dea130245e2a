/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many MPI_Iallreduce calls pending at the same time, on several communicators, in a random order
 * with blocking and persistent calls, with the user's own other nonblocking collectives, and with
 * communicators, operators and types that are freed meanwhile. Sums of 64-bit words are exact, so
 * each result is compared with a serial one, bit by bit.
 *
 *     nonblocking [--steps N] [--communicators N] [--outstanding N] [--bytes N] [--first KIND]
 *                 [--delay US]
 *
 * --steps        calls begun (default 1000)
 * --outstanding  at most this many are pending (default 50)
 * --bytes        of the longest vectors (default 262144)
 * --first        blocking: every communicator's first call is; any: whatever comes
 * --delay        above 0: half of the calls are blocking ones, which are watched, and to which
 *                ranks come up to this late; half are long; communicators come and go more often,
 *                and some are left to MPI_Finalize
 *
 * The program's calls on a communicator are in the same order on all ranks; when a rank waits, and
 * for which, is its own affair.
 */
#include "common.h"

#include <time.h>
#include <unistd.h>

enum { COMMS_MAX = 64, OUTSTANDING_MAX = 256, PERSISTENT = 2 };

enum kind { SUM, FREED, BLOCKING, STARTED, BARRIER, BCAST, REDUCE, DUP, KINDS };

/* A pending call. */
struct flight {
    MPI_Request request; /* MPI_REQUEST_NULL: none */
    enum kind kind;
    uint64_t id; /* of its values */
    int comm;
    int count; /* words */
    bool in_place;
    uint64_t *in, *out;
};

struct comm {
    MPI_Comm comm; /* MPI_COMM_NULL: not a member */
    int rank, n;
    int world[16]; /* [rank]: in MPI_COMM_WORLD */
    uint64_t calls;
    struct flight persistent[PERSISTENT]; /* inactive or active */
    bool active[PERSISTENT], made;
};

static struct {
    long steps, outstanding, words, delay; /* delay: microseconds */
    int ncomms;
    bool blocking_first;
    struct comm comms[COMMS_MAX];
    struct flight flights[OUTSTANDING_MAX];
    MPI_Request requests[OUTSTANDING_MAX];
    uint64_t ids;
} run;

/* ---- Values ---- */

static uint64_t word_of(int world, uint64_t id, int index)
{
    return test_mix(test_value(world, id) + (uint64_t)index);
}

static void fill(const struct flight *flight, uint64_t *words)
{
    for (int i = 0; i < flight->count; i++)
        words[i] = word_of(test.rank, flight->id, i);
}

/* Every word of short vectors, some of long ones. */
static void check_sum(const struct flight *flight, const char *what)
{
    const struct comm *comm = &run.comms[flight->comm];
    const int step = flight->count > 4096 ? flight->count / 1021 : 1;
    for (int i = 0; i < flight->count; i += step) {
        uint64_t sum = 0;
        for (int r = 0; r < comm->n; r++)
            sum += word_of(comm->world[r], flight->id, i);
        if (!TEST_CHECK(flight->out[i] == sum,
                        "%s: communicator %d, call %llu: word %d of %d is %llx, %llx expected",
                        what, flight->comm, (unsigned long long)flight->id, i, flight->count,
                        (unsigned long long)flight->out[i], (unsigned long long)sum))
            return;
    }
    TEST_CHECK(flight->out[flight->count] == 0x5afe5afe5afe5afe,
               "%s: what is behind the result was changed", what);
}

static void sum_words(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const uint64_t *a = in;
    uint64_t *b = inout;
    for (int i = 0; i < 2 * *length; i++)
        b[i] += a[i];
}

/* ---- Calls ---- */

static void allocate(struct flight *flight, int count)
{
    flight->count = count;
    flight->in = test_allocate(((size_t)count + 1) * sizeof(uint64_t));
    flight->out = test_allocate(((size_t)count + 1) * sizeof(uint64_t));
    flight->out[count] = 0x5afe5afe5afe5afe;
}

static const void *input(struct flight *flight)
{
    fill(flight, flight->in_place ? flight->out : flight->in);
    return flight->in_place ? MPI_IN_PLACE : flight->in;
}

/* Its type and operator are freed at once. */
static void begin_freed(struct flight *flight, MPI_Comm comm)
{
    MPI_Datatype pair;
    MPI_Op op;
    TEST_MPI(MPI_Type_contiguous(2, MPI_UINT64_T, &pair));
    TEST_MPI(MPI_Type_commit(&pair));
    TEST_MPI(MPI_Op_create(sum_words, 1, &op));
    TEST_MPI(MPI_Iallreduce(input(flight), flight->out, flight->count / 2, pair, op, comm,
                            &flight->request));
    TEST_MPI(MPI_Op_free(&op));
    TEST_MPI(MPI_Type_free(&pair));
}

static void begin(struct flight *flight, struct comm *comm, int root)
{
    switch (flight->kind) {
    case SUM:
        TEST_MPI(MPI_Iallreduce(input(flight), flight->out, flight->count, MPI_UINT64_T, MPI_SUM,
                                comm->comm, &flight->request));
        break;
    case FREED:
        begin_freed(flight, comm->comm);
        break;
    case BARRIER:
        TEST_MPI(MPI_Ibarrier(comm->comm, &flight->request));
        break;
    case BCAST:
        flight->count = flight->count > 64 ? 64 : flight->count;
        for (int i = 0; i < flight->count; i++)
            flight->out[i] = word_of(comm->rank == root ? comm->world[root] : 99, flight->id, i);
        TEST_MPI(MPI_Ibcast(flight->out, flight->count, MPI_UINT64_T, root, comm->comm,
                            &flight->request));
        flight->in[0] = word_of(comm->world[root], flight->id, 0);
        break;
    case REDUCE:
        flight->in_place = false;
        flight->count = flight->count > 64 ? 64 : flight->count;
        flight->in[flight->count] = (uint64_t)(comm->rank == root);
        flight->out[flight->count] = 0x5afe5afe5afe5afe;
        TEST_MPI(MPI_Ireduce(input(flight), flight->out, flight->count, MPI_UINT64_T, MPI_SUM, root,
                             comm->comm, &flight->request));
        break;
    default:
        break;
    }
}

static void end(struct flight *flight)
{
    switch (flight->kind) {
    case SUM:
        check_sum(flight, "MPI_Iallreduce");
        break;
    case FREED:
        check_sum(flight, "MPI_Iallreduce of what was freed");
        break;
    case REDUCE:
        if (flight->in[flight->count])
            check_sum(flight, "MPI_Ireduce");
        break;
    case BCAST:
        TEST_CHECK(flight->out[0] == flight->in[0], "MPI_Ibcast");
        break;
    default:
        break;
    }
    free(flight->in);
    free(flight->out);
    flight->in = flight->out = NULL;
}

/* Half of the calls without delay, most others a little late, few by all of the delay. */
static void come_late(uint64_t id)
{
    const uint64_t random = test_value(test.rank, id);
    const long nanoseconds = run.delay * 1000;
    if (random % 2 == 0 || nanoseconds == 0)
        return;
    const long late = (long)((random >> 8) % (uint64_t)nanoseconds) / (random % 16 == 1 ? 1 : 20);
    nanosleep(&(struct timespec){late / 1000000000, late % 1000000000}, NULL);
}

static void call_blocking(struct comm *comm, int k, uint64_t id, int count, bool in_place)
{
    struct flight flight = {.kind = SUM, .id = id, .comm = k, .in_place = in_place};
    allocate(&flight, count);
    come_late(id);
    TEST_MPI(
        MPI_Allreduce(input(&flight), flight.out, flight.count, MPI_UINT64_T, MPI_SUM, comm->comm));
    check_sum(&flight, "MPI_Allreduce");
    free(flight.in);
    free(flight.out);
}

/* ---- Persistent ones ---- */

#ifdef TEST_HAVE_PERSISTENT
static void make_persistent(struct comm *comm, int k)
{
    comm->made = true;
    for (int p = 0; p < PERSISTENT; p++) {
        struct flight *flight = &comm->persistent[p];
        const uint64_t random = test_mix(test.seed + (uint64_t)(k * PERSISTENT + p));
        *flight = (struct flight){.kind = STARTED, .comm = k, .in_place = random & 1};
        allocate(flight, 1 + (int)((random >> 8) % (0 == p ? 64 : (uint64_t)run.words)));
        TEST_MPI(TEST_PERSISTENT(Allreduce_init)(flight->in_place ? MPI_IN_PLACE : flight->in,
                                                 flight->out, flight->count, MPI_UINT64_T, MPI_SUM,
                                                 comm->comm, MPI_INFO_NULL, &flight->request));
    }
}
#endif

static void finish_persistent(struct comm *comm, int p)
{
    if (!comm->active[p])
        return;
    TEST_MPI(MPI_Wait(&comm->persistent[p].request, MPI_STATUS_IGNORE));
    comm->active[p] = false;
    check_sum(&comm->persistent[p], "persistent");
}

/* Some of those that are inactive on all ranks; each rank starts them in an order of its own, and
 * waits whenever it likes. */
static void start_persistent(struct comm *comm, uint64_t random, uint64_t id)
{
#ifdef TEST_HAVE_PERSISTENT
    if (!comm->made)
        make_persistent(comm, (int)(comm - run.comms));
    for (int p = 0; p < PERSISTENT; p++)
        finish_persistent(comm, p);
    for (int p = 0; p < PERSISTENT; p++) {
        struct flight *flight = &comm->persistent[(p + test.rank) % PERSISTENT];
        flight->id = id + (uint64_t)((p + test.rank) % PERSISTENT);
        fill(flight, flight->in_place ? flight->out : flight->in);
    }
    MPI_Request requests[PERSISTENT];
    for (int p = 0; p < PERSISTENT; p++) {
        requests[p] = comm->persistent[(p + test.rank) % PERSISTENT].request;
        comm->active[p] = true;
        if (!(random & 1))
            TEST_MPI(MPI_Start(&requests[p]));
    }
    if (random & 1)
        TEST_MPI(MPI_Startall(PERSISTENT, requests));
#else
#endif
}

static void free_persistent(struct comm *comm)
{
    for (int p = 0; p < PERSISTENT && comm->made; p++) {
        finish_persistent(comm, p);
#ifdef TEST_HAVE_PERSISTENT
        TEST_MPI(MPI_Request_free(&comm->persistent[p].request));
#endif
        free(comm->persistent[p].in);
        free(comm->persistent[p].out);
    }
}

/* ---- Communicators ---- */

static void open_comm(int k, MPI_Comm made)
{
    struct comm *comm = &run.comms[k];
    MPI_Group world, group;
    int ranks[16];
    *comm = (struct comm){.comm = made};
    if (MPI_COMM_NULL == made)
        return;
    TEST_MPI(MPI_Comm_rank(made, &comm->rank));
    TEST_MPI(MPI_Comm_size(made, &comm->n));
    TEST_MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    TEST_MPI(MPI_Comm_group(made, &group));
    for (int r = 0; r < comm->n; r++)
        ranks[r] = r;
    TEST_MPI(MPI_Group_translate_ranks(group, comm->n, ranks, world, comm->world));
    TEST_MPI(MPI_Group_free(&group));
    TEST_MPI(MPI_Group_free(&world));
    test_pass_first_calls(made);
    if (run.blocking_first)
        call_blocking(comm, k, run.ids, 8192, false);
}

static void make_comms(void)
{
    for (int k = 0; k < run.ncomms; k++) {
        MPI_Comm made;
        const uint64_t random = test_value(test.rank, (uint64_t)k);
        if (k % 3 != 2)
            TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &made));
        else
            TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, random % 2, (int)(random >> 40), &made));
        open_comm(k, made);
    }
}

/* ---- Waiting ---- */

static void finish(int slot)
{
    struct flight *flight = &run.flights[slot];
    flight->request = run.requests[slot];
    TEST_CHECK(flight->request == MPI_REQUEST_NULL, "a request is not freed");
    end(flight);
}

static void wait_for(int slot)
{
    if (MPI_REQUEST_NULL == run.requests[slot])
        return;
    TEST_MPI(MPI_Wait(&run.requests[slot], MPI_STATUS_IGNORE));
    finish(slot);
}

/* libnbc does not survive that a communicator is freed while its calls are pending. */
static void wait_for_previous(int k)
{
    for (int slot = 0; slot < run.outstanding; slot++) {
        const struct flight *flight = &run.flights[slot];
        const bool ours = flight->kind <= FREED && run.blocking_first && test.expect_strag;
        if (flight->comm == k && !ours)
            wait_for(slot);
    }
}

/* Another one takes its place, and it is freed, whatever is pending. The new one is made of
 * MPI_COMM_WORLD's ranks by all. */
static void replace(int k, bool idup)
{
    MPI_Comm made;
    MPI_Request request = MPI_REQUEST_NULL;
    if (k % 3 == 2)
        return;
    if (idup)
        TEST_MPI(MPI_Comm_idup(MPI_COMM_WORLD, &made, &request));
    else
        TEST_MPI(MPI_Comm_dup(run.comms[k].comm, &made));
    free_persistent(&run.comms[k]);
    wait_for_previous(k);
    TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    TEST_MPI(MPI_Comm_free(&run.comms[k].comm));
    struct comm *comm = &run.comms[k];
    const struct comm old = *comm;
    open_comm(k, made);
    TEST_CHECK(old.n == comm->n && old.rank == comm->rank, "a dup has other ranks");
}

/* This rank's own affair: some are tested or waited for. */
static void look(uint64_t random)
{
    const int n = (int)run.outstanding;
    int indices[OUTSTANDING_MAX], done = 0, flag = 0;
    switch (random % 8) {
    case 0:
        TEST_MPI(MPI_Testsome(n, run.requests, &done, indices, MPI_STATUSES_IGNORE));
        for (int i = 0; i < done && done != MPI_UNDEFINED; i++)
            finish(indices[i]);
        break;
    case 1:
        TEST_MPI(MPI_Waitany(n, run.requests, indices, MPI_STATUS_IGNORE));
        if (indices[0] != MPI_UNDEFINED)
            finish(indices[0]);
        break;
    case 2:
        usleep((useconds_t)(random >> 40 & 255));
        break;
    case 3:
        TEST_MPI(MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        break;
    default:
        break;
    }
}

static void wait_for_all(bool reverse)
{
    for (int i = 0; i < run.outstanding; i++)
        wait_for(reverse ? (int)run.outstanding - 1 - i : i);
}

/* ---- Memory ---- */

enum { GROWTH_MOST = 8 << 20, GROWTH_FROM = 50000 }; /* bytes; steps */

/* @return bytes of this process that are in memory */
static long resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (NULL == file || fscanf(file, "%*d %ld", &pages) != 1)
        test_die("/proc/self/statm cannot be read");
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* Long runs only: what is kept for later calls has come together in the first third. */
static void check_growth(long step, long *before)
{
    if (step == run.steps / 3)
        *before = resident();
    if (step + 1 < run.steps || run.steps < GROWTH_FROM)
        return;
    const long growth = resident() - *before;
    TEST_CHECK(growth < GROWTH_MOST, "%ld KiB more are in use than after a third of the steps",
               growth >> 10);
    if (0 == test.rank)
        printf("nonblocking: %ld KiB resident, %ld more than after a third of the steps\n",
               resident() >> 10, growth >> 10);
}

/* ---- The program ---- */

static int count_of(uint64_t random)
{
    switch (random % (run.delay > 0 ? 2 : 8)) {
    case 0:
        return 2 + 2 * (int)((random >> 8) % (uint64_t)(run.words / 2));
    case 1:
    case 2:
        return 2 + 2 * (int)((random >> 8) % 1024);
    default:
        return 2 + 2 * (int)((random >> 8) % 16);
    }
}

static void step(long i)
{
    const uint64_t random = test_mix(test.seed + test_mix((uint64_t)i));
    const int k = (int)(random % (uint64_t)run.ncomms), slot = (int)(i % run.outstanding);
    static const enum kind kinds[16] = {SUM,      SUM,     SUM,     SUM,     SUM,   SUM,
                                        FREED,    FREED,   FREED,   BARRIER, BCAST, REDUCE,
                                        BLOCKING, STARTED, STARTED, DUP};
    const bool watched = run.delay > 0 && random >> 60 & 1;
    const enum kind kind = watched ? BLOCKING : kinds[random >> 8 & 15];
    const uint64_t id = run.ids += PERSISTENT;
    struct comm *comm = &run.comms[k];
    wait_for(slot);
    if (MPI_COMM_NULL == comm->comm)
        return;
    if (kind == DUP) {
        if ((random >> 12 & (run.delay > 0 ? 3 : 15)) == 0)
            replace(k, random >> 16 & 1);
    } else if (kind == STARTED) {
        start_persistent(comm, random >> 12, id);
    } else if (kind == BLOCKING) {
        call_blocking(comm, k, id, count_of(random >> 16), random >> 12 & 1);
    } else {
        struct flight *flight = &run.flights[slot];
        *flight = (struct flight){.kind = kind, .id = id, .comm = k, .in_place = random >> 12 & 1};
        allocate(flight, count_of(random >> 16));
        begin(flight, comm, (int)((random >> 40) % (uint64_t)comm->n));
        run.requests[slot] = flight->request;
    }
    look(test_value(test.rank, (uint64_t)i));
}

int main(int argc, char **argv)
{
    const char *steps = "1000", *communicators = "6", *outstanding = "50", *bytes = "262144";
    const char *first = "blocking", *delay = "0";
    const struct test_option options[] = {{"steps", &steps},
                                          {"communicators", &communicators},
                                          {"outstanding", &outstanding},
                                          {"bytes", &bytes},
                                          {"first", &first},
                                          {"delay", &delay},
                                          {NULL, NULL}};
    test_start(&argc, &argv, "nonblocking", MPI_THREAD_SINGLE, options);
    run.steps = test_number("steps", steps, 1, 1000000000);
    run.ncomms = (int)test_number("communicators", communicators, 1, COMMS_MAX);
    run.outstanding = test_number("outstanding", outstanding, 1, OUTSTANDING_MAX);
    run.words = test_number("bytes", bytes, 1024, 1 << 30) / (long)sizeof(uint64_t);
    run.delay = test_number("delay", delay, 0, 1000000);
    run.blocking_first = 0 == strcmp(first, "blocking");
    for (int i = 0; i < OUTSTANDING_MAX; i++)
        run.requests[i] = MPI_REQUEST_NULL;
    (void)test_counter_read("coll_strag_nonblocking"); /* from here on */
    (void)test_counter_read("coll_strag_persistent");
    make_comms();
    long before = 0;
    for (long i = 0; i < run.steps; i++) {
        step(i);
        check_growth(i, &before);
    }
    wait_for_all(test.rank & 1);
    for (int k = 0; k < run.ncomms; k++) {
        if (MPI_COMM_NULL == run.comms[k].comm)
            continue;
        free_persistent(&run.comms[k]);
        if (run.delay == 0 || k % 2 == 0)
            TEST_MPI(MPI_Comm_free(&run.comms[k].comm));
    }
    const unsigned long long nonblocking = test_counter_read("coll_strag_nonblocking");
    const unsigned long long persistent = test_counter_read("coll_strag_persistent");
    TEST_CHECK(!test.expect_strag || nonblocking > 0, "strag has run no nonblocking call");
    TEST_CHECK(!test.expect_strag || persistent > 0, "strag has run no persistent call");
    if (0 == test.rank)
        printf("nonblocking: strag has run %llu nonblocking and %llu persistent calls\n",
               nonblocking, persistent);
    return test_finish();
}
