/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For users who wait: a line on the terminal with a command's progress, and a last word after ^C.
 *
 * The line is on standard error, if that is a terminal and strag is in its foreground. It appears
 * after a second, is drawn at reports of progress, at most five times a second, and is removed
 * before anything else is written.
 */
#ifndef STRAG_TERMINAL_H
#define STRAG_TERMINAL_H

#include "base/progress.h"

#include <stdbool.h>

/**
 * Call this once, before a command runs. From then on SIGINT and SIGTERM, unless they are ignored,
 * end the process with a line on standard error.
 *
 * @param command  its name, which must stay valid
 */
void open_terminal(const char *command);

/** Reports progress on the line. @return NULL if there is no terminal to show it on */
const struct strag_progress *terminal_progress(void);

/** The same for functions that write to stdout; NULL also if that is a terminal. */
const struct strag_progress *terminal_progress_of_output(void);

/** Remove the line, before anything is written; the next step that is reported brings it back. */
void clear_terminal(void);

#endif
