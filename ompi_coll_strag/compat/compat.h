/* SPDX-License-Identifier: BSD-3-Clause */
/* What differs between Open MPI 4.1, 5.0 and 6.0, and nothing else. */
#ifndef COLL_STRAG_COMPAT_H
#define COLL_STRAG_COMPAT_H

#include "ompi_config.h"

#include "mpi.h"

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/mca/bml/base/base.h"
#include "ompi/mca/bml/bml.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/pml/base/base.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/op/op.h"
#include "ompi/proc/proc.h"
#include "ompi/request/request.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/class/opal_bitmap.h"
#include "opal/class/opal_hash_table.h"
#include "opal/datatype/opal_convertor.h"
#include "opal/mca/base/base.h"
#include "opal/mca/base/mca_base_component_repository.h"
#include "opal/mca/base/mca_base_pvar.h"
#include "opal/mca/hwloc/base/base.h"
#if OMPI_MAJOR_VERSION >= 5
#include "opal/mca/pmix/pmix-internal.h"
#else
#include "opal/mca/pmix/pmix.h"
#endif
#include "opal/runtime/opal.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/info.h"
#include "opal/util/keyval_parse.h"
#include "opal/util/output.h"
#include "opal/util/proc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The structure that contains a member (5.0 has a similar macro). */
#define COLL_STRAG_OWNER(pointer, type, member)                                                    \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* The framework's version in the component's header, and the type of a count. */
#if OMPI_MAJOR_VERSION >= 6
#define COLL_STRAG_FRAMEWORK_VERSION MCA_COLL_BASE_VERSION_3_0_0
typedef size_t coll_strag_count_t;
#elif OMPI_MAJOR_VERSION == 5
#define COLL_STRAG_FRAMEWORK_VERSION MCA_COLL_BASE_VERSION_2_4_0
typedef int coll_strag_count_t;
#else
#define COLL_STRAG_FRAMEWORK_VERSION MCA_COLL_BASE_VERSION_2_0_0
typedef int coll_strag_count_t;
#endif

/*
 * Putting a module's functions into the communicator, and keeping the previous modules alive.
 *
 * Up to 5.0 the framework copies the functions that a module has when it has been enabled, and
 * releases the previous module, which strag therefore retains. From 6.0 on the module installs and
 * restores its functions itself, and previous modules live as long as the communicator.
 */
#define COLL_STRAG_CAPTURE(module, comm, api)                                                      \
    do {                                                                                           \
        (module)->previous.api = (comm)->c_coll->coll_##api;                                       \
        (module)->previous.api##_module = (comm)->c_coll->coll_##api##_module;                     \
        if (OMPI_MAJOR_VERSION < 6 && NULL != (module)->previous.api##_module)                     \
            OBJ_RETAIN((module)->previous.api##_module);                                           \
    } while (0)
#define COLL_STRAG_FORGET(module, api)                                                             \
    do {                                                                                           \
        if (OMPI_MAJOR_VERSION < 6 && NULL != (module)->previous.api##_module)                     \
            OBJ_RELEASE((module)->previous.api##_module);                                          \
        (module)->previous.api = NULL;                                                             \
        (module)->previous.api##_module = NULL;                                                    \
    } while (0)
#if OMPI_MAJOR_VERSION >= 6
#define COLL_STRAG_INSTALL(module, comm, api, function)                                            \
    MCA_COLL_INSTALL_API(comm, api, function, &(module)->super, "strag")
#define COLL_STRAG_RESTORE(module, comm, api)                                                      \
    do {                                                                                           \
        if ((comm)->c_coll->coll_##api##_module == &(module)->super)                               \
            MCA_COLL_INSTALL_API(comm, api, (module)->previous.api,                                \
                                 (module)->previous.api##_module, "strag");                        \
    } while (0)
#else
#define COLL_STRAG_INSTALL(module, comm, api, function)                                            \
    do {                                                                                           \
        (void)(comm);                                                                              \
        (module)->super.coll_##api = (function);                                                   \
    } while (0)
#define COLL_STRAG_RESTORE(module, comm, api)                                                      \
    do {                                                                                           \
        (void)(module);                                                                            \
        (void)(comm);                                                                              \
    } while (0)
#endif

/* Texts in the modex, readable by all processes that this one may talk to; an info key's name. */
#if OMPI_MAJOR_VERSION >= 5
#define COLL_STRAG_MODEX_ALL        PMIX_GLOBAL
#define COLL_STRAG_MODEX_TEXT       PMIX_STRING
#define COLL_STRAG_INFO_NAME(entry) ((entry)->ie_key->string)
#else
#define COLL_STRAG_MODEX_ALL        OPAL_PMIX_GLOBAL
#define COLL_STRAG_MODEX_TEXT       OPAL_STRING
#define COLL_STRAG_INFO_NAME(entry) ((entry)->ie_key)
#endif

/* Where a text is looked for: in this process; on this host, too; or anywhere, waiting until its
 * process has said whether it has one. */
enum coll_strag_modex { COLL_STRAG_MODEX_HERE, COLL_STRAG_MODEX_HOST, COLL_STRAG_MODEX_WAIT };

/* The text that a process has published. (4.1's macros do not survive a lack of memory.)
 * @return to be freed; NULL if there is none, or if out of memory */
static inline char *coll_strag_modex_text(const opal_process_name_t *name, const char *key,
                                          enum coll_strag_modex where)
{
    char *text = NULL;
    int code;
#if OMPI_MAJOR_VERSION >= 5
    if (where == COLL_STRAG_MODEX_HERE) {
        OPAL_MODEX_RECV_VALUE_OPTIONAL(code, key, name, &text, COLL_STRAG_MODEX_TEXT);
    } else if (where == COLL_STRAG_MODEX_HOST) {
        OPAL_MODEX_RECV_VALUE_IMMEDIATE(code, key, name, &text, COLL_STRAG_MODEX_TEXT);
    } else {
        OPAL_MODEX_RECV_VALUE(code, key, name, &text, COLL_STRAG_MODEX_TEXT);
    }
#else
    opal_value_t option, *value = NULL;
    opal_list_t options;
    OBJ_CONSTRUCT(&option, opal_value_t);
    OBJ_CONSTRUCT(&options, opal_list_t);
    option.key =
        where == COLL_STRAG_MODEX_HERE ? (char *)OPAL_PMIX_OPTIONAL : (char *)OPAL_PMIX_IMMEDIATE;
    option.type = OPAL_BOOL;
    option.data.flag = true;
    if (where != COLL_STRAG_MODEX_WAIT)
        opal_list_append(&options, &option.super);
    code = opal_pmix.get(name, key, &options, &value);
    if (code == OPAL_SUCCESS && NULL != value && value->type == OPAL_STRING) {
        text = value->data.string;
        value->data.string = NULL;
    }
    if (NULL != value)
        OBJ_RELEASE(value);
    if (where != COLL_STRAG_MODEX_WAIT)
        opal_list_remove_item(&options, &option.super);
    option.key = NULL; /* a constant, not to be freed */
    OBJ_DESTRUCT(&options);
    OBJ_DESTRUCT(&option);
#endif
    return code == OPAL_SUCCESS ? text : NULL;
}

/* The operator and the type that Open MPI retains for a nonblocking call.
 * @return [2], each NULL if it retains none */
static inline opal_object_t **coll_strag_request_kept(ompi_coll_base_nbc_request_t *request)
{
#if OMPI_MAJOR_VERSION >= 5
    return request->data.refcounted.objs.objs;
#else
    return request->data.objs.objs;
#endif
}

/* Open MPI has types for half precision. */
#if OMPI_MAJOR_VERSION >= 5
#define COLL_STRAG_SHORT_FLOAT
#endif

/* A communicator's id as other components' messages show it. */
static inline const char *coll_strag_cid(const ompi_communicator_t *comm, char *buffer, size_t size)
{
#if OMPI_MAJOR_VERSION >= 5
    snprintf(buffer, size, "%s", ompi_comm_print_cid(comm));
#else
    snprintf(buffer, size, "%d", (int)comm->c_contextid);
#endif
    return buffer;
}

/* A communicator's info key. @return whether it is there and fits */
static inline bool coll_strag_info(const ompi_communicator_t *comm, const char *key, char *value,
                                   size_t size)
{
    int found = 0;
    if (NULL == comm->super.s_info)
        return false;
#if OMPI_MAJOR_VERSION >= 5
    opal_cstring_t *text = NULL;
    if (opal_info_get(comm->super.s_info, key, &text, &found) != OPAL_SUCCESS || !found)
        return false;
    found = snprintf(value, size, "%s", text->string) < (int)size;
    OBJ_RELEASE(text);
#else
    /* MPI_Comm_set_info stores a key under another name if nobody has subscribed to it. */
    char saved[MPI_MAX_INFO_KEY + sizeof OPAL_INFO_SAVE_PREFIX];
    snprintf(saved, sizeof saved, OPAL_INFO_SAVE_PREFIX "%s", key);
    opal_info_get(comm->super.s_info, key, (int)size - 1, value, &found);
    if (!found)
        opal_info_get(comm->super.s_info, saved, (int)size - 1, value, &found);
#endif
    return found;
}

#endif
