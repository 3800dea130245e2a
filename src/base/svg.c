/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/svg.h"

#include <stdarg.h>

/* Contrast with white is 4.5 and more; the first four differ also without red or green receptors.
 */
static const char *const colours[] = {
    "#2f6db3", "#c2561a", "#1b7f5c", "#5a2a6b", "#8a6d00", "#5b6470", "#b3354f", "#1f7f93",
};

const char *strag_svg_colour(int index)
{
    return colours[(size_t)index % (sizeof colours / sizeof *colours)];
}

void strag_svg_words(FILE *out, const char *words)
{
    for (; *words; words++) {
        if (*words == '<')
            fputs("&lt;", out);
        else if (*words == '&')
            fputs("&amp;", out);
        else
            fputc(*words, out);
    }
}

void strag_svg_begin(FILE *out, double width, double height, double font, const char *style,
                     const char *title)
{
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\">\n<title>",
            width, height, width, height);
    strag_svg_words(out, title);
    fprintf(
        out,
        "</title>\n<style>\n"
        "text{font-family:Helvetica,Arial,\"DejaVu Sans\",sans-serif;font-size:%gpx;fill:#222}\n"
        ".title{font-size:16px;font-weight:bold}\n"
        ".note{font-size:12px;fill:#666}\n"
        ".middle{text-anchor:middle}\n.end{text-anchor:end}\n"
        ".rule{stroke:#d5dae0}\n"
        "%s</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        font, style);
    fprintf(out, "<text class=\"title\" x=\"%g\" y=\"28\">", STRAG_SVG_MARGIN);
    strag_svg_words(out, title);
    fputs("</text>\n", out);
}

void strag_svg_end(FILE *out)
{
    fputs("</svg>\n", out);
}

void strag_svg_text(FILE *out, const char *class, double x, double y, const char *format, ...)
{
    char words[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    fprintf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
    strag_svg_words(out, words);
    fputs("</text>\n", out);
}

void strag_svg_line(FILE *out, const char *class, double x1, double y1, double x2, double y2)
{
    fprintf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class,
            x1, y1, x2, y2);
}
