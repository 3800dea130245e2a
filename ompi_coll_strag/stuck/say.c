/* SPDX-License-Identifier: BSD-3-Clause */
#include "say.h"

#include "user/log.h"

#include "base/text.h"
#include "base/units.h"

#include <stdlib.h>

/* "rank 3 (node7)". */
static void put_rank(FILE *out, ompi_communicator_t *comm, int rank)
{
    fprintf(out, "rank %d (%s)", rank, coll_strag_host_of(comm, rank));
}

/* The name of an operator of MPI's. */
static const char *name_of(int index)
{
    const ompi_op_t *op = opal_pointer_array_get_item(ompi_op_f_to_c_table, index);
    return op ? op->o_name : "?";
}

/* "4096 bytes, MPI_SUM, algorithm direct", as far as it is known. */
static void put_call(FILE *out, const struct strag_roster_entry *entry)
{
    const char *names[COLL_STRAG_OUTCOMES];
    const int op = (int)(entry->what >> 48 & COLL_STRAG_OWN_OPERATOR);
    const int outcome = coll_strag_what_outcome(entry->what);
    if (entry->bytes == 0 && entry->what == 0) {
        fputs("for which the communicator is set up", out);
        return;
    }
    if (entry->what & COLL_STRAG_IS_INIT)
        fputs("MPI_Allreduce_init of ", out);
    fputs(strag_units_count((long long)entry->bytes, "byte").text, out);
    if (entry->what == 0)
        return;
    if (op == COLL_STRAG_OWN_OPERATOR)
        fputs(", an operator of the program's", out);
    else
        fprintf(out, ", %s", name_of(op));
    if (outcome == COLL_STRAG_OUTCOME_PREVIOUS) {
        fputs(", run by Open MPI's own component", out);
        return;
    }
    coll_strag_outcome_names(names);
    fprintf(out, ", algorithm %s", names[outcome]);
    if ((entry->what >> 16 & 0xffffffff) != 0)
        fprintf(out, " in %s", strag_units_count(entry->what >> 16 & 0xffffffff, "block").text);
}

/* A text that is being written. */
struct note {
    FILE *out;
    char *text;
    size_t length;
};

/* @return false if out of memory: then nothing is shown */
static bool open_note(struct note *note)
{
    note->out = open_memstream(&note->text, &note->length);
    return NULL != note->out;
}

/* Begin a note with the call and its communicator. @return as open_note */
static bool open_title(struct note *note, ompi_communicator_t *comm, uint64_t number)
{
    if (open_note(note))
        fprintf(note->out, "Call %llu of MPI_Allreduce on %s (%s)", (unsigned long long)number,
                comm->c_name[0] ? comm->c_name : "a communicator",
                strag_units_count(ompi_comm_size(comm), "rank").text);
    return NULL != note->out;
}

/* Show what was written. */
static void show(enum coll_strag_warning warning, struct note *note)
{
    if (fclose(note->out) == 0)
        coll_strag_show(warning, note->text, "");
    free(note->text);
}

static void put_differing(FILE *out, ompi_communicator_t *comm,
                          const struct strag_roster_entry *entry)
{
    fputs("  ", out);
    put_rank(out, comm, entry->rank);
    fputs(": ", out);
    put_call(out, entry);
    fputc('\n', out);
}

void coll_strag_say_different(ompi_communicator_t *comm, const struct strag_roster_entry *self,
                              const struct strag_roster_entry *other)
{
    struct note note;
    if (!open_title(&note, comm, self->number))
        return;
    fputs(":\n\n", note.out);
    put_differing(note.out, comm, self->rank < other->rank ? self : other);
    put_differing(note.out, comm, self->rank < other->rank ? other : self);
    show(COLL_STRAG_WARN_DIFFERENT_CALLS, &note);
}

void coll_strag_say_length(ompi_communicator_t *comm, uint64_t number, int rank, size_t expected,
                           size_t received)
{
    struct note note;
    if (!open_title(&note, comm, number))
        return;
    fputs(":\n\n  ", note.out);
    put_rank(note.out, comm, rank);
    fprintf(note.out, " has sent a part of %zu bytes; ", received);
    put_rank(note.out, comm, ompi_comm_rank(comm));
    fprintf(note.out, " expects %zu\n", expected);
    show(COLL_STRAG_WARN_DIFFERENT_CALLS, &note);
}

/* Say something about a call and one rank. */
static void say_rank(enum coll_strag_warning warning, ompi_communicator_t *comm, uint64_t number,
                     const char *before, int rank, const char *after)
{
    struct note note;
    if (!open_title(&note, comm, number))
        return;
    fputs(before, note.out);
    put_rank(note.out, comm, rank);
    fputs(after, note.out);
    show(warning, &note);
}

void coll_strag_say_gone(ompi_communicator_t *comm, uint64_t number, int rank)
{
    say_rank(COLL_STRAG_WARN_DIFFERENT_CALLS, comm, number, ":\n\n  ", rank,
             " has not called it, and has freed the communicator\n");
}

void coll_strag_say_failed(ompi_communicator_t *comm, uint64_t number, int rank)
{
    say_rank(COLL_STRAG_WARN_FAILED_RANK, comm, number, " waits for ", rank, ".\n");
}

/* ---- Who is missing ---- */

/* The state of a rank, in addition to whether it has called: " in call 42 of 4096 bytes". */
static void put_known(FILE *out, const struct strag_roster_entry *known)
{
    if (known->state == STRAG_ROSTER_ELSEWHERE)
        fputs(" in another MPI function", out);
    else if (known->state == STRAG_ROSTER_STOPPED)
        fputs(" which does not run", out);
    else if (known->state == STRAG_ROSTER_FAILED)
        fputs(" which has failed", out);
    else if (known->state == STRAG_ROSTER_GONE)
        fputs(" which has freed the communicator", out);
    else
        fprintf(out, " in call %llu", (unsigned long long)known->number);
    if (known->state <= STRAG_ROSTER_RUNS && known->bytes)
        fprintf(out, " of %llu bytes", (unsigned long long)known->bytes);
}

/* @param roster  NULL if no more is known of the ranks
 * @param count   how many there are; up to COLL_STRAG_NAMED are in `ranks` */
static void put_ranks(FILE *out, const char *title, ompi_communicator_t *comm,
                      const struct strag_roster *roster, const int *ranks, int count)
{
    if (count == 0)
        return;
    fprintf(out, "  %s: ", title);
    for (int i = 0; i < count && i < COLL_STRAG_NAMED; i++) {
        const struct strag_roster_entry *known =
            roster ? strag_roster_other(roster, ranks[i]) : NULL;
        fputs(i ? ", " : "", out);
        put_rank(out, comm, ranks[i]);
        if (known)
            put_known(out, known);
    }
    if (count > COLL_STRAG_NAMED)
        fprintf(out, ", and %d more", count - COLL_STRAG_NAMED);
    fputc('\n', out);
}

void coll_strag_say_missing(ompi_communicator_t *comm, const struct strag_roster *roster,
                            const struct strag_roster_entry *self, double seconds)
{
    int missing[COLL_STRAG_NAMED], others[STRAG_ROSTER_OTHERS];
    const int nmissing = strag_roster_missing(roster, missing, COLL_STRAG_NAMED);
    const int nothers = strag_roster_called(roster, others);
    struct note note;
    if (!open_title(&note, comm, self->number))
        return;
    fputs(",\n", note.out);
    put_call(note.out, self);
    fprintf(note.out, ", has stood still for %.0f s.\n\n", seconds);
    put_ranks(note.out, "not called by", comm, roster, missing, nmissing);
    put_ranks(note.out, "called by", comm, roster, others, nothers);
    if (nmissing == 0 && nothers == 0)
        fputs("  All ranks have called it.\n", note.out);
    show(COLL_STRAG_WARN_STUCK, &note);
}

void coll_strag_say_awaited(ompi_communicator_t *comm, const char *function, const int *ranks,
                            int count, double seconds, double most)
{
    struct note note;
    if (!open_note(&note))
        return;
    fprintf(note.out,
            "%s of %s (%d ranks) has waited for %.0f s, and waits for %.0f s at most.\n\n",
            function, comm->c_name[0] ? comm->c_name : "a communicator", ompi_comm_size(comm),
            seconds, most);
    put_ranks(note.out, "not called by", comm, NULL, ranks, count);
    show(COLL_STRAG_WARN_AWAITED, &note);
}
