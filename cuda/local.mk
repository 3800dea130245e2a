# SPDX-License-Identifier: BSD-3-Clause
# The plug-in for CUDA devices, and its kernels. The plug-in is C that needs nothing of CUDA's.

noinst_LTLIBRARIES += cuda/libdriver.la
cuda_libdriver_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/cuda
cuda_libdriver_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
cuda_libdriver_la_SOURCES = \
	cuda/context.c \
	cuda/kernel_table.c cuda/kernel_table.h \
	cuda/device.c cuda/device.h \
	cuda/driver.c cuda/driver.h \
	cuda/kernels.h \
	cuda/plugin.c \
	cuda/pool.c \
	cuda/strag_cuda.h \
	src/base/c_locale.c src/base/file.c src/base/status.c src/base/text.c

cuda_strag_cuda_la_SOURCES =
cuda_strag_cuda_la_LIBADD = cuda/libdriver.la $(DL_LIBS) $(PTHREAD_LIBS)
cuda_strag_cuda_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-export-symbols-regex '^strag_cuda_open$$' -Wl,-z,defs
if HAVE_OMPI
pluginexec_LTLIBRARIES += cuda/strag_cuda.la
else
noinst_LTLIBRARIES += cuda/strag_cuda.la
cuda_strag_cuda_la_LDFLAGS += -rpath $(libdir)
endif

# What lets the engine run on device memory, over the plug-in; part of the component.
noinst_LTLIBRARIES += cuda/libdevice_reducer.la
cuda_libdevice_reducer_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/cuda
cuda_libdevice_reducer_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
cuda_libdevice_reducer_la_SOURCES = cuda/device_reducer.c cuda/device_reducer.h

if HAVE_CUDA_KERNELS
cuda/strag_cuda.kernels: cuda/kernels.cu cuda/kernels.h cuda/$(am__dirstamp)
	$(AM_V_GEN)$(STRAG_KERNELS_COMMAND) -o $@ $(srcdir)/cuda/kernels.cu
CLEANFILES += cuda/strag_cuda.kernels
if HAVE_OMPI
pluginexec_DATA += cuda/strag_cuda.kernels
else
noinst_DATA += cuda/strag_cuda.kernels
endif
endif

EXTRA_DIST += cuda/build-ucx.sh cuda/kernels.cu

EXTRA_DIST += cuda/README.md
