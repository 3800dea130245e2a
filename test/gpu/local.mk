# SPDX-License-Identifier: BSD-3-Clause
# What a machine with an NVIDIA GPU runs: bash test/gpu/run.sh
EXTRA_DIST += test/gpu/run.sh test/gpu/run_fake.sh

if HAVE_OMPI
TESTS += test/gpu/run_fake.sh
check_PROGRAMS += test/gpu/kernels test/gpu/allreduce
gpu_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/cuda -I$(top_srcdir)/test/cuda
test_gpu_kernels_SOURCES = test/gpu/kernels.c test/cuda/gpu.c test/cuda/gpu.h \
	test/cuda/reference.c test/cuda/reference.h
test_gpu_kernels_CPPFLAGS = $(gpu_cppflags)
test_gpu_kernels_LDADD = $(DL_LIBS) -lm
test_gpu_allreduce_SOURCES = test/gpu/allreduce.c test/cuda/gpu.c test/cuda/gpu.h
test_gpu_allreduce_CPPFLAGS = $(gpu_cppflags) $(OMPI_CPPFLAGS)
test_gpu_allreduce_LDADD = $(OMPI_LIBS) $(DL_LIBS)
endif
