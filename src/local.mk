# SPDX-License-Identifier: BSD-3-Clause
# libstrag: plans and what reads, proves, prices and runs them. No MPI in here. The command and the
# component are linked with these objects.
noinst_LTLIBRARIES += src/libstrag.la

src_libstrag_la_SOURCES = \
	src/api/strag.h \
	src/algorithms/bine.c \
	src/algorithms/binomial.h \
	src/algorithms/blueconnect.c \
	src/algorithms/broadcast_after.c \
	src/algorithms/bucket.c src/algorithms/bucket.h \
	src/algorithms/butterfly.c src/algorithms/butterfly.h \
	src/algorithms/circulant.c src/algorithms/circulant.h \
	src/algorithms/direct.c \
	src/algorithms/flex_cuts.c src/algorithms/flex_cuts.h \
	src/algorithms/flex_shares.c src/algorithms/flex_shares.h \
	src/algorithms/flex_plan.c src/algorithms/flex_plan.h \
	src/algorithms/flex_step.c src/algorithms/flex_step.h \
	src/algorithms/flexreduce.c \
	src/algorithms/flexreduce_direct.c \
	src/algorithms/fold.h \
	src/algorithms/hamiltonian.c \
	src/algorithms/hierarchical_doubling.c \
	src/algorithms/leaders.c \
	src/algorithms/optcc.c \
	src/algorithms/recursive_doubling.c \
	src/algorithms/recursive_halving.c \
	src/algorithms/ring.c src/algorithms/ring.h \
	src/algorithms/siblings.h \
	src/algorithms/skips.h \
	src/algorithms/stragglar.c \
	src/algorithms/stragglar_match.c src/algorithms/stragglar_match.h \
	src/algorithms/straggler.c src/algorithms/straggler.h \
	src/algorithms/straggler_pipeline.c \
	src/algorithms/straggler_direct.c \
	src/algorithms/straggler_trees.c \
	src/algorithms/torus_trees.c \
	src/algorithms/forest.c src/algorithms/forest.h \
	src/algorithms/swing.c \
	src/algorithms/swing_walk.c src/algorithms/swing_walk.h \
	src/algorithms/table.c src/algorithms/table.h \
	src/algorithms/torus.c src/algorithms/torus.h \
	src/algorithms/torus_doubling.c \
	src/algorithms/tree.c src/algorithms/tree.h \
	src/algorithms/uplinks.c src/algorithms/uplinks.h \
	src/algorithms/weighted.c \
	src/base/c_locale.c src/base/c_locale.h \
	src/base/file.c src/base/file.h \
	src/base/nearest.c src/base/nearest.h \
	src/base/compact.c src/base/compact.h \
	src/base/parse.c src/base/parse.h \
	src/base/progress.h \
	src/base/scale.h \
	src/base/status.c src/base/status.h \
	src/base/text.c src/base/text.h \
	src/base/units.c src/base/units.h \
	src/base/yaml.c src/base/yaml.h \
	src/machine/grid.c src/machine/grid.h \
	src/machine/hwloc_core.h \
	src/machine/job.c src/machine/job.h \
	src/machine/layout.h src/machine/layout_internal.h \
	src/machine/layout_addresses.c \
	src/machine/layout_conf.c \
	src/machine/layout_coordinates.c \
	src/machine/layout_dims.c \
	src/machine/layout_draft.c \
	src/machine/layout_hosts.c \
	src/machine/layout_hwloc.c \
	src/machine/layout_locate.c \
	src/machine/layout_names.c \
	src/machine/layout_read.c \
	src/machine/layout_records.c \
	src/machine/layout_yaml.c \
	src/machine/link_speed.c src/machine/link_speed.h \
	src/machine/state.c src/machine/state.h \
	src/machine/state_text.c src/machine/state_text.h \
	src/machine/topology.c src/machine/topology.h \
	src/machine/topology_box.c \
	src/machine/topology_pack.c \
	src/machine/topology_part.c \
	src/manual/manual.c src/manual/manual.h \
	src/model/bounds.c src/model/bounds.h \
	src/model/choice.c src/model/choice.h \
	src/model/cost.c src/model/cost.h \
	src/model/cost_clocks.c \
	src/model/oversubscribed.c src/model/oversubscribed.h \
	src/model/flows.c src/model/flows.h \
	src/model/model.h \
	src/model/loads.c src/model/loads.h \
	src/model/model_file.c src/model/model_file.h \
	src/model/network.c src/model/network.h \
	src/model/numbers.c src/model/numbers.h \
	src/model/platform.c src/model/platform.h \
	src/model/rules.c src/model/rules.h \
	src/model/sample.c src/model/sample.h \
	src/model/saved.c src/model/saved.h \
	src/model/saved_write.c \
	src/model/select.c src/model/select.h \
	src/model/sizes.c src/model/sizes.h \
	src/model/traffic.c src/model/traffic.h \
	src/plan/algorithm.c src/plan/algorithm.h \
	src/plan/effort.h \
	src/plan/expression.c src/plan/expression.h \
	src/plan/given.c src/plan/given.h src/plan/given_check.c \
	src/plan/given_proof.c \
	src/plan/plan.c src/plan/plan.h \
	src/plan/plan_file.c src/plan/plan_file.h \
	src/plan/plan_proof.c src/plan/plan_proof.h \
	src/plan/plan_store.c src/plan/plan_store.h \
	src/plan/show.c src/plan/show.h \
	src/plan/trace.c src/plan/trace.h \
	src/plan/verify.c src/plan/verify.h \
	src/plan/verify_match.c src/plan/verify_run.c src/plan/verify_proof.h \
	src/plan/verify_plan.c src/plan/verify_plan.h \
	src/run/arrivals.c src/run/arrivals.h \
	src/run/engine.c src/run/engine.h \
	src/run/exchange.c src/run/exchange.h \
	src/run/in_order.c src/run/in_order.h \
	src/run/kept.c src/run/kept.h \
	src/run/pipeline.c src/run/pipeline.h \
	src/run/reducer.h \
	src/run/roster.c src/run/roster.h \
	src/shm/shm.c src/shm/shm.h \
	src/shm/layout.h src/shm/messages.c \
	src/shm/arena.c src/shm/arena.h src/shm/drain.c \
	src/shm/join.c src/shm/limits.c \
	src/shm/entered.c src/shm/entered.h \
	src/shm/room.c \
	src/shm/wait.c \
	src/shm/write.c \
	src/run/transport.h \
	src/report/account.c src/report/account.h \
	src/learn/budget.c src/learn/budget.h \
	src/report/clocks.c src/report/clocks.h \
	src/detect/dynamic.c src/detect/dynamic.h \
	src/learn/experiment.c src/learn/experiment.h \
	src/learn/fit.c src/learn/fit.h \
	src/learn/judge.c src/learn/judge.h \
	src/report/ledger.c src/report/ledger.h \
	src/detect/link_sample.c src/detect/link_sample.h \
	src/report/loss.c src/report/loss.h \
	src/detect/meter.c src/detect/meter.h \
	src/detect/observe.c src/detect/observe.h \
	src/detect/probe_clock.c src/detect/probe_clock.h \
	src/detect/slowdown.c src/detect/slowdown.h \
	src/detect/thresholds.h \
	src/learn/summary.h \
	src/detect/window.c src/detect/window.h
src_libstrag_la_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS) $(YAML_CFLAGS) $(JANSSON_CFLAGS)
src_libstrag_la_LIBADD = -lm $(PTHREAD_LIBS) $(HWLOC_LIBS) $(YAML_LIBS) $(JANSSON_LIBS)
EXTRA_DIST += src/base/README.md src/machine/README.md src/plan/README.md src/algorithms/README.md \
	src/manual/README.md src/model/README.md src/run/README.md \
	src/detect/README.md src/learn/README.md src/report/README.md src/shm/README.md

# The same for other programs, through strag.h: src/api/README.md says when the numbers change
# (current:revision:age of the interface).
lib_LTLIBRARIES += src/api/libstrag.la
include_HEADERS += src/api/strag.h
src_api_libstrag_la_SOURCES = src/api/allreduce.c src/api/machine.c \
	src/api/plans.c
src_api_libstrag_la_LIBADD = src/libstrag.la
src_api_libstrag_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -Wl,-z,defs \
	-Wl,--version-script=$(srcdir)/src/api/libstrag.map
EXTRA_src_api_libstrag_la_DEPENDENCIES = src/api/libstrag.map
EXTRA_DIST += src/api/README.md src/api/libstrag.map

# From Python, by ctypes; nothing is compiled, so that configure need not know of a Python.
strag_pythondir = $(pkgdatadir)/python
dist_strag_python_DATA = src/api/strag.py

pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = strag.pc
