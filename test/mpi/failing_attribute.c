/* SPDX-License-Identifier: BSD-3-Clause */
/* To be preloaded: on the rank FAILING_ATTRIBUTE of MPI_COMM_WORLD there is no memory for strag's
 * attributes. */
#define _GNU_SOURCE /* RTLD_NEXT */

#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int ompi_attr_set_aint(int type, void *object, void **table, int key, MPI_Aint value, bool own);

int ompi_attr_set_aint(int type, void *object, void **table, int key, MPI_Aint value, bool own)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *where = getenv("FAILING_ATTRIBUTE");
    int (*next)(int, void *, void **, int, MPI_Aint, bool);
    if (rank && where && strcmp(rank, where) == 0)
        return MPI_ERR_NO_MEM;
    *(void **)&next = dlsym(RTLD_NEXT, "ompi_attr_set_aint");
    return next(type, object, table, key, value, own);
}
