/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator's attribute whose value is a pointer. MPI_COMM_WORLD and MPI_COMM_SELF are made
 * while MPI_Init runs, when MPI's own functions may not be called in Open MPI 4.1. Of its internal
 * ones Open MPI exports those that its Fortran interface needs. Their values are integers: here
 * they hold an address, which callbacks get from coll_strag_attribute_get.
 */
#ifndef COLL_STRAG_COMPAT_ATTRIBUTES_H
#define COLL_STRAG_COMPAT_ATTRIBUTES_H

#include "compat.h"

#include "ompi/attribute/attribute.h"
#include "ompi/runtime/mpiruntime.h"

/* In 4.1 a copy callback is given the new communicator, too. */
#if OMPI_MAJOR_VERSION >= 5
#define COLL_STRAG_COPY_ARGUMENT
#else
#define COLL_STRAG_COPY_ARGUMENT , MPI_Comm made __opal_attribute_unused__
#endif

static inline int coll_strag_attribute_not_copied(MPI_Comm comm, int key, void *extra, void *value,
                                                  void *copy, int *flag COLL_STRAG_COPY_ARGUMENT)
{
    (void)comm, (void)key, (void)extra, (void)value, (void)copy;
    *flag = 0;
    return MPI_SUCCESS;
}

/** Make a key for attributes that dups do not get. @return MPI_KEYVAL_INVALID if out of memory */
static inline int coll_strag_attribute_key(MPI_Comm_delete_attr_function *deleted)
{
    const ompi_attribute_fn_ptr_union_t copy_fn = {.attr_communicator_copy_fn =
                                                       coll_strag_attribute_not_copied};
    const ompi_attribute_fn_ptr_union_t delete_fn = {.attr_communicator_delete_fn = deleted};
    int key;
    return ompi_attr_create_keyval(COMM_ATTR, copy_fn, delete_fn, &key, NULL, 0, NULL) ==
                   OMPI_SUCCESS
               ? key
               : MPI_KEYVAL_INVALID;
}

/** @return false if out of memory */
static inline bool coll_strag_attribute_set(ompi_communicator_t *comm, int key, void *value)
{
    return ompi_attr_set_aint(COMM_ATTR, comm, &comm->c_keyhash, key, (MPI_Aint)value, false) ==
           OMPI_SUCCESS;
}

/** May be called in a callback, for that callback's communicator. @return NULL if there is none */
static inline void *coll_strag_attribute_get(const ompi_communicator_t *comm, int key)
{
    MPI_Aint value;
    int found = 0;
    const int code = ompi_attr_get_aint(comm->c_keyhash, key, &value, &found);
    return code == OMPI_SUCCESS && found ? (void *)value : NULL;
}

/** Is there an MPI_COMM_SELF, whose attributes MPI_Finalize will delete? A process that has
 * sessions only has none. */
static inline bool coll_strag_will_finalize(void)
{
    return ompi_mpi_state > OMPI_MPI_STATE_NOT_INITIALIZED &&
           ompi_mpi_state < OMPI_MPI_STATE_FINALIZE_STARTED;
}

#endif
