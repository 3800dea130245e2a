# SPDX-License-Identifier: BSD-3-Clause
"""The Swing paper's claims on its figures, sentence by sentence, and the model's answers.

A claim is the figure, the sentence, and a function that answers it for one alpha with a text and
whether it holds. A number that the paper calls "up to" or "more than" is reached from 95 % of it
on; one that it calls "around" is met within 5 % of the ratio of times.
"""
import collections
import statistics

from scenarios import (BANDWIDTHS, BUCKET, CUBES, DOUBLING, HX2MESH, HX4MESH, HYPERX, KIB, LARGE,
                       MIB, MIRRORED, RECTANGLES, RING, SIZES, SQUARES, SWING, peak, size_text)

Claim = collections.namedtuple("Claim", "figure sentence answer")

UP_TO_512M = 512 * MIB
ALL_CLAIMS = []


def claim(figure, sentence):
    def register(answer):
        ALL_CLAIMS.append(Claim(figure, sentence, answer))
        return answer
    return register


def reached(value, said):
    return value >= 0.95 * said


def met(value, said):
    return abs(value / said - 1) <= 0.05


def percent(speedup):
    return f"{100 * (speedup - 1):+.0f} %"


def best(speedups):
    """(largest speedup, its size)"""
    size = max(speedups, key=speedups.get)
    return speedups[size], size


def wins(prices, scenario, alpha, most=SIZES[-1]):
    """Where Swing is not slower than the best known, as text; whether that is everywhere."""
    lost = [size for size, s in prices.speedups(scenario, alpha, most).items() if s < 1]
    worst = min(prices.speedups(scenario, alpha, most).values())
    if not lost:
        return f"everywhere, at least {percent(worst)}", True
    return f"not at {', '.join(map(size_text, lost))} ({percent(worst)})", False


def wins_all(prices, scenarios, alpha, most=SIZES[-1]):
    answers = [(s.name, *wins(prices, s, alpha, most)) for s in scenarios]
    bad = [f"{name}: {text}" for name, text, ok in answers if not ok]
    worst = min(min(prices.speedups(s, alpha, most).values()) for s in scenarios)
    return "; ".join(bad) or f"everywhere, at least {percent(worst)}", not bad


def maxima(prices, scenarios, alpha):
    return [best(prices.speedups(s, alpha, UP_TO_512M))[0] for s in scenarios]


def arrow(values):
    return " → ".join(f"{value:.2f}x" for value in values)


# ---- Figure 7: 64x64 ----

@claim(7, "Swing outperforms all the others from 32 B to 32 MiB")
def _(prices, alpha):
    return wins(prices, LARGE, alpha, 32 * MIB)


@claim(7, "more than 2x over recursive doubling at 2 MiB")
def _(prices, alpha):
    ratio = prices.speedup(LARGE, alpha, 2 * MIB, DOUBLING)
    return f"{ratio:.2f}x", ratio > 2


@claim(7, "the highest gain, around 120 %, is at 2 MiB")
def _(prices, alpha):
    ratio, size = best(prices.speedups(LARGE, alpha))
    return f"{percent(ratio)} at {size_text(size)}", met(ratio, 2.2) and size == 2 * MIB


@claim(7, "up to 50 % better than recursive doubling up to 32 KiB")
def _(prices, alpha):
    ratio = max(prices.speedup(LARGE, alpha, size, DOUBLING) for size in SIZES if size <= 32 * KIB)
    return percent(ratio), reached(ratio, 1.5)


@claim(7, "bucket is better from 128 MiB on")
def _(prices, alpha):
    ratios = {size: prices.speedup(LARGE, alpha, size, BUCKET) for size in SIZES}
    first = min((size for size, ratio in ratios.items() if ratio < 1), default=0)
    return f"from {size_text(first)} on, Swing {percent(ratios[128 * MIB])} at 128 MiB", \
        first == 128 * MIB


@claim(7, "ring is not, for its latency")
def _(prices, alpha):
    ratio = prices.speedup(LARGE, alpha, UP_TO_512M, RING)
    return f"Swing {percent(ratio)} against it at 512 MiB", ratio > 1


@claim(7, "Swing reaches around 77 % of the peak at 512 MiB (at most 81 % by its congestion)")
def _(prices, alpha):
    share = prices.goodput(LARGE, SWING, alpha, UP_TO_512M) / peak(LARGE)
    return f"{100 * share:.0f} %", met(share, 0.77)


@claim(7, "better than mirrored recursive doubling at every size")
def _(prices, alpha):
    ratios = [prices.speedup(LARGE, alpha, size, MIRRORED) for size in SIZES]
    return f"{percent(min(ratios))} to {percent(max(ratios))}", min(ratios) > 1


# ---- Figure 8: square tori ----

@claim(8, "Swing outperforms the others up to 32 MiB on 8x8 to 128x128")
def _(prices, alpha):
    return wins_all(prices, SQUARES, alpha, 32 * MIB)


@claim(8, "the largest gain grows with the network")
def _(prices, alpha):
    most = maxima(prices, SQUARES, alpha)
    return arrow(most), most == sorted(most)


@claim(8, "bucket outperforms it from 128 MiB on, on any of them")
def _(prices, alpha):
    ratios = {s.name: prices.speedup(s, alpha, 128 * MIB, BUCKET) for s in SQUARES}
    text = ", ".join(f"{name} {percent(ratio)}" for name, ratio in ratios.items())
    return f"at 128 MiB {text}", all(ratio < 1 for ratio in ratios.values())


@claim(8, "never worse than around -20 %")
def _(prices, alpha):
    worst = min(min(prices.speedups(s, alpha).values()) for s in SQUARES)
    return percent(worst), worst > 0.95 * 0.8


# ---- Figure 9: bandwidths, 8x8 ----

@claim(9, "gains at every bandwidth (up to 32 MiB)")
def _(prices, alpha):
    return wins_all(prices, BANDWIDTHS, alpha, 32 * MIB)


@claim(9, "for small vectors the gain is larger at low bandwidth")
def _(prices, alpha):
    slow, fast = (max(prices.speedup(s, alpha, size) for size in SIZES if size <= 32 * KIB)
                  for s in (BANDWIDTHS[0], BANDWIDTHS[-1]))
    return f"up to 32 KiB {percent(slow)} at 100 Gbit/s, {percent(fast)} at 3.2 Tbit/s", slow > fast


@claim(9, "at 3.2 Tbit/s Swing outperforms all even at 512 MiB")
def _(prices, alpha):
    return wins(prices, BANDWIDTHS[-1], alpha, UP_TO_512M)


# ---- Figure 11: rectangular tori ----

@claim(11, "Swing outperforms the others up to 32 MiB whatever the shape")
def _(prices, alpha):
    return wins_all(prices, RECTANGLES, alpha, 32 * MIB)


@claim(11, "up to 3x on 128x8 and 256x4")
def _(prices, alpha):
    most = maxima(prices, RECTANGLES[1:], alpha)
    return arrow(most).replace("→", "and"), all(reached(ratio, 3) for ratio in most)


@claim(11, "ring is unaffected by the shape")
def _(prices, alpha):
    times = [prices.seconds(s, RING, alpha, UP_TO_512M) for s in RECTANGLES]
    return f"{min(times) * 1e3:.2f} to {max(times) * 1e3:.2f} ms at 512 MiB", \
        met(min(times), max(times))


@claim(11, "ring outperforms bucket and Swing above 512 MiB")
def _(prices, alpha):
    size = SIZES[-1]
    names = [s.name for s in RECTANGLES if prices.best_known(s, alpha, size) is RING
             and prices.speedup(s, alpha, size, RING) < 1]
    return f"at 2 GiB on {', '.join(names) or 'none'}", len(names) == len(RECTANGLES)


@claim(11, "bucket gets slower from 64x16 to 256x4")
def _(prices, alpha):
    rates = [prices.goodput(s, BUCKET, alpha, 32 * MIB) for s in RECTANGLES]
    return " → ".join(f"{rate:.0f}" for rate in rates) + " Gbit/s at 32 MiB", \
        rates == sorted(rates, reverse=True)


@claim(11, "on 256x4 Swing is around 60 % worse than ring at 512 MiB")
def _(prices, alpha):
    ratio = prices.speedup(RECTANGLES[-1], alpha, UP_TO_512M, RING)
    return percent(ratio), met(ratio, 0.4)


# ---- Figure 12: more dimensions ----

@claim(12, "on 8x8x8 and 8x8x8x8 Swing outperforms all from 32 B to 2 GB")
def _(prices, alpha):
    return wins_all(prices, CUBES[1:], alpha)


@claim(12, "by up to 2x")
def _(prices, alpha):
    most = maxima(prices, CUBES[1:], alpha)
    return arrow(most).replace("→", "and"), reached(max(most), 2)


@claim(12, "congestion costs 3 % in 3D and 0.8 % in 4D")
def _(prices, alpha):
    lost = [peak(s) / prices.goodput(s, SWING, alpha, SIZES[-1]) for s in CUBES[1:]]
    text = " and ".join(f"{100 * (ratio - 1):.1f} %" for ratio in lost)
    return f"{text} off the peak at 2 GiB", lost[0] < 1.035 and lost[1] < 1.013


# ---- Figures 13 to 15: HammingMesh, HyperX ----

@claim(13, "on Hx2Mesh Swing outperforms the others at any size")
def _(prices, alpha):
    return wins(prices, HX2MESH, alpha)


@claim(13, "up to 2.5x, at 2 MiB")
def _(prices, alpha):
    ratio, size = best(prices.speedups(HX2MESH, alpha))
    return f"{ratio:.2f}x at {size_text(size)}", reached(ratio, 2.5) and size == 2 * MIB


@claim(13, "its peak is higher than on the 64x64 torus")
def _(prices, alpha):
    here, there = (prices.goodput(s, SWING, alpha, UP_TO_512M) for s in (HX2MESH, LARGE))
    return f"{here:.0f} against {there:.0f} Gbit/s at 512 MiB", here > there


@claim(14, "more congestion than on Hx2Mesh, seen from 128 MiB on")
def _(prices, alpha):
    two, four = (prices.goodput(s, SWING, alpha, 128 * MIB) for s in (HX2MESH, HX4MESH))
    return f"{four:.0f} against {two:.0f} Gbit/s at 128 MiB", four < two


@claim(14, "up to 2.5x")
def _(prices, alpha):
    ratio, size = best(prices.speedups(HX4MESH, alpha))
    return f"{ratio:.2f}x at {size_text(size)}", reached(ratio, 2.5)


@claim(15, "on HyperX Swing outperforms the others at any size")
def _(prices, alpha):
    return wins(prices, HYPERX, alpha)


@claim(15, "up to 3x")
def _(prices, alpha):
    ratio, size = best(prices.speedups(HYPERX, alpha))
    return f"{ratio:.2f}x at {size_text(size)}", reached(ratio, 3)


@claim(15, "no congestion at all")
def _(prices, alpha):
    share = prices.goodput(HYPERX, SWING, alpha, SIZES[-1]) / peak(HYPERX)
    return f"{100 * share:.1f} % of the peak at 2 GiB", share > 0.98


# ---- Figure 16: summary, sizes up to 512 MiB ----

def medians(prices, scenarios, alpha):
    return [statistics.median(prices.speedups(s, alpha, UP_TO_512M).values()) for s in scenarios]


@claim(16, "square tori: the median gain grows with the network")
def _(prices, alpha):
    middle = medians(prices, SQUARES, alpha)
    return arrow(middle), middle == sorted(middle)


@claim(16, "rectangular tori: median and largest gain grow with the ratio of the sides")
def _(prices, alpha):
    middle, most = medians(prices, RECTANGLES, alpha), maxima(prices, RECTANGLES, alpha)
    return f"medians {arrow(middle)}, largest {arrow(most)}", \
        middle == sorted(middle) and most == sorted(most)


@claim(16, "bandwidths: the median gain stays around 25 %")
def _(prices, alpha):
    middle = medians(prices, BANDWIDTHS, alpha)
    return f"{percent(min(middle))} to {percent(max(middle))}", \
        all(met(ratio, 1.25) for ratio in middle)


@claim(16, "bandwidths: the largest gain decreases")
def _(prices, alpha):
    most = maxima(prices, BANDWIDTHS, alpha)
    return arrow(most), most == sorted(most, reverse=True)


@claim(16, "dimensions: the largest gain grows from 8x8 to 8x8x8x8, up to 2x")
def _(prices, alpha):
    most = maxima(prices, CUBES, alpha)
    return arrow(most), most == sorted(most) and reached(most[-1], 2)


@claim(16, "HammingMesh: higher gains than on the 64x64 torus")
def _(prices, alpha):
    here = maxima(prices, [LARGE, HX4MESH, HX2MESH], alpha)
    return "64x64, Hx4Mesh, Hx2Mesh: " + arrow(here), here[0] < min(here[1:])


@claim(16, "median gains between 20 % and 50 %, at most 3x")
def _(prices, alpha):
    everything = (SQUARES + RECTANGLES + BANDWIDTHS + CUBES + [HX2MESH, HX4MESH, HYPERX])
    middle, most = medians(prices, everything, alpha), maxima(prices, everything, alpha)
    return f"{percent(min(middle))} to {percent(max(middle))}, at most {max(most):.2f}x", \
        min(middle) >= 1.2 and max(middle) <= 1.5 and met(max(most), 3)
