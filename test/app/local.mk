# SPDX-License-Identifier: BSD-3-Clause
# Real applications, from Debian's packages lammps and hpcc.

if HAVE_OMPI
TESTS += test/app/hpcc.sh test/app/lammps.sh
endif
EXTRA_DIST += \
	test/app/common.sh \
	test/app/hpcc.sh \
	test/app/hpccinf.in \
	test/app/lammps.sh \
	test/app/melt.in \
	test/app/thermo.awk
