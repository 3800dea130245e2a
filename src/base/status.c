/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/status.h"

#include "base/c_locale.h"

#include <stdarg.h>
#include <stdio.h>

int strag_fail(struct strag_error *err, int status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        const locale_t before = strag_c_locale_enter(); /* numbers as users type them */
        vsnprintf(err->text, sizeof err->text, format, args);
        strag_c_locale_leave(before);
        va_end(args);
    }
    return status;
}

const char *strag_status_text(int status)
{
    switch (status) {
    case STRAG_OK:
        return "done";
    case STRAG_PENDING:
        return "not finished";
    case STRAG_ERR_ARGUMENT:
        return "wrong argument";
    case STRAG_ERR_UNSUPPORTED:
        return "not supported";
    case STRAG_ERR_MEMORY:
        return "out of memory";
    case STRAG_ERR_TRANSPORT:
        return "a message could not be sent or received";
    case STRAG_ERR_REDUCE:
        return "values could not be reduced";
    case STRAG_ERR_FALSE:
        return "the plan is not what it claims to be";
    case STRAG_ERR_IO:
        return "output could not be written";
    case STRAG_ERR_MISMATCH:
        return "ranks made the call with different lengths";
    case STRAG_ERR_LIMIT:
        return "it takes more time or memory than it may";
    default:
        return "unknown status";
    }
}
