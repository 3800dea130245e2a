#include "watch/fit.h"
#include <stdlib.h>
struct strag_fit { struct strag_sourced_model model; };
struct strag_fit *strag_fit_create(const struct strag_problem *problem, const struct strag_sourced_model *model)
{ struct strag_fit *fit = calloc(1, sizeof *fit); (void)problem; if (fit) fit->model = *model; return fit; }
void strag_fit_free(struct strag_fit *fit) { free(fit); }
void strag_fit_note(struct strag_fit *fit, size_t bytes, const struct strag_algorithm *algorithm, int blocks, double seconds, double delay)
{ (void)fit; (void)bytes; (void)algorithm; (void)blocks; (void)seconds; (void)delay; }
bool strag_fit_update(struct strag_fit *fit, const struct strag_state_record *state, const struct strag_selection *selection)
{ (void)fit; (void)state; (void)selection; return false; }
const struct strag_sourced_model *strag_fit_model(const struct strag_fit *fit) { return &fit->model; }
void strag_fit_forget(struct strag_fit *fit) { (void)fit; }
const char *strag_fit_log(const struct strag_fit *fit) { (void)fit; return ""; }
