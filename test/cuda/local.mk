# SPDX-License-Identifier: BSD-3-Clause
# The kernels on the host, and the plug-in over a driver that is none.
TESTS += test/cuda/nvcc.sh
EXTRA_DIST += test/cuda/nvcc.sh test/cuda/check_driver.c

if HAVE_CMOCKA
cuda_cppflags = $(unit_cppflags) -I$(top_srcdir)/cuda -I$(top_srcdir)/test/unit
cuda_cflags = $(AM_CFLAGS) -ffp-contract=off

check_LTLIBRARIES += test/cuda/libkernels.la test/cuda/libcuda.la
test_cuda_libkernels_la_CPPFLAGS = $(cuda_cppflags)
# Addresses that a device would refuse are refused here, too.
test_cuda_libkernels_la_CFLAGS = $(cuda_cflags) \
	-fsanitize=alignment -fsanitize-undefined-trap-on-error
test_cuda_libkernels_la_SOURCES = \
	cuda/kernel_table.c \
	test/cuda/host_kernels.c test/cuda/host_kernels.h \
	test/cuda/reference.c test/cuda/reference.h

# The name under which the plug-in looks for the driver: libcuda.so.1.
test_cuda_libcuda_la_CPPFLAGS = $(cuda_cppflags)
test_cuda_libcuda_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
test_cuda_libcuda_la_SOURCES = \
	test/cuda/fake_driver.c test/cuda/fake_driver.h \
	test/cuda/fake_internal.h \
	test/cuda/fake_memory.c \
	test/cuda/fake_streams.c \
	test/cuda/gpu.h
test_cuda_libcuda_la_LIBADD = test/cuda/libkernels.la $(PTHREAD_LIBS)
test_cuda_libcuda_la_LDFLAGS = $(AM_LDFLAGS) -shared -version-number 1:0:0 -rpath $(abs_top_builddir) \
	-export-symbols-regex '^(cu[A-Z]|fake_cuda_)'

# UCX with CUDA support, over that driver: libucp.so.0, in a folder where only those look that want it.
if HAVE_UCX
check_LTLIBRARIES += test/cuda/ucp/libucp.la
test_cuda_ucp_libucp_la_CPPFLAGS = $(AM_CPPFLAGS) -DSTRAG_UCX_LIBDIR='"$(UCX_LIBDIR)"' $(UCX_CFLAGS)
test_cuda_ucp_libucp_la_CFLAGS = $(AM_CFLAGS)
test_cuda_ucp_libucp_la_SOURCES = test/cuda/ucp/fake_ucp.c
test_cuda_ucp_libucp_la_LIBADD = $(DL_LIBS)
test_cuda_ucp_libucp_la_LDFLAGS = $(AM_LDFLAGS) -shared -version-number 0:0:0 \
	-rpath $(abs_top_builddir) -export-symbols-regex '^uc[ps]_'
endif

cuda_tests = \
	test/cuda/test_device_reducer \
	test/cuda/test_kernels \
	test/cuda/test_plugin
check_PROGRAMS += $(cuda_tests)
TESTS += $(cuda_tests)

cuda_fixture = test/cuda/gpu.c test/cuda/gpu.h test/cuda/plugin_support.c test/cuda/plugin_support.h
test_cuda_test_kernels_SOURCES = test/cuda/test_kernels.c
test_cuda_test_kernels_CPPFLAGS = $(cuda_cppflags)
test_cuda_test_kernels_CFLAGS = $(cuda_cflags)
test_cuda_test_kernels_LDFLAGS = $(unit_ldflags)
test_cuda_test_kernels_LDADD = test/cuda/libkernels.la $(unit_libs) -lm

test_cuda_test_plugin_SOURCES = test/cuda/test_plugin.c $(cuda_fixture)
test_cuda_test_plugin_CPPFLAGS = $(cuda_cppflags)
test_cuda_test_plugin_CFLAGS = $(cuda_cflags)
test_cuda_test_plugin_LDFLAGS = $(unit_ldflags)
test_cuda_test_plugin_LDADD = test/cuda/libkernels.la $(unit_libs) $(DL_LIBS) -lm
test_cuda_test_device_reducer_SOURCES = \
	test/cuda/carrier.c test/cuda/carrier.h \
	test/cuda/test_device_reducer.c $(cuda_fixture)
test_cuda_test_device_reducer_CPPFLAGS = $(cuda_cppflags)
test_cuda_test_device_reducer_CFLAGS = $(cuda_cflags)
test_cuda_test_device_reducer_LDFLAGS = $(unit_ldflags)
test_cuda_test_device_reducer_LDADD = cuda/libdevice_reducer.la $(unit_libs) $(DL_LIBS)
endif
