/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof's first part: the i-th send of a to b is the i-th receive of b from a.
 */
#include "plan/verify_proof.h"

#include <stdlib.h>

struct send {
    int32_t from, op;
};

/* All sends in the order of (destination, source, program): a counting sort by the destination,
 * stable, over operations visited in the source's order. The sends to a rank end at end[rank]. If
 * rank 0 stands for all, its sends to d are its receives from -d. */
static int sort_sends(const struct strag_proof *proof, size_t *end, struct send **sends)
{
    int n = proof->n;
    for (int rank = 0; rank < proof->ranks; rank++) {
        const struct strag_plan *plan = proof->plans[rank];
        for (int i = 0; i < plan->nops; i++)
            end[plan->ops[i].peer + 1] += plan->ops[i].kind == STRAG_SEND;
    }
    for (int rank = 0; rank < n; rank++)
        end[rank + 1] += end[rank];
    *sends = malloc((end[n] + 1) * sizeof **sends);
    if (!*sends)
        return strag_proof_stopped(proof->effort, proof->err);
    for (int rank = 0; rank < proof->ranks; rank++) {
        const struct strag_plan *plan = proof->plans[rank];
        for (int i = 0; i < plan->nops; i++) {
            const int to = plan->ops[i].peer, from = proof->ranks == n ? rank : n - to;
            if (plan->ops[i].kind == STRAG_SEND)
                (*sends)[end[to]++] = (struct send){from, i};
        }
    }
    return STRAG_OK;
}

/* Match a receive with the next send of its peer, or NULL if there is none. */
static int match_receive(struct strag_proof *proof, int rank, int op, const struct send *send)
{
    if (!send)
        return strag_proof_wrong(proof, rank, op, "the peer never sends it");
    const int from = strag_proof_rank(proof, send->from);
    const struct strag_op *s = &proof->plans[from]->ops[send->op];
    const struct strag_op *r = &proof->plans[rank]->ops[op];
    if (strag_proof_first(proof, send->from, send->op) != r->first || s->count != r->count)
        return strag_proof_wrong(proof, rank, op, "the peer's message has another range");
    if (s->round != r->round)
        return strag_proof_wrong(proof, rank, op, "the peer's message has another round");
    proof->events[from][send->op].partner = op;
    proof->events[rank][op].partner = send->op;
    return STRAG_OK;
}

/* Match a rank's receives with the sends to it, sends[begin .. end).
 * @param next  [rank]: room for the first send of each rank that is not matched */
static int match_rank(struct strag_proof *proof, int rank, const struct send *sends, size_t begin,
                      size_t end, size_t *next)
{
    const struct strag_plan *plan = proof->plans[rank];
    int status = STRAG_OK;
    for (int i = 0; i < plan->nops; i++)
        next[plan->ops[i].peer] = end;
    for (size_t s = end; s > begin; s--)
        next[sends[s - 1].from] = s - 1;
    for (int i = 0; status == STRAG_OK && i < plan->nops; i++) {
        int peer = plan->ops[i].peer;
        if (plan->ops[i].kind == STRAG_SEND)
            continue;
        bool sent = next[peer] < end && sends[next[peer]].from == peer;
        status = match_receive(proof, rank, i, sent ? &sends[next[peer]++] : NULL);
    }
    for (size_t s = begin; status == STRAG_OK && s < end; s++) {
        if (s >= next[sends[s].from])
            status = strag_proof_wrong(proof, strag_proof_rank(proof, sends[s].from), sends[s].op,
                                       "the peer never receives it");
    }
    return status;
}

int strag_proof_match(struct strag_proof *proof)
{
    size_t n = (size_t)proof->n;
    struct send *sends = NULL;
    size_t *end = calloc(n + 1, sizeof *end), *next = malloc(n * sizeof *next);
    int status = end && next ? sort_sends(proof, end, &sends)
                             : strag_proof_stopped(proof->effort, proof->err);
    for (int rank = 0; status == STRAG_OK && rank < proof->ranks; rank++) {
        const int last = proof->ranks == proof->n ? rank : proof->n - 1; /* all are to rank 0 */
        strag_progress_part(proof->progress, rank, proof->ranks);
        status = match_rank(proof, rank, sends, rank ? end[rank - 1] : 0, end[last], next);
    }
    free(sends);
    free(end);
    free(next);
    return status;
}
