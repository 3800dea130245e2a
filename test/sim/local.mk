# SPDX-License-Identifier: BSD-3-Clause
# The cost model against SimGrid; the test builds its own program with SimGrid's compiler.

TESTS += test/sim/compare.sh

EXTRA_DIST += \
	test/sim/README.md \
	test/sim/compare.py \
	test/sim/compare.sh \
	test/sim/make_platform.py \
	test/sim/replay.c \
	test/sim/selector.c \
	test/sim/sim.c \
	test/sim/sim.h
