# SPDX-License-Identifier: BSD-3-Clause
# Tests of the component by MPI programs; each script runs one or two of them with many options.

mpi_tests = \
	test/mpi/bits.sh \
	test/mpi/callbacks.sh \
	test/mpi/collectives.sh \
	test/mpi/compare.sh \
	test/mpi/device.sh \
	test/mpi/errors.sh \
	test/mpi/examples.sh \
	test/mpi/files.sh \
	test/mpi/guide.sh \
	test/mpi/huge.sh \
	test/mpi/in_order.sh \
	test/mpi/inherit.sh \
	test/mpi/layout.sh \
	test/mpi/limits.sh \
	test/mpi/manual.sh \
	test/mpi/matrix.sh \
	test/mpi/memory.sh \
	test/mpi/mismatch.sh \
	test/mpi/mistakes.sh \
	test/mpi/namespaces.sh \
	test/mpi/no_memory.sh \
	test/mpi/nonblocking.sh \
	test/mpi/operators.sh \
	test/mpi/params.sh \
	test/mpi/plans.sh \
	test/mpi/printed.sh \
	test/mpi/report_lines.sh \
	test/mpi/save.sh \
	test/mpi/session.sh \
	test/mpi/setup_messages.sh \
	test/mpi/signals.sh \
	test/mpi/soak.sh \
	test/mpi/spawn.sh \
	test/mpi/stuck.sh \
	test/mpi/strangers.sh \
	test/mpi/threads.sh \
	test/mpi/tune.sh \
	test/mpi/tune_model.sh \
	test/mpi/types.sh \
	test/mpi/ulfm.sh \
	test/mpi/upstream.sh \
	test/mpi/watch.sh
# These run alone: they judge who is late, or what is faster.
mpi_tests_alone = \
	test/mpi/last.sh \
	test/mpi/late.sh \
	test/mpi/learn.sh \
	test/mpi/links.sh \
	test/mpi/report.sh \
	test/mpi/trace.sh \
	test/mpi/experiments.sh
ucp_tests = test/mpi/ucp.sh
EXTRA_DIST += $(mpi_tests) $(mpi_tests_alone) $(ucp_tests) test/mpi/README.md test/mpi/common.sh test/mpi/manual.py test/mpi/on_hosts.sh

if HAVE_OMPI
TESTS += $(mpi_tests) test/mpi/arrivals_error
if HAVE_UCX
TESTS += $(ucp_tests)
endif
tests_alone += $(mpi_tests_alone)

mpi_cppflags = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
mpi_libs = test/mpi/libmpi_tests.la src/libstrag.la $(OMPI_LIBS) $(PTHREAD_LIBS)

# What the programs share: each takes what it needs.
check_LTLIBRARIES += test/mpi/libmpi_tests.la
test_mpi_libmpi_tests_la_CPPFLAGS = $(mpi_cppflags)
test_mpi_libmpi_tests_la_SOURCES = \
	test/mpi/caller.c test/mpi/caller.h \
	test/mpi/common.c test/mpi/common.h \
	test/mpi/elements.c test/mpi/elements.h \
	test/mpi/order.c test/mpi/order.h \
	test/mpi/shapes.c test/mpi/shapes.h \
	test/mpi/suite.c test/mpi/suite.h test/mpi/suite_inter.c test/mpi/suite_neighbours.c

# A program is one file over this library, unless something else is said of it below. The compiler links it
# (test/unit/local.mk), and it finds Open MPI where that is.
comma = ,
mpi_programs = \
	test/mpi/alive \
	test/mpi/bits \
	test/mpi/callbacks \
	test/mpi/collectives \
	test/mpi/huge \
	test/mpi/inherit \
	test/mpi/killed \
	test/mpi/last \
	test/mpi/late \
	test/mpi/links \
	test/mpi/matrix \
	test/mpi/memory \
	test/mpi/mismatch \
	test/mpi/nonblocking \
	test/mpi/operators \
	test/mpi/plans \
	test/mpi/report \
	test/mpi/savers \
	test/mpi/session \
	test/mpi/setup_messages \
	test/mpi/idup \
	test/mpi/requests \
	test/mpi/sizes \
	test/mpi/strangers \
	test/mpi/soak \
	test/mpi/spawn \
	test/mpi/stopped \
	test/mpi/stuck \
	test/mpi/storm \
	test/mpi/types \
	test/mpi/ulfm
# Of Open MPI's errors: upstream.sh builds them where it is asked to run.
upstream_programs = \
	test/mpi/upstream_fast_boxes \
	test/mpi/upstream_pending \
	test/mpi/upstream_thread_level \
	test/mpi/upstream_truncation
EXTRA_PROGRAMS = $(upstream_programs)
$(mpi_programs) $(upstream_programs): test/mpi/libmpi_tests.la src/libstrag.la
$(mpi_programs) $(upstream_programs): private LINK = $(compiler_links) $(patsubst -L%,-Wl$(comma)-rpath$(comma)%,$(filter -L%,$(OMPI_LIBS)))
$(mpi_programs) $(upstream_programs): private LDADD = test/mpi/.libs/libmpi_tests.a $(strag_archive) $(OMPI_LIBS)
test/mpi/%.o: private AM_CPPFLAGS += $(OMPI_CPPFLAGS)
check_PROGRAMS += $(mpi_programs) \
	test/mpi/device \
	test/mpi/errors \
	test/mpi/arrivals_error \
	test/mpi/layout \
	test/mpi/refuse \
	test/mpi/upstream_comm_free

test_mpi_device_SOURCES = test/mpi/device.c test/cuda/gpu.c test/cuda/gpu.h
test_mpi_device_CPPFLAGS = $(mpi_cppflags) -I$(top_srcdir)/cuda -I$(top_srcdir)/test/cuda
test_mpi_device_LDADD = $(mpi_libs) $(DL_LIBS)
test_mpi_errors_SOURCES = test/mpi/errors.c test/mpi/failing.h
test_mpi_errors_CPPFLAGS = $(mpi_cppflags)
test_mpi_errors_LDADD = $(mpi_libs)
test_mpi_arrivals_error_SOURCES = test/mpi/arrivals_error.c
test_mpi_arrivals_error_CPPFLAGS = $(ompi_coll_strag_libcoll_strag_la_CPPFLAGS)
test_mpi_arrivals_error_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS)
test_mpi_arrivals_error_LDADD = $(mpi_libs)
test_mpi_layout_SOURCES = test/mpi/layout.c
test_mpi_layout_CPPFLAGS = $(mpi_cppflags) $(HWLOC_CFLAGS)
test_mpi_layout_LDADD = $(mpi_libs) $(HWLOC_LIBS)
# To be preloaded.
check_LTLIBRARIES += test/mpi/failing.la
test_mpi_failing_la_SOURCES = test/mpi/failing.c test/mpi/failing.h
test_mpi_failing_la_CPPFLAGS = $(ompi_coll_strag_libcoll_strag_la_CPPFLAGS)
test_mpi_failing_la_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS)
test_mpi_failing_la_LIBADD = $(DL_LIBS)
test_mpi_failing_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
check_LTLIBRARIES += test/mpi/configured_clock.la
test_mpi_configured_clock_la_SOURCES = test/mpi/configured_clock.c
test_mpi_configured_clock_la_CPPFLAGS = $(mpi_cppflags)
test_mpi_configured_clock_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
check_LTLIBRARIES += test/mpi/failing_attribute.la
test_mpi_failing_attribute_la_SOURCES = test/mpi/failing_attribute.c
test_mpi_failing_attribute_la_CPPFLAGS = $(mpi_cppflags)
test_mpi_failing_attribute_la_LIBADD = $(DL_LIBS)
test_mpi_failing_attribute_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
check_LTLIBRARIES += test/mpi/nap.la
test_mpi_nap_la_SOURCES = test/mpi/nap.c
test_mpi_nap_la_LIBADD = $(DL_LIBS)
test_mpi_nap_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
check_LTLIBRARIES += test/mpi/slow_fclose.la test/mpi/stand_in_hcoll.la
test_mpi_stand_in_hcoll_la_SOURCES = test/mpi/stand_in_hcoll.c
test_mpi_stand_in_hcoll_la_CPPFLAGS = $(ompi_coll_strag_libcoll_strag_la_CPPFLAGS)
test_mpi_stand_in_hcoll_la_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS)
test_mpi_stand_in_hcoll_la_LIBADD = $(OMPI_LIBS)
test_mpi_stand_in_hcoll_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
test_mpi_slow_fclose_la_SOURCES = test/mpi/slow_fclose.c
test_mpi_slow_fclose_la_LIBADD = $(DL_LIBS)
test_mpi_slow_fclose_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
test_mpi_refuse_LDADD =
test_mpi_upstream_comm_free_SOURCES = test/mpi/upstream_comm_free.c
test_mpi_upstream_comm_free_CPPFLAGS = $(mpi_cppflags)
test_mpi_upstream_comm_free_LDADD = $(mpi_libs) $(DL_LIBS)
endif

# What common.sh makes.
clean-local:
	rm -rf test/mpi/components
