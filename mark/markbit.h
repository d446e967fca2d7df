/* SPDX-License-Identifier: MIT */
/* The ways in which several markers may set mark bits. */
#ifndef SGC_MARK_MARKBIT_H
#define SGC_MARK_MARKBIT_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/atomics.h"
#include "platform/report.h"

/* Or: one atomic operation.  Cas, lock: for studies.  Plain: no other marker is at work. */
enum sgc_markbit { SGC_MARKBIT_OR, SGC_MARKBIT_CAS, SGC_MARKBIT_LOCK, SGC_MARKBIT_PLAIN };

/* The ways that are there to be compared: of the bits, those that were not set. */
uintptr_t sgc_mark_by_cas(sgc_aw_t *mark, uintptr_t bits);
uintptr_t sgc_mark_by_lock(sgc_aw_t *mark, uintptr_t bits);

/* Sets bits of a mark word that read as `seen`, without them.  Those for which no other marker was
 * faster. */
__attribute__((always_inline))
static inline uintptr_t sgc_set_marks(sgc_aw_t *mark, uintptr_t seen, uintptr_t bits, enum sgc_markbit how)
{
    sgc_assert(bits != 0 && how <= SGC_MARKBIT_PLAIN);
    if (how == SGC_MARKBIT_PLAIN) {
        sgc_aw_store(mark, seen | bits);
        return bits;
    }
    if (how == SGC_MARKBIT_OR)
        return bits & ~sgc_aw_or_relaxed(mark, bits);
    return how == SGC_MARKBIT_CAS ? sgc_mark_by_cas(mark, bits) : sgc_mark_by_lock(mark, bits);
}

#endif
