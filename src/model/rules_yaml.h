/* SPDX-License-Identifier: BSD-3-Clause */
/* The sizes of a rule as a part of another YAML file. */
#ifndef STRAG_RULES_YAML_H
#define STRAG_RULES_YAML_H

#include "base/yaml.h"
#include "model/rules.h"

/** Read `sizes` of a rule that always holds. @param target  struct strag_rules **, NULL before; the
 * caller's to free with strag_rules_free; also on failure. A strag_yaml_reader */
int strag_rules_yaml_sizes(struct strag_yaml *yaml, const yaml_node_t *node, void *target);

#endif
