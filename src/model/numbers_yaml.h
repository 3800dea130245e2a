/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of a model as keys of a YAML file. */
#ifndef STRAG_NUMBERS_YAML_H
#define STRAG_NUMBERS_YAML_H

#include "base/yaml.h"
#include "model/numbers.h"

#include <stdio.h>

/**
 * The keys for a mapping that has numbers.
 *
 * @param[out] keys  STRAG_MODEL_NUMBERS of them, not closed
 * @param offset     of a double[STRAG_MODEL_NUMBERS] in the mapping's target: seconds or bytes per
 *                   second
 */
void strag_numbers_keys(struct strag_yaml_key *keys, size_t offset);

/** Which number is the key's? @return -1: none */
int strag_numbers_find(const char *key);

/** "alpha: 45", without an end of line. */
void strag_numbers_write(FILE *stream, int id, double value);

#endif
