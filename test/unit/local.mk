# SPDX-License-Identifier: BSD-3-Clause
# The tests of libstrag, with cmocka; and the fuzz targets for what reads a user's text.
if HAVE_CMOCKA
unit_tests = \
	test/unit/test_account \
	test/unit/test_arrivals \
	test/unit/test_arrivals_run \
	test/unit/test_bine \
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
	test/unit/test_state_text \
	test/unit/test_straggler \
	test/unit/test_summary \
	test/unit/test_swing \
	test/unit/test_swing_walk \
	test/unit/test_symmetry \
	test/unit/test_text \
	test/unit/test_threads \
	test/unit/test_topology \
	test/unit/test_topology_box \
	test/unit/test_topology_pack \
	test/unit/test_torus \
	test/unit/test_torus_doubling \
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
unit_ldflags = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,-u,__wrap_malloc

test_unit_libunit_la_CPPFLAGS = $(unit_cppflags)
test_unit_libunit_la_SOURCES = \
	test/unit/cluster.c test/unit/cluster.h \
	test/unit/executor.c test/unit/executor.h \
	test/unit/exhaust.c test/unit/exhaust.h \
	test/unit/flex_cost.c test/unit/flex_cost.h \
	test/unit/loopback.c test/unit/loopback.h \
	test/unit/machines.c test/unit/machines.h \
	test/unit/memory.c test/unit/memory.h \
	test/unit/probing.c test/unit/probing.h \
	test/unit/random_plan.c test/unit/random_plan.h \
	test/unit/shm_ranks.c test/unit/shm_ranks.h \
	test/unit/slow_links.c test/unit/slow_links.h \
	test/unit/support.c test/unit/support.h \
	test/unit/trees.c test/unit/trees.h \
	test/unit/watch.c test/unit/watch.h \
	test/unit/wires.c test/unit/wires.h \
	test/unit/world.c test/unit/world.h

test_unit_test_account_SOURCES = test/unit/test_account.c
test_unit_test_account_CPPFLAGS = $(unit_cppflags)
test_unit_test_account_LDFLAGS = $(unit_ldflags)
test_unit_test_account_LDADD = $(unit_libs)
test_unit_test_arrivals_SOURCES = test/unit/test_arrivals.c
test_unit_test_arrivals_CPPFLAGS = $(unit_cppflags)
test_unit_test_arrivals_LDFLAGS = $(unit_ldflags)
test_unit_test_arrivals_LDADD = $(unit_libs)
test_unit_test_arrivals_run_SOURCES = test/unit/test_arrivals_run.c
test_unit_test_arrivals_run_CPPFLAGS = $(unit_cppflags)
test_unit_test_arrivals_run_LDFLAGS = $(unit_ldflags)
test_unit_test_arrivals_run_LDADD = $(unit_libs)
test_unit_test_dynamic_SOURCES = test/unit/test_dynamic.c
test_unit_test_dynamic_CPPFLAGS = $(unit_cppflags)
test_unit_test_dynamic_LDFLAGS = $(unit_ldflags)
test_unit_test_dynamic_LDADD = $(unit_libs)
test_unit_test_bine_SOURCES = test/unit/test_bine.c
test_unit_test_bine_CPPFLAGS = $(unit_cppflags)
test_unit_test_bine_LDFLAGS = $(unit_ldflags)
test_unit_test_bine_LDADD = $(unit_libs)
test_unit_test_bounds_SOURCES = test/unit/test_bounds.c
test_unit_test_bounds_CPPFLAGS = $(unit_cppflags)
test_unit_test_bounds_LDFLAGS = $(unit_ldflags)
test_unit_test_bounds_LDADD = $(unit_libs)
test_unit_test_bucket_SOURCES = test/unit/test_bucket.c
test_unit_test_bucket_CPPFLAGS = $(unit_cppflags)
test_unit_test_bucket_LDFLAGS = $(unit_ldflags)
test_unit_test_bucket_LDADD = $(unit_libs)
test_unit_test_butterfly_SOURCES = test/unit/test_butterfly.c
test_unit_test_butterfly_CPPFLAGS = $(unit_cppflags)
test_unit_test_butterfly_LDFLAGS = $(unit_ldflags)
test_unit_test_butterfly_LDADD = $(unit_libs)
test_unit_test_clocks_SOURCES = test/unit/test_clocks.c
test_unit_test_clocks_CPPFLAGS = $(unit_cppflags)
test_unit_test_clocks_LDFLAGS = $(unit_ldflags)
test_unit_test_clocks_LDADD = $(unit_libs)
test_unit_test_fit_SOURCES = test/unit/test_fit.c
test_unit_test_fit_CPPFLAGS = $(unit_cppflags)
test_unit_test_fit_LDFLAGS = $(unit_ldflags)
test_unit_test_fit_LDADD = $(unit_libs)
test_unit_test_trace_SOURCES = test/unit/test_trace.c
test_unit_test_trace_CPPFLAGS = $(unit_cppflags)
test_unit_test_trace_LDFLAGS = $(unit_ldflags)
test_unit_test_trace_LDADD = $(unit_libs)
test_unit_test_cost_SOURCES = test/unit/test_cost.c
test_unit_test_cost_CPPFLAGS = $(unit_cppflags)
test_unit_test_cost_LDFLAGS = $(unit_ldflags)
test_unit_test_cost_LDADD = $(unit_libs)
test_unit_test_oversubscribed_SOURCES = test/unit/test_oversubscribed.c
test_unit_test_oversubscribed_CPPFLAGS = $(unit_cppflags)
test_unit_test_oversubscribed_LDFLAGS = $(unit_ldflags)
test_unit_test_oversubscribed_LDADD = $(unit_libs)
test_unit_test_direct_SOURCES = test/unit/test_direct.c
test_unit_test_direct_CPPFLAGS = $(unit_cppflags)
test_unit_test_direct_LDFLAGS = $(unit_ldflags)
test_unit_test_direct_LDADD = $(unit_libs)
test_unit_test_engine_SOURCES = test/unit/test_engine.c
test_unit_test_engine_CPPFLAGS = $(unit_cppflags)
test_unit_test_engine_LDFLAGS = $(unit_ldflags)
test_unit_test_engine_LDADD = $(unit_libs)
test_unit_test_exchange_SOURCES = test/unit/test_exchange.c
test_unit_test_exchange_CPPFLAGS = $(unit_cppflags)
test_unit_test_exchange_LDFLAGS = $(unit_ldflags)
test_unit_test_exchange_LDADD = $(unit_libs)
test_unit_test_expression_SOURCES = test/unit/test_expression.c
test_unit_test_expression_CPPFLAGS = $(unit_cppflags)
test_unit_test_expression_LDFLAGS = $(unit_ldflags)
test_unit_test_expression_LDADD = $(unit_libs)
test_unit_test_failure_SOURCES = test/unit/test_failure.c
test_unit_test_failure_CPPFLAGS = $(unit_cppflags)
test_unit_test_failure_LDFLAGS = $(unit_ldflags)
test_unit_test_failure_LDADD = $(unit_libs)
test_unit_test_file_SOURCES = test/unit/test_file.c
test_unit_test_file_CPPFLAGS = $(unit_cppflags)
test_unit_test_file_LDFLAGS = $(unit_ldflags)
test_unit_test_file_LDADD = $(unit_libs)
test_unit_test_given_proof_SOURCES = test/unit/test_given_proof.c tools/compact.c tools/compact.h
test_unit_test_given_proof_CPPFLAGS = $(unit_cppflags)
test_unit_test_given_proof_LDFLAGS = $(unit_ldflags)
test_unit_test_given_proof_LDADD = $(unit_libs)
test_unit_test_footprint_SOURCES = test/unit/test_footprint.c
test_unit_test_footprint_CPPFLAGS = $(unit_cppflags)
test_unit_test_footprint_LDFLAGS = $(unit_ldflags)
test_unit_test_footprint_LDADD = $(unit_libs)
test_unit_test_hamiltonian_SOURCES = test/unit/test_hamiltonian.c
test_unit_test_hamiltonian_CPPFLAGS = $(unit_cppflags)
test_unit_test_hamiltonian_LDFLAGS = $(unit_ldflags)
test_unit_test_hamiltonian_LDADD = $(unit_libs)
test_unit_test_flex_plan_SOURCES = test/unit/test_flex_plan.c
test_unit_test_flex_plan_CPPFLAGS = $(unit_cppflags)
test_unit_test_flex_plan_LDFLAGS = $(unit_ldflags)
test_unit_test_flex_plan_LDADD = $(unit_libs)
test_unit_test_flexreduce_direct_SOURCES = test/unit/test_flexreduce_direct.c
test_unit_test_flexreduce_direct_CPPFLAGS = $(unit_cppflags)
test_unit_test_flexreduce_direct_LDFLAGS = $(unit_ldflags)
test_unit_test_flexreduce_direct_LDADD = $(unit_libs)
test_unit_test_flexreduce_SOURCES = test/unit/test_flexreduce.c
test_unit_test_flexreduce_CPPFLAGS = $(unit_cppflags)
test_unit_test_flexreduce_LDFLAGS = $(unit_ldflags)
test_unit_test_flexreduce_LDADD = $(unit_libs)
test_unit_test_hierarchy_SOURCES = test/unit/test_hierarchy.c
test_unit_test_hierarchy_CPPFLAGS = $(unit_cppflags)
test_unit_test_hierarchy_LDFLAGS = $(unit_ldflags)
test_unit_test_hierarchy_LDADD = $(unit_libs)
test_unit_test_hwloc_SOURCES = test/unit/test_hwloc.c
test_unit_test_hwloc_CPPFLAGS = $(unit_cppflags) $(HWLOC_CFLAGS)
test_unit_test_hwloc_LDFLAGS = $(unit_ldflags)
test_unit_test_hwloc_LDADD = $(unit_libs) $(HWLOC_LIBS)
test_unit_test_calls_SOURCES = test/unit/test_calls.c
test_unit_test_calls_CPPFLAGS = $(unit_cppflags)
test_unit_test_calls_LDFLAGS = $(unit_ldflags)
test_unit_test_calls_LDADD = $(unit_libs)
test_unit_test_in_order_SOURCES = test/unit/test_in_order.c
test_unit_test_in_order_CPPFLAGS = $(unit_cppflags)
test_unit_test_in_order_LDFLAGS = $(unit_ldflags)
test_unit_test_in_order_LDADD = $(unit_libs)
test_unit_test_judge_SOURCES = test/unit/test_judge.c
test_unit_test_judge_CPPFLAGS = $(unit_cppflags)
test_unit_test_judge_LDFLAGS = $(unit_ldflags)
test_unit_test_judge_LDADD = $(unit_libs)
test_unit_test_layout_SOURCES = test/unit/test_layout.c
test_unit_test_layout_CPPFLAGS = $(unit_cppflags)
test_unit_test_layout_LDFLAGS = $(unit_ldflags)
test_unit_test_layout_LDADD = $(unit_libs)
test_unit_test_layout_errors_SOURCES = test/unit/test_layout_errors.c
test_unit_test_layout_errors_CPPFLAGS = $(unit_cppflags)
test_unit_test_layout_errors_LDFLAGS = $(unit_ldflags)
test_unit_test_layout_errors_LDADD = $(unit_libs)
test_unit_test_layout_locate_SOURCES = test/unit/test_layout_locate.c
test_unit_test_layout_locate_CPPFLAGS = $(unit_cppflags)
test_unit_test_layout_locate_LDFLAGS = $(unit_ldflags)
test_unit_test_layout_locate_LDADD = $(unit_libs)
test_unit_test_link_rule_SOURCES = test/unit/test_link_rule.c
test_unit_test_link_rule_CPPFLAGS = $(unit_cppflags)
test_unit_test_link_rule_LDFLAGS = $(unit_ldflags)
test_unit_test_link_rule_LDADD = $(unit_libs)
test_unit_test_link_sample_SOURCES = test/unit/test_link_sample.c
test_unit_test_link_sample_CPPFLAGS = $(unit_cppflags)
test_unit_test_link_sample_LDFLAGS = $(unit_ldflags)
test_unit_test_link_sample_LDADD = $(unit_libs)
test_unit_test_link_speed_SOURCES = test/unit/test_link_speed.c
test_unit_test_link_speed_CPPFLAGS = $(unit_cppflags)
test_unit_test_link_speed_LDFLAGS = $(unit_ldflags)
test_unit_test_link_speed_LDADD = $(unit_libs)
test_unit_test_locale_SOURCES = test/unit/test_locale.c
test_unit_test_locale_CPPFLAGS = $(unit_cppflags)
test_unit_test_locale_LDFLAGS = $(unit_ldflags)
test_unit_test_locale_LDADD = $(unit_libs)
test_unit_test_loopback_SOURCES = test/unit/test_loopback.c
test_unit_test_loopback_CPPFLAGS = $(unit_cppflags)
test_unit_test_loopback_LDFLAGS = $(unit_ldflags)
test_unit_test_loopback_LDADD = $(unit_libs)
test_unit_test_memory_SOURCES = test/unit/test_memory.c
test_unit_test_memory_CPPFLAGS = $(unit_cppflags)
test_unit_test_memory_LDFLAGS = $(unit_ldflags)
test_unit_test_memory_LDADD = $(unit_libs)
test_unit_test_model_file_SOURCES = test/unit/test_model_file.c
test_unit_test_model_file_CPPFLAGS = $(unit_cppflags)
test_unit_test_model_file_LDFLAGS = $(unit_ldflags)
test_unit_test_model_file_LDADD = $(unit_libs)
test_unit_test_plan_file_SOURCES = test/unit/test_plan_file.c tools/compact.c tools/compact.h
test_unit_test_plan_file_CPPFLAGS = $(unit_cppflags)
test_unit_test_plan_file_LDFLAGS = $(unit_ldflags)
test_unit_test_plan_file_LDADD = $(unit_libs)
test_unit_test_mutation_SOURCES = test/unit/test_mutation.c
test_unit_test_mutation_CPPFLAGS = $(unit_cppflags)
test_unit_test_mutation_LDFLAGS = $(unit_ldflags)
test_unit_test_mutation_LDADD = $(unit_libs)
test_unit_test_network_SOURCES = test/unit/test_network.c
test_unit_test_network_CPPFLAGS = $(unit_cppflags)
test_unit_test_network_LDFLAGS = $(unit_ldflags)
test_unit_test_network_LDADD = $(unit_libs)
test_unit_test_network_random_SOURCES = test/unit/test_network_random.c
test_unit_test_network_random_CPPFLAGS = $(unit_cppflags)
test_unit_test_network_random_LDFLAGS = $(unit_ldflags)
test_unit_test_network_random_LDADD = $(unit_libs)
test_unit_test_optcc_SOURCES = test/unit/test_optcc.c
test_unit_test_optcc_CPPFLAGS = $(unit_cppflags)
test_unit_test_optcc_LDFLAGS = $(unit_ldflags)
test_unit_test_optcc_LDADD = $(unit_libs)
test_unit_test_kept_SOURCES = test/unit/test_kept.c
test_unit_test_kept_CPPFLAGS = $(unit_cppflags)
test_unit_test_kept_LDFLAGS = $(unit_ldflags)
test_unit_test_kept_LDADD = $(unit_libs)
test_unit_test_experiment_SOURCES = test/unit/test_experiment.c
test_unit_test_experiment_CPPFLAGS = $(unit_cppflags)
test_unit_test_experiment_LDFLAGS = $(unit_ldflags)
test_unit_test_experiment_LDADD = $(unit_libs)
test_unit_test_observe_SOURCES = test/unit/test_observe.c
test_unit_test_observe_CPPFLAGS = $(unit_cppflags)
test_unit_test_observe_LDFLAGS = $(unit_ldflags)
test_unit_test_observe_LDADD = $(unit_libs)
test_unit_test_placement_SOURCES = test/unit/test_placement.c
test_unit_test_placement_CPPFLAGS = $(unit_cppflags)
test_unit_test_placement_LDFLAGS = $(unit_ldflags)
test_unit_test_placement_LDADD = $(unit_libs)
test_unit_test_state_text_SOURCES = test/unit/test_state_text.c
test_unit_test_state_text_CPPFLAGS = $(unit_cppflags)
test_unit_test_state_text_LDFLAGS = $(unit_ldflags)
test_unit_test_state_text_LDADD = $(unit_libs)
test_unit_test_plan_SOURCES = test/unit/test_plan.c
test_unit_test_plan_CPPFLAGS = $(unit_cppflags)
test_unit_test_plan_LDFLAGS = $(unit_ldflags)
test_unit_test_plan_LDADD = $(unit_libs)
test_unit_test_plan_store_SOURCES = test/unit/test_plan_store.c
test_unit_test_plan_store_CPPFLAGS = $(unit_cppflags)
test_unit_test_plan_store_LDFLAGS = $(unit_ldflags)
test_unit_test_plan_store_LDADD = $(unit_libs)
test_unit_test_probe_clock_SOURCES = test/unit/test_probe_clock.c
test_unit_test_probe_clock_CPPFLAGS = $(unit_cppflags)
test_unit_test_probe_clock_LDFLAGS = $(unit_ldflags)
test_unit_test_probe_clock_LDADD = $(unit_libs)
test_unit_test_random_plans_SOURCES = test/unit/test_random_plans.c
test_unit_test_random_plans_CPPFLAGS = $(unit_cppflags)
test_unit_test_random_plans_LDFLAGS = $(unit_ldflags)
test_unit_test_random_plans_LDADD = $(unit_libs)
test_unit_test_roster_SOURCES = test/unit/test_roster.c
test_unit_test_roster_CPPFLAGS = $(unit_cppflags)
test_unit_test_roster_LDFLAGS = $(unit_ldflags)
test_unit_test_roster_LDADD = $(unit_libs)
test_unit_test_rules_SOURCES = test/unit/test_rules.c
test_unit_test_rules_CPPFLAGS = $(unit_cppflags)
test_unit_test_rules_LDFLAGS = $(unit_ldflags)
test_unit_test_rules_LDADD = $(unit_libs)
test_unit_test_sample_SOURCES = test/unit/test_sample.c
test_unit_test_sample_CPPFLAGS = $(unit_cppflags)
test_unit_test_sample_LDFLAGS = $(unit_ldflags)
test_unit_test_sample_LDADD = $(unit_libs)
test_unit_test_saved_SOURCES = test/unit/test_saved.c
test_unit_test_saved_CPPFLAGS = $(unit_cppflags)
test_unit_test_saved_LDFLAGS = $(unit_ldflags)
test_unit_test_saved_LDADD = $(unit_libs)
test_unit_test_scale_SOURCES = test/unit/test_scale.c
test_unit_test_scale_CPPFLAGS = $(unit_cppflags)
test_unit_test_scale_LDFLAGS = $(unit_ldflags)
test_unit_test_scale_LDADD = $(unit_libs)
test_unit_test_select_SOURCES = test/unit/test_select.c
test_unit_test_select_CPPFLAGS = $(unit_cppflags)
test_unit_test_select_LDFLAGS = $(unit_ldflags)
test_unit_test_select_LDADD = $(unit_libs)
test_unit_test_shared_memory_SOURCES = test/unit/test_shared_memory.c
test_unit_test_shared_memory_CPPFLAGS = $(unit_cppflags)
test_unit_test_shared_memory_LDFLAGS = $(unit_ldflags)
test_unit_test_shared_memory_LDADD = $(unit_libs)
test_unit_test_shared_memory_entered_SOURCES = test/unit/test_shared_memory_entered.c
test_unit_test_shared_memory_entered_CPPFLAGS = $(unit_cppflags)
test_unit_test_shared_memory_entered_LDFLAGS = $(unit_ldflags)
test_unit_test_shared_memory_entered_LDADD = $(unit_libs)
test_unit_test_shared_memory_join_SOURCES = test/unit/test_shared_memory_join.c
test_unit_test_shared_memory_join_CPPFLAGS = $(unit_cppflags)
test_unit_test_shared_memory_join_LDFLAGS = $(unit_ldflags)
test_unit_test_shared_memory_join_LDADD = $(unit_libs)
test_unit_test_window_SOURCES = test/unit/test_window.c
test_unit_test_window_CPPFLAGS = $(unit_cppflags)
test_unit_test_window_LDFLAGS = $(unit_ldflags)
test_unit_test_window_LDADD = $(unit_libs)
test_unit_test_shared_memory_room_SOURCES = test/unit/test_shared_memory_room.c
test_unit_test_shared_memory_room_CPPFLAGS = $(unit_cppflags)
test_unit_test_shared_memory_room_LDFLAGS = $(unit_ldflags)
test_unit_test_shared_memory_room_LDADD = $(unit_libs)
test_unit_test_shared_memory_wait_SOURCES = test/unit/test_shared_memory_wait.c
test_unit_test_shared_memory_wait_CPPFLAGS = $(unit_cppflags)
test_unit_test_shared_memory_wait_LDFLAGS = $(unit_ldflags) \
	-Wl,--wrap=sched_yield,--wrap=sched_getcpu
test_unit_test_shared_memory_wait_LDADD = $(unit_libs)
test_unit_test_shared_memory_write_SOURCES = test/unit/test_shared_memory_write.c
test_unit_test_shared_memory_write_CPPFLAGS = $(unit_cppflags)
test_unit_test_shared_memory_write_LDFLAGS = $(unit_ldflags)
test_unit_test_shared_memory_write_LDADD = $(unit_libs)
test_unit_test_slowdown_SOURCES = test/unit/test_slowdown.c
test_unit_test_slowdown_CPPFLAGS = $(unit_cppflags)
test_unit_test_slowdown_LDFLAGS = $(unit_ldflags)
test_unit_test_slowdown_LDADD = $(unit_libs)
test_unit_test_swing_SOURCES = test/unit/test_swing.c
test_unit_test_swing_CPPFLAGS = $(unit_cppflags)
test_unit_test_swing_LDFLAGS = $(unit_ldflags)
test_unit_test_swing_LDADD = $(unit_libs)
test_unit_test_swing_walk_SOURCES = test/unit/test_swing_walk.c
test_unit_test_swing_walk_CPPFLAGS = $(unit_cppflags)
test_unit_test_swing_walk_LDFLAGS = $(unit_ldflags)
test_unit_test_swing_walk_LDADD = $(unit_libs)

test_unit_test_symmetry_SOURCES = test/unit/test_symmetry.c
test_unit_test_symmetry_CPPFLAGS = $(unit_cppflags)
test_unit_test_symmetry_LDFLAGS = $(unit_ldflags)
test_unit_test_symmetry_LDADD = $(unit_libs)
test_unit_test_text_SOURCES = test/unit/test_text.c
test_unit_test_text_CPPFLAGS = $(unit_cppflags) $(YAML_CFLAGS)
test_unit_test_text_LDFLAGS = $(unit_ldflags)
test_unit_test_text_LDADD = $(unit_libs) $(YAML_LIBS)
test_unit_test_straggler_SOURCES = test/unit/test_straggler.c
test_unit_test_straggler_CPPFLAGS = $(unit_cppflags)
test_unit_test_straggler_LDFLAGS = $(unit_ldflags)
test_unit_test_straggler_LDADD = $(unit_libs)
test_unit_test_summary_SOURCES = test/unit/test_summary.c
test_unit_test_summary_CPPFLAGS = $(unit_cppflags)
test_unit_test_summary_LDFLAGS = $(unit_ldflags)
test_unit_test_summary_LDADD = $(unit_libs)
test_unit_test_threads_SOURCES = test/unit/test_threads.c
test_unit_test_threads_CPPFLAGS = $(unit_cppflags)
test_unit_test_threads_LDFLAGS = $(unit_ldflags)
test_unit_test_threads_LDADD = $(unit_libs)
test_unit_test_topology_SOURCES = test/unit/test_topology.c
test_unit_test_topology_CPPFLAGS = $(unit_cppflags)
test_unit_test_topology_LDFLAGS = $(unit_ldflags)
test_unit_test_topology_LDADD = $(unit_libs)
test_unit_test_topology_box_SOURCES = test/unit/test_topology_box.c
test_unit_test_topology_box_CPPFLAGS = $(unit_cppflags)
test_unit_test_topology_box_LDFLAGS = $(unit_ldflags)
test_unit_test_topology_box_LDADD = $(unit_libs)
test_unit_test_topology_pack_SOURCES = test/unit/test_topology_pack.c
test_unit_test_topology_pack_CPPFLAGS = $(unit_cppflags)
test_unit_test_topology_pack_LDFLAGS = $(unit_ldflags)
test_unit_test_topology_pack_LDADD = $(unit_libs)
test_unit_test_torus_SOURCES = test/unit/test_torus.c
test_unit_test_torus_CPPFLAGS = $(unit_cppflags)
test_unit_test_torus_LDFLAGS = $(unit_ldflags)
test_unit_test_torus_LDADD = $(unit_libs)
test_unit_test_torus_doubling_SOURCES = test/unit/test_torus_doubling.c
test_unit_test_torus_doubling_CPPFLAGS = $(unit_cppflags)
test_unit_test_torus_doubling_LDFLAGS = $(unit_ldflags)
test_unit_test_torus_doubling_LDADD = $(unit_libs)
test_unit_test_verify_SOURCES = test/unit/test_verify.c
test_unit_test_verify_CPPFLAGS = $(unit_cppflags)
test_unit_test_verify_LDFLAGS = $(unit_ldflags)
test_unit_test_verify_LDADD = $(unit_libs)
test_unit_test_watch_price_SOURCES = test/unit/test_watch_price.c
test_unit_test_watch_price_CPPFLAGS = $(unit_cppflags)
test_unit_test_watch_price_LDFLAGS = $(unit_ldflags)
test_unit_test_watch_price_LDADD = $(unit_libs)
test_unit_test_weighted_SOURCES = test/unit/test_weighted.c
test_unit_test_weighted_CPPFLAGS = $(unit_cppflags)
test_unit_test_weighted_LDFLAGS = $(unit_ldflags)
test_unit_test_weighted_LDADD = $(unit_libs)
test_unit_test_written_SOURCES = test/unit/test_written.c
test_unit_test_written_CPPFLAGS = $(unit_cppflags)
test_unit_test_written_LDFLAGS = $(unit_ldflags)
test_unit_test_written_LDADD = $(unit_libs)
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
fuzz_common = test/fuzz/fuzz.h test/fuzz/fuzz_main.c test/fuzz/layout_check.c test/fuzz/layout_check.h
test_fuzz_fuzz_layout_conf_SOURCES = test/fuzz/fuzz_layout_conf.c $(fuzz_common)
test_fuzz_fuzz_layout_conf_LDADD = src/libstrag.la
test_fuzz_fuzz_layout_coordinates_SOURCES = test/fuzz/fuzz_layout_coordinates.c $(fuzz_common)
test_fuzz_fuzz_layout_coordinates_LDADD = src/libstrag.la
test_fuzz_fuzz_layout_dims_SOURCES = test/fuzz/fuzz_layout_dims.c $(fuzz_common)
test_fuzz_fuzz_layout_dims_LDADD = src/libstrag.la
test_fuzz_fuzz_layout_yaml_SOURCES = test/fuzz/fuzz_layout_yaml.c $(fuzz_common)
test_fuzz_fuzz_layout_yaml_LDADD = src/libstrag.la
test_fuzz_fuzz_models_SOURCES = test/fuzz/fuzz_models.c $(fuzz_common)
test_fuzz_fuzz_models_LDADD = src/libstrag.la
test_fuzz_fuzz_parse_SOURCES = test/fuzz/fuzz_parse.c test/fuzz/fuzz.h test/fuzz/fuzz_main.c
test_fuzz_fuzz_parse_LDADD = src/libstrag.la
test_fuzz_fuzz_plans_SOURCES = test/fuzz/fuzz_plans.c tools/compact.c tools/compact.h $(fuzz_common)
test_fuzz_fuzz_plans_LDADD = src/libstrag.la
test_fuzz_fuzz_rules_SOURCES = test/fuzz/fuzz_rules.c $(fuzz_common)
test_fuzz_fuzz_rules_LDADD = src/libstrag.la
test_fuzz_fuzz_saved_SOURCES = test/fuzz/fuzz_saved.c $(fuzz_common)
test_fuzz_fuzz_saved_LDADD = src/libstrag.la
test_fuzz_fuzz_state_SOURCES = test/fuzz/fuzz_state.c $(fuzz_common)
test_fuzz_fuzz_state_LDADD = src/libstrag.la
