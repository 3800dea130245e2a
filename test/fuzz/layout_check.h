/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What must hold after any reader of layouts, whatever it read.
 */
#ifndef STRAG_FUZZ_LAYOUT_CHECK_H
#define STRAG_FUZZ_LAYOUT_CHECK_H

#include "machine/layout.h"

#include <stdint.h>

/** For a fuzzer a crash is the finding. */
void check(bool good, const char *what);

/** A refusal has a message of one line and no result; a layout is one, and has a topology. It is
 * freed. */
void check_layout(int status, struct strag_layout *layout, const struct strag_error *err);

/** One reader of layouts, and the one that finds out by itself which it is. */
typedef int layout_reader(const char *text, size_t length, const char *name,
                          struct strag_layout **layout, struct strag_error *err);
void check_layout_reader(layout_reader *read, const uint8_t *data, size_t size);

/** A refusal's message: one line, not empty. @param prefix  how it begins */
void check_message(int status, const struct strag_error *err, const char *prefix);

#endif
