/* SPDX-License-Identifier: MIT */
/*
 * Ways of setting a mark bit that exist to be compared with one atomic or ([Endo] 3.3).  On any marker, world stopped.
 */
#include "mark/markbit.h"

#include "platform/platform.h"

enum { LOCKS = 256 };

struct mark_lock {
    sgc_a32_t word;
    char apart[60];             /* a cache line each */
};

SGC_STATE static struct mark_lock locks[LOCKS];

bool sgc_mark_by_cas(sgc_aw_t *mark, uintptr_t bit)
{
    for (;;) {
        uintptr_t seen = sgc_aw_load(mark);

        if ((seen & bit) != 0)
            return false;
        if (sgc_aw_cas(mark, seen, seen | bit))
            return true;
    }
}

bool sgc_mark_by_lock(sgc_aw_t *mark, uintptr_t bit)
{
    sgc_a32_t *lock = &locks[(uintptr_t)mark / 16 % LOCKS].word;
    bool first;

    while (!sgc_a32_cas(lock, 0, 1))
        sgc_spin_hint();
    first = (sgc_aw_load(mark) & bit) == 0;
    if (first)
        sgc_aw_store(mark, sgc_aw_load(mark) | bit);
    sgc_a32_store_rel(lock, 0);
    return first;
}
