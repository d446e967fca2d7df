/* SPDX-License-Identifier: MIT */
/*
 * Ways of setting a mark bit that exist to be compared with one atomic or ([Endo] 3.3).  On any
 * marker, world stopped.
 */
#include "mark/markbit.h"

#include "platform/platform.h"

enum { LOCKS = 256 };

struct mark_lock {
    sgc_a32_t word;
    char apart[60];             /* a cache line each */
};

static struct mark_lock locks[LOCKS];
SGC_STATE_LARGE(locks);

uintptr_t sgc_mark_by_cas(sgc_aw_t *mark, uintptr_t bits)
{
    sgc_assert(bits != 0);
    for (;;) {
        uintptr_t seen = sgc_aw_load(mark);

        if ((bits & ~seen) == 0)
            return 0;
        if (sgc_aw_cas(mark, seen, seen | bits))
            return bits & ~seen;
    }
}

uintptr_t sgc_mark_by_lock(sgc_aw_t *mark, uintptr_t bits)
{
    sgc_a32_t *lock = &locks[(uintptr_t)mark / 16 % LOCKS].word;
    uintptr_t seen;

    sgc_assert(bits != 0);
    while (!sgc_a32_cas(lock, 0, 1))
        sgc_spin_hint();
    seen = sgc_aw_load(mark);
    if ((bits & ~seen) != 0)
        sgc_aw_store(mark, seen | bits);
    sgc_a32_store_rel(lock, 0);
    return bits & ~seen;
}
