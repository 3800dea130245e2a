/* SPDX-License-Identifier: BSD-3-Clause */
/* The main of a unit test that consists of what TEST (support.h) defines. */
#include "support.h"

enum { MOST = 100 };

static struct CMUnitTest tests[MOST]; /* cmocka passes over those without a name */
static int lines[MOST], count;

/* The compiler may call constructors in any order. */
void test_add(const char *name, CMUnitTestFunction test, int line)
{
    int at = count++;
    if (count > MOST)
        abort();
    for (; at > 0 && lines[at - 1] > line; at--) {
        tests[at] = tests[at - 1];
        lines[at] = lines[at - 1];
    }
    tests[at] = (struct CMUnitTest){.name = name, .test_func = test};
    lines[at] = line;
}

int main(void)
{
    return count > 0 ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
