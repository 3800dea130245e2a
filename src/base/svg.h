/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all pictures share: the frame, the letters, the colours. Lengths are in SVG user units, a
 * pixel each. The caller sees to the locale (c_locale.h), and looks at ferror in the end.
 */
#ifndef STRAG_SVG_H
#define STRAG_SVG_H

#include <stdio.h>

/* Where what is below the title begins. */
#define STRAG_SVG_MARGIN 24.0
#define STRAG_SVG_BELOW  48.0

/**
 * Begin a picture: white, with its title. Classes that it has are title, note (grey), rule (a grey
 * line), middle and end (of texts: where x is).
 *
 * @param font   of texts without a class, in pixels
 * @param style  more rules of CSS
 */
void strag_svg_begin(FILE *out, double width, double height, double font, const char *style,
                     const char *title);

void strag_svg_end(FILE *out);

/** Text of an element, with its < and & written as XML wants them. */
void strag_svg_words(FILE *out, const char *words);

/** A line of text, of up to 511 bytes. @param class  of CSS; "": none @param y  of its foot */
void strag_svg_text(FILE *out, const char *class, double x, double y, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

void strag_svg_line(FILE *out, const char *class, double x1, double y1, double x2, double y2);

/** A colour, "#2f6db3": the first eight differ, and are dark enough for white letters.
 * @param index  from 0 */
const char *strag_svg_colour(int index);

#endif
