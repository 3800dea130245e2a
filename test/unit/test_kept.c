/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose plans are kept: up to STRAG_KEPT ranks in turn are, of more one in STRAG_KEPT calls. */
#include "run/kept.h"

#include "support.h"

TEST(few)
{
    struct strag_kept kept;
    bool made;
    strag_kept_init(&kept);
    for (uint64_t call = 1; call <= 100; call++) {
        const int rank = (int)(call * 7 % STRAG_KEPT);
        const int place = strag_kept_find(&kept, rank, call, &made);
        assert_true(place >= 0 && kept.rank[place] == rank);
        assert_int_equal(made, call <= STRAG_KEPT);
    }
}

/* Of 64 in turn, one in 16 calls is new; and the one that was used last is never replaced. */
TEST(many)
{
    struct strag_kept kept;
    int made_calls = 0, waited = 0;
    bool made;
    strag_kept_init(&kept);
    for (uint64_t call = 1; call <= 1600; call++) {
        const int rank = call % 2 ? 99 : (int)(call / 2 % 64);
        const int place = strag_kept_find(&kept, rank, call, &made);
        assert_true(place < STRAG_KEPT);
        if (place < 0)
            waited++;
        else
            assert_int_equal(kept.rank[place], rank);
        assert_true(!made || place >= 0);
        assert_true(rank != 99 || (place >= 0 && made == (call == 1)));
        made_calls += made;
    }
    assert_in_range(made_calls, STRAG_KEPT, STRAG_KEPT + 1600 / STRAG_KEPT);
    assert_true(waited > 400);
}
