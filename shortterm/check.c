/* SPDX-License-Identifier: MIT */
/* Asking verify for what it has found.  On any mutator. */
#include "gc/api/internal.h"

#include "gc/threads/world.h"
#include "shortterm/findings.h"
#include "shortterm/verify.h"

size_t SGC_shortterm_check(SGC_finding_proc proc, void *data)
{
    struct sgc_mutator *self = sgc_api_self();

    if (self == NULL || SGC_shortterm_mode() != SGC_SHORTTERM_VERIFY || sgc_world_is_blocked(self) || sgc_gc_lock_held())
        return 0;
    GC_gcollect();
    if (sgc_dates_of(self) != NULL)
        sgc_verify_due(sgc_dates_of(self));
    return sgc_findings_tell(self, proc, data);
}
