/* SPDX-License-Identifier: BSD-3-Clause */
#include "freed.h"

#include "compat/world.h"

enum { KNOWN = 64 };

static struct {
    uint64_t communicator;
    struct strag_roster_entry self;
} freed[KNOWN];

static unsigned count; /* of all: the last one is at (count - 1) % KNOWN */

void coll_strag_freed_note(ompi_communicator_t *comm, const struct strag_roster_entry *self)
{
    freed[count % KNOWN].communicator = coll_strag_comm_number(comm);
    freed[count % KNOWN].self = *self;
    freed[count % KNOWN].self.state = STRAG_ROSTER_GONE;
    count++;
}

void coll_strag_freed_answer(const struct coll_strag_stuck_received *received)
{
    const struct strag_roster_message *asked = &received->message;
    if (asked->self.state != STRAG_ROSTER_WAITS || asked->id != 0)
        return;
    for (unsigned back = 1; back <= KNOWN && back <= count; back++) {
        const unsigned place = (count - back) % KNOWN;
        if (freed[place].communicator == asked->communicator) {
            coll_strag_stuck_answer(received, &freed[place].self);
            return;
        }
    }
}
