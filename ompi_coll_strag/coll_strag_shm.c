/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Setting up the memory that the ranks of a host share, during a communicator's first exchange. It
 * goes like this on all ranks, whatever happens to one:
 *
 *     the lowest rank of each host   makes a segment
 *     all                            does everybody have what it needs? (an allreduce)
 *     all                            tell where the segments are (an allgather)
 *     the others of each host        map theirs
 *     all                            has everybody? (an allreduce)
 *
 * If somebody has not, all ranks go on over the PML alone.
 *
 * A segment is a file without a name (memfd): it is gone with the last process that has it mapped,
 * however that ends, and takes memory only where somebody wrote. Another process opens it by its
 * maker's folder in /proc. Where that is not to be seen, as between containers, or is another
 * process's, it does not find the number that it was told.
 *
 *     bytes of a segment   n words, n * n channels, (8n + 8) n slots of 1 to 32 KiB: up to 256 MiB,
 *                          in memory only what the plans' messages have used
 *     segments             up to SEGMENTS_MOST of a process at the same time
 */
#include "coll_strag_shm.h"

#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEADER = 4096, /* bytes before the words */
    LONGEST = 32768,
    SHORTEST = 1024, /* bytes of a slot */
    SEGMENTS_MOST = 64,
    FEW_EACH = 2,  /* ranks for each processor that they may run on, and */
    FEW_MOST = 16, /* in all: they look at one another while they wait */
    NONE = -1,
};

static const size_t segment_most = (size_t)256 << 20;
static const char name[] = "coll_strag", link_begins[] = "/memfd:coll_strag";

static atomic_int segments; /* of this process */

/* What a rank tells the others. */
struct place {
    int32_t pid, fd;
    uint64_t number;    /* at the beginning of the segment; random */
    int32_t yields;     /* does a rank that waits give its processor away? */
    int32_t processors; /* that it may run on */
    uint64_t which;     /* the same for the same processors */
};

/* Setting up, on one rank. */
struct setup {
    const mca_coll_strag_module_t *module;
    ompi_communicator_t *comm;
    bool able;  /* this rank, so far */
    int leader; /* the lowest rank of the host */
    int fd;
    struct place *places; /* [rank] */
    struct coll_strag_shm *shm;
};

/* ---- What is where ---- */

static size_t words_bytes(int n)
{
    return (size_t)n * sizeof(struct coll_strag_word);
}

static size_t channels_bytes(int n)
{
    return (size_t)n * (size_t)n * sizeof(struct coll_strag_channel);
}

static size_t slots_of_rank(int n)
{
    return (size_t)n * COLL_STRAG_SLOTS + COLL_STRAG_SHARED;
}

static size_t bytes_with(int n, size_t longest)
{
    return HEADER + words_bytes(n) + channels_bytes(n) + (size_t)n * slots_of_rank(n) * longest;
}

/* Slots as long as may be. @return whether so many ranks can share memory at all */
static bool find_size(struct coll_strag_shm *shm)
{
    shm->longest = LONGEST;
    while (shm->longest > SHORTEST && bytes_with(shm->n, shm->longest) > segment_most)
        shm->longest /= 2;
    shm->bytes = bytes_with(shm->n, shm->longest);
    return shm->bytes <= segment_most;
}

static void find_addresses(struct coll_strag_shm *shm)
{
    char *base = shm->segment;
    struct coll_strag_word *words = (void *)(base + HEADER);
    struct coll_strag_channel *channels = (void *)(base + HEADER + words_bytes(shm->n));
    const size_t n = (size_t)shm->n, me = (size_t)shm->me;
    const size_t stride = slots_of_rank(shm->n) * shm->longest;
    char *slots = base + HEADER + words_bytes(shm->n) + channels_bytes(shm->n);
    shm->slots = slots + me * stride;
    shm->word = &words[me];
    shm->channels = channels;
    for (size_t i = 0; i < n; i++) {
        shm->peers[i].word = &words[i];
        shm->peers[i].out = &channels[me * n + i];
        shm->peers[i].in = &channels[i * n + me];
        shm->peers[i].slots = slots + i * stride;
    }
}

/* ---- What a rank does by itself ---- */

/* Who is on this host, in the order of ranks. */
static void find_ranks(struct setup *setup, struct coll_strag_shm *shm)
{
    const uint8_t *lane_of = setup->module->lane_of;
    const int n = ompi_comm_size(setup->comm), me = ompi_comm_rank(setup->comm);
    setup->leader = NONE;
    for (int rank = 0; rank < n; rank++) {
        if (lane_of[rank] != COLL_STRAG_MEMORY)
            continue;
        if (setup->leader == NONE)
            setup->leader = rank;
        if (rank == me)
            shm->me = shm->n;
        shm->n++;
    }
    shm->alone = shm->n == n;
}

static bool make_tables(struct coll_strag_shm *shm, const uint8_t *lane_of, int n)
{
    shm->peer = calloc((size_t)n, sizeof(struct coll_strag_shm_peer *));
    if (NULL == shm->peer || !coll_strag_shm_init(shm))
        return false;
    for (int rank = 0, i = 0; rank < n; rank++) {
        if (lane_of[rank] == COLL_STRAG_MEMORY)
            shm->peer[rank] = &shm->peers[i++];
    }
    return true;
}

static bool map(struct coll_strag_shm *shm, int fd)
{
    void *memory = mmap(NULL, shm->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return false;
    shm->segment = memory;
    find_addresses(shm);
    coll_strag_shm_tell_processor(shm);
    return true;
}

/* Which processors this rank may run on. Unknown: none. */
static void find_processors(struct place *place)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    place->processors = CPU_COUNT(&set);
    for (uint64_t i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &set))
            place->which = (place->which ^ (i + 1)) * UINT64_C(1099511628211); /* FNV-1a */
    }
}

/* Do ranks share processors, and only a few of them each? The same on all ranks. */
static bool are_few(const struct setup *setup)
{
    const struct place *places = setup->places;
    const int n = ompi_comm_size(setup->comm);
    if (!places[0].yields || setup->shm->n < n || n > FEW_MOST)
        return false;
    for (int i = 0; i < n; i++) {
        int together = 0;
        for (int k = 0; k < n; k++)
            together += places[k].which == places[i].which;
        if (together > FEW_EACH * places[i].processors)
            return false;
    }
    return true;
}

/* The lowest rank's part. */
static bool make_segment(struct setup *setup, struct place *place)
{
    setup->fd = memfd_create(name, MFD_CLOEXEC);
    if (setup->fd < 0 || ftruncate(setup->fd, (off_t)setup->shm->bytes) != 0 ||
        getrandom(&place->number, sizeof place->number, 0) != sizeof place->number ||
        !map(setup->shm, setup->fd))
        return false;
    memcpy(setup->shm->segment, &place->number, sizeof place->number);
    place->pid = (int32_t)getpid();
    place->fd = setup->fd;
    return true;
}

/* Only such a file is opened as is known to be harmless. */
static int open_segment(const struct place *place)
{
    char path[64], target[sizeof link_begins];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)place->pid, (int)place->fd);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length != (ssize_t)sizeof target - 1 || memcmp(target, link_begins, sizeof target - 1) != 0)
        return NONE;
    return open(path, O_RDWR | O_CLOEXEC);
}

/* The other ranks' part. */
static bool join_segment(struct setup *setup)
{
    const struct place *place = &setup->places[setup->leader];
    struct stat status;
    uint64_t number = 0;
    setup->fd = open_segment(place);
    return setup->fd >= 0 && fstat(setup->fd, &status) == 0 &&
           status.st_size == (off_t)setup->shm->bytes &&
           pread(setup->fd, &number, sizeof number, 0) == sizeof number &&
           number == place->number && map(setup->shm, setup->fd);
}

/* What this rank needs before others are asked. */
static bool prepare(struct setup *setup, struct place *own)
{
    if (!setup->able)
        return false;
    const int n = ompi_comm_size(setup->comm);
    struct coll_strag_shm *shm = calloc(1, sizeof *shm);
    setup->shm = shm;
    setup->places = calloc((size_t)n, sizeof *setup->places);
    if (NULL == shm || NULL == setup->places)
        return false;
    find_ranks(setup, shm);
    shm->counted = true;
    if (atomic_fetch_add(&segments, 1) >= SEGMENTS_MOST || !find_size(shm) ||
        !make_tables(shm, setup->module->lane_of, n))
        return false;
    return setup->leader != ompi_comm_rank(setup->comm) || shm->n < 2 || make_segment(setup, own);
}

/* ---- Together ---- */

/* Is everybody able? Our own allreduce hands on what comes during the exchange. */
static int agree(const struct setup *setup, bool able, bool *all)
{
    const mca_coll_strag_module_t *module = setup->module;
    int mine = able, least = 0;
    int code = module->previous_allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, setup->comm,
                                          module->previous_allreduce_module);
    *all = code == OMPI_SUCCESS && least;
    return code;
}

static int set_up(struct setup *setup, bool *all)
{
    ompi_communicator_t *comm = setup->comm;
    struct place own = {.fd = NONE, .yields = opal_progress_yield_when_idle};
    find_processors(&own);
    int code = agree(setup, prepare(setup, &own), all);
    if (code == OMPI_SUCCESS && *all)
        code = comm->c_coll->coll_allgather(&own, sizeof own, MPI_BYTE, setup->places, sizeof own,
                                            MPI_BYTE, comm, comm->c_coll->coll_allgather_module);
    if (code != OMPI_SUCCESS || !*all)
        return code;
    setup->shm->few = are_few(setup);
    bool mapped = setup->shm->segment || setup->shm->n < 2 || join_segment(setup);
    return agree(setup, mapped, all);
}

int coll_strag_shm_connect(mca_coll_strag_module_t *module, ompi_communicator_t *comm, bool able,
                           bool wanted)
{
    struct setup setup = {.module = module, .comm = comm, .able = able, .fd = NONE};
    bool all = false;
    int code = set_up(&setup, &all);
    if (setup.fd >= 0)
        close(setup.fd);
    free(setup.places);
    if (code == OMPI_SUCCESS && all)
        module->shm = setup.shm;
    else
        coll_strag_shm_free(setup.shm);
    if (!all && wanted && ompi_comm_rank(comm) == 0)
        coll_strag_warn(COLL_STRAG_WARN_NOT_SHARED, comm->c_name, "a rank could not");
    return code;
}

void coll_strag_shm_free(struct coll_strag_shm *shm)
{
    if (NULL == shm)
        return;
    if (shm->segment)
        munmap(shm->segment, shm->bytes);
    if (shm->counted)
        atomic_fetch_sub(&segments, 1);
    coll_strag_shm_clear(shm);
    free(shm->peer);
    free(shm);
}
