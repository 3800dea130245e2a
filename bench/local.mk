# SPDX-License-Identifier: BSD-3-Clause
# Measurements. `make check` builds the programs and runs none.

EXTRA_DIST += bench/README.md bench/allocations bench/busy.py bench/communicators.py bench/communicators.sh bench/compare \
	bench/comparison_page.py bench/contributed.py bench/ratios.py bench/verdict.py \
	bench/jobs.py bench/jobs.sh bench/machine.sh bench/measured.py bench/overlap.py \
	bench/overlap.sh bench/plans.py bench/plans.sh bench/report.py bench/section.py \
	bench/shm.sh bench/soak.py bench/summary.py

# The Swing paper's figures, from the cost model.
EXTRA_DIST += \
	bench/sim/README.md \
	bench/sim/claims.py \
	bench/sim/figures.py \
	bench/sim/plots.py \
	bench/sim/scenarios.py

# The other papers' figures, from the cost model.
EXTRA_DIST += bench/sim/flexreduce.py bench/sim/lines.py bench/sim/optcc.py bench/sim/straggler.py

EXTRA_DIST += bench/sim/smpi.py

if HAVE_OMPI
# Shared by the benchmarks, the lab's too.
check_LTLIBRARIES += bench/libbench.la
bench_libbench_la_SOURCES = bench/common.c bench/common.h bench/contender.c bench/values.c
bench_libbench_la_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)

check_PROGRAMS += bench/allreduce bench/communicators bench/jobs bench/overlap bench/watch
bench_communicators_SOURCES = bench/communicators.c
bench_communicators_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
bench_communicators_LDADD = bench/libbench.la src/libstrag.la $(OMPI_LIBS)
bench_overlap_SOURCES = bench/overlap.c
bench_overlap_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
bench_overlap_LDADD = bench/libbench.la src/libstrag.la $(OMPI_LIBS)
bench_watch_SOURCES = bench/watch.c
bench_watch_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
bench_watch_LDADD = $(OMPI_LIBS)
bench_allreduce_SOURCES = bench/allreduce.c
bench_allreduce_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
bench_allreduce_LDADD = bench/libbench.la src/libstrag.la $(OMPI_LIBS)
bench_jobs_SOURCES = bench/jobs.c
bench_jobs_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
bench_jobs_LDADD = bench/libbench.la src/libstrag.la $(OMPI_LIBS)
endif

# Time and memory of tables, plans and of judging watched calls at scale; what is copied on one host.
check_PROGRAMS += bench/scale/scale
bench_scale_scale_SOURCES = bench/scale/scale.c bench/scale/machines.c bench/scale/machines.h
bench_scale_scale_LDADD = src/libstrag.la
check_PROGRAMS += bench/scale/watch
bench_scale_watch_SOURCES = bench/scale/watch.c
bench_scale_watch_LDADD = src/libstrag.la
check_PROGRAMS += bench/scale/host
bench_scale_host_SOURCES = bench/scale/host.c
bench_scale_host_LDADD = src/libstrag.la -lm
EXTRA_DIST += bench/scale/figure.py bench/scale/host.py bench/scale/report.py bench/scale/watch.py
