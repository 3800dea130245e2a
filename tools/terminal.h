/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a user who waits gets to see: a line on the terminal that says how far a command has come,
 * and a last word after ^C.
 *
 * The line is on standard error, only if that is a terminal and strag is in its foreground, only
 * after a second, and it is gone before anything else is written. It is drawn when something is
 * reported, at most five times a second.
 */
#ifndef STRAG_TERMINAL_H
#define STRAG_TERMINAL_H

#include "base/progress.h"

#include <stdbool.h>

/**
 * Once, before a command runs. From now on SIGINT and SIGTERM, unless they are ignored, end the
 * process with a line on standard error.
 *
 * @param command  its name, which stays
 */
void open_terminal(const char *command);

/** What reports to the line. @return NULL: there is no terminal to show it on */
const struct strag_progress *terminal_progress(void);

/** The same for what reports while it writes to stdout: nothing where that is a terminal, too. */
const struct strag_progress *terminal_progress_of_output(void);

/** Remove the line, before anything is written; the next step that is reported brings it back. */
void clear_terminal(void);

#endif
