/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/roster.h"

#include <stdlib.h>
#include <string.h>

static size_t words_of(int n)
{
    return ((size_t)n + 63) / 64;
}

static bool has_entered(const struct strag_roster *roster, int rank)
{
    return roster->entered[rank / 64] >> rank % 64 & 1;
}

struct strag_roster *strag_roster_create(int n, int me)
{
    struct strag_roster *roster = calloc(1, sizeof *roster);
    if (!roster)
        return NULL;
    roster->n = n;
    roster->me = me;
    roster->entered = calloc(words_of(n), sizeof *roster->entered);
    if (roster->entered)
        return roster;
    free(roster);
    return NULL;
}

void strag_roster_free(struct strag_roster *roster)
{
    if (!roster)
        return;
    free(roster->entered);
    free(roster);
}

void strag_roster_begin(struct strag_roster *roster, uint64_t number)
{
    memset(roster->entered, 0, words_of(roster->n) * sizeof *roster->entered);
    roster->entered[roster->me / 64] |= UINT64_C(1) << roster->me % 64;
    roster->number = number;
    roster->nothers = 0;
    roster->claim = roster->n;
    roster->said = 0;
}

/* ---- Partners ---- */

static bool is_among(const int *ranks, int count, int rank)
{
    for (int i = 0; i < count; i++) {
        if (ranks[i] == rank)
            return true;
    }
    return false;
}

int strag_roster_partners(int n, int me, int *ranks)
{
    int count = 0;
    for (int64_t distance = 1; distance < n; distance *= 2) {
        const int both[] = {(int)((me + distance) % n), (int)((me - distance + n) % n)};
        for (int side = 0; side < 2; side++) {
            if (!is_among(ranks, count, both[side]))
                ranks[count++] = both[side];
        }
    }
    return count;
}

/* Half of log2(n), and two because silent ranks block some paths; times the number of chunks of a
 * long roster, since a message has one chunk. */
int strag_roster_exchanges(int n)
{
    int levels = 1;
    while (levels < 31 && (INT64_C(1) << levels) < n)
        levels++;
    const int chunks = (int)((words_of(n) + STRAG_ROSTER_WORDS - 1) / STRAG_ROSTER_WORDS);
    return (levels / 2 + 2) * chunks;
}

/* ---- The entries ---- */

static struct strag_roster_entry *find_other(struct strag_roster *roster, int rank)
{
    for (int i = 0; i < roster->nothers; i++) {
        if (roster->others[i].rank == rank)
            return &roster->others[i];
    }
    return NULL;
}

const struct strag_roster_entry *strag_roster_other(const struct strag_roster *roster, int rank)
{
    return find_other((struct strag_roster *)(uintptr_t)roster, rank);
}

void strag_roster_forget(struct strag_roster *roster, int rank)
{
    struct strag_roster_entry *entry = find_other(roster, rank);
    if (entry)
        *entry = roster->others[--roster->nothers];
}

/* News may be twice as old as the time it takes to reach all ranks. */
void strag_roster_tick(struct strag_roster *roster)
{
    const int oldest = 2 * strag_roster_exchanges(roster->n);
    for (int i = roster->nothers - 1; i >= 0; i--) {
        if (++roster->others[i].age > oldest)
            roster->others[i] = roster->others[--roster->nothers];
    }
}

/* Reports name the lowest missing ranks, so the entry of a higher one is replaced. */
static struct strag_roster_entry *find_room(struct strag_roster *roster, int rank)
{
    struct strag_roster_entry *room = NULL;
    if (roster->nothers < STRAG_ROSTER_OTHERS)
        return &roster->others[roster->nothers++];
    for (int i = 0; i < roster->nothers; i++) {
        struct strag_roster_entry *other = &roster->others[i];
        if (other->rank > (room ? room->rank : rank) && !has_entered(roster, other->rank))
            room = other;
    }
    return room;
}

/* A rank that is in a later call has entered this one, too. */
void strag_roster_note(struct strag_roster *roster, const struct strag_roster_entry *entry)
{
    const int rank = entry->rank;
    const bool came = entry->number >= roster->number;
    const bool is_in = entry->number == roster->number && entry->state <= STRAG_ROSTER_RUNS;
    if (rank < 0 || rank >= roster->n || rank == roster->me || (!came && has_entered(roster, rank)))
        return;
    if (came)
        roster->entered[rank / 64] |= UINT64_C(1) << rank % 64;
    if (is_in) {
        strag_roster_forget(roster, rank);
        return;
    }
    struct strag_roster_entry *other = find_other(roster, rank);
    if (other && other->age < entry->age)
        return;
    if (!other)
        other = find_room(roster, rank);
    if (other)
        *other = *entry;
}

void strag_roster_claim(struct strag_roster *roster)
{
    if (roster->claim == roster->n)
        roster->claim = roster->me;
}

void strag_roster_note_claim(struct strag_roster *roster, int rank)
{
    if (roster->claim > rank)
        roster->claim = rank;
}

bool strag_roster_speaks(const struct strag_roster *roster)
{
    return roster->claim == roster->me;
}

void strag_roster_has_said(struct strag_roster *roster, uint32_t said)
{
    if (said <= roster->said)
        return;
    roster->said = said;
    roster->claim = roster->n;
}

int strag_roster_missing(const struct strag_roster *roster, int *ranks, int most)
{
    int missing = 0;
    for (int rank = 0; rank < roster->n; rank++) {
        if (has_entered(roster, rank))
            continue;
        if (missing < most)
            ranks[missing] = rank;
        missing++;
    }
    return missing;
}

int strag_roster_called(const struct strag_roster *roster, int *ranks)
{
    int count = 0;
    for (int i = 0; i < roster->nothers; i++) {
        if (has_entered(roster, roster->others[i].rank))
            ranks[count++] = roster->others[i].rank;
    }
    return count;
}

/* ---- Messages ---- */

static size_t length_with(size_t words)
{
    return offsetof(struct strag_roster_message, entered) + words * sizeof(uint64_t);
}

/* @return how many words of the chunk there are */
static size_t words_in(int n, size_t chunk)
{
    const size_t words = words_of(n), first = chunk * STRAG_ROSTER_WORDS;
    if (first >= words)
        return 0;
    return words - first < STRAG_ROSTER_WORDS ? words - first : STRAG_ROSTER_WORDS;
}

void strag_roster_write(struct strag_roster *roster, const struct strag_roster_entry *self,
                        struct strag_roster_message *message)
{
    memset(message, 0, length_with(0));
    message->self = *self;
    message->length = (uint32_t)length_with(0);
    if (!roster)
        return;
    if (words_in(roster->n, roster->chunk) == 0)
        roster->chunk = 0;
    const size_t words = words_in(roster->n, roster->chunk);
    message->number = roster->number;
    message->claim = roster->claim;
    message->said = roster->said;
    message->nothers = roster->nothers;
    memcpy(message->others, roster->others, sizeof message->others);
    message->chunk = roster->chunk;
    memcpy(message->entered, roster->entered + (size_t)roster->chunk * STRAG_ROSTER_WORDS,
           words * sizeof *message->entered);
    message->length = (uint32_t)length_with(words);
    roster->chunk++;
}

bool strag_roster_is_message(const struct strag_roster_message *message, size_t bytes, int n)
{
    if (bytes < length_with(0) || bytes != message->length || message->nothers < 0 ||
        message->nothers > STRAG_ROSTER_OTHERS || message->self.rank < 0 || message->self.rank >= n)
        return false;
    return bytes == length_with(message->number ? words_in(n, message->chunk) : 0);
}

bool strag_roster_read(struct strag_roster *roster, const struct strag_roster_message *message,
                       size_t bytes)
{
    if (!strag_roster_is_message(message, bytes, roster->n))
        return false;
    if (message->number == roster->number && message->number) {
        uint64_t *words = roster->entered + (size_t)message->chunk * STRAG_ROSTER_WORDS;
        for (size_t w = 0; w < words_in(roster->n, message->chunk); w++)
            words[w] |= message->entered[w];
        for (int i = 0; i < message->nothers; i++)
            strag_roster_note(roster, &message->others[i]);
        for (int i = roster->nothers - 1; i >= 0; i--) { /* ranks that have come meanwhile */
            const struct strag_roster_entry *other = &roster->others[i];
            if (other->number < roster->number && has_entered(roster, other->rank))
                strag_roster_forget(roster, other->rank);
        }
        strag_roster_has_said(roster, message->said);
        if (roster->said == message->said)
            strag_roster_note_claim(roster, message->claim);
    }
    strag_roster_note(roster, &message->self);
    return true;
}
