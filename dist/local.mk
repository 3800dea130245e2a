# SPDX-License-Identifier: BSD-3-Clause
# What packages are made from, and the environment modules that `make install` installs.

# Where Open MPI finds the component by itself, or a variable would be empty, no variable is set.
# OMPI_COMPONENT_PATH is empty, or a colon and a folder.
module_text = sed \
	-e 's,%PACKAGE_VERSION%,$(PACKAGE_VERSION),g' -e 's,%OMPI_VERSION%,$(OMPI_VERSION),g' \
	-e 's,%OMPI_MODULE%,$(OMPI_MODULE),' \
	-e 's,%bindir%,$(bindir),' -e 's,%mandir%,$(mandir),' -e 's,%libdir%,$(libdir),' \
	-e 's,%plugindir%,$(plugindir),' -e 's,%OMPI_COMPONENT_PATH%,$(OMPI_COMPONENT_PATH),' -e 's, :, ,' \
	-e 's,%PMIX_PLUGINDIR%,$(PMIX_PLUGINDIR),' $(srcdir)/dist/modulefile.in | \
	if test '$(plugindir)' = '$(OMPI_PLUGINDIR)'; then sed -e '/component_path/d' -e '/^prereq $$/d'; \
	else sed -e '/component_path $$/d' -e '/^prereq $$/d'; fi | \
	sed '/ \/usr\/\(bin\|share\/man\|lib[^ ]*\)$$/{/component_path/!d;}'

if HAVE_OMPI
modulesdir = $(datadir)/modulefiles
moduledir = $(modulesdir)/strag
module_DATA = dist/module/$(PACKAGE_VERSION)
dist/module/$(PACKAGE_VERSION): $(srcdir)/dist/modulefile.in Makefile
	$(AM_V_GEN)$(MKDIR_P) dist/module && $(module_text) > $@.new && mv $@.new $@
defaultmoduledir = $(modulesdir)/strag-default
defaultmodule_DATA = dist/module-default/$(PACKAGE_VERSION)
dist/module-default/$(PACKAGE_VERSION): $(srcdir)/dist/modulefile-default.in Makefile
	$(AM_V_GEN)$(MKDIR_P) dist/module-default && \
	sed 's,%PACKAGE_VERSION%,$(PACKAGE_VERSION),g' $(srcdir)/dist/modulefile-default.in > $@.new && mv $@.new $@
CLEANFILES += dist/module/$(PACKAGE_VERSION) dist/module-default/$(PACKAGE_VERSION)
endif

# For a test: the module of another plug-in folder.
.PHONY: print-module
print-module:
	@$(module_text)

EXTRA_DIST += dist/README.md dist/Containerfile dist/easybuild/strag-0.1.0-gompi-2023b.eb dist/modulefile.in \
	dist/modulefile-default.in dist/publish dist/spack/package.py dist/strag.rpmlintrc dist/strag.spec \
	debian/changelog debian/control debian/copyright debian/libstrag-dev.examples \
	debian/libstrag-dev.install debian/libstrag0.install debian/rules debian/source/format \
	debian/strag.docs debian/strag.install
