/* SPDX-License-Identifier: BSD-3-Clause */
#include "driver.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* @return whether it exists or is not required */
static bool find(void *handle, const char *symbol, bool needed, void *field,
                 struct strag_error *err)
{
    void *address = dlsym(handle, symbol);
    memcpy(field, &address, sizeof address); /* a pointer to data becomes one to a function */
    if (!address && needed)
        strag_fail(err, STRAG_ERR_UNSUPPORTED, "the driver has no function %s; CUDA 11 is needed",
                   symbol);
    return address || !needed;
}

int driver_find(struct driver *driver, void *handle, struct strag_error *err)
{
    bool found = true;
#define FIND(field, symbol, needed, arguments)                                                     \
    found = found && find(handle, #symbol, needed, &driver->field, err);
    DRIVER_FUNCTIONS(FIND)
#undef FIND
    return found ? STRAG_OK : STRAG_ERR_UNSUPPORTED;
}

int driver_check(const struct driver *driver, const char *function, int error, int status,
                 struct strag_error *err)
{
    const char *text = NULL;
    if (error == DRIVER_SUCCESS)
        return STRAG_OK;
    if (driver->error_text(error, &text) != DRIVER_SUCCESS || !text)
        text = "unknown";
    return strag_fail(err, status, "%s: %s (error %d)", function, text, error);
}
