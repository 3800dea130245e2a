# SPDX-License-Identifier: BSD-3-Clause
# libstrag: plans and what reads, proves, prices and runs them. No MPI in here.
noinst_LTLIBRARIES += src/libstrag.la

src_libstrag_la_SOURCES = \
	src/plan/algorithm.c src/plan/algorithm.h \
	src/algorithms/bine.c \
	src/algorithms/binomial.h \
	src/algorithms/blueconnect.c \
	src/algorithms/broadcast_after.c \
	src/model/bounds.c src/model/bounds.h \
	src/algorithms/bucket.c \
	src/algorithms/butterfly.c src/algorithms/butterfly.h \
	src/algorithms/circulant.c \
	src/model/cost.c src/model/cost.h \
	src/model/cost_clocks.c \
	src/algorithms/direct.c \
	src/run/engine.c src/run/engine.h \
	src/plan/expression.c src/plan/expression.h \
	src/algorithms/flex_plan.c src/algorithms/flex_plan.h \
	src/algorithms/flexreduce.c \
	src/model/flows.c src/model/flows.h \
	src/algorithms/fold.h \
	src/algorithms/hamiltonian.c \
	src/algorithms/hierarchical_doubling.c \
	src/machine/hwloc_core.h \
	src/run/in_order.c src/run/in_order.h \
	src/algorithms/late.c src/algorithms/late.h \
	src/machine/layout.c src/machine/layout.h src/machine/layout_internal.h \
	src/machine/layout_addresses.c \
	src/machine/layout_conf.c \
	src/machine/layout_coordinates.c \
	src/machine/layout_dims.c \
	src/machine/layout_draft.c \
	src/machine/layout_hosts.c \
	src/machine/layout_hwloc.c \
	src/machine/layout_place.c \
	src/machine/layout_records.c \
	src/machine/layout_yaml.c src/machine/layout_yaml.h \
	src/machine/layout_yaml_read.c \
	src/algorithms/leaders.c \
	src/watch/link_speed.c src/watch/link_speed.h \
	src/watch/meter.c src/watch/meter.h \
	src/model/model.h \
	src/model/network.c src/model/network.h \
	src/watch/observe.c src/watch/observe.h \
	src/algorithms/optcc.c src/algorithms/optcc.h \
	src/algorithms/optcc_lanes.c \
	src/base/parse.c src/base/parse.h \
	src/plan/plan.c src/plan/plan.h \
	src/algorithms/recursive_doubling.c \
	src/algorithms/recursive_halving.c \
	src/run/reducer.h \
	src/algorithms/ring.c \
	src/model/rules.c src/model/rules.h \
	src/model/select.c src/model/select.h \
	src/plan/show.c src/plan/show.h \
	src/plan/show_svg.c \
	src/algorithms/skips.h \
	src/algorithms/siblings.h \
	src/watch/slowdown.c src/watch/slowdown.h \
	src/base/status.c src/base/status.h \
	src/algorithms/swing.c src/algorithms/swing.h \
	src/algorithms/swing_latency.c \
	src/algorithms/swing_partial.c \
	src/algorithms/swing_walk.c src/algorithms/swing_walk.h \
	src/model/symmetry.c src/model/symmetry.h \
	src/algorithms/stragglar.c \
	src/algorithms/stragglar_match.c src/algorithms/stragglar_match.h \
	src/algorithms/straggler_pipeline.c \
	src/machine/topology.c src/machine/topology.h \
	src/machine/topology_box.c src/machine/topology_box.h \
	src/machine/topology_pack.c \
	src/algorithms/torus.c src/algorithms/torus.h \
	src/algorithms/torus_doubling.c \
	src/model/traffic.c src/model/traffic.h \
	src/run/transport.h \
	src/algorithms/tree.c src/algorithms/tree.h \
	src/algorithms/uplinks.c src/algorithms/uplinks.h \
	src/plan/verify.c src/plan/verify.h \
	src/plan/verify_plan.c src/plan/verify_plan.h \
	src/algorithms/weighted.c \
	src/run/window.c src/run/window.h
src_libstrag_la_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS) $(YAML_CFLAGS)
src_libstrag_la_LIBADD = -lm $(PTHREAD_LIBS) $(HWLOC_LIBS) $(YAML_LIBS)
