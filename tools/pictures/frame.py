# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of what strag writes as JSON: plans, costs, or a machine and its links. `strag --format svg`
runs these files, one behind the other (tools/draw.c): JSON on standard input, SVG on standard output.

    plans      ranks down, rounds across, one coloured bar per message, and an arrow from it to the
               receiver's row
    costs      what each algorithm takes over the fastest, at every size, and where another one becomes
               the fastest
    machines   the tree from the network down to its hosts (of a single host: to its ranks), or the
               grid, each link in both directions; with an algorithm, how busy its plan makes each link

All lengths are in SVG user units, a pixel each.
"""
import json
import math
import sys

# Contrast with white is 4.5 and more; the first four differ also without red or green receptors.
COLOURS = ["#2f6db3", "#c2561a", "#1b7f5c", "#5a2a6b", "#8a6d00", "#5b6470", "#b3354f", "#1f7f93"]
MARGIN = 24
BELOW = 48  # the title


def colour(index):
    return COLOURS[index % len(COLOURS)]


def words(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def text_at(style, x, y, text):
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{words(text)}</text>\n'


def line(style, x1, y1, x2, y2):
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>\n'


def count_text(count, unit):
    return f"{count} {unit}{'' if count == 1 else 's'}"


def begin(width, height, font, style, title):
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}">\n<title>{words(title)}</title>\n<style>\n'
            'text{font-family:Helvetica,Arial,"DejaVu Sans",sans-serif;'
            f'font-size:{font:g}px;fill:#222}}\n'
            ".title{font-size:16px;font-weight:bold}\n"
            ".note{font-size:12px;fill:#666}\n"
            ".middle{text-anchor:middle}\n.end{text-anchor:end}\n"
            ".rule{stroke:#d5dae0}\n"
            f'{style}</style>\n<rect width="100%" height="100%" fill="#fff"/>\n'
            f'<text class="title" x="{MARGIN}" y="28">{words(title)}</text>\n')


