/* SPDX-License-Identifier: MIT */
/* SGC_SHORTTERM=verify in the threads of the program (shortterm/verify.h): at ticks, at their end,
 * and when one asks for findings. */
#include "gc/api/api.h"
#include "shortterm/verify.h"

#include "gc/threads/gc_lock.h"
#include "gc/threads/world.h"
#include "shortterm/dates/counts.h"
#include "shortterm/expire.h"
#include "shortterm/expiry_procs.h"
#include "shortterm/findings.h"
#include "shortterm/holds.h"

enum { MANY_WORDS = 1 << 21 };          /* 16 MB of dates */

/* Without memory for that the object is the tracer's. */
static void note_expired(struct sgc_dates *d, uintptr_t object, uintptr_t caller)
{
    struct sgc_section *section = sgc_section_of(d->owner);
    size_t granule = sgc_granule_number(object);

    sgc_date_pool_fill(&d->pool, section);
    sgc_shortterm_lock(section);
    sgc_counts_add(granule, false);
    if (!sgc_unheld_note(d, object, caller))
        sgc_counts_take(granule, true);
    sgc_shortterm_unlock(section);
}

/* An object that the program's function does not keep is looked for from the next collection on.
 * Takes off no more dates than are due when the call begins: the function may tick and collect, and
 * let others expire without end. */
void sgc_verify_due(struct sgc_dates *d)
{
    uintptr_t object, caller;

    sgc_assert(sgc_verifies() && sgc_mutator_mine(d->owner));
    for (uint32_t max = d->due; max != 0 && d->due != 0 && !sgc_expiry_calling(d); max--) {
        d->due--;
        if (!sgc_expire_first(d, &object, &caller) || sgc_expiry_ask(d, object) == SGC_EXPIRY_KEEP)
            continue;
        if (sgc_counts_of(sgc_granule_number(object)) == 0)
            note_expired(d, object, caller);
    }
}

/* Only collections take dates off: a program that does not allocate, and so has none, would fill
 * its memory with dates. */
static bool is_check_due(const struct sgc_dates *d)
{
    return (sgc_shortterm.check != 0 && d->unchecked >= sgc_shortterm.check) || (size_t)d->pages * sgc_date_words >= MANY_WORDS;
}

void sgc_verify_tick(struct sgc_dates *d)
{
    sgc_assert(sgc_verifies() && sgc_mutator_mine(d->owner));
    if (sgc_gc_lock_held())
        return;
    d->unchecked++;
    if (is_check_due(d)) {
        d->unchecked = d->pages = 0;
        GC_gcollect();
    }
    sgc_verify_due(d);
    sgc_findings_tell(d->owner, NULL, NULL);
}

/* ---- the public function, on any mutator ---- */

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
