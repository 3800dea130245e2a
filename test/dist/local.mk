# SPDX-License-Identifier: BSD-3-Clause
# Tests of what users do with the package: configure, install, uninstall.

TESTS += test/dist/configure.sh test/dist/example.sh test/dist/library.sh \
	test/dist/packages.sh test/dist/chroots.sh test/dist/tarball.sh test/dist/doc.sh \
	test/dist/contributed.sh test/dist/python.sh
if HAVE_OMPI
TESTS += test/dist/install.sh test/dist/modules.sh test/dist/slurm.sh
check_PROGRAMS += test/dist/sum
test_dist_sum_SOURCES = test/dist/sum.c
test_dist_sum_CPPFLAGS = $(OMPI_CPPFLAGS)
test_dist_sum_LDADD = $(OMPI_LIBS)
endif
EXTRA_DIST += test/dist/common.sh test/dist/configure.sh test/dist/example.sh test/dist/install.sh test/dist/library.c \
	test/dist/library.sh test/dist/packages.sh test/dist/chroots.sh test/dist/recipes.py test/dist/tarball.sh \
	test/dist/doc.sh test/dist/modules.sh test/dist/slurm.sh test/dist/contributed.sh test/dist/python.sh
