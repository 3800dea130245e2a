# SPDX-License-Identifier: BSD-3-Clause
# The tests of libstrag, with cmocka; and the fuzz targets for what reads a user's text.

# The compiler links them, which takes a fifth of what libtool takes: nothing of them is installed, and they need
# no library of the build's but archives.
compiler_links = $(CCLD) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS) -o $@
strag_archive = src/.libs/libstrag.a $(src_libstrag_la_LIBADD)

if HAVE_CMOCKA
unit_tests = \
	test/unit/test_account \
	test/unit/test_arrivals \
	test/unit/test_arrivals_run \
	test/unit/test_bounds \
	test/unit/test_bucket \
	test/unit/test_butterfly \
	test/unit/test_fit \
	test/unit/test_clocks \
	test/unit/test_cost \
	test/unit/test_oversubscribed \
	test/unit/test_direct \
	test/unit/test_dynamic \
	test/unit/test_engine \
	test/unit/test_exchange \
	test/unit/test_expression \
	test/unit/test_failure \
	test/unit/test_file \
	test/unit/test_given_proof \
	test/unit/test_flex_plan \
	test/unit/test_flexreduce \
	test/unit/test_flexreduce_direct \
	test/unit/test_footprint \
	test/unit/test_hamiltonian \
	test/unit/test_hierarchy \
	test/unit/test_hwloc \
	test/unit/test_calls \
	test/unit/test_in_order \
	test/unit/test_judge \
	test/unit/test_layout \
	test/unit/test_layout_errors \
	test/unit/test_layout_locate \
	test/unit/test_link_rule \
	test/unit/test_link_sample \
	test/unit/test_link_speed \
	test/unit/test_locale \
	test/unit/test_loopback \
	test/unit/test_memory \
	test/unit/test_model_file \
	test/unit/test_mutation \
	test/unit/test_plan_file \
	test/unit/test_network \
	test/unit/test_network_random \
	test/unit/test_observe \
	test/unit/test_kept \
	test/unit/test_experiment \
	test/unit/test_optcc \
	test/unit/test_plan \
	test/unit/test_plan_store \
	test/unit/test_placement \
	test/unit/test_probe_clock \
	test/unit/test_random_plans \
	test/unit/test_roster \
	test/unit/test_rules \
	test/unit/test_sample \
	test/unit/test_saved \
	test/unit/test_scale \
	test/unit/test_select \
	test/unit/test_shared_memory \
	test/unit/test_shared_memory_entered \
	test/unit/test_shared_memory_join \
	test/unit/test_window \
	test/unit/test_shared_memory_room \
	test/unit/test_shared_memory_wait \
	test/unit/test_shared_memory_write \
	test/unit/test_slowdown \
	test/unit/test_torus_trees \
	test/unit/test_state_text \
	test/unit/test_straggler \
	test/unit/test_straggler_trees \
	test/unit/test_swing \
	test/unit/test_swing_walk \
	test/unit/test_resize \
	test/unit/test_text \
	test/unit/test_threads \
	test/unit/test_topology \
	test/unit/test_topology_box \
	test/unit/test_topology_pack \
	test/unit/test_torus \
	test/unit/test_trace \
	test/unit/test_verify \
	test/unit/test_watch_price \
	test/unit/test_weighted \
	test/unit/test_written

check_LTLIBRARIES += test/unit/libunit.la
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)

# What the unit tests share. The linker sends allocations through test/unit/memory.c, which -u takes
# out of the archive before libstrag asks for it.
unit_cppflags = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
unit_libs = test/unit/libunit.la src/libstrag.la $(CMOCKA_LIBS) $(PTHREAD_LIBS)
unit_wrap = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,-u,__wrap_malloc
unit_ldflags = $(AM_LDFLAGS) $(unit_wrap)

# A test is one file, unless something else is said of it below.
$(unit_tests): test/unit/libunit.la src/libstrag.la
test/unit/test_%: private LINK = $(compiler_links)
test/unit/test_%: private LDADD = test/unit/.libs/libunit.a $(strag_archive) $(CMOCKA_LIBS)
test/unit/test_%: private AM_LDFLAGS += $(unit_wrap)
test/unit/test_%.o: private AM_CPPFLAGS += $(CMOCKA_CFLAGS)

test_unit_libunit_la_CPPFLAGS = $(unit_cppflags)
test_unit_libunit_la_SOURCES = \
	test/unit/cluster.c test/unit/cluster.h \
	test/unit/executor.c test/unit/executor.h \
	test/unit/exhaust.c test/unit/exhaust.h \
	test/unit/expressions.h \
	test/unit/flex_cost.c test/unit/flex_cost.h \
	test/unit/loopback.c test/unit/loopback.h \
	test/unit/machines.c test/unit/machines.h \
	test/unit/memory.c test/unit/memory.h \
	test/unit/probing.c test/unit/probing.h \
	test/unit/random_plan.c test/unit/random_plan.h \
	test/unit/shm_ranks.c test/unit/shm_ranks.h \
	test/unit/slow_links.c test/unit/slow_links.h \
	test/unit/support.c test/unit/support.h \
	test/unit/tests.c \
	test/unit/trees.c test/unit/trees.h \
	test/unit/watch.c test/unit/watch.h \
	test/unit/wires.c test/unit/wires.h \
	test/unit/world.c test/unit/world.h

test_unit_test_given_proof_SOURCES = test/unit/test_given_proof.c tools/compact.c tools/compact.h
test_unit_test_given_proof_CPPFLAGS = $(unit_cppflags)
test_unit_test_given_proof_LDFLAGS = $(unit_ldflags)
test_unit_test_given_proof_LDADD = $(unit_libs)
test_unit_test_hwloc_SOURCES = test/unit/test_hwloc.c
test_unit_test_hwloc_CPPFLAGS = $(unit_cppflags) $(HWLOC_CFLAGS)
test_unit_test_hwloc_LDFLAGS = $(unit_ldflags)
test_unit_test_hwloc_LDADD = $(unit_libs) $(HWLOC_LIBS)
test_unit_test_plan_file_SOURCES = test/unit/test_plan_file.c tools/compact.c tools/compact.h
test_unit_test_plan_file_CPPFLAGS = $(unit_cppflags)
test_unit_test_plan_file_LDFLAGS = $(unit_ldflags)
test_unit_test_plan_file_LDADD = $(unit_libs)
test_unit_test_shared_memory_wait_SOURCES = test/unit/test_shared_memory_wait.c
test_unit_test_shared_memory_wait_CPPFLAGS = $(unit_cppflags)
test_unit_test_shared_memory_wait_LDFLAGS = $(unit_ldflags) \
	-Wl,--wrap=sched_yield,--wrap=sched_getcpu
test_unit_test_shared_memory_wait_LDADD = $(unit_libs)
test_unit_test_text_SOURCES = test/unit/test_text.c
test_unit_test_text_CPPFLAGS = $(unit_cppflags) $(YAML_CFLAGS)
test_unit_test_text_LDFLAGS = $(unit_ldflags)
test_unit_test_text_LDADD = $(unit_libs) $(YAML_LIBS)
endif

# Each runs on its corpus and on texts made from it; test/fuzz/run.sh fuzzes with libFuzzer.
fuzz_targets = \
	test/fuzz/fuzz_layout_conf \
	test/fuzz/fuzz_layout_coordinates \
	test/fuzz/fuzz_layout_dims \
	test/fuzz/fuzz_layout_yaml \
	test/fuzz/fuzz_models \
	test/fuzz/fuzz_parse \
	test/fuzz/fuzz_plans \
	test/fuzz/fuzz_rules \
	test/fuzz/fuzz_saved \
	test/fuzz/fuzz_state
check_PROGRAMS += $(fuzz_targets)
TESTS += $(fuzz_targets)
EXTRA_DIST += test/fuzz/corpus test/fuzz/run.sh
check_LTLIBRARIES += test/fuzz/libfuzz.la
test_fuzz_libfuzz_la_SOURCES = test/fuzz/fuzz.h test/fuzz/fuzz_main.c test/fuzz/layout_check.c test/fuzz/layout_check.h
$(fuzz_targets): test/fuzz/libfuzz.la src/libstrag.la
test/fuzz/fuzz_%: private LINK = $(compiler_links)
test/fuzz/fuzz_%: private LDADD = test/fuzz/.libs/libfuzz.a $(strag_archive)
test_fuzz_fuzz_plans_SOURCES = test/fuzz/fuzz_plans.c tools/compact.c tools/compact.h
