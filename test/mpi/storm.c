/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A storm of communicators: made of one another in every way, by dup, idup, split, create,
 * create_group, grids, intercommunicators and sessions, freed or disconnected in any order, with
 * checked calls (caller.h) on old ones and new ones in between. At most LIVE are there at a time.
 *
 *     mpirun --mca coll strag storm [--steps N] [--fault KIND:N]
 *
 * --steps  each makes one (default 300)
 * --fault  the last rank does something wrong after N calls (caller.h), which must be noticed
 *
 * All ranks follow the same list of steps; in each, those that are members of the communicator at
 * hand take part.
 */
#include "caller.h"
#include "shapes.h"

enum { LIVE = 16, BYTES = 1 << 18 };

/* MPI_COMM_WORLD is never freed; the others' `comm` may be MPI_COMM_NULL: not a member, or none. */
static struct caller_comm world, live[LIVE];
static struct caller caller;

/* A way to make a communicator of another one, whose members call it; `random` is the same on all.
 * MPI_COMM_NULL: this rank is not a member of the new one. */
struct way {
    const char *name;
    MPI_Comm (*make)(struct caller_comm *parent, uint64_t random);
    int made; /* with this rank as a member */
};

/* ---- Copies ---- */

static MPI_Comm make_dup(struct caller_comm *parent, uint64_t random)
{
    MPI_Comm comm;
    TEST_MPI(MPI_Comm_dup(parent->comm, &comm));
    return comm;
}

/* With calls on the parent while the copy is made. */
static MPI_Comm make_idup(struct caller_comm *parent, uint64_t random)
{
    MPI_Comm comm;
    MPI_Request request;
    TEST_MPI(MPI_Comm_idup(parent->comm, &comm, &request));
    for (uint64_t i = 0; i < random % 3; i++)
        caller_call(&caller, parent, random + i);
    TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return comm;
}

static MPI_Comm make_dup_with_info(struct caller_comm *parent, uint64_t random)
{
    static const char *const algorithms[] = {"ring", "circulant", "recursive-doubling", "direct"};
    return test_pinned(parent->comm, algorithms[random % 4]);
}

static MPI_Comm make_grid(struct caller_comm *parent, uint64_t random)
{
    int sizes[2] = {0, 0}, periodic[2] = {0 != random % 2, 0 != random / 2 % 2};
    MPI_Comm comm;
    TEST_MPI(MPI_Dims_create(parent->n, 2, sizes));
    TEST_MPI(MPI_Cart_create(parent->comm, 2, sizes, periodic, 1, &comm));
    return comm;
}

/* ---- Parts ---- */

/* A number of this rank's own. */
static uint64_t own(const struct caller_comm *parent, uint64_t random)
{
    return test_mix(random ^ test_mix((uint64_t)parent->rank + 1));
}

static MPI_Comm make_split(struct caller_comm *parent, uint64_t random)
{
    const uint64_t mine = own(parent, random);
    const int color = 0 == mine % 8 ? MPI_UNDEFINED : (int)(mine / 8 % 2);
    MPI_Comm comm;
    TEST_MPI(MPI_Comm_split(parent->comm, color, (int)(mine >> 40), &comm));
    return comm;
}

static MPI_Comm make_split_type(struct caller_comm *parent, uint64_t random)
{
    MPI_Comm comm;
    TEST_MPI(MPI_Comm_split_type(parent->comm, MPI_COMM_TYPE_SHARED,
                                 (int)(own(parent, random) >> 40), MPI_INFO_NULL, &comm));
    return comm;
}

/* About three of four ranks, in turned order; at least one. */
static MPI_Group choose_group(const struct caller_comm *parent, uint64_t random)
{
    int *ranks = test_allocate((size_t)parent->n * sizeof(*ranks)), count = 0;
    MPI_Group all, group;
    for (int i = 0; i < parent->n; i++) {
        const int rank = (int)((random + (uint64_t)i) % (uint64_t)parent->n);
        if (0 == i || 0 != test_mix(random + (uint64_t)rank) % 4)
            ranks[count++] = rank;
    }
    TEST_MPI(MPI_Comm_group(parent->comm, &all));
    TEST_MPI(MPI_Group_incl(all, count, ranks, &group));
    TEST_MPI(MPI_Group_free(&all));
    free(ranks);
    return group;
}

static MPI_Comm make_create(struct caller_comm *parent, uint64_t random)
{
    MPI_Comm comm;
    MPI_Group group = choose_group(parent, random);
    TEST_MPI(MPI_Comm_create(parent->comm, group, &comm));
    TEST_MPI(MPI_Group_free(&group));
    return comm;
}

/* Only its members take part. */
static MPI_Comm make_create_group(struct caller_comm *parent, uint64_t random)
{
    int member;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group group = choose_group(parent, random);
    TEST_MPI(MPI_Group_rank(group, &member));
    if (MPI_UNDEFINED != member)
        TEST_MPI(MPI_Comm_create_group(parent->comm, group, (int)(random % 1000), &comm));
    TEST_MPI(MPI_Group_free(&group));
    return comm;
}

/* ---- Two groups ---- */

/* Even ranks and odd ones: each receives the sum of the others. */
static void use_inter(MPI_Comm inter, const struct caller_comm *parent)
{
    int mine = parent->rank + 1, sum = 0, want = 0;
    for (int rank = 1 - parent->rank % 2; rank < parent->n; rank += 2)
        want += rank + 1;
    TEST_MPI(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter));
    TEST_CHECK(want == sum, "intercommunicator of %s: %d, not %d", parent->name, sum, want);
}

static MPI_Comm make_merge(struct caller_comm *parent, uint64_t random)
{
    const int side = parent->rank % 2;
    MPI_Comm half, inter, comm;
    if (parent->n < 2)
        return make_dup(parent, random);
    TEST_MPI(MPI_Comm_split(parent->comm, side, parent->rank, &half));
    TEST_MPI(MPI_Intercomm_create(half, 0, parent->comm, 1 - side, 11, &inter));
    use_inter(inter, parent);
    TEST_MPI(MPI_Intercomm_merge(inter, side ^ (int)(random % 2), &comm));
    if (0 == random / 2 % 2)
        TEST_MPI(MPI_Comm_free(&inter));
    else
        TEST_MPI(MPI_Comm_disconnect(&inter));
    TEST_MPI(MPI_Comm_free(&half));
    return comm;
}

#if MPI_VERSION >= 4
/* All ranks have a session, and a communicator of its own. */
static MPI_Comm make_session(struct caller_comm *parent, uint64_t random)
{
    char tag[32];
    MPI_Session session;
    MPI_Group group;
    MPI_Comm from;
    if (parent->n < test.n)
        return make_dup(parent, random);
    snprintf(tag, sizeof(tag), "storm-%llx", (unsigned long long)random);
    TEST_MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    TEST_MPI(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    TEST_MPI(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &from));
    struct caller_comm opened = caller_open(from, "a session's");
    caller_call(&caller, &opened, random);
    TEST_MPI(MPI_Comm_free(&from));
    TEST_MPI(MPI_Group_free(&group));
    TEST_MPI(MPI_Session_finalize(&session));
    return make_dup(parent, random);
}
#endif

static struct way ways[] = {
    {"dup", make_dup, 0},
    {"dup", make_dup, 0}, /* the most frequent ones in programs: twice */
    {"idup", make_idup, 0},
    {"dup_with_info", make_dup_with_info, 0},
    {"grid", make_grid, 0},
    {"split", make_split, 0},
    {"split", make_split, 0},
    {"split_type", make_split_type, 0},
    {"create", make_create, 0},
    {"create_group", make_create_group, 0},
    {"merge", make_merge, 0},
#if MPI_VERSION >= 4
    {"session", make_session, 0},
#endif
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/* ---- The storm ---- */

/* Free a communicator in one of the two ways, after its ranks have compared their results. */
static void close_comm(struct caller_comm *comm, uint64_t random)
{
    if (MPI_COMM_NULL == comm->comm)
        return;
    caller_compare(&caller, comm);
    if (0 == random % 4)
        TEST_MPI(MPI_Comm_disconnect(&comm->comm));
    else
        TEST_MPI(MPI_Comm_free(&comm->comm));
}

/* Make a communicator, and calls on it. */
static struct caller_comm make(int k, struct way *way, struct caller_comm *parent, uint64_t random)
{
    struct caller_comm made = {.comm = way->make(parent, random)};
    char name[64];
    if (MPI_COMM_NULL == made.comm)
        return made;
    snprintf(name, sizeof(name), "%d, made by %s", k, way->name);
    made = caller_open(made.comm, name);
    way->made++;
    for (uint64_t i = 0; i < 1 + random % 3; i++)
        caller_call(&caller, &made, random + i);
    return made;
}

/* A communicator takes another one's place, which is freed before or after that. A rank that is no
 * member of the parent, or of one that is called on, takes no part there. */
static void step(int k)
{
    const uint64_t random = test_mix(test.seed + test_mix((uint64_t)k));
    struct caller_comm *place = &live[random % LIVE], *parent = &live[(random >> 8) % LIVE];
    struct caller_comm former = *place, made = {.comm = MPI_COMM_NULL};
    struct caller_comm *other = &live[(random >> 40) % LIVE];
    if (parent == place || 0 == (random >> 24) % 4)
        parent = &world;
    if (MPI_COMM_NULL != other->comm)
        caller_call(&caller, other, random);
    *place = made;
    if (0 == (random >> 32) % 2)
        close_comm(&former, random >> 48);
    if (MPI_COMM_NULL != parent->comm)
        made = make(k, &ways[(random >> 16) % WAYS], parent, random);
    close_comm(&former, random >> 48);
    *place = made;
}

int main(int argc, char **argv)
{
    const char *steps = "300", *fault = "none";
    const struct test_option options[] = {{"steps", &steps}, {"fault", &fault}, {NULL, NULL}};
    test_start(&argc, &argv, "storm", MPI_THREAD_SINGLE, options);
    const int count = (int)test_number("steps", steps, 1, 10000000);
    caller_prepare();
    caller_create(&caller, BYTES);
    if (test.rank == test.n - 1)
        caller_spoil(&caller, fault);
    world = caller_open(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    for (int i = 0; i < LIVE; i++)
        live[i].comm = MPI_COMM_NULL;

    const struct test_counters before = test_counters_read();
    for (int k = 0; k < count; k++)
        step(k);
    for (int i = 0; i < LIVE; i++)
        close_comm(&live[i], (uint64_t)i);
    caller_compare(&caller, &world);
    caller_ran(before, (unsigned long long)caller.made);

    for (int w = 0; 0 == test.rank && w < WAYS; w++)
        printf("storm: %d by %s\n", ways[w].made, ways[w].name);
    caller_count(&caller);
    caller_free(&caller);
    shapes_free();
    return test_finish();
}
