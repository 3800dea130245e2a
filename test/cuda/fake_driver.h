/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A libcuda.so.1 for tests on machines without a device.
 *
 * Devices' memory has addresses that nobody can read or write: what touches it without the driver
 * dies of a segmentation fault, as it would with a real one. What is put on streams is not done at
 * once, but some of it, in the order of each stream, at later calls of the driver; copies read
 * their source only then. Nor is a copy from pageable memory to a device's or to managed memory,
 * unless the attribute SYNC_MEMOPS is set, which managed memory does not have. Kernels are those
 * of kernels.h, run thread by thread. Every call checks its arguments, and the current context,
 * and reports a fault on stderr; from then on, as with a real one, all calls fail.
 *
 *     FAKE_CUDA_DEVICES  how many there are (2); 0: cuInit finds none
 *     FAKE_CUDA_SEED     when things are done (1)
 *     FAKE_CUDA_FAIL     FUNCTION:N: the N-th call of cuFUNCTION... in this process fails
 */
#ifndef TEST_CUDA_FAKE_DRIVER_H
#define TEST_CUDA_FAKE_DRIVER_H

#include <stddef.h>

/* What was made and not given back, and what happened. */
struct fake_counts {
    long device_pieces, pinned_pieces, streams, events, modules, retained, pushed;
    long copies, kernels; /* ever done */
    size_t device_bytes_most, pinned_bytes_most;
    long mistakes; /* wrong arguments */
};

void fake_cuda_counts(struct fake_counts *counts);

/** Let the n-th call from now of that function fail; NULL: none. */
void fake_cuda_fail(const char *function, long n);

/** As when a new process begins. All that was made is gone. */
void fake_cuda_restart(unsigned seed);

#endif
