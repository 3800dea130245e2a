# SPDX-License-Identifier: BSD-3-Clause
# Measurements. `make check` builds the programs and runs none.

EXTRA_DIST += bench/report.py bench/shm.sh bench/sim/optcc.py

if HAVE_OMPI
check_PROGRAMS += bench/allreduce
bench_allreduce_SOURCES = bench/allreduce.c
bench_allreduce_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
bench_allreduce_LDADD = src/libstrag.la $(OMPI_LIBS)
endif
