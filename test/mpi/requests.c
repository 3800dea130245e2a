/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What MPI promises of nonblocking and persistent allreduces, one thing after another: they do not
 * wait when they are begun, whatever a communicator's first call is; persistent ones start in any
 * order; requests, operators, types and communicators may be freed meanwhile; the bits are those of
 * the blocking call; counters tell how many there were; and threads wait for different ones.
 *
 *     requests [--threads 0|1]
 */
#include "common.h"

#include <pthread.h>
#include <unistd.h>

#ifdef TEST_HAVE_PERSISTENT
#define INIT TEST_PERSISTENT(Allreduce_init)
#endif

enum { COUNT = 3000, MANY = 50, BURST = 1100 };

static uint64_t word_of(int rank, int call, int i)
{
    return test_mix(test_value(rank, (uint64_t)call) + (uint64_t)i);
}

static void fill(uint64_t *words, int call, int count)
{
    for (int i = 0; i < count; i++)
        words[i] = word_of(test.rank, call, i);
}

static void check(const uint64_t *words, int call, int count, const char *what)
{
    for (int i = 0; i < count; i++) {
        uint64_t sum = 0;
        for (int r = 0; r < test.n; r++)
            sum += word_of(r, call, i);
        if (!TEST_CHECK(words[i] == sum, "%s: call %d: word %d of %d is wrong", what, call, i,
                        count))
            return;
    }
}

static MPI_Comm dup_world(void)
{
    MPI_Comm comm;
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    test_pass_first_calls(comm);
    return comm;
}

static void sum_in_place(MPI_Comm comm, uint64_t *words, int count, MPI_Request *request)
{
    TEST_MPI(MPI_Iallreduce(MPI_IN_PLACE, words, count, MPI_UINT64_T, MPI_SUM, comm, request));
}

/* ---- Beginning never waits ---- */

/* Rank 0 tells the others that it has begun; they begin only then. */
static void begin_without_others(void)
{
    static uint64_t words[4][COUNT];
    for (int turn = 0; turn < 4; turn++) { /* MPI_COMM_WORLD is not set up, or it is */
        MPI_Comm comm = dup_world();
        MPI_Request request[2];
        int token = 0;
        fill(words[0], 1, COUNT);
        fill(words[1], 2, COUNT);
        if (test.rank > 0)
            TEST_MPI(MPI_Recv(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        sum_in_place(comm, words[0], COUNT, &request[0]);
        sum_in_place(comm, words[1], COUNT, &request[1]);
        for (int r = 1; 0 == test.rank && r < test.n; r++)
            TEST_MPI(MPI_Send(&token, 1, MPI_INT, r, 5, MPI_COMM_WORLD));
        TEST_MPI(MPI_Wait(&request[1], MPI_STATUS_IGNORE));
        TEST_MPI(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
        check(words[0], 1, COUNT, "begun without others");
        check(words[1], 2, COUNT, "begun without others");
        if (turn % 2)
            TEST_MPI(MPI_Allreduce(MPI_IN_PLACE, words[0], COUNT, MPI_UINT64_T, MPI_SUM, comm));
        TEST_MPI(MPI_Comm_free(&comm));
    }
}

/* All are begun before one is waited for, the last one first; some ranks come late. */
static void begin_many(void)
{
    static uint64_t words[MANY][COUNT];
    MPI_Comm comm = dup_world();
    MPI_Request requests[MANY];
    for (int c = 0; c < MANY; c++) {
        const int count = c % 3 == 0 ? 1 + c : COUNT;
        fill(words[c], c, count);
        sum_in_place(comm, words[c], count, &requests[c]);
        if (test.rank == c % test.n)
            usleep(200);
    }
    for (int c = MANY - 1; c >= 0; c--) {
        TEST_MPI(MPI_Wait(&requests[c], MPI_STATUS_IGNORE));
        check(words[c], c, c % 3 == 0 ? 1 + c : COUNT, "many");
    }
    TEST_MPI(MPI_Comm_free(&comm));
}

/* Dups of a communicator that is being set up, by its own nonblocking call: at some moment its
 * setup has ended on some ranks and not on others. */
static void dup_meanwhile(void)
{
    static uint64_t words[3][COUNT];
    for (int turn = 0; turn < 40; turn++) {
        MPI_Comm parent = dup_world(), first, second;
        MPI_Request request;
        fill(words[0], turn, COUNT);
        sum_in_place(parent, words[0], COUNT, &request);
        if (turn % test.n == test.rank)
            usleep((useconds_t)(25 * turn));
        if (turn % 2)
            TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        TEST_MPI(MPI_Comm_dup(parent, &first));
        TEST_MPI(MPI_Comm_dup(parent, &second));
        fill(words[1], turn + 1, COUNT);
        TEST_MPI(MPI_Allreduce(MPI_IN_PLACE, words[1], COUNT, MPI_UINT64_T, MPI_SUM, first));
        fill(words[2], turn + 2, COUNT);
        TEST_MPI(MPI_Allreduce(MPI_IN_PLACE, words[2], COUNT, MPI_UINT64_T, MPI_SUM, second));
        TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int w = 0; w < 3; w++)
            check(words[w], turn + w, COUNT, "a dup meanwhile");
        TEST_MPI(MPI_Comm_free(&second));
        TEST_MPI(MPI_Comm_free(&first));
        TEST_MPI(MPI_Comm_free(&parent));
    }
}

/* A dup, whose setup rank 0 may finish before another rank has come to it: rank 0 begins many
 * calls, looks at them for a while, begins as many more, and only then lets the others go on. */
static void begin_far_ahead(void)
{
    static uint64_t words[2 * MANY][COUNT];
    MPI_Request requests[2 * MANY];
    MPI_Comm parent = dup_world(), comm;
    int token = 0, done;
    fill(words[0], 0, COUNT);
    sum_in_place(parent, words[0], COUNT, &requests[0]);
    TEST_MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    for (int i = 0; i < MANY; i++)
        TEST_MPI(MPI_Allreduce(MPI_IN_PLACE, words[1], COUNT, MPI_UINT64_T, MPI_SUM, parent));
    TEST_MPI(MPI_Comm_dup(parent, &comm));
    if (test.rank > 0)
        TEST_MPI(MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < 2 * MANY; i++) {
        fill(words[i], i, COUNT);
        sum_in_place(comm, words[i], COUNT, &requests[i]);
        for (int look = 0; look < 1000 && i == MANY; look++)
            TEST_MPI(MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE));
    }
    for (int r = 1; r < test.n && test.rank == 0; r++)
        TEST_MPI(MPI_Send(&token, 1, MPI_INT, r, 1, MPI_COMM_WORLD));
    TEST_MPI(MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 2 * MANY; i++)
        check(words[i], i, COUNT, "far ahead");
    TEST_MPI(MPI_Comm_free(&comm));
    TEST_MPI(MPI_Comm_free(&parent));
}

/* MPI_Comm_idup asks the ranks for a number in its own progress, in between the program's calls:
 * before these on some ranks, and behind them on others. */
static void begin_beside_idup(void)
{
    static uint64_t words[4][COUNT];
    MPI_Comm comm = dup_world(), another;
    for (int turn = 0; turn < 12; turn++) {
        MPI_Request requests[5];
        int flag;
        for (int c = 0; c < 4; c++)
            fill(words[c], 4 * turn + c, COUNT);
        TEST_MPI(MPI_Comm_idup(comm, &another, &requests[4]));
        if ((turn + test.rank) % 2)
            TEST_MPI(MPI_Test(&requests[4], &flag, MPI_STATUS_IGNORE));
        TEST_MPI(MPI_Allreduce(MPI_IN_PLACE, words[0], 10, MPI_UINT64_T, MPI_SUM, comm));
        check(words[0], 4 * turn, 10, "next to MPI_Comm_idup, blocking");
        TEST_MPI(MPI_Wait(&requests[4], MPI_STATUS_IGNORE));
        for (int c = 1; c < 4; c++)
            sum_in_place(comm, words[c], COUNT, &requests[c]);
        TEST_MPI(MPI_Waitall(3, requests + 1, MPI_STATUSES_IGNORE));
        check(words[3], 4 * turn + 3, COUNT, "next to MPI_Comm_idup");
        TEST_MPI(MPI_Comm_free(&another));
    }
    TEST_MPI(MPI_Comm_free(&comm));
}

/* The communicator is freed when its first calls have ended, which have begun to set it up:
 * MPI_Comm_free ends that. With a report it then watches its calls, and there is something more to
 * end. (Open MPI's own libnbc, which has run these calls, needs the communicator till then.) */
static void free_at_once(void)
{
    static uint64_t words[2][COUNT];
    for (int turn = 0; turn < 20; turn++) {
        MPI_Comm comm;
        MPI_Request requests[2];
        TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, turn % 2 ? test.rank : -test.rank, &comm));
        for (int c = 0; c < 2; c++) {
            fill(words[c], 2 * turn + c, COUNT);
            sum_in_place(comm, words[c], COUNT, &requests[c]);
        }
        if (turn % test.n == test.rank)
            usleep((useconds_t)(50 * turn));
        TEST_MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        TEST_MPI(MPI_Comm_free(&comm));
        for (int c = 0; c < 2; c++)
            check(words[c], 2 * turn + c, COUNT, "freed at once");
    }
}

static void empty_ones(void)
{
    MPI_Comm comm = dup_world();
    MPI_Request request;
    MPI_Datatype nothing;
    uint64_t word = 7;
    TEST_MPI(MPI_Type_contiguous(0, MPI_UINT64_T, &nothing));
    TEST_MPI(MPI_Type_commit(&nothing));
    TEST_MPI(MPI_Iallreduce(&word, &word + 1, 0, MPI_UINT64_T, MPI_SUM, comm, &request));
    TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    TEST_CHECK(word == 7, "no elements: something was written");
    TEST_MPI(MPI_Type_free(&nothing));
    TEST_MPI(MPI_Comm_free(&comm));
}

/* ---- The same bits ---- */

static void compare_bits(const char *algorithm)
{
    static double in[COUNT], blocking[COUNT], nonblocking[COUNT], persistent[COUNT];
    MPI_Comm comm = test_pinned(MPI_COMM_WORLD, algorithm);
    MPI_Request request;
    for (int count = 1; count <= COUNT; count = 3 * count + 1) {
        for (int i = 0; i < count; i++)
            in[i] = (double)(test_value(test.rank, (uint64_t)i) >> 11) / 3e10;
        TEST_MPI(MPI_Allreduce(in, blocking, count, MPI_DOUBLE, MPI_SUM, comm));
        TEST_MPI(MPI_Iallreduce(in, nonblocking, count, MPI_DOUBLE, MPI_SUM, comm, &request));
        TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        TEST_CHECK(memcmp(blocking, nonblocking, (size_t)count * sizeof(double)) == 0,
                   "%s, %d doubles: MPI_Iallreduce has other bits than MPI_Allreduce", algorithm,
                   count);
#ifdef INIT
        TEST_MPI(INIT(in, persistent, count, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &request));
        for (int turn = 0; turn < 3; turn++) {
            memset(persistent, 0, sizeof(persistent));
            TEST_MPI(MPI_Start(&request));
            TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
            TEST_CHECK(memcmp(blocking, persistent, (size_t)count * sizeof(double)) == 0,
                       "%s, %d doubles: a persistent call has other bits", algorithm, count);
        }
        TEST_MPI(MPI_Request_free(&request));
#else
        (void)persistent;
#endif
    }
    TEST_MPI(MPI_Comm_free(&comm));
}

/* ---- Persistent requests ---- */

#ifdef INIT

static void add_words(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const uint64_t *a = in;
    uint64_t *b = inout;
    for (int i = 0; i < *length; i++)
        b[i] += a[i];
}

/* On the last rank, a blocking call comes before the start; and starts have no common order. */
static void start_in_any_order(void)
{
    static uint64_t words[4][COUNT];
    MPI_Comm comm = dup_world();
    MPI_Request requests[3];
    const bool last = test.rank == test.n - 1;
    for (int c = 0; c < 3; c++)
        TEST_MPI(INIT(MPI_IN_PLACE, words[c], COUNT, MPI_UINT64_T, MPI_SUM, comm, MPI_INFO_NULL,
                      &requests[c]));
    for (int turn = 0; turn < 20; turn++) {
        for (int c = 0; c < 4; c++)
            fill(words[c], c + turn, COUNT);
        for (int c = 0; !last && c < 3; c++)
            TEST_MPI(MPI_Start(&requests[(c + test.rank + turn) % 3]));
        TEST_MPI(MPI_Allreduce(MPI_IN_PLACE, words[3], COUNT, MPI_UINT64_T, MPI_SUM, comm));
        if (last)
            TEST_MPI(MPI_Startall(3, requests));
        TEST_MPI(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
        for (int c = 0; c < 4; c++)
            check(words[c], c + turn, COUNT, "started in any order");
    }
    for (int c = 0; c < 3; c++)
        TEST_MPI(MPI_Request_free(&requests[c]));
    TEST_MPI(MPI_Comm_free(&comm));
}

/* Operator, type and communicator are freed when the request is made. (Open MPI's own component
 * for that, libnbc, keeps none of them.) */
static void start_after_all_is_freed(void)
{
    static uint64_t words[COUNT];
    MPI_Comm comm = dup_world();
    MPI_Request request;
    MPI_Datatype type;
    MPI_Op op;
    TEST_MPI(MPI_Type_contiguous(1, MPI_UINT64_T, &type));
    TEST_MPI(MPI_Type_commit(&type));
    TEST_MPI(MPI_Op_create(add_words, 1, &op));
    TEST_MPI(INIT(MPI_IN_PLACE, words, COUNT, type, op, comm, MPI_INFO_NULL, &request));
    TEST_MPI(MPI_Op_free(&op));
    TEST_MPI(MPI_Type_free(&type));
    TEST_MPI(MPI_Comm_free(&comm));
    for (int turn = 0; turn < 5; turn++) {
        fill(words, turn, COUNT);
        TEST_MPI(MPI_Start(&request));
        TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check(words, turn, COUNT, "all was freed");
    }
    TEST_MPI(MPI_Request_free(&request));
}

/* A request that was never started, and ones that are active: they complete all the same. Stock
 * Open MPI refuses that. */
static void free_requests(void)
{
    static uint64_t words[8][COUNT];
    MPI_Comm comm = dup_world();
    MPI_Request request, barrier;
    int done = 0;
    TEST_MPI(
        INIT(MPI_IN_PLACE, words[0], COUNT, MPI_UINT64_T, MPI_SUM, comm, MPI_INFO_NULL, &request));
    TEST_MPI(MPI_Request_free(&request));
    TEST_CHECK(request == MPI_REQUEST_NULL, "MPI_Request_free has left a handle");
    for (int c = 0; test.expect_strag && c < 8; c++) {
        fill(words[c], c, COUNT);
        TEST_MPI(INIT(MPI_IN_PLACE, words[c], COUNT, MPI_UINT64_T, MPI_SUM, comm, MPI_INFO_NULL,
                      &request));
        TEST_MPI(MPI_Start(&request));
        TEST_MPI(MPI_Request_free(&request));
    }
    TEST_MPI(MPI_Comm_free(&comm));
    TEST_MPI(MPI_Ibarrier(MPI_COMM_WORLD, &barrier));
    while (!done)
        TEST_MPI(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE));
    for (int i = 0; i < 1000; i++) /* all ranks have begun them */
        TEST_MPI(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE));
    TEST_MPI(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 1000; i++)
        TEST_MPI(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE));
    for (int c = 0; test.expect_strag && c < 8; c++)
        check(words[c], c, COUNT, "freed while it was active");
}

/* @return how many of them are not strag's */
static unsigned long long make_burst(MPI_Comm comm, uint64_t *words, MPI_Request *requests)
{
    const unsigned long long before = test_counters_read().delegated;
    for (int c = 0; c < BURST; c++)
        TEST_MPI(INIT(MPI_IN_PLACE, words + 10 * c, 10, MPI_UINT64_T, MPI_SUM, comm, MPI_INFO_NULL,
                      &requests[c]));
    return test_counters_read().delegated - before;
}

static void free_burst(MPI_Request *requests)
{
    for (int c = 0; c < BURST; c++)
        TEST_MPI(MPI_Request_free(&requests[c]));
}

/* More requests than there are mailboxes in shared memory, all active at once, and a new
 * communicator meanwhile. Once they are freed there is room for as many again. */
static void run_out_of_mailboxes(void)
{
    static uint64_t words[10 * BURST];
    static MPI_Request requests[BURST];
    MPI_Comm comm = dup_world(), another;
    const unsigned long long first = make_burst(comm, words, requests);
    for (int c = 0; c < BURST; c++)
        fill(words + 10 * c, c, 10);
    TEST_MPI(MPI_Startall(BURST, requests));
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &another));
    static uint64_t meanwhile[COUNT];
    fill(meanwhile, BURST, COUNT);
    TEST_MPI(MPI_Allreduce(MPI_IN_PLACE, meanwhile, COUNT, MPI_UINT64_T, MPI_SUM, another));
    check(meanwhile, BURST, COUNT, "without a mailbox");
    TEST_MPI(MPI_Comm_free(&another));
    TEST_MPI(MPI_Waitall(BURST, requests, MPI_STATUSES_IGNORE));
    for (int c = 0; c < BURST; c++)
        check(words + 10 * c, c, 10, "a burst of requests");
    free_burst(requests);
    TEST_MPI(MPI_Barrier(comm)); /* all ranks have left */
    const unsigned long long again = make_burst(comm, words, requests);
    TEST_CHECK(again <= first, "%llu requests are not strag's, and %llu at first", again, first);
    free_burst(requests);
    TEST_MPI(MPI_Comm_free(&comm));
}

#endif

/* ---- Counters ---- */

static void count_calls(void)
{
    static uint64_t words[COUNT];
    MPI_Comm comm = dup_world();
    MPI_Request request;
    TEST_MPI(MPI_Allreduce(MPI_IN_PLACE, words, COUNT, MPI_UINT64_T, MPI_SUM, comm));
    const struct test_counters before = test_counters_read();
    const unsigned long long nonblocking = test_counter_read("coll_strag_nonblocking");
    const unsigned long long persistent = test_counter_read("coll_strag_persistent");
    unsigned long long starts = 0;
    for (int c = 0; c < 5; c++) {
        sum_in_place(comm, words, COUNT, &request);
        TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    /* what Open MPI itself asks ranks by, and an operator that does not commute */
    int number = 3;
    TEST_MPI(MPI_Iallreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_MAX, comm, &request));
    TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    TEST_CHECK(number == 3, "the maximum is wrong");
#ifdef INIT
    TEST_MPI(
        INIT(MPI_IN_PLACE, words, COUNT, MPI_UINT64_T, MPI_SUM, comm, MPI_INFO_NULL, &request));
    for (; starts < 7; starts++) {
        TEST_MPI(MPI_Start(&request));
        TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    TEST_MPI(MPI_Request_free(&request));
#endif
    test_counters_moved(before, 5 + starts, 0, "nonblocking and persistent calls");
    if (test.expect_strag) {
        TEST_CHECK(test_counter_read("coll_strag_nonblocking") - nonblocking == 5,
                   "coll_strag_nonblocking has not counted 5 calls");
        TEST_CHECK(test_counter_read("coll_strag_persistent") - persistent == starts,
                   "coll_strag_persistent has not counted %llu starts", starts);
    }
    TEST_MPI(MPI_Comm_free(&comm));
}

/* ---- Threads ---- */

enum { THREADS = 3, TURNS = 60 };

struct worker {
    MPI_Comm comm;
    int index;
};

/* Waits for its own communicator's calls while the others do so for theirs. */
static void *work(void *argument)
{
    const struct worker *worker = argument;
    uint64_t *words = test_allocate(4 * COUNT * sizeof(uint64_t));
    MPI_Request requests[4];
    for (int turn = 0; turn < TURNS; turn++) {
        for (int c = 0; c < 4; c++) {
            fill(words + c * COUNT, 4 * turn + c + 1000 * worker->index, COUNT);
            sum_in_place(worker->comm, words + c * COUNT, COUNT, &requests[c]);
        }
        if (test_value(test.rank, (uint64_t)turn * THREADS + (uint64_t)worker->index) % 4 == 0)
            usleep(100);
        TEST_MPI(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
        for (int c = 0; c < 4; c++)
            check(words + c * COUNT, 4 * turn + c + 1000 * worker->index, COUNT, "threads");
    }
    free(words);
    return NULL;
}

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    MPI_Request requests[MANY];
    int begun;
} handed = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Waits for what the main thread begins, which meanwhile begins more. */
static void *wait_for_others(void *argument)
{
    for (int c = 0; c < MANY; c++) {
        pthread_mutex_lock(&handed.lock);
        while (handed.begun <= c)
            pthread_cond_wait(&handed.changed, &handed.lock);
        MPI_Request request = handed.requests[c];
        pthread_mutex_unlock(&handed.lock);
        TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    return NULL;
}

static void begin_for_another_thread(void)
{
    static uint64_t words[MANY][COUNT];
    MPI_Comm comm = dup_world();
    pthread_t thread;
    handed.begun = 0;
    if (0 != pthread_create(&thread, NULL, wait_for_others, NULL))
        test_die("no thread can be started");
    for (int c = 0; c < MANY; c++) {
        MPI_Request request;
        fill(words[c], c, COUNT);
        sum_in_place(comm, words[c], COUNT, &request);
        pthread_mutex_lock(&handed.lock);
        handed.requests[c] = request;
        handed.begun++;
        pthread_cond_signal(&handed.changed);
        pthread_mutex_unlock(&handed.lock);
    }
    pthread_join(thread, NULL);
    for (int c = 0; c < MANY; c++)
        check(words[c], c, COUNT, "another thread waits");
    TEST_MPI(MPI_Comm_free(&comm));
}

static void use_threads(void)
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++) {
        workers[t] = (struct worker){dup_world(), t};
        if (t > 0 && 0 != pthread_create(&threads[t], NULL, work, &workers[t]))
            test_die("no thread can be started");
    }
    work(&workers[0]);
    for (int t = 0; t < THREADS; t++) {
        if (t > 0)
            pthread_join(threads[t], NULL);
        TEST_MPI(MPI_Comm_free(&workers[t].comm));
    }
    begin_for_another_thread();
}

/* ---- The program ---- */

int main(int argc, char **argv)
{
    const char *threads = "0";
    const struct test_option options[] = {{"threads", &threads}, {NULL, NULL}};
    const bool multiple = argc > 2 && 0 == strcmp(argv[1], "--threads") && argv[2][0] == '1';
    test_start(&argc, &argv, "requests", multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
               options);
    begin_without_others();
    begin_many();
    begin_beside_idup();
    begin_far_ahead();
    dup_meanwhile();
    free_at_once();
    empty_ones();
    compare_bits("ring");
    compare_bits("recursive-doubling");
#ifdef INIT
    start_in_any_order();
    if (test.expect_strag)
        start_after_all_is_freed();
    free_requests();
    run_out_of_mailboxes();
#endif
    count_calls();
    if (multiple)
        use_threads();
    return test_finish();
}
