# SPDX-License-Identifier: BSD-3-Clause
# The component's queues, with stand-ins for Open MPI.
if HAVE_CMOCKA
check_PROGRAMS += test/queue/test_queue
TESTS += test/queue/test_queue
test_queue_test_queue_SOURCES = \
	ompi_coll_strag/mpi/queue.c \
	test/queue/test_queue.c test/queue/open_mpi.h
test_queue_test_queue_CPPFLAGS = $(unit_cppflags) -I$(top_srcdir)/test/unit -I$(top_srcdir)/ompi_coll_strag \
	-include $(top_srcdir)/test/queue/open_mpi.h
test_queue_test_queue_LDFLAGS = $(unit_ldflags)
test_queue_test_queue_LDADD = $(unit_libs)
endif
