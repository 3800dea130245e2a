/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output of several commands: sizes, times, the machine and the model in words and as JSON.
 */
#ifndef STRAG_WRITE_H
#define STRAG_WRITE_H

#include "topology_options.h"

/** A size as people write it: 32, 2K, 512M. @return text */
const char *size_text(size_t bytes, char text[32]);

/** Microseconds with four significant digits, never as 1e+05. @return text */
const char *time_text(double seconds, char text[48]);

/** "n = 64, torus 8x8, 64 hosts, 1 rank on each". */
void write_machine(const struct machine *machine);

/** "alpha = 1 us, bandwidth = 100 Gbit/s, ...": without an end of line. */
void write_model(const struct machine *machine);

/** A JSON string with its quotes. */
void write_json_string(const char *text);

/** "n":64,"topology":"torus 8x8","hosts":64,"ranks_per_host":1,"alpha_us":1,... */
void write_json_machine(const struct machine *machine);

#endif
