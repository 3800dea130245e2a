# SPDX-License-Identifier: BSD-3-Clause
# libstrag: plans and what reads, proves, prices and runs them. No MPI in here.
noinst_LTLIBRARIES += src/libstrag.la

src_libstrag_la_SOURCES = \
	src/algorithm.c src/algorithm.h \
	src/circulant.c \
	src/cost.c src/cost.h \
	src/engine.c src/engine.h \
	src/expression.c src/expression.h \
	src/fold.h \
	src/loopback.c src/loopback.h \
	src/parse.c src/parse.h \
	src/plan.c src/plan.h \
	src/recursive_doubling.c \
	src/recursive_halving.c \
	src/reducer.h \
	src/ring.c \
	src/select.c src/select.h \
	src/show.c src/show.h \
	src/show_svg.c \
	src/status.c src/status.h \
	src/transport.h \
	src/verify.c src/verify.h \
	src/verify_plan.c src/verify_plan.h
src_libstrag_la_LIBADD = -lm $(PTHREAD_LIBS)
