/* SPDX-License-Identifier: MIT */
/* The quarantine: malloc/quarantine.h. */
#include "malloc/quarantine.h"

#include "alloc/new_objects.h"
#include "alloc/pages/homes.h"
#include "platform/report.h"

_Static_assert((SGC_QUARANTINE_SLOTS & (SGC_QUARANTINE_SLOTS - 1)) == 0 &&
               (SGC_QUARANTINE_LARGER & (SGC_QUARANTINE_LARGER - 1)) == 0 &&
               (SGC_QUARANTINE_SPANS & (SGC_QUARANTINE_SPANS - 1)) == 0, "a place is found without a division");

SGC_STATE struct sgc_quarantine **sgc_quarantines;

void sgc_quarantine_start(void)
{
    sgc_assert(sgc_quarantines == NULL);
    sgc_quarantines = sgc_owner_table_make(sizeof *sgc_quarantines);
}

/* A block of the heap, which is never freed. */
struct sgc_quarantine *sgc_quarantine_make(struct sgc_cache *cache)
{
    struct sgc_quarantine *q;

    sgc_assert(sgc_cache_ok(cache) && !sgc_section_inside(&cache->section));
    if (sgc_quarantines == NULL)
        return NULL;
    q = sgc_span_alloc(&cache->section, sizeof *q, SGC_KIND_CONSERVATIVE, SGC_GRANULE);
    sgc_assert(q == NULL || (q->last == 0 && q->spans == 0));
    sgc_quarantines[cache->id] = q;
    return q;
}
