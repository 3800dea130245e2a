# SPDX-License-Identifier: BSD-3-Clause
# The component: mca_coll_strag.so.

if HAVE_OMPI
# The objects are in a library of their own: Open MPI tries to load every file called mca_* in the
# folder where the component is, so that no object file may have such a name.
noinst_LTLIBRARIES += ompi_coll_strag/libcoll_strag.la
ompi_coll_strag_libcoll_strag_la_SOURCES = \
	ompi_coll_strag/allreduce.c ompi_coll_strag/allreduce.h \
	ompi_coll_strag/arrivals.c ompi_coll_strag/arrivals.h \
	ompi_coll_strag/attribute.c ompi_coll_strag/attribute.h \
	ompi_coll_strag/call.c ompi_coll_strag/call.h \
	ompi_coll_strag/collect.c ompi_coll_strag/collect.h \
	ompi_coll_strag/communicator.c ompi_coll_strag/communicator.h \
	ompi_coll_strag/compat/attributes.h \
	ompi_coll_strag/compat/components.h \
	ompi_coll_strag/compat/compat.h \
	ompi_coll_strag/compat/failures.h \
	ompi_coll_strag/compat/requests.h \
	ompi_coll_strag/compat/tags.h \
	ompi_coll_strag/compat/world.h \
	ompi_coll_strag/complaints.c ompi_coll_strag/complaints.h \
	ompi_coll_strag/component.c \
	ompi_coll_strag/counters.c ompi_coll_strag/counters.h \
	ompi_coll_strag/decision.h \
	ompi_coll_strag/device.c ompi_coll_strag/device.h \
	ompi_coll_strag/exchange.c ompi_coll_strag/exchange.h \
	ompi_coll_strag/explain.c ompi_coll_strag/explain.h \
	ompi_coll_strag/failure.h \
	ompi_coll_strag/file_name.c ompi_coll_strag/file_name.h \
	ompi_coll_strag/fingerprint.c ompi_coll_strag/fingerprint.h \
	ompi_coll_strag/given.c ompi_coll_strag/given.h \
	ompi_coll_strag/shared_setup.c ompi_coll_strag/shared_setup.h \
	ompi_coll_strag/info_keys.c ompi_coll_strag/info_keys.h \
	ompi_coll_strag/ledger.c ompi_coll_strag/ledger.h \
	ompi_coll_strag/links.c ompi_coll_strag/links.h \
	ompi_coll_strag/log.c ompi_coll_strag/log.h \
	ompi_coll_strag/measured.c ompi_coll_strag/measured.h \
	ompi_coll_strag/model.c ompi_coll_strag/model.h \
	ompi_coll_strag/module.c ompi_coll_strag/module.h \
	ompi_coll_strag/nonblocking.c ompi_coll_strag/nonblocking.h \
	ompi_coll_strag/notes.c ompi_coll_strag/notes.h \
	ompi_coll_strag/recorded.c ompi_coll_strag/recorded.h \
	ompi_coll_strag/on_copies.c ompi_coll_strag/on_copies.h \
	ompi_coll_strag/persistent.c ompi_coll_strag/persistent.h \
	ompi_coll_strag/ping.c ompi_coll_strag/ping.h \
	ompi_coll_strag/place.c ompi_coll_strag/place.h \
	ompi_coll_strag/plans.c ompi_coll_strag/plans.h \
	ompi_coll_strag/previous.h \
	ompi_coll_strag/queue.c ompi_coll_strag/queue.h \
	ompi_coll_strag/rank_info.c ompi_coll_strag/rank_info.h \
	ompi_coll_strag/reducer.c ompi_coll_strag/reducer.h \
	ompi_coll_strag/report.c ompi_coll_strag/report.h \
	ompi_coll_strag/request.c ompi_coll_strag/request.h \
	ompi_coll_strag/roll_call.c ompi_coll_strag/roll_call.h \
	ompi_coll_strag/save.c ompi_coll_strag/save.h \
	ompi_coll_strag/segments.c ompi_coll_strag/segments.h \
	ompi_coll_strag/settings.c ompi_coll_strag/settings.h \
	ompi_coll_strag/setup.c ompi_coll_strag/setup.h \
	ompi_coll_strag/setup_ask.c \
	ompi_coll_strag/setup_decide.c ompi_coll_strag/setup_decide.h \
	ompi_coll_strag/setup_derive.c \
	ompi_coll_strag/setup_memory.c \
	ompi_coll_strag/setup_network.c \
	ompi_coll_strag/setup_steps.c ompi_coll_strag/setup_steps.h \
	ompi_coll_strag/shared_memory.c ompi_coll_strag/shared_memory.h \
	ompi_coll_strag/state.c ompi_coll_strag/state.h \
	ompi_coll_strag/stuck.c ompi_coll_strag/stuck.h \
	ompi_coll_strag/stuck_news.c ompi_coll_strag/stuck_news.h \
	ompi_coll_strag/stuck_say.c ompi_coll_strag/stuck_say.h \
	ompi_coll_strag/table.c ompi_coll_strag/table.h \
	ompi_coll_strag/teardown.c ompi_coll_strag/teardown.h \
	ompi_coll_strag/texts.c ompi_coll_strag/texts.h \
	ompi_coll_strag/store.c ompi_coll_strag/store.h \
	ompi_coll_strag/transport.c ompi_coll_strag/transport.h \
	ompi_coll_strag/transport_pml.c ompi_coll_strag/transport_pml.h \
	ompi_coll_strag/ucp/ucp.h \
	ompi_coll_strag/trace.c ompi_coll_strag/trace.h \
	ompi_coll_strag/unknown.c ompi_coll_strag/unknown.h \
	ompi_coll_strag/update.c ompi_coll_strag/update.h \
	ompi_coll_strag/values.c ompi_coll_strag/values.h \
	ompi_coll_strag/watch.c ompi_coll_strag/watch.h \
	ompi_coll_strag/watch_make.c ompi_coll_strag/watch_make.h
if HAVE_UCX
ompi_coll_strag_libcoll_strag_la_SOURCES += \
	ompi_coll_strag/ucp/connect.c \
	ompi_coll_strag/ucp/internal.h \
	ompi_coll_strag/ucp/messages.c \
	ompi_coll_strag/ucp/process.c
have_ucx_cppflags = -DSTRAG_HAVE_UCX -DSTRAG_UCX_LIBDIR='"$(UCX_LIBDIR)"' $(UCX_CFLAGS)
else
ompi_coll_strag_libcoll_strag_la_SOURCES += ompi_coll_strag/ucp/none.c
endif
ompi_coll_strag_libcoll_strag_la_CPPFLAGS = $(AM_CPPFLAGS) $(STRAG_VERSION_CPPFLAGS) \
	-DSTRAG_OMPI_VERSION='"$(OMPI_VERSION)"' -I$(top_srcdir)/cuda $(OMPI_CPPFLAGS) \
	$(have_ucx_cppflags)
ompi_coll_strag_libcoll_strag_la_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS) -fvisibility=hidden
ompi_coll_strag_libcoll_strag_la_LIBADD = src/libstrag.la cuda/libstaging.la $(DL_LIBS)

# "exec" in the name: installed with the programs, before install-exec-hook.
pluginexecdir = $(plugindir)
pluginexec_LTLIBRARIES = ompi_coll_strag/mca_coll_strag.la
pluginexec_DATA =

# The component looks for its plug-in for devices, and for the kernels, in its own folder, installed
# or not.
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

# Open MPI opens the .so; libtool's .la has no use there, and without it uninstall needs help.
install-exec-hook:
	cd $(DESTDIR)$(pluginexecdir) && rm -f mca_coll_strag.la strag_cuda.la
	$(install_beside_pmix)
uninstall_component = \
	rm -f $(DESTDIR)$(pluginexecdir)/mca_coll_strag.so $(DESTDIR)$(pluginexecdir)/strag_cuda.so; \
	$(uninstall_beside_pmix)

if PMIX_HIDES_PLUGINS
# Where mpirun gives the ranks PMIx's plug-in folder for Open MPI's own, a link there leads to the
# component. Its name ends in .o because PMIx complains of every file in that folder that is not its
# own, but for these; and a parameter has Open MPI try that ending, too.
pmix_link = $(DESTDIR)$(PMIX_HIDING)/mca_coll_strag.o
pmix_conf = $(DESTDIR)$(PMIX_CONFDIR)/pmix-mca-params-override.conf
our_pmix_conf = $(srcdir)/ompi_coll_strag/pmix-mca-params-override.conf
install_beside_pmix = \
	if test "`readlink $(pmix_link) || echo none`" != none && \
		test "`readlink $(pmix_link)`" != $(plugindir)/mca_coll_strag.so; then \
		echo 'warning: $(pmix_link) leads to another strag: mpirun of Open MPI 5.0 finds that one' >&2; \
	elif ! { $(MKDIR_P) $(DESTDIR)$(PMIX_HIDING) $(DESTDIR)$(PMIX_CONFDIR) && \
		ln -sf $(plugindir)/mca_coll_strag.so $(pmix_link); }; then \
		echo 'warning: cannot write to $(PMIX_HIDING): name the plug-in folder as doc/guide/install.md says, or mpirun does not find the component' >&2; \
	elif test -e $(pmix_conf) && ! cmp -s $(our_pmix_conf) $(pmix_conf); then \
		echo 'warning: $(pmix_conf) is not of strag: add the line of $(our_pmix_conf) to it, or mpirun does not find the component' >&2; \
	else $(INSTALL_DATA) $(our_pmix_conf) $(pmix_conf); fi
uninstall_beside_pmix = \
	if test "`readlink $(pmix_link)`" = $(plugindir)/mca_coll_strag.so; then rm -f $(pmix_link); fi; \
	if cmp -s $(our_pmix_conf) $(pmix_conf); then rm -f $(pmix_conf); fi
endif
endif

EXTRA_DIST += ompi_coll_strag/pmix-mca-params-override.conf \
	ompi_coll_strag/compat/include/ompi/mpi/fortran/base/fint_2_int.h \
	ompi_coll_strag/compat/include/opal/mca/threads/pthreads/threads_pthreads.h \
	ompi_coll_strag/compat/include/opal/mca/threads/pthreads/threads_pthreads_mutex.h \
	ompi_coll_strag/compat/include/opal/mca/threads/pthreads/threads_pthreads_threads.h \
	ompi_coll_strag/compat/include/opal/mca/threads/pthreads/threads_pthreads_tsd.h
