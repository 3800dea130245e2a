# SPDX-License-Identifier: BSD-3-Clause
# The component: mca_coll_strag.so.

if HAVE_OMPI
# The objects are in a library of their own: Open MPI tries to load every file called mca_* in the
# folder where the component is, so that no object file may have such a name.
noinst_LTLIBRARIES += ompi_coll_strag/libcoll_strag.la
ompi_coll_strag_libcoll_strag_la_SOURCES = \
	ompi_coll_strag/call/blocking.c \
	ompi_coll_strag/call/call.h \
	ompi_coll_strag/call/choose.c ompi_coll_strag/call/choose.h \
	ompi_coll_strag/call/component.c \
	ompi_coll_strag/call/entries.h \
	ompi_coll_strag/call/nonblocking.c \
	ompi_coll_strag/call/on_copies.c ompi_coll_strag/call/on_copies.h \
	ompi_coll_strag/call/persistent.c \
	ompi_coll_strag/call/query.c \
	ompi_coll_strag/call/request.c ompi_coll_strag/call/request.h \
	ompi_coll_strag/call/run.c ompi_coll_strag/call/run.h \
	ompi_coll_strag/choice/explain.c ompi_coll_strag/choice/explain.h \
	ompi_coll_strag/choice/plans.c ompi_coll_strag/choice/plans.h \
	ompi_coll_strag/choice/store.c ompi_coll_strag/choice/store.h \
	ompi_coll_strag/choice/table.c ompi_coll_strag/choice/table.h \
	ompi_coll_strag/choice/user_plans.c ompi_coll_strag/choice/user_plans.h \
	ompi_coll_strag/collect/collect.c ompi_coll_strag/collect/collect.h \
	ompi_coll_strag/collect/record.c ompi_coll_strag/collect/record.h \
	ompi_coll_strag/collect/report.c ompi_coll_strag/collect/report.h \
	ompi_coll_strag/compat/attributes.h \
	ompi_coll_strag/compat/compat.h \
	ompi_coll_strag/compat/components.h \
	ompi_coll_strag/compat/failures.h \
	ompi_coll_strag/compat/tags.h \
	ompi_coll_strag/compat/world.h \
	ompi_coll_strag/facts/decision.h \
	ompi_coll_strag/facts/files.c ompi_coll_strag/facts/files.h \
	ompi_coll_strag/facts/fingerprint.c ompi_coll_strag/facts/fingerprint.h \
	ompi_coll_strag/facts/links.c ompi_coll_strag/facts/links.h \
	ompi_coll_strag/facts/model.c ompi_coll_strag/facts/model.h \
	ompi_coll_strag/facts/ping.c ompi_coll_strag/facts/ping.h \
	ompi_coll_strag/facts/rank_info.c ompi_coll_strag/facts/rank_info.h \
	ompi_coll_strag/facts/state.c ompi_coll_strag/facts/state.h \
	ompi_coll_strag/mpi/failure.h \
	ompi_coll_strag/mpi/queue.c ompi_coll_strag/mpi/queue.h \
	ompi_coll_strag/mpi/reducer.c ompi_coll_strag/mpi/reducer.h \
	ompi_coll_strag/mpi/teardown.c ompi_coll_strag/mpi/teardown.h \
	ompi_coll_strag/setup/ask.c \
	ompi_coll_strag/setup/decide.c \
	ompi_coll_strag/setup/derive.c \
	ompi_coll_strag/setup/memory.c \
	ompi_coll_strag/setup/setup.c ompi_coll_strag/setup/setup.h \
	ompi_coll_strag/setup/steps.c ompi_coll_strag/setup/steps.h \
	ompi_coll_strag/shared/module.c ompi_coll_strag/shared/module.h \
	ompi_coll_strag/shared/roll_call.c ompi_coll_strag/shared/roll_call.h \
	ompi_coll_strag/shared/shared_setup.c ompi_coll_strag/shared/shared_setup.h \
	ompi_coll_strag/stuck/news.c ompi_coll_strag/stuck/news.h \
	ompi_coll_strag/stuck/say.c ompi_coll_strag/stuck/say.h \
	ompi_coll_strag/stuck/stuck.c ompi_coll_strag/stuck/stuck.h \
	ompi_coll_strag/user/complaints.c ompi_coll_strag/user/complaints.h \
	ompi_coll_strag/user/counters.c ompi_coll_strag/user/counters.h \
	ompi_coll_strag/user/file_name.c ompi_coll_strag/user/file_name.h \
	ompi_coll_strag/user/info_keys.c ompi_coll_strag/user/info_keys.h \
	ompi_coll_strag/user/log.c ompi_coll_strag/user/log.h \
	ompi_coll_strag/user/settings.c ompi_coll_strag/user/settings.h \
	ompi_coll_strag/user/texts.c \
	ompi_coll_strag/user/values.c ompi_coll_strag/user/values.h \
	ompi_coll_strag/watch/last_arrival.c ompi_coll_strag/watch/last_arrival.h \
	ompi_coll_strag/watch/notes.c ompi_coll_strag/watch/notes.h \
	ompi_coll_strag/watch/watch.c ompi_coll_strag/watch/watch.h \
	ompi_coll_strag/watch/watch_make.c \
	ompi_coll_strag/wire/device_buffer.c ompi_coll_strag/wire/device_buffer.h \
	ompi_coll_strag/wire/exchange.c ompi_coll_strag/wire/exchange.h \
	ompi_coll_strag/wire/transport.c ompi_coll_strag/wire/transport.h \
	ompi_coll_strag/wire/transport_pml.c ompi_coll_strag/wire/transport_pml.h \
	ompi_coll_strag/wire/transport_shm.c ompi_coll_strag/wire/transport_shm.h \
	ompi_coll_strag/wire/ucp/ucp.h
if HAVE_UCX
ompi_coll_strag_libcoll_strag_la_SOURCES += \
	ompi_coll_strag/wire/ucp/connect.c \
	ompi_coll_strag/wire/ucp/internal.h \
	ompi_coll_strag/wire/ucp/messages.c \
	ompi_coll_strag/wire/ucp/process.c
have_ucx_cppflags = -DSTRAG_HAVE_UCX -DSTRAG_UCX_LIBDIR='"$(UCX_LIBDIR)"' $(UCX_CFLAGS)
endif
ompi_coll_strag_libcoll_strag_la_CPPFLAGS = $(AM_CPPFLAGS) $(STRAG_VERSION_CPPFLAGS) \
	-DSTRAG_OMPI_VERSION='"$(OMPI_VERSION)"' -I$(top_srcdir)/cuda -I$(top_srcdir)/ompi_coll_strag \
	$(OMPI_CPPFLAGS) \
	$(have_ucx_cppflags)
ompi_coll_strag_libcoll_strag_la_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS) -fvisibility=hidden
ompi_coll_strag_libcoll_strag_la_LIBADD = src/libstrag.la cuda/libdevice_reducer.la $(DL_LIBS)

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

EXTRA_DIST += ompi_coll_strag/README.md \
	ompi_coll_strag/compat/README.md ompi_coll_strag/wire/ucp/README.md \
	ompi_coll_strag/user/README.md \
	ompi_coll_strag/mpi/README.md \
	ompi_coll_strag/wire/README.md \
	ompi_coll_strag/facts/README.md \
	ompi_coll_strag/choice/README.md \
	ompi_coll_strag/watch/README.md \
	ompi_coll_strag/stuck/README.md \
	ompi_coll_strag/shared/README.md \
	ompi_coll_strag/collect/README.md \
	ompi_coll_strag/setup/README.md \
	ompi_coll_strag/call/README.md \
	ompi_coll_strag/pmix-mca-params-override.conf \
	ompi_coll_strag/compat/include/ompi/mpi/fortran/base/fint_2_int.h \
	ompi_coll_strag/compat/include/opal/mca/threads/pthreads/threads_pthreads.h \
	ompi_coll_strag/compat/include/opal/mca/threads/pthreads/threads_pthreads_mutex.h \
	ompi_coll_strag/compat/include/opal/mca/threads/pthreads/threads_pthreads_threads.h
