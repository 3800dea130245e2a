# SPDX-License-Identifier: BSD-3-Clause
# Tests of the command-line program.

cli_tests = \
	test/cli/completion.sh \
	test/cli/contract.sh \
	test/cli/cost.sh \
	test/cli/explain.sh \
	test/cli/golden.sh \
	test/cli/large.sh \
	test/cli/output.sh \
	test/cli/svg.sh \
	test/cli/terminal.sh \
	test/cli/topology.sh \
	test/cli/usage.sh \
	test/cli/verify.sh
TESTS += $(cli_tests)

# The program, over algorithms that are not what they claim. The two names of the table are redefined
# in what uses them, so that they do not clash with the library's.
check_PROGRAMS += test/cli/strag-broken
test_cli_strag_broken_SOURCES = $(strag_table_sources) test/cli/broken.c
test_cli_strag_broken_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools \
	-Dstrag_algorithms=broken_algorithms -Dstrag_algorithm_find=broken_algorithm_find
test_cli_strag_broken_LDADD = $(patsubst %.c,%.$(OBJEXT),$(filter %.c,$(strag_other_sources))) \
	src/libstrag.la

EXTRA_DIST += \
	$(cli_tests) \
	test/cli/check_cost_svg.py \
	test/cli/check_svg.py \
	test/cli/common.bash \
	test/cli/contract.py \
	test/cli/golden/bucket-3x2.txt \
	test/cli/golden/circulant-5-rank-4.json \
	test/cli/golden/circulant-5-rank-4.svg \
	test/cli/golden/cost-7.csv \
	test/cli/golden/cost-7.txt \
	test/cli/golden/cost-circulant-6.json \
	test/cli/golden/cost-ring-8.txt \
	test/cli/golden/cost-torus-4x4.txt \
	test/cli/golden/explain.sha256 \
	test/cli/golden/explain-6.json \
	test/cli/golden/explain-torus-4x4.txt \
	test/cli/golden/one.json \
	test/cli/golden/one.svg \
	test/cli/golden/one.txt \
	test/cli/golden/plans.sha256 \
	test/cli/golden/recursive-doubling-5.json \
	test/cli/golden/recursive-doubling-5.svg \
	test/cli/golden/recursive-halving-6-rank-3.txt \
	test/cli/golden/ring-3.json \
	test/cli/golden/ring-3.txt \
	test/cli/golden/topology-mesh-3x2.txt \
	test/cli/golden/topology-tree.json \
	test/cli/terminal.py
