#ifndef STRAG_FIT_H
#define STRAG_FIT_H
#include "machine/state.h"
#include "model/numbers.h"
#include "model/select.h"
struct strag_fit;
struct strag_fit *strag_fit_create(const struct strag_problem *problem, const struct strag_sourced_model *model);
void strag_fit_free(struct strag_fit *fit);
void strag_fit_note(struct strag_fit *fit, size_t bytes, const struct strag_algorithm *algorithm, int blocks, double seconds, double delay);
bool strag_fit_update(struct strag_fit *fit, const struct strag_state_record *state, const struct strag_selection *selection);
const struct strag_sourced_model *strag_fit_model(const struct strag_fit *fit);
void strag_fit_forget(struct strag_fit *fit);
const char *strag_fit_log(const struct strag_fit *fit);
#endif
