# SPDX-License-Identifier: BSD-3-Clause
# Descriptions of machines that a user would start from; test/unit/test_layout.c reads all of them.
# plans.py: writes plans; test/mpi/examples.sh goes through the steps of README.md.
# library.c: a program that uses the installed libstrag; test/dist/library.sh builds it.
EXTRA_DIST += \
	examples/README.md \
	examples/block.conf \
	examples/block.yaml \
	examples/fat-tree.conf \
	examples/hammingmesh.coordinates \
	examples/hyperx.coordinates \
	examples/library.c \
	examples/oversubscribed.conf \
	examples/plans.py \
	examples/ranks.coordinates \
	examples/torus.coordinates \
	examples/torus3d.yaml \
	examples/tree.yaml
