/* SPDX-License-Identifier: MIT */
/* The program's functions for objects that have expired: shortterm/expiry_procs.h. */
#include "shortterm/expiry_procs.h"

#include <errno.h>

#include "gc/api/api.h"
#include "gc/finalize/register.h"
#include "gc/inspect/inspect.h"
#include "gc/threads/world.h"
#include "shortterm/start.h"
#include "sgc_shortterm.h"

/* 1: a function was set.  Written by the thread that sets one, before that is registered; read,
 * relaxed, by threads that take off dates of objects that were handed to them by then. */
static SGC_STATE sgc_a32_t used;

static int call_for(uintptr_t object, SGC_expiry_proc proc)
{
    struct sgc_object o;

    sgc_assert(proc != NULL && sgc_heap_contains(object));
    return proc((void *)(sgc_object_find(object, &o) ? sgc_api_client_address(&o) : object));
}

/* The finalizer by which the tracer calls the program's function.  The answer is ignored: an object
 * that is to stay does so as long as something reaches it. */
static void call(void *object, void *proc)
{
    call_for((uintptr_t)object, (SGC_expiry_proc)proc);
}

static int set(struct sgc_mutator *self, uintptr_t object, SGC_expiry_proc proc)
{
    struct sgc_finalizer f = { call, (void *)proc, SGC_NO_ORDER, 0 }, old;

    sgc_assert(sgc_mutator_mine(self) && proc != NULL);
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
    struct sgc_object o;
    int error;

    if (self == NULL)
        return ENOMEM;
    if (sgc_world_is_blocked(self) || sgc_stopped_by_self())
        return EBUSY;
    error = sgc_named_object((uintptr_t)object, &o);
    if (error != 0)
        return error;
    if (proc != NULL) {
        sgc_a32_store(&used, 1);
        return set(self, o.start, proc);
    }
    sgc_finalizer_take(self, o.start, call);
    return 0;
}

bool sgc_expiry_has(uintptr_t object)
{
    struct sgc_finalizer f = { .fn = NULL };

    if (sgc_finalization_used())
        sgc_finalizer_find(object, &f);
    return f.fn == call;
}

bool sgc_expiry_used(void)
{
    return sgc_a32_load(&used) != 0;
}

bool sgc_expiry_calling(struct sgc_dates *d)
{
    sgc_assert(sgc_mutator_mine(d->owner));
    if (d->calling != 0 && sgc_mutator_left(d->owner, d->calling, sgc_stack_pointer()))
        d->calling = 0;
    return d->calling != 0;
}

/* A function that gives up a hold may come here again. */
enum sgc_expiry_answer sgc_expiry_ask(struct sgc_dates *d, uintptr_t object)
{
    SGC_expiry_proc proc = sgc_finalization_used() ? (SGC_expiry_proc)sgc_finalizer_take(d->owner, object, call) : NULL;
    uintptr_t outer = sgc_expiry_calling(d) ? d->calling : 0, finalizing = d->owner->finalizing;
    int stays;

    sgc_assert(sgc_mutator_mine(d->owner));
    if (proc == NULL)
        return SGC_EXPIRY_NOTHING;
    d->calling = d->owner->finalizing = sgc_stack_pointer();
    stays = call_for(object, proc);
    d->calling = outer;
    d->owner->finalizing = finalizing;
    return stays != 0 ? SGC_EXPIRY_KEEP : SGC_EXPIRY_FREE;
}
