/* SPDX-License-Identifier: BSD-3-Clause */
/* Values on the command line, and what is said of those that are not accepted. See common.h. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "common.h"

#include "base/parse.h"

#include <errno.h>
#include <stdlib.h>

void bench_die(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, why);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

int bench_integer(const char *option, const char *text, int low, int high)
{
    struct strag_error err;
    int value = 0;
    if (strag_parse_integer(text, low, high, &value, &err) != STRAG_OK)
        bench_die(option, err.text);
    return value;
}

double bench_real(const char *option, const char *text, double low, double high)
{
    struct strag_error err;
    double value = 0;
    if (strag_parse_real(text, low, high, NULL, &value, &err) != STRAG_OK)
        bench_die(option, err.text);
    return value;
}
