# SPDX-License-Identifier: BSD-3-Clause
# The tests of libstrag, with cmocka; and the fuzz target for what reads a user's text.
if HAVE_CMOCKA
unit_tests = \
	test/unit/test_engine \
	test/unit/test_expression \
	test/unit/test_failure \
	test/unit/test_loopback \
	test/unit/test_memory \
	test/unit/test_mutation \
	test/unit/test_plan \
	test/unit/test_random_plans \
	test/unit/test_threads \
	test/unit/test_verify

check_LTLIBRARIES = test/unit/libunit.la
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)

# What the unit tests share. The linker sends allocations through test/unit/memory.c, which -u takes
# out of the archive before libstrag asks for it.
unit_cppflags = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
unit_libs = test/unit/libunit.la src/libstrag.la $(CMOCKA_LIBS) $(PTHREAD_LIBS)
unit_ldflags = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,-u,__wrap_malloc

test_unit_libunit_la_CPPFLAGS = $(unit_cppflags)
test_unit_libunit_la_SOURCES = \
	test/unit/executor.c test/unit/executor.h \
	test/unit/memory.c test/unit/memory.h \
	test/unit/random_plan.c test/unit/random_plan.h \
	test/unit/support.c test/unit/support.h \
	test/unit/watch.c test/unit/watch.h \
	test/unit/world.c test/unit/world.h

test_unit_test_engine_SOURCES = test/unit/test_engine.c
test_unit_test_engine_CPPFLAGS = $(unit_cppflags)
test_unit_test_engine_LDFLAGS = $(unit_ldflags)
test_unit_test_engine_LDADD = $(unit_libs)
test_unit_test_expression_SOURCES = test/unit/test_expression.c
test_unit_test_expression_CPPFLAGS = $(unit_cppflags)
test_unit_test_expression_LDFLAGS = $(unit_ldflags)
test_unit_test_expression_LDADD = $(unit_libs)
test_unit_test_failure_SOURCES = test/unit/test_failure.c
test_unit_test_failure_CPPFLAGS = $(unit_cppflags)
test_unit_test_failure_LDFLAGS = $(unit_ldflags)
test_unit_test_failure_LDADD = $(unit_libs)
test_unit_test_loopback_SOURCES = test/unit/test_loopback.c
test_unit_test_loopback_CPPFLAGS = $(unit_cppflags)
test_unit_test_loopback_LDFLAGS = $(unit_ldflags)
test_unit_test_loopback_LDADD = $(unit_libs)
test_unit_test_memory_SOURCES = test/unit/test_memory.c
test_unit_test_memory_CPPFLAGS = $(unit_cppflags)
test_unit_test_memory_LDFLAGS = $(unit_ldflags)
test_unit_test_memory_LDADD = $(unit_libs)
test_unit_test_mutation_SOURCES = test/unit/test_mutation.c
test_unit_test_mutation_CPPFLAGS = $(unit_cppflags)
test_unit_test_mutation_LDFLAGS = $(unit_ldflags)
test_unit_test_mutation_LDADD = $(unit_libs)
test_unit_test_plan_SOURCES = test/unit/test_plan.c
test_unit_test_plan_CPPFLAGS = $(unit_cppflags)
test_unit_test_plan_LDFLAGS = $(unit_ldflags)
test_unit_test_plan_LDADD = $(unit_libs)
test_unit_test_random_plans_SOURCES = test/unit/test_random_plans.c
test_unit_test_random_plans_CPPFLAGS = $(unit_cppflags)
test_unit_test_random_plans_LDFLAGS = $(unit_ldflags)
test_unit_test_random_plans_LDADD = $(unit_libs)
test_unit_test_threads_SOURCES = test/unit/test_threads.c
test_unit_test_threads_CPPFLAGS = $(unit_cppflags)
test_unit_test_threads_LDFLAGS = $(unit_ldflags)
test_unit_test_threads_LDADD = $(unit_libs)
test_unit_test_verify_SOURCES = test/unit/test_verify.c
test_unit_test_verify_CPPFLAGS = $(unit_cppflags)
test_unit_test_verify_LDFLAGS = $(unit_ldflags)
test_unit_test_verify_LDADD = $(unit_libs)
endif

check_PROGRAMS += test/fuzz/fuzz_parse
TESTS += test/fuzz/fuzz_parse
test_fuzz_fuzz_parse_SOURCES = test/fuzz/fuzz_parse.c test/fuzz/fuzz_main.c
test_fuzz_fuzz_parse_LDADD = src/libstrag.la
