/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plug-in and the fake driver, from the build folder, for unit tests.
 */
#ifndef TEST_CUDA_PLUGIN_SUPPORT_H
#define TEST_CUDA_PLUGIN_SUPPORT_H

#include "gpu.h"
#include "strag_cuda.h"

/* What stands in the kernels' file, in a folder of the test's own. */
#define PLUGIN_FAKE_KERNELS "// for the fake driver\n"

/** A fresh driver. The test fails if it cannot be opened. */
void plugin_driver(struct gpu *gpu, unsigned seed);

/** The plug-in, over that driver. @param kernels  NULL: there is no such file */
const struct strag_cuda *plugin_open(const struct gpu *gpu, const char *kernels);

/** Close the plug-in; the test fails if it keeps anything, or made a mistake. */
void plugin_close(const struct gpu *gpu, const struct strag_cuda *cuda);

/** From dlopen: the plug-in's strag_cuda_open. */
strag_cuda_open_fn *plugin_function(const char *kernels);

#endif
