/* SPDX-License-Identifier: MIT */
/* What a program wants to do with an object that has expired: shortterm/expiry_procs.h. */
#include "shortterm/expiry_procs.h"

#include <errno.h>

#include "gc/api/internal.h"
#include "gc/finalize/finalize.h"
#include "gc/threads/world.h"
#include "sgc_shortterm.h"

/* 1, written by who sets a function, before that is registered; read, relaxed, by who takes off dates of objects that were
 * handed to it by then. */
static SGC_STATE sgc_a32_t used;

/* What the tracer calls.  An object that is to stay does so as long as something reaches it. */
static void call(void *object, void *proc)
{
    ((SGC_expiry_proc)proc)(object);
}

static int set(struct sgc_mutator *self, uintptr_t object, SGC_expiry_proc proc)
{
    struct sgc_finalizer f = { call, (void *)proc, SGC_NO_ORDER, 0 }, old;

    switch (sgc_finalizer_set(self, object, &f, &old)) {
    case SGC_REGISTERED:
    case SGC_REGISTERED_AGAIN:
        return 0;
    case SGC_REGISTERED_NOT:
        return ENOMEM;
    default:
        return ESTALE;
    }
}

int SGC_set_expiry_proc(void *object, SGC_expiry_proc proc)
{
    struct sgc_mutator *self = sgc_api_self();
    uintptr_t address = (uintptr_t)object;

    if (self == NULL)
        return ENOMEM;
    if (sgc_world_is_blocked(self) || sgc_stopped_by_self())
        return EBUSY;
    if (!sgc_registrable(address) || (GC_base(object) != NULL && GC_base(object) != object))
        return EINVAL;
    if (proc != NULL) {
        sgc_a32_store(&used, 1);
        return set(self, address, proc);
    }
    sgc_finalizer_take(self, address, call);
    return 0;
}

bool sgc_expiry_used(void)
{
    return sgc_a32_load(&used) != 0;
}

bool sgc_expiry_calling(struct sgc_dates *d)
{
    if (d->calling != 0 && sgc_mutator_left(d->owner, d->calling, sgc_stack_pointer()))
        d->calling = 0;
    return d->calling != 0;
}

/* A function that gives up a hold may come here again. */
enum sgc_expiry_said sgc_expiry_ask(struct sgc_dates *d, uintptr_t object)
{
    SGC_expiry_proc proc = sgc_finalization_registered() ? (SGC_expiry_proc)sgc_finalizer_take(d->owner, object, call) : NULL;
    uintptr_t outer = sgc_expiry_calling(d) ? d->calling : 0;
    int stays;

    sgc_assert(sgc_mutator_mine(d->owner));
    if (proc == NULL)
        return SGC_EXPIRY_NOTHING;
    d->calling = sgc_stack_pointer();
    stays = proc((void *)object);
    d->calling = outer;
    return stays != 0 ? SGC_EXPIRY_KEEP : SGC_EXPIRY_FREE;
}
