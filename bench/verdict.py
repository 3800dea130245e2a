# SPDX-License-Identifier: BSD-3-Clause
"""What ratios of times by size mean, in words: stock Open MPI's time over strag's, one of each launch."""
import statistics

import section

# A median has to differ by this much for strag to be called faster or slower; and all launches have to agree.
MARGIN = 0.03


def verdict(found):
    """Of a size's ratios: 1 faster, -1 slower, 0 neither."""
    middle = statistics.median(found)
    if middle > 1 + MARGIN and min(found) > 1:
        return 1
    return -1 if middle < 1 / (1 + MARGIN) and max(found) < 1 else 0


def stretches(found, wanted):
    """["1 KiB to 64 KiB (1.20 to 1.85 times as fast)", ...]: neighbouring sizes of one verdict"""
    sizes, texts, start = list(found), [], None
    for number in range(len(sizes) + 1):
        here = number < len(sizes) and verdict(found[sizes[number]]) == wanted
        if here and start is None:
            start = number
        if not here and start is not None:
            own = sizes[start:number]
            start = None
            between = " to ".join(dict.fromkeys(map(section.size_text, (own[0], own[-1]))))
            middles = [statistics.median(found[size]) for size in own]
            ends = dict.fromkeys(f"{middle:.2f}" for middle in (min(middles), max(middles)))
            texts.append(between + (f" ({' to '.join(ends)} times as fast)" if wanted else ""))
    return texts


def listed(texts):
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + " and " + texts[-1]


def sentence(found, whom):
    """@param found  {bytes: ratios} @param whom  what strag is compared with"""
    parts = []
    for wanted, what in ((1, "faster at"), (-1, "slower at"), (0, "as fast at")):
        texts = stretches(found, wanted)
        if texts:
            parts.append(f"{what} {listed(texts)}")
        elif wanted == 1:
            parts.append("nowhere faster")
    return f"Against {whom} strag is {'; '.join(parts)}."


def scattered(found):
    """The sizes at which launches differ too much for a number to mean much; "": none"""
    sizes = [section.size_text(size) for size, own in found.items() if max(own) > 1.5 * min(own)]
    return listed(sizes) if sizes else ""
