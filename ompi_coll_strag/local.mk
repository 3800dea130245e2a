# SPDX-License-Identifier: BSD-3-Clause
# The component: mca_coll_strag.so, and its help texts beside it.

strag_help = ompi_coll_strag/help-mca-coll-strag.txt

if HAVE_OMPI
# The objects are in a library of their own: Open MPI tries to load every file called mca_* in the
# folder where the component is, so that no object file may have such a name.
noinst_LTLIBRARIES += ompi_coll_strag/libcoll_strag.la
ompi_coll_strag_libcoll_strag_la_SOURCES = \
	ompi_coll_strag/coll_strag.h \
	ompi_coll_strag/coll_strag_allreduce.c \
	ompi_coll_strag/coll_strag_component.c \
	ompi_coll_strag/coll_strag_device.c \
	ompi_coll_strag/coll_strag_device.h \
	ompi_coll_strag/coll_strag_links.c \
	ompi_coll_strag/coll_strag_links.h \
	ompi_coll_strag/coll_strag_locality.c \
	ompi_coll_strag/coll_strag_module.c \
	ompi_coll_strag/coll_strag_parameters.c \
	ompi_coll_strag/coll_strag_place.c \
	ompi_coll_strag/coll_strag_reducer.c \
	ompi_coll_strag/coll_strag_report.c \
	ompi_coll_strag/coll_strag_report.h \
	ompi_coll_strag/coll_strag_segments.c \
	ompi_coll_strag/coll_strag_shm.c \
	ompi_coll_strag/coll_strag_shm.h \
	ompi_coll_strag/coll_strag_shm_wait.c \
	ompi_coll_strag/coll_strag_state.c \
	ompi_coll_strag/coll_strag_table.c \
	ompi_coll_strag/coll_strag_tell.c \
	ompi_coll_strag/coll_strag_transport.c \
	ompi_coll_strag/coll_strag_transport_pml.c \
	ompi_coll_strag/coll_strag_transport_shm.c \
	ompi_coll_strag/coll_strag_watch.c \
	ompi_coll_strag/coll_strag_watch.h \
	ompi_coll_strag/compat/compat.h
if HAVE_UCX
ompi_coll_strag_libcoll_strag_la_SOURCES += \
	ompi_coll_strag/coll_strag_transport_ucp.c \
	ompi_coll_strag/coll_strag_ucp.c \
	ompi_coll_strag/coll_strag_ucp.h \
	ompi_coll_strag/coll_strag_ucp_connect.c
else
ompi_coll_strag_libcoll_strag_la_SOURCES += ompi_coll_strag/coll_strag_ucp_none.c
endif
ompi_coll_strag_libcoll_strag_la_CPPFLAGS = $(AM_CPPFLAGS) $(STRAG_VERSION_CPPFLAGS) \
	-DSTRAG_OMPI_VERSION='"$(OMPI_VERSION)"' -I$(top_srcdir)/cuda $(OMPI_CPPFLAGS) \
	-DSTRAG_UCX_LIBDIR='"$(UCX_LIBDIR)"' $(UCX_CFLAGS)
ompi_coll_strag_libcoll_strag_la_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS) -fvisibility=hidden
ompi_coll_strag_libcoll_strag_la_LIBADD = src/libstrag.la cuda/libstaging.la $(DL_LIBS)

# "exec" in the name: installed with the programs, before install-exec-hook.
pluginexecdir = $(plugindir)
pluginexec_LTLIBRARIES = ompi_coll_strag/mca_coll_strag.la
pluginexec_DATA = $(strag_help)

# So it does for the plug-in for devices and its kernels.
noinst_DATA += ompi_coll_strag/.libs/strag_cuda.so
ompi_coll_strag/.libs/strag_cuda.so: cuda/strag_cuda.la ompi_coll_strag/mca_coll_strag.la
	$(AM_V_GEN)cp -f cuda/.libs/strag_cuda.so $@
if HAVE_CUDA_KERNELS
noinst_DATA += ompi_coll_strag/.libs/strag_cuda.kernels
ompi_coll_strag/.libs/strag_cuda.kernels: cuda/strag_cuda.kernels ompi_coll_strag/mca_coll_strag.la
	$(AM_V_GEN)cp -f cuda/strag_cuda.kernels $@
endif
ompi_coll_strag_mca_coll_strag_la_SOURCES =
ompi_coll_strag_mca_coll_strag_la_LIBADD = ompi_coll_strag/libcoll_strag.la $(OMPI_LIBS)
ompi_coll_strag_mca_coll_strag_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-export-symbols-regex '^mca_coll_strag_component$$' -Wl,-z,defs

# The component looks for its help texts in its own folder, installed or not.
noinst_DATA += ompi_coll_strag/.libs/help-mca-coll-strag.txt
ompi_coll_strag/.libs/help-mca-coll-strag.txt: $(strag_help) ompi_coll_strag/mca_coll_strag.la
	$(AM_V_GEN)$(INSTALL_DATA) $(srcdir)/$(strag_help) $@

if PLUGIN_AT_HOME
ompihelpdir = $(OMPI_PKGDATADIR)
ompihelp_DATA = $(strag_help)
endif

# Open MPI opens the .so; libtool's .la has no use there, and without it uninstall needs help.
install-exec-hook:
	cd $(DESTDIR)$(pluginexecdir) && rm -f mca_coll_strag.la strag_cuda.la
uninstall-hook:
	rm -f $(DESTDIR)$(pluginexecdir)/mca_coll_strag.so $(DESTDIR)$(pluginexecdir)/strag_cuda.so
endif

EXTRA_DIST += $(strag_help) \
	ompi_coll_strag/compat/include/ompi/mpi/fortran/base/fint_2_int.h \
	ompi_coll_strag/compat/include/opal/mca/threads/pthreads/threads_pthreads.h \
	ompi_coll_strag/compat/include/opal/mca/threads/pthreads/threads_pthreads_mutex.h \
	ompi_coll_strag/compat/include/opal/mca/threads/pthreads/threads_pthreads_threads.h \
	ompi_coll_strag/compat/include/opal/mca/threads/pthreads/threads_pthreads_tsd.h
