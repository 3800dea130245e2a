# SPDX-License-Identifier: BSD-3-Clause
# libstrag: plans and what reads, proves, prices and runs them. No MPI in here.
noinst_LTLIBRARIES += src/libstrag.la

src_libstrag_la_SOURCES = \
	src/algorithm.c src/algorithm.h \
	src/bine.c \
	src/binomial.h \
	src/blueconnect.c \
	src/broadcast_after.c \
	src/bounds.c src/bounds.h \
	src/bucket.c \
	src/butterfly.c src/butterfly.h \
	src/circulant.c \
	src/cost.c src/cost.h \
	src/cost_clocks.c \
	src/direct.c \
	src/engine.c src/engine.h \
	src/expression.c src/expression.h \
	src/flex_cost.c src/flex_cost.h \
	src/flex_plan.c src/flex_plan.h \
	src/flexreduce.c \
	src/flows.c src/flows.h \
	src/fold.h \
	src/hamiltonian.c \
	src/hierarchical_doubling.c \
	src/hwloc_core.h \
	src/in_order.c src/in_order.h \
	src/late.c src/late.h \
	src/layout.c src/layout.h src/layout_internal.h \
	src/layout_addresses.c \
	src/layout_conf.c \
	src/layout_coordinates.c \
	src/layout_dims.c \
	src/layout_draft.c \
	src/layout_hosts.c \
	src/layout_hwloc.c \
	src/layout_place.c \
	src/layout_records.c \
	src/layout_yaml.c src/layout_yaml.h \
	src/layout_yaml_read.c \
	src/leaders.c \
	src/link_speed.c src/link_speed.h \
	src/loopback.c src/loopback.h \
	src/meter.c src/meter.h \
	src/model.h \
	src/network.c src/network.h \
	src/observe.c src/observe.h \
	src/optcc.c src/optcc.h \
	src/optcc_lanes.c \
	src/parse.c src/parse.h \
	src/plan.c src/plan.h \
	src/recursive_doubling.c \
	src/recursive_halving.c \
	src/reducer.h \
	src/ring.c \
	src/rules.c src/rules.h \
	src/select.c src/select.h \
	src/show.c src/show.h \
	src/show_svg.c \
	src/skips.h \
	src/siblings.h \
	src/slowdown.c src/slowdown.h \
	src/status.c src/status.h \
	src/swing.c src/swing.h \
	src/swing_latency.c \
	src/swing_partial.c \
	src/swing_walk.c src/swing_walk.h \
	src/symmetry.c src/symmetry.h \
	src/stragglar.c \
	src/stragglar_match.c src/stragglar_match.h \
	src/straggler_pipeline.c \
	src/topology.c src/topology.h \
	src/topology_box.c src/topology_box.h \
	src/topology_pack.c \
	src/torus.c src/torus.h \
	src/torus_doubling.c \
	src/traffic.c src/traffic.h \
	src/transport.h \
	src/tree.c src/tree.h \
	src/uplinks.c src/uplinks.h \
	src/verify.c src/verify.h \
	src/verify_plan.c src/verify_plan.h \
	src/weighted.c \
	src/window.c src/window.h
src_libstrag_la_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS) $(YAML_CFLAGS)
src_libstrag_la_LIBADD = -lm $(PTHREAD_LIBS) $(HWLOC_LIBS) $(YAML_LIBS)
