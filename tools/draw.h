/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pictures, by python3: a command writes JSON, from which the script of tools/pictures makes SVG.
 * This program contains the script.
 */
#ifndef STRAG_DRAW_H
#define STRAG_DRAW_H

#include "options.h"

/**
 * Draw what a function writes.
 *
 * @param write  writes the JSON to stdout, which is a file during the call, and returns an EXIT_
 *               code; if that is not EXIT_DONE, nothing is drawn
 * @return an EXIT_ code; any other than EXIT_DONE has been explained on stderr
 */
int draw_json(const struct command *command, int (*write)(const void *what), const void *what);

#endif
