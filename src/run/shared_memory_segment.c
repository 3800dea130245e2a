/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Setting up the memory that the ranks of a host share (shared_memory.h has the steps).
 *
 * A segment is a file without a name (memfd): it is gone with the last process that has it mapped,
 * however that ends, and takes memory only where something was written. Another process opens it by
 * its maker's folder in /proc. Where that folder cannot be seen, as between containers, or is
 * another process's, the opener does not find the key that it was told.
 *
 *     bytes of a segment   n rank statuses, n * n channels, (8n + 8) n slots of 1 to 32 KiB: up to
 *                          256 MiB, in memory only what the plans' messages have used
 *     segments             up to SEGMENTS_MAX of a process at the same time
 */
#define _GNU_SOURCE /* memfd_create, cpu_set_t */

#include "run/shared_memory_layout.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEADER = 4096, /* bytes before the rank statuses */
    SLOT_MAX = 32768,
    SLOT_MIN = 1024, /* bytes of a slot */
    SEGMENTS_MAX = 64,
    FEW_EACH = 2, /* ranks for each processor that they may run on, and */
    FEW_MAX = 16, /* in all: they look at one another while they wait */
    NONE = -1,
};

static const size_t segment_max = (size_t)256 << 20;
static const char name[] = "coll_strag", link_begins[] = "/memfd:coll_strag";

static atomic_int segments; /* of this process */

/* ---- What is where ---- */

static size_t statuses_bytes(int n)
{
    return (size_t)n * sizeof(struct strag_shm_rank_status);
}

static size_t channels_bytes(int n)
{
    return (size_t)n * (size_t)n * sizeof(struct strag_shm_channel);
}

static size_t slots_of_rank(int n)
{
    return (size_t)n * STRAG_SHM_SLOTS + STRAG_SHM_SHARED;
}

static size_t bytes_with(int n, size_t longest)
{
    return HEADER + statuses_bytes(n) + channels_bytes(n) + (size_t)n * slots_of_rank(n) * longest;
}

/* Slots as long as possible. @return whether so many ranks can share memory at all */
static bool find_size(struct strag_shm *shm)
{
    shm->longest = SLOT_MAX;
    while (shm->longest > SLOT_MIN && bytes_with(shm->n, shm->longest) > segment_max)
        shm->longest /= 2;
    shm->bytes = bytes_with(shm->n, shm->longest);
    return shm->bytes <= segment_max;
}

void strag_shm_attach(struct strag_shm *shm, void *memory)
{
    char *base = memory;
    struct strag_shm_rank_status *statuses = (void *)(base + HEADER);
    struct strag_shm_channel *channels = (void *)(base + HEADER + statuses_bytes(shm->n));
    const size_t n = (size_t)shm->n, me = (size_t)shm->me;
    const size_t stride = slots_of_rank(shm->n) * shm->longest;
    char *slots = base + HEADER + statuses_bytes(shm->n) + channels_bytes(shm->n);
    shm->segment = memory;
    shm->slots = slots + me * stride;
    shm->status = &statuses[me];
    shm->channels = channels;
    for (size_t i = 0; i < n; i++) {
        shm->peers[i].status = &statuses[i];
        shm->peers[i].out = &channels[me * n + i];
        shm->peers[i].in = &channels[i * n + me];
        shm->peers[i].slots = slots + i * stride;
    }
    strag_shm_publish_processor(shm);
}

/* ---- A rank's side ---- */

static bool make_peers(struct strag_shm *shm, const uint8_t *lane_of, uint8_t lane)
{
    shm->peer = calloc((size_t)shm->all, sizeof(struct strag_shm_peer *));
    if (!shm->peer || !strag_shm_init(shm))
        return false;
    for (int rank = 0, i = 0; rank < shm->all; rank++) {
        if (lane_of[rank] == lane)
            shm->peer[rank] = &shm->peers[i++];
    }
    return true;
}

struct strag_shm *strag_shm_create(const struct strag_shm_host *host, int n, int me,
                                   const uint8_t *lane_of, uint8_t lane)
{
    struct strag_shm *shm = calloc(1, sizeof *shm);
    if (!shm)
        return NULL;
    *shm = (struct strag_shm){.host = *host, .all = n, .fd = NONE, .leader = NONE};
    for (int rank = 0; rank < n; rank++) {
        if (lane_of[rank] != lane)
            continue;
        if (shm->leader == NONE)
            shm->leader = rank;
        if (rank == me)
            shm->me = shm->n;
        shm->n++;
    }
    bool counted = atomic_fetch_add(&segments, 1) < SEGMENTS_MAX;
    if (counted && find_size(shm) && make_peers(shm, lane_of, lane))
        return shm;
    strag_shm_free(shm);
    return NULL;
}

static bool map(struct strag_shm *shm, int fd)
{
    void *memory = mmap(NULL, shm->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return false;
    shm->mapped = true;
    strag_shm_attach(shm, memory);
    return true;
}

/* ---- Making a segment, and joining it ---- */

/* Which processors this rank may run on. Unknown: none. */
static void find_processors(struct strag_shm_info *info)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    info->processors = CPU_COUNT(&set);
    for (uint64_t i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &set)) /* FNV-1a */
            info->processor_set = (info->processor_set ^ (i + 1)) * UINT64_C(1099511628211);
    }
}

bool strag_shm_make(struct strag_shm *shm, struct strag_shm_info *info)
{
    *info =
        (struct strag_shm_info){.pid = (int32_t)getpid(), .fd = NONE, .yields = shm->host.yields};
    find_processors(info);
    if (shm->me != 0 || shm->n < 2)
        return true;
    info->fd = shm->fd = memfd_create(name, MFD_CLOEXEC);
    if (shm->fd < 0 || ftruncate(shm->fd, (off_t)shm->bytes) != 0 ||
        getrandom(&info->key, sizeof info->key, 0) != sizeof info->key || !map(shm, shm->fd))
        return false;
    memcpy(shm->segment, &info->key, sizeof info->key);
    return true;
}

/* Do ranks share processors, and only a few of them each? The same on all ranks. */
static bool are_few(const struct strag_shm *shm, const struct strag_shm_info *infos)
{
    if (!infos[0].yields || !strag_shm_is_alone(shm) || shm->n > FEW_MAX)
        return false;
    for (int i = 0; i < shm->n; i++) {
        int together = 0;
        for (int k = 0; k < shm->n; k++)
            together += infos[k].processor_set == infos[i].processor_set;
        if (together > FEW_EACH * infos[i].processors)
            return false;
    }
    return true;
}

/* Only such a file is opened as is known to be harmless. */
static int open_segment(const struct strag_shm_info *maker)
{
    char path[64], target[sizeof link_begins];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)maker->pid, (int)maker->fd);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length != (ssize_t)sizeof target - 1 || memcmp(target, link_begins, sizeof target - 1) != 0)
        return NONE;
    return open(path, O_RDWR | O_CLOEXEC);
}

bool strag_shm_join(struct strag_shm *shm, const struct strag_shm_info *infos)
{
    const struct strag_shm_info *maker = &infos[shm->leader];
    struct stat status;
    uint64_t key = 0;
    shm->few = are_few(shm, infos);
    if (shm->segment || shm->n < 2)
        return true;
    int fd = open_segment(maker);
    if (fd < 0)
        return false;
    bool joined = fstat(fd, &status) == 0 && status.st_size == (off_t)shm->bytes &&
                  pread(fd, &key, sizeof key, 0) == sizeof key && key == maker->key && map(shm, fd);
    close(fd);
    return joined;
}

void strag_shm_seal(struct strag_shm *shm)
{
    if (shm->fd >= 0)
        close(shm->fd);
    shm->fd = NONE;
}

void strag_shm_free(struct strag_shm *shm)
{
    if (!shm)
        return;
    strag_shm_seal(shm);
    if (shm->mapped)
        munmap(shm->segment, shm->bytes);
    atomic_fetch_sub(&segments, 1);
    strag_shm_clear(shm);
    free(shm->peer);
    free(shm);
}
