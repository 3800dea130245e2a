/* SPDX-License-Identifier: BSD-3-Clause */
/* What warnings say, and which processes show them. */
#ifndef COLL_STRAG_TEXTS_H
#define COLL_STRAG_TEXTS_H

struct coll_strag_text {
    const char *text; /* its %s, one or two: what cannot be used, and why */
    enum { ANY_RANK, FIRST_RANK, FIRST_AND_OTHER_HOSTS, ONE_PER_HOST } who;
};

/* [enum coll_strag_warning] */
extern const struct coll_strag_text coll_strag_texts[];

#endif
