/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pictures, by python3: a command writes JSON, from which tools/pictures, a text in this program,
 * makes SVG.
 */
#ifndef STRAG_DRAW_H
#define STRAG_DRAW_H

#include "options.h"

/**
 * Draw what a function writes.
 *
 * @param write  writes the JSON to stdout, which is a file meanwhile; an EXIT_ code, and if that is
 *               not EXIT_DONE nothing is drawn
 * @return an EXIT_ code; others than EXIT_DONE have been explained on stderr
 */
int draw_json(const struct command *command, int (*write)(const void *what), const void *what);

#endif
