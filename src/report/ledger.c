/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/ledger.h"

#include <math.h>

enum { TIMES_MOST = 4096, TIMES_LEAST = 64, TIMES_OF_ALL = 1 << 20 };

int strag_ledger_room(int n)
{
    const int room = TIMES_OF_ALL / n / 2 * 2;
    return room > TIMES_MOST ? TIMES_MOST : room < TIMES_LEAST ? TIMES_LEAST : room;
}

struct strag_ledger strag_ledger_begin(struct strag_stay *stays, int room)
{
    return (struct strag_ledger){
        .stays = stays, .room = stays ? room : 0, .every = 1, .shortest = INFINITY};
}

/* Keep only every second stay. */
static void thin_out(struct strag_ledger *ledger)
{
    ledger->kept /= 2;
    for (int s = 0; s < ledger->kept; s++)
        ledger->stays[s] = ledger->stays[(size_t)2 * (size_t)s];
    ledger->every *= 2;
}

static void add_stay(struct strag_ledger *ledger, uint64_t call, const struct strag_stay *stay)
{
    if (ledger->room == 0 || call % ledger->every != 0)
        return;
    if (ledger->kept == ledger->room)
        thin_out(ledger);
    if (call % ledger->every == 0)
        ledger->stays[ledger->kept++] = *stay;
}

void strag_ledger_add(struct strag_ledger *ledger, enum strag_ledger_kind kind, int outcome,
                      size_t bytes, const struct strag_stay *stay)
{
    const double size = (double)bytes;
    if (size < ledger->shortest)
        ledger->shortest = size;
    if (size > ledger->longest)
        ledger->longest = size;
    ledger->bytes += size;
    ledger->outcome[outcome]++;
    if (kind == STRAG_LEDGER_BLOCKING) {
        add_stay(ledger, ledger->calls[kind], stay);
        ledger->seconds += stay->end - stay->begin;
        ledger->watched += bytes >= ledger->watched_from;
    }
    ledger->calls[kind]++;
}
