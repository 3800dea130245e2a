# SPDX-License-Identifier: BSD-3-Clause
# The lab: namespaces, a benchmark, and a library that is preloaded into its ranks. See README.md.

lab_scripts = \
	bench/lab/box.py \
	bench/lab/check.py \
	bench/lab/contenders.py \
	bench/lab/pictures.py \
	bench/lab/lab \
	bench/lab/launch.py \
	bench/lab/measure.py \
	bench/lab/network.py \
	bench/lab/report.py \
	bench/lab/results.py \
	bench/lab/scenarios.py \
	bench/lab/strag.py \
	bench/lab/stream.py
EXTRA_DIST += $(lab_scripts) bench/lab/README.md bench/lab/check.sh bench/lab/test_results.py

if HAVE_OMPI
TESTS += bench/lab/check.sh

check_PROGRAMS += bench/lab/allreduce_lab
bench_lab_allreduce_lab_SOURCES = \
	bench/lab/allreduce_lab.c \
	bench/lab/allreduce_lab.h \
	bench/lab/arrivals.c \
	bench/lab/links.c
bench_lab_allreduce_lab_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
bench_lab_allreduce_lab_LDADD = bench/libbench.la src/libstrag.la $(OMPI_LIBS) -lm

check_PROGRAMS += bench/lab/hold_packets
bench_lab_hold_packets_SOURCES = bench/lab/hold_packets.c

# -rpath makes a shared library of it, which is never installed.
noinst_LTLIBRARIES += bench/lab/poll_shim.la
bench_lab_poll_shim_la_SOURCES = bench/lab/poll_shim.c
bench_lab_poll_shim_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
bench_lab_poll_shim_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
endif
