# SPDX-License-Identifier: BSD-3-Clause
# Model files of real machines (doc/real-machines.md); test/cli/cost.sh reads each of them.
modelsdir = $(pkgdatadir)/models
dist_models_DATA = \
	models/fugaku-2025.model \
	models/leonardo-2025.model \
	models/lumi-2025.model \
	models/marenostrum5-2025.model
