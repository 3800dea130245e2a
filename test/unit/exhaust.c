/* SPDX-License-Identifier: BSD-3-Clause */
#include "exhaust.h"

#include "memory.h"
#include "support.h"

long exhaust(const char *name, attempt_function *attempt, const void *what)
{
    for (long fail_at = 1;; fail_at++) {
        struct strag_error err = {""};
        bool made = false;
        memory_watch(fail_at);
        int status = attempt(what, &err, &made);
        struct memory_report report = memory_unwatch();
        if (report.live != 0)
            fail_msg("%s, allocation %ld fails: %ld are never freed", name, fail_at, report.live);
        if (!report.failed) {
            if (status != STRAG_OK)
                fail_msg("%s: %s", name, strag_status_text(status));
            assert_true(made);
            assert_int_equal(report.allocations, fail_at - 1);
            return report.allocations;
        }
        if (status != STRAG_ERR_MEMORY || made || !strstr(err.text, "out of memory"))
            fail_msg("%s, allocation %ld fails: %s, '%s'%s", name, fail_at,
                     strag_status_text(status), err.text, made ? ", with a result" : "");
    }
}
