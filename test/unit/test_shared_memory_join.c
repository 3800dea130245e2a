/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arenas and communicators of the transport through shared memory: what is mapped, what is not;
 * what the site's limits leave; and that all comes back.
 */
#include "shm_ranks.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static const uint8_t together[1024];

static struct strag_shm *view(struct strag_shm_process *process, int n, int me)
{
    static const struct strag_shm_host host = {.yields = true};
    struct strag_shm *shm = strag_shm_create(process, &host, n, me, together, 0);
    assert_non_null(shm);
    return shm;
}

/* The ranks of a host, each a process of its own. */
struct host {
    int n;
    struct strag_shm_process *processes[8];
};

static void open_host(struct host *host, int n, size_t mapped)
{
    host->n = n;
    for (int r = 0; r < n; r++)
        host->processes[r] = strag_shm_process_create(n, mapped);
}

/* A communicator of all of them. @return why the last one could not join */
static enum strag_shm_reason join(struct host *host, struct strag_shm **views)
{
    struct strag_shm_info infos[8];
    enum strag_shm_reason reason = STRAG_SHM_ABLE;
    for (int r = 0; r < host->n; r++) {
        views[r] = view(host->processes[r], host->n, r);
        enum strag_shm_reason own = strag_shm_make(views[r], &infos[r]);
        reason = own == STRAG_SHM_ABLE ? reason : own;
    }
    for (int r = 0; reason == STRAG_SHM_ABLE && r < host->n; r++)
        reason = strag_shm_join(views[r], infos);
    return reason;
}

static void leave(struct host *host, struct strag_shm **views)
{
    for (int r = 0; r < host->n; r++)
        strag_shm_free(views[r]);
    for (int r = 0; r < host->n; r++)
        strag_shm_process_settle(host->processes[r]);
}

/* By test/cross/run.sh. */
static bool is_emulated(void)
{
    const char *emulated = getenv("STRAG_TEST_EMULATED");
    return emulated && strcmp(emulated, "1") == 0;
}

/* Lines of a file of /proc that have a word in them. */
static int lines_with(const char *path, const char *word)
{
    char line[512];
    int count = 0;
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        count += strstr(line, word) != NULL;
    fclose(file);
    return count;
}

/* No communicator is left, and nothing of the processes. */
static void close_host(struct host *host)
{
    for (int r = 0; r < host->n; r++) {
        assert_int_equal(host->processes[r]->communicators, 0);
        for (int list = 0; list < STRAG_SHM_OPEN_LISTS; list++) {
            const struct strag_shm_opened *opened = host->processes[r]->opened[list];
            for (; opened; opened = opened->next)
                assert_int_equal(opened->users, 0);
        }
        strag_shm_process_free(host->processes[r]);
    }
    if (!is_emulated())
        assert_int_equal(lines_with("/proc/self/maps", "/SYSV00000000"), 0);
}

/* ---- What is mapped ---- */

TEST(only_the_right_arena_is_opened)
{
    struct host host;
    struct strag_shm *views[2], *larger[2];
    struct strag_shm_info infos[2], wrong[2];
    open_host(&host, 2, 64 * MIB);
    for (int r = 0; r < 2; r++) {
        views[r] = view(host.processes[r], 2, r);
        assert_int_equal(strag_shm_make(views[r], &infos[r]), STRAG_SHM_ABLE);
        assert_true(infos[r].processors > 0);
    }
    assert_true(infos[0].processor_set == infos[1].processor_set);
    assert_true(infos[0].arena_key != infos[1].arena_key);

    memcpy(wrong, infos, sizeof wrong);
    wrong[0].arena_key++;
    assert_int_equal(strag_shm_join(views[1], wrong), STRAG_SHM_NOT_SEEN);
    memcpy(wrong, infos, sizeof wrong);
    wrong[0].segment = -1;
    assert_int_equal(strag_shm_join(views[1], wrong), STRAG_SHM_NOT_SEEN);
    const size_t others[] = {4096, infos[0].bytes}; /* a segment of somebody else's */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        wrong[0].segment = shmget(IPC_PRIVATE, others[i], IPC_CREAT | S_IRUSR | S_IWUSR);
        assert_int_not_equal(wrong[0].segment, -1);
        assert_int_equal(strag_shm_join(views[1], wrong), STRAG_SHM_NOT_SEEN);
        assert_int_equal(shmctl(wrong[0].segment, IPC_RMID, NULL), 0);
    }
    memcpy(wrong, infos, sizeof wrong);
    wrong[0].mailbox_key++;
    assert_int_equal(strag_shm_join(views[1], wrong), STRAG_SHM_NOT_SEEN);
    wrong[0].mailbox = UINT32_MAX;
    assert_int_equal(strag_shm_join(views[1], wrong), STRAG_SHM_NOT_SEEN);
    strag_shm_free(views[1]);
    views[1] = view(host.processes[1], 2, 1);
    assert_int_equal(strag_shm_make(views[1], &infos[1]), STRAG_SHM_ABLE);

    for (int r = 0; r < 2; r++)
        assert_int_equal(strag_shm_join(views[r], infos), STRAG_SHM_ABLE);
    assert_ptr_not_equal(views[0]->arena.base, views[1]->peers[0].arena->base);
    views[0]->arena.large[5] = 'x';
    assert_int_equal(views[1]->peers[0].arena->large[5], 'x');
    assert_int_equal(join(&host, larger), STRAG_SHM_ABLE); /* a second one maps nothing new */
    assert_int_equal(lines_with("/proc/self/maps", "/SYSV00000000"), 4);
    leave(&host, larger);
    leave(&host, views);
    close_host(&host);
}

/* Another process cannot write there: its mapping cannot be made writable, and it gets no other one
 * of that kind. Nothing stays behind when the last process ends; nothing is in core files. */
TEST(others_read_only)
{
    struct host host;
    struct strag_shm *views[2];
    const int hidden = lines_with("/proc/self/smaps", " dd "); /* the system's own, or valgrind's */
    const int written = lines_with("/proc/self/maps", "rw-s");
    const int read = lines_with("/proc/self/maps", "r--s");
    open_host(&host, 2, 64 * MIB);
    assert_int_equal(join(&host, views), STRAG_SHM_ABLE);
    assert_int_equal(lines_with("/proc/self/maps", "rw-s"), written + 2);
    assert_int_equal(lines_with("/proc/self/maps", "r--s"), read + 2);
    if (!is_emulated()) /* qemu ignores MADV_DONTDUMP */
        assert_int_equal(lines_with("/proc/self/smaps", " dd "), hidden + 4);
    struct strag_shm_arena *seen = &views[1]->peers[0].opened->arena;
    assert_int_not_equal(mprotect(seen->base, seen->size.bytes, PROT_READ | PROT_WRITE), 0);
    struct shmid_ds status;
    assert_int_equal(shmctl(host.processes[0]->segment, IPC_STAT, &status), 0);
    assert_int_equal(status.shm_perm.mode, S_IRUSR | SHM_DEST);
    assert_int_equal(status.shm_nattch, 2);
    leave(&host, views);
    close_host(&host);
}

/* ---- What the site's limits leave ---- */

static size_t touched(const struct strag_shm_size *size)
{
    return size->bytes - (size_t)size->reserve * size->slot;
}

TEST(sizes_keep_to_their_bounds)
{
    static const int ranks[] = {2, 3, 4, 8, 16, 17, 32, 48, 64, 96, 128, 173, 192, 256, 512, 1024};
    const struct strag_shm_limits usual = {256 * MIB, 256 * MIB, 32 * MIB};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        struct strag_shm_size size;
        const size_t n = (size_t)ranks[i];
        assert_int_equal(strag_shm_size_for(ranks[i], &usual, &size), STRAG_SHM_ABLE);
        printf(
            "%5zu ranks: %8u bytes each, %7zu touched at most; %3u small slots, %2u of %5u bytes, "
            "%4u communicators\n",
            n, size.bytes, touched(&size), size.small, size.large, size.slot, size.reserve);
        assert_true(size.bytes * n <= 256 * MIB);
        assert_true(n > 128 || touched(&size) * n <= 32 * MIB);
        assert_true(touched(&size) * n <= 128 * MIB);
        assert_true(n > 64 || size.slot == 32768);
        assert_true(size.slot >= 4096);
        assert_true(size.large >= 4);
        assert_true(size.reserve >= 32);
    }
}

TEST(limits_are_asked)
{
    struct strag_shm_size size;
    struct strag_shm_limits limits = {256 * MIB, 1 * MIB, MIB / 8};
    assert_int_equal(strag_shm_size_for(2, &limits, &size), STRAG_SHM_ABLE);
    assert_int_equal(strag_shm_size_for(64, &limits, &size), STRAG_SHM_ADDRESSES);
    limits.wanted = limits.mapped;
    assert_int_equal(strag_shm_size_for(64, &limits, &size), STRAG_SHM_TOO_SMALL);
    limits = (struct strag_shm_limits){256 * MIB, 256 * MIB, MIB / 4};
    assert_int_equal(strag_shm_size_for(16, &limits, &size), STRAG_SHM_CGROUP);
    for (int reason = 0; reason < STRAG_SHM_REASONS; reason++)
        assert_true(strlen(strag_shm_reason_text((enum strag_shm_reason)reason)) > 5);
}

/* More ranks than was known: a process maps no more than it may. */
TEST(no_more_is_mapped_than_allowed)
{
    struct host host;
    struct strag_shm *two[8], *eight[8];
    open_host(&host, 8, 32 * MIB);
    for (int r = 0; r < 8; r++)
        host.processes[r]->ranks = 2;
    host.n = 2;
    assert_int_equal(join(&host, two), STRAG_SHM_ABLE);
    host.n = 8;
    assert_int_equal(join(&host, eight), STRAG_SHM_TOO_SMALL);
    assert_true(host.processes[0]->mapped <= 32 * MIB);
    leave(&host, eight);
    host.n = 2;
    leave(&host, two);
    host.n = 8;
    close_host(&host);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

TEST(cgroups_are_found)
{
    char top[] = "cgroups.XXXXXX", path[256], list[256];
    static const char *const folders[] = {"memory", "memory/a", "memory/a/b", "a", "a/b"};
    assert_non_null(mkdtemp(top));
    snprintf(list, sizeof list, "%s/list", top);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", top, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    assert_true(strag_shm_cgroup_limit(list, top) == SIZE_MAX); /* there is no list */
    write_file(top, "list", "4:memory:/a/b\n2:cpu:/\n0::/\n");
    assert_true(strag_shm_cgroup_limit(list, top) == SIZE_MAX);
    write_file(top, "memory/memory.limit_in_bytes", "9223372036854771712\n");
    write_file(top, "memory/a/memory.limit_in_bytes", "2000000\n");
    write_file(top, "memory/a/b/memory.limit_in_bytes", "3000000\n");
    assert_int_equal(strag_shm_cgroup_limit(list, top), 2000000);
    write_file(top, "list", "0::/a/b\n");
    write_file(top, "a/memory.max", "max\n");
    assert_true(strag_shm_cgroup_limit(list, top) == SIZE_MAX);
    write_file(top, "a/b/memory.max", "1000000\n");
    assert_int_equal(strag_shm_cgroup_limit(list, top), 1000000);

    static const char *const files[] = {"memory/memory.limit_in_bytes",
                                        "memory/a/memory.limit_in_bytes",
                                        "memory/a/b/memory.limit_in_bytes",
                                        "a/memory.max",
                                        "a/b/memory.max",
                                        "list"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", top, files[i]);
        unlink(path);
    }
    for (size_t i = sizeof folders / sizeof *folders; i-- > 0;) {
        snprintf(path, sizeof path, "%s/%s", top, folders[i]);
        rmdir(path);
    }
    assert_int_equal(rmdir(top), 0);
}

/* ---- Joining and leaving ---- */

/* Ranks on two hosts: each rank finds its own host's, in the order of ranks. */
TEST(each_host_has_its_own)
{
    static const struct strag_shm_host host;
    static const uint8_t lane_of[] = {1, 0, 0, 1, 0};
    struct strag_shm_process *process = strag_shm_process_create(3, MIB);
    struct strag_shm *shm = strag_shm_create(process, &host, 5, 4, lane_of, 0);
    assert_non_null(shm);
    assert_int_equal(shm->n, 3);
    assert_int_equal(shm->me, 2);
    assert_false(strag_shm_is_alone(shm));
    assert_null(shm->peer[0]);
    assert_ptr_equal(shm->peer[1], &shm->peers[0]);
    assert_ptr_equal(shm->peer[4], &shm->peers[2]);
    strag_shm_free(shm);
    strag_shm_process_free(process);
}

static void send(struct strag_shm *from, int to, size_t bytes)
{
    static const char values[4096];
    strag_shm_next_call(from, from->call + 1, false);
    struct strag_transport *transport = strag_shm_begin(from, NULL, 1, true, true);
    assert_int_equal(transport->try_send(transport, to, values, bytes, 0), STRAG_OK);
    strag_shm_end(from);
}

static void receive(struct strag_shm *shm, int from, size_t bytes)
{
    const void *values;
    strag_shm_next_call(shm, shm->call + 1, false);
    struct strag_transport *transport = strag_shm_begin(shm, NULL, 1, true, true);
    assert_int_equal(transport->try_recv(transport, from, bytes, &values), STRAG_OK);
    transport->release_recv(transport, from);
    strag_shm_end(shm);
}

/* What a rank sent before it left is there until the receiver leaves, too. */
TEST(what_others_read_stays)
{
    struct host host;
    struct strag_shm *views[2];
    open_host(&host, 2, 64 * MIB);
    assert_int_equal(join(&host, views), STRAG_SHM_ABLE);
    send(views[0], 1, 4096);
    strag_shm_free(views[0]);
    assert_int_equal(strag_shm_process_settle(host.processes[0]), 1);
    assert_int_equal(host.processes[0]->large_used, 1);
    receive(views[1], 0, 4096);
    assert_int_equal(strag_shm_process_settle(host.processes[0]), 1);
    strag_shm_free(views[1]);
    assert_int_equal(host.processes[1]->communicators, 0);
    assert_int_equal(strag_shm_process_settle(host.processes[0]), 0);
    close_host(&host);
}

/* Communicators come and go, in any order; ranks leave at different times. */
TEST(all_comes_back)
{
    enum { LIVE = 24, ROUNDS = 2000, N = 3 };
    struct rng rng = {support_seed("communicators")};
    struct host host;
    struct strag_shm *base[N], *live[LIVE][N] = {{NULL}};
    open_host(&host, N, 64 * MIB);
    assert_int_equal(join(&host, base), STRAG_SHM_ABLE);
    const struct strag_shm_process *process = host.processes[0];
    for (int i = 0; i < ROUNDS; i++) {
        struct strag_shm **views = live[rng_below(&rng, LIVE)];
        if (!views[0] && !views[1] && !views[2]) {
            assert_int_equal(join(&host, views), STRAG_SHM_ABLE);
            send(views[0], 1, 1 + rng_below(&rng, 4096));
            send(views[0], 2, 1 + rng_below(&rng, 4096));
        } else {
            const unsigned r = rng_below(&rng, N);
            strag_shm_free(views[r]);
            views[r] = NULL;
        }
    }
    for (int v = 0; v < LIVE; v++)
        leave(&host, live[v]);
    assert_int_equal(process->communicators, 1);
    assert_int_equal(process->large_used, 0);
    assert_int_equal(process->nfree_small, process->arena.size.small);
    leave(&host, base);
    close_host(&host);
}

/* Each communicator has a mailbox, and a slot in reserve; if there are no more, one must go first.
 */
TEST(communicators_are_limited)
{
    struct host host;
    struct strag_shm *views[256][2], *more[2];
    int made = 0;
    open_host(&host, 2, 4 * MIB);
    while (join(&host, views[made]) == STRAG_SHM_ABLE)
        assert_true(++made < 256);
    assert_true(made >= 32 && made <= (int)host.processes[0]->arena.size.reserve);
    leave(&host, views[made]);
    leave(&host, views[0]);
    assert_int_equal(join(&host, more), STRAG_SHM_ABLE);
    leave(&host, more);
    for (int i = 1; i < made; i++)
        leave(&host, views[i]);
    close_host(&host);
}

/* What was mapped stays so for the next communicator: its pages need not be found again. */
TEST(arenas_stay)
{
    struct host host;
    struct strag_shm *views[3];
    open_host(&host, 3, 64 * MIB);
    assert_int_equal(join(&host, views), STRAG_SHM_ABLE);
    const size_t mapped = host.processes[0]->mapped;
    const uint64_t key = host.processes[0]->key;
    const void *peer = views[0]->peers[1].arena->base;
    leave(&host, views);
    assert_int_equal(host.processes[0]->mapped, mapped);
    assert_int_equal(join(&host, views), STRAG_SHM_ABLE);
    assert_int_equal(host.processes[0]->mapped, mapped);
    assert_true(host.processes[0]->key == key);
    assert_ptr_equal(views[0]->peers[1].arena->base, peer);
    leave(&host, views);
    close_host(&host);
}

/* Where addresses are short what nobody uses makes room for what somebody needs, but not what is
 * held. */
TEST(unused_ones_make_room)
{
    struct host first, second;
    struct strag_shm *views[2];
    struct strag_shm_hold *holds[2];
    open_host(&first, 2, 32 * MIB);
    open_host(&second, 2, 32 * MIB);
    struct host mixed = {2, {first.processes[0], second.processes[0]}};
    assert_int_equal(join(&first, views), STRAG_SHM_ABLE);
    leave(&first, views);
    assert_int_equal(join(&mixed, views), STRAG_SHM_ABLE);
    assert_true(first.processes[0]->mapped <= 32 * MIB);
    leave(&mixed, views);

    assert_int_equal(join(&first, views), STRAG_SHM_ABLE);
    for (int r = 0; r < 2; r++)
        assert_non_null(holds[r] = strag_shm_hold(views[r]));
    leave(&first, views);
    assert_int_equal(join(&mixed, views), STRAG_SHM_TOO_SMALL);
    leave(&mixed, views);
    assert_int_equal(join(&first, views), STRAG_SHM_ABLE);
    leave(&first, views);
    for (int r = 0; r < 2; r++)
        strag_shm_hold_free(holds[r]);
    strag_shm_hold_free(NULL);
    for (int r = 0; r < 2; r++) {
        strag_shm_process_free(first.processes[r]);
        strag_shm_process_free(second.processes[r]);
    }
}

/* 1024 ranks of a host, in memory that all of this process see: bytes each, and messages to all. */
TEST(a_thousand_ranks_fit)
{
    enum { N = 1024 };
    static struct strag_shm_process *processes[N];
    static struct strag_shm *views[N];
    static struct strag_shm_info infos[N];
    for (int r = 0; r < N; r++) {
        processes[r] = strag_shm_process_create(N, 256 * MIB);
        views[r] = view(processes[r], N, r);
        assert_int_equal(strag_shm_make(views[r], &infos[r]), STRAG_SHM_ABLE);
        processes[r]->communicators++; /* its memory stays to the end */
    }
    for (int r = 0; r < N; r++) {
        for (int k = 0; k < N; k++) {
            if (k != r)
                assert_non_null(strag_shm_arena_add(processes[r], processes[k]->key,
                                                    processes[k]->arena.base, false));
        }
        assert_int_equal(strag_shm_join(views[r], infos), STRAG_SHM_ABLE);
    }
    size_t own = sizeof **views + N * (sizeof(struct strag_shm_peer) + sizeof(void *)),
           shared = processes[0]->arena.size.bytes;
    printf("%d ranks: %zu KiB of its own for a communicator, arenas of %zu KiB\n", N, own >> 10,
           shared >> 10);
    assert_true(own <= 512 * 1024);
    assert_true(shared <= 256 * 1024);
    for (int to = 1; to < N; to++) { /* few rings and slots for many channels */
        send(views[0], to, 1 + (size_t)to);
        for (uint64_t call = views[to]->call; call + 1 < views[0]->call; call++)
            strag_shm_next_call(views[to], views[to]->call + 1, false);
        receive(views[to], 0, 1 + (size_t)to);
    }
    for (int r = 0; r < N; r++)
        strag_shm_free(views[r]);
    for (int r = 0; r < N; r++)
        assert_int_equal(strag_shm_process_settle(processes[r]), 1);
    for (int r = 0; r < N; r++)
        strag_shm_process_free(processes[r]);
}

/* Processors are shared by few, or not: the ranks of each set of processors are counted. */
TEST(few_are_at_most_two_for_each_processor)
{
    const struct {
        int n, yields;
        int processors[4]; /* of the ranks: number, and set, */
        uint64_t set[4];
        bool few, watch; /* who waits, watches its neighbours */
    } cases[] = {
        {2, 1, {1, 1}, {7, 7}, true, true},
        {2, 0, {1, 1}, {7, 7}, false, false},
        {3, 1, {1, 1, 1}, {7, 7, 7}, false, false},
        {3, 1, {2, 2, 2}, {7, 7, 7}, true, sysconf(_SC_NPROCESSORS_ONLN) == 1},
        {4, 1, {2, 2, 2, 2}, {7, 7, 7, 7}, true, true},
        {4, 1, {1, 1, 0, 1}, {7, 7, 0, 8}, false, false}, /* one does not know */
    };
    struct strag_shm_process *process = strag_shm_process_create(4, 1 << 20);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct strag_shm_info infos[4] = {{.segment = -1}};
        struct strag_shm *shm = view(process, cases[c].n, 0);
        for (int r = 0; r < cases[c].n; r++)
            infos[r] = (struct strag_shm_info){.yields = cases[c].yields,
                                               .processors = cases[c].processors[r],
                                               .processor_set = cases[c].set[r]};
        (void)strag_shm_join(shm, infos); /* there are no others */
        assert_int_equal(shm->few, cases[c].few);
        strag_shm_choose_root(shm, 8);
        assert_int_equal(shm->super.hint_wait != NULL, cases[c].watch);
        strag_shm_free(shm);
    }
    strag_shm_process_free(process);
}
