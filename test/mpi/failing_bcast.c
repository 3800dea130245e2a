/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To be preloaded: on the rank FAILING_BCAST of MPI_COMM_WORLD the first broadcast of a policy of
 * the dynamic regime (watch/dynamic.h) ends with an error, after it was done; on the others it ends
 * well. For coll/tuned with algorithm 6.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include "watch/dynamic.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int ompi_coll_base_bcast_intra_binomial(void *buffer, size_t count, void *type, int root,
                                        void *comm, void *module, uint32_t segment);

/* Before Open MPI 6 the count is an int: it comes in the lower half of the same register. */
int ompi_coll_base_bcast_intra_binomial(void *buffer, size_t count, void *type, int root,
                                        void *comm, void *module, uint32_t segment)
{
    static atomic_bool done;
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *where = getenv("FAILING_BCAST");
    int (*next)(void *, size_t, void *, int, void *, void *, uint32_t);
    *(void **)&next = dlsym(RTLD_NEXT, "ompi_coll_base_bcast_intra_binomial");
    const int code = next(buffer, count, type, root, comm, module, segment);
    if ((uint32_t)count != sizeof(struct strag_dynamic_policy) || !rank || !where ||
        strcmp(rank, where) != 0 || atomic_exchange(&done, 1))
        return code;
    return MPI_ERR_OTHER;
}
