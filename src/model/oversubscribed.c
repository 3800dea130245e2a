/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that share processors: the time of a call of `direct`, and the best number of blocks.
 *
 * All costs are work that the processors share, except what one rank does while others can only
 * wait. With n ranks, p processors, and a vector of V bytes in m blocks, each summed up by a rank:
 *
 *     context switches         each rank waits twice; the same for any m, so left out
 *     copies into slots, out   n V each; the same for any m, so left out
 *     messages                 2 m (n-1), on p processors
 *     sums                     n V bytes are read, on the processors of m ranks, at most p
 *     stalls                   if a message of V/m bytes is longer than what may be in flight, it
 *                              is received piece by piece: for each further piece its sender
 *                              gets a turn after all others on its processor have had theirs.
 *                              Counted in proportion: with whole pieces the number of blocks
 *                              would go up and down as vectors get longer
 *
 * So short vectors go to one rank, which takes the fewest messages. From some 64 KiB on two ranks
 * sum up faster than one. Blocks stay within the longest message until every rank has one. Stalls
 * make a single block slow: 64 ranks on 2 processors, 1 MiB (ms; 3 n V bytes take about 10):
 *
 *     blocks      1      2      4      8     16     32     64
 *              25.6   20.7   11.2   11.4   12.9   13.9   16.4
 *
 * Copies directly between processes (CMA) would save no bytes here: a rank's vector is copied once
 * for all ranks that sum it up, and a sum once for all ranks that read it.
 *
 * With up to three ranks on a processor a sender rarely waits long for it, and one block is as good
 * as more at all sizes (3 to 6 ranks on 2 processors, 16 KiB to 8 MiB).
 */
#include "model/oversubscribed.h"

#include <math.h>

/* Measured with 4 to 128 ranks on 2 processors. */
static const double seconds_per_message = 0.9e-6; /* of work: sending and receiving it */
static const double seconds_per_turn = 2.4e-6;    /* of each rank on a processor */
static const double bytes_per_second = 28e9;      /* summed up by one rank, or copied */

enum {
    FEW = 3,                  /* ranks on a processor */
    MESSAGE_MOST = 128 << 10, /* bytes in flight to one rank: half of its 8 slots of 32 KiB */
    LOOKS_PER_DOUBLING = 4,   /* sizes that are tried */
    SHORTEST_LOOK = 1024,     /* bytes */
    /* up to 1 TiB, or 1 GiB with 32-bit addresses */
    LOOKS = (sizeof(size_t) > 4 ? 30 : 20) * LOOKS_PER_DOUBLING
};

static double seconds(const struct strag_oversubscribed *oversubscribed, double bytes, int blocks)
{
    const double n = oversubscribed->n, p = oversubscribed->processors, m = blocks;
    const double half = (double)oversubscribed->window / 2; /* two messages are in flight */
    const double piece = half < MESSAGE_MOST ? half : MESSAGE_MOST;
    const double messages = m * (n - 1), further = bytes / m / piece - 1;
    return 2 * messages / p * seconds_per_message + n * bytes / bytes_per_second / fmin(m, p) +
           messages * fmax(further, 0) * n / p * seconds_per_turn;
}

int strag_oversubscribed_blocks(const struct strag_oversubscribed *oversubscribed, size_t bytes)
{
    int best = 1;
    if (oversubscribed->n <= FEW * oversubscribed->processors)
        return 1;
    for (int m = 2; m / 2 < oversubscribed->n; m *= 2) {
        const int blocks = m < oversubscribed->n ? m : oversubscribed->n;
        if (seconds(oversubscribed, (double)bytes, blocks) <
            seconds(oversubscribed, (double)bytes, best))
            best = blocks;
    }
    return best;
}

void strag_oversubscribed_table(const struct strag_oversubscribed *oversubscribed,
                                const struct strag_algorithm *algorithm, size_t from,
                                struct strag_table *table)
{
    *table = (struct strag_table){.entries = 1};
    for (int look = -1; look <= LOOKS; look++) {
        const size_t bytes =
            look < 0 ? from : (size_t)(SHORTEST_LOOK * exp2((double)look / LOOKS_PER_DOUBLING));
        const struct strag_entry entry = {
            .algorithm = algorithm, .blocks = strag_oversubscribed_blocks(oversubscribed, bytes)};
        if (bytes >= from)
            (void)strag_table_append(table, bytes, &entry);
    }
}
