#include "watch.h"
void coll_strag_report_register(const mca_base_component_t *component);
